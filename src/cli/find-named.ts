import type { FaultReport } from './cluster-faults.ts';
import type { ListedItem } from './columns/printed-column.ts';
import { FoundNames, nameCondition } from './found-names.ts';
import { kindsMeant } from './list-tables.ts';
import { everything, listedPages } from './listed-pages.ts';
import { type NamedKind, nameOfKind } from './meant-kinds.ts';
import type { Session } from './session.ts';
import { objectsOfWords } from './words-of-objects.ts';

/** What to ask of objects that were named. */
export interface Selection {
  readonly fields: string;
  /** Fragments that these use. */
  readonly fragments: string;
}

export interface NamedObjects {
  /** `KIND NAME…` or `KIND/NAME…`. */
  readonly words: readonly string[];
  /** Null for all. */
  readonly namespaces: readonly string[] | null;
  readonly report: FaultReport;
  /** What is asked of the objects of a kind. */
  readonly select: (kind: NamedKind) => Promise<Selection>;
  /** Most of them in one answer. */
  readonly pageSize: number;
}

/** The objects of one kind that have one of the names, by namespace, name and cluster. */
export interface FoundOfKind<Item> {
  readonly kind: NamedKind;
  readonly items: readonly Item[];
}

/**
 * Finds the objects that words name, in all clusters. A line on standard error reports each name that was not found.
 *
 * @returns `exitCode`: 1 if no cluster has one of the names, 3 if that is not known because a cluster did not answer, else 0.
 * @throws {CommandFailure} for words that name nothing, or a kind that no cluster serves.
 */
export async function findNamed<Item extends ListedItem>(
  session: Session,
  { words, namespaces, report, select, pageSize }: NamedObjects,
): Promise<{ readonly found: readonly FoundOfKind<Item>[]; readonly exitCode: number }> {
  const asked = objectsOfWords(words, { words: 'KIND NAME or KIND/NAME', why: 'muster list shows all of a kind' });
  const byKind = Map.groupBy(asked, ({ kind }) => kind);
  const targets = [...byKind].map(([kind, objects]) => ({ kind, names: [...new Set(objects.map(({ name }) => name))] }));
  const found: FoundOfKind<Item>[] = [];
  const foundNames = new FoundNames();
  for (const target of targets) {
    const { names, answers } = foundNames.of(target);
    const selected = { ...everything, namespaces, where: nameCondition(target) };
    for (const kind of await kindsMeant(session, [target.kind])) {
      const { fields, fragments } = await select(kind);
      const items: Item[] = [];
      const listed = { kinds: [nameOfKind(kind)], selected, fields, fragments, pageSize, report, answers };
      for await (const page of listedPages<Item>(session, listed)) items.push(...page);
      for (const { metadata } of items) names.add(metadata.name);
      found.push({ kind, items });
    }
  }
  return { found, exitCode: foundNames.reportMissing(session, targets, namespaces) };
}
