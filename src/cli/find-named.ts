import { ClusterAnswers } from './cluster-answers.ts';
import type { FaultReport } from './cluster-faults.ts';
import type { ListedItem } from './columns/printed-column.ts';
import { exitCodes } from './command-failure.ts';
import { kindsMeant } from './list-tables.ts';
import { everything, listedPages } from './listed-pages.ts';
import { type NamedKind, nameOfKind } from './meant-kinds.ts';
import type { Session } from './session.ts';
import { printable } from './table.ts';
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
 * Finds the objects that words name, in all clusters. Each name that was not found is told in a line on standard error.
 *
 * @returns `exitCode`: 1 if no cluster has one of the names, 3 if that is not known because a cluster did not answer, else 0.
 * @throws {CommandFailure} for words that name nothing, or a kind that no cluster serves.
 */
export async function findNamed<Item extends ListedItem>(
  session: Session,
  { words, namespaces, report, select, pageSize }: NamedObjects,
): Promise<{ readonly found: readonly FoundOfKind<Item>[]; readonly exitCode: number }> {
  const asked = objectsOfWords(words, { words: 'KIND NAME or KIND/NAME', why: 'muster list shows all of a kind' });
  const found: FoundOfKind<Item>[] = [];
  const codes = new Set<number>();
  for (const [word, objects] of Map.groupBy(asked, ({ kind }) => kind)) {
    const names = [...new Set(objects.map(({ name }) => name))];
    const where = { path: 'metadata.name', in: names };
    const known = new Set<string>();
    const answers = new ClusterAnswers();
    for (const kind of await kindsMeant(session, [word])) {
      const { fields, fragments } = await select(kind);
      const selected = { ...everything, namespaces, where };
      const items: Item[] = [];
      const listed = { kinds: [nameOfKind(kind)], selected, fields, fragments, pageSize, report, answers };
      for await (const page of listedPages<Item>(session, listed)) items.push(...page);
      for (const { metadata } of items) known.add(metadata.name);
      found.push({ kind, items });
    }
    for (const name of names.filter((one) => !known.has(one))) {
      const place = namespaces === null ? '' : ` in ${namespaces.join(' or ')}`;
      if (answers.isComplete) session.terminal.err(`muster: ${printable(`${word} ${name} is in no cluster${place && `,${place}`}`)}\n`);
      else answers.reportUnknown(session, `${word} ${name}${place}`);
      codes.add(answers.isComplete ? exitCodes.failed : exitCodes.unknown);
    }
  }
  return { found, exitCode: [exitCodes.failed, exitCodes.unknown].find((code) => codes.has(code)) ?? exitCodes.good };
}
