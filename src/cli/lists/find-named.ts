import type { ListedItem } from '../../core/columns/printed-column.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FieldCondition } from '../arguments/field-selector.ts';
import { type ListTarget, parseListTargets, parseObjectWords } from '../arguments/object-words.ts';
import { ClusterAnswers } from '../client/cluster-answers.ts';
import type { ClusterFaultReport } from '../client/cluster-faults.ts';
import { exitCodes } from '../client/command-failure.ts';
import { allObjects, listPages } from '../client/list-pages.ts';
import { fullKindName, type ResolvedKind, resolveDistinctKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';
import { whereOfFlags } from './field-conditions.ts';

/** The names to look for. */
interface MissingNames {
  readonly targets: readonly ListTarget[];
  /** Null: all namespaces. */
  readonly namespaces: readonly string[] | null;
  /** True: a name that no cluster has is no failure, and is not reported. Default: false. */
  readonly ignoresAbsence?: boolean | undefined;
}

/** Collects which of the named objects were found, and which clusters have answered. */
export class FoundNames {
  /** Collects which clusters have answered for any target. */
  readonly answers = new ClusterAnswers();
  readonly #byTarget = new Map<string, { readonly names: Set<string>; readonly answers: ClusterAnswers }>();

  /** Returns two collections for a target: the names that were found, and the clusters that have answered. The caller adds to both. */
  forTarget({ kind }: ListTarget): { readonly names: Set<string>; readonly answers: ClusterAnswers } {
    const known = this.#byTarget.get(kind) ?? { names: new Set(), answers: new ClusterAnswers() };
    this.#byTarget.set(kind, known);
    return known;
  }

  /**
   * Reports each name that was not found, in a line on standard error.
   *
   * @returns The exit code: 1 if no cluster has one of the names, 3 if that is not known because a cluster did not answer, else 0.
   */
  reportMissing(session: Session, { targets, namespaces, ignoresAbsence = false }: MissingNames): number {
    const codes = new Set<number>();
    const place = namespaces === null ? '' : ` in ${namespaces.join(' or ')}`;
    for (const target of targets) {
      const { names, answers } = this.forTarget(target);
      for (const name of (target.names ?? []).filter((one) => !names.has(one))) {
        const what = `${target.kind} ${name}`;
        if (answers.isComplete && ignoresAbsence) continue;
        if (answers.isComplete) session.terminal.err(`muster: ${printable(`${what} is in no cluster${place && `,${place}`}`)}\n`);
        else answers.reportUnknown(session, `${what}${place}`);
        codes.add(answers.isComplete ? exitCodes.failed : exitCodes.unknown);
      }
    }
    return [exitCodes.failed, exitCodes.unknown].find((code) => codes.has(code)) ?? exitCodes.good;
  }

  /** Reports that a selector found no object of any target. @returns 3 if that is not known because a cluster did not answer, else 0. */
  reportNone(session: Session, targets: readonly ListTarget[]): number {
    const all = targets.map((target) => this.forTarget(target));
    if (all.some(({ names }) => names.size > 0)) return exitCodes.good;
    const silent = all.find(({ answers }) => !answers.isComplete);
    if (silent === undefined) session.terminal.err('No resources found\n');
    else silent.answers.reportUnknown(session, targets.map(({ kind }) => kind).join(','));
    return silent === undefined ? exitCodes.good : exitCodes.unknown;
  }
}

/** Returns the condition that selects the objects of a target by name. Null: all objects. */
export function nameCondition({ names }: ListTarget): JsonObject | null {
  return names === undefined ? null : { path: 'metadata.name', in: names };
}

interface Selection {
  readonly fields: string;
  /** GraphQL fragments that `fields` uses. */
  readonly fragments: string;
}

export interface FindNamedOptions {
  /** `KIND NAME…` or `KIND/NAME…`, or kinds with `-l` or `--field-selector`. */
  readonly words: readonly string[];
  /** The selector of `-l`. Null: objects with any labels. Undefined: the objects are given by name. */
  readonly labels?: string | null | undefined;
  readonly fieldSelector?: readonly FieldCondition[] | undefined;
  /** Null: all namespaces. */
  readonly namespaces: readonly string[] | null;
  readonly report: ClusterFaultReport;
  /** Returns the selection for objects of a kind. */
  readonly select: (kind: ResolvedKind) => Promise<Selection>;
  /** Objects in one answer. */
  readonly pageSize: number;
}

/** The objects of one kind that have one of the names, sorted by namespace, name and cluster. */
export interface FoundObjects<Item> {
  readonly kind: ResolvedKind;
  readonly items: readonly Item[];
}

/**
 * Finds the objects that words name, in all clusters. A line on standard error reports each name that was not found.
 *
 * @returns `exitCode`: 1 if no cluster has one of the names, 3 if that is not known because a cluster did not answer, else 0.
 * @throws {CommandFailure} if the words name no object, or no cluster serves a kind.
 */
export async function findNamedObjects<Item extends ListedItem>(
  session: Session,
  { words, namespaces, labels, fieldSelector, report, select, pageSize }: FindNamedOptions,
): Promise<{ readonly found: readonly FoundObjects<Item>[]; readonly exitCode: number }> {
  const isSelected = labels != null || fieldSelector !== undefined;
  const targets = isSelected ? parseListTargets(words) : namedTargets(words);
  const where = isSelected
    ? await whereOfFlags(
        session,
        targets.map(({ kind }) => kind),
        { fieldSelector: fieldSelector ?? [] },
      )
    : null;
  const found: FoundObjects<Item>[] = [];
  const foundNames = new FoundNames();
  for (const target of targets) {
    const { names, answers } = foundNames.forTarget(target);
    const selected = { ...allObjects, namespaces, labels: labels ?? null, where: isSelected ? where : nameCondition(target) };
    for (const kind of await resolveDistinctKinds(session, [target.kind])) {
      const { fields, fragments } = await select(kind);
      const items: Item[] = [];
      const listed = { kinds: [fullKindName(kind)], selected, fields, fragments, pageSize, report, answers };
      for await (const page of listPages<Item>(session, listed)) items.push(...page);
      for (const { metadata } of items) names.add(metadata.name);
      found.push({ kind, items });
    }
  }
  if (!isSelected) return { found, exitCode: foundNames.reportMissing(session, { targets, namespaces }) };
  return { found, exitCode: foundNames.reportNone(session, targets) };
}

function namedTargets(words: readonly string[]): readonly ListTarget[] {
  const named = parseObjectWords(words, { words: 'KIND NAME or KIND/NAME', why: 'muster list shows all objects of a kind' });
  const byKind = Map.groupBy(named, ({ kind }) => kind);
  return [...byKind].map(([kind, objects]) => ({ kind, names: [...new Set(objects.map(({ name }) => name))] }));
}
