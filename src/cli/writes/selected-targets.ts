import type { NamedObject } from '../../core/columns/object-names.ts';
import type { FieldCondition } from '../arguments/field-selector.ts';
import { ClusterAnswers } from '../client/cluster-answers.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { allObjects, listPages } from '../client/list-pages.ts';
import { fullKindName } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { whereOfFlags } from '../lists/field-conditions.ts';
import { resolveListTargets } from '../lists/target-kinds.ts';
import type { TargetObject } from './write-results.ts';

/** The flags that choose objects by their labels and fields. */
export interface SelectorFlags {
  readonly namespace?: string;
  readonly selector?: string;
  readonly fieldSelector?: readonly FieldCondition[];
  readonly all?: boolean;
  readonly allNamespaces?: boolean;
}

/** Objects that a selector found. */
export interface SelectedTargets {
  /** The ids contain the uid, so an object that was created again meanwhile is left alone. */
  readonly targets: readonly { readonly id: string }[];
  readonly objects: readonly TargetObject[];
  /** True if a cluster did not answer, so that it may have further objects. */
  readonly isPartial: boolean;
}

/** True if the flags choose objects by a selector, and not by name. */
export function hasSelector({ selector, fieldSelector, all }: SelectorFlags): boolean {
  return selector !== undefined || fieldSelector !== undefined || all === true;
}

/**
 * Checks that a selector comes with exactly one word that names kinds, and that the selector is not empty.
 *
 * @throws {CommandFailure} if one of these conditions does not hold.
 */
export function checkSelector(words: readonly string[], { selector, fieldSelector, all }: Omit<SelectorFlags, 'namespace'>): void {
  const [word, another] = words;
  if (word === undefined || another !== undefined || word.includes('/'))
    throw refused(`expected one KIND with a selector, got ${words.length === 0 ? 'none' : words.join(' ')}`);
  if (selector?.trim() === '' || fieldSelector?.length === 0)
    throw refused('expected a selector, got an empty one: --all means all objects');
  if (all === true && (selector !== undefined || fieldSelector !== undefined)) throw refused('expected --all or a selector, got both');
}

interface SelectedItem extends NamedObject {
  readonly id: string;
  readonly cluster: { readonly name: string };
}

/**
 * Finds the objects of `KIND -l …` in the clusters of `--context`, else in all clusters. Prints the faults of clusters, and a line if there are no objects.
 *
 * @throws {CommandFailure} if the selector is empty, or no cluster serves the kind.
 */
export async function selectTargets(session: Session, words: readonly string[], flags: SelectorFlags): Promise<SelectedTargets> {
  checkSelector(words, flags);
  const kinds = await resolveListTargets(
    session,
    (words[0] ?? '').split(',').map((kind) => ({ kind })),
  );
  const where = await whereOfFlags(
    session,
    kinds.map(({ kind }) => kind),
    { fieldSelector: flags.fieldSelector ?? [] },
  );
  const [answers, report] = [new ClusterAnswers(), new ClusterFaultReport(session)];
  const found: SelectedItem[] = [];
  for (const kind of kinds.flatMap((target) => target.kinds)) {
    const namespaces = flags.allNamespaces === true || !kind.namespaced ? null : [flags.namespace ?? 'default'];
    const selected = { ...allObjects, namespaces, labels: flags.selector ?? null, where };
    const listing = { kinds: [fullKindName(kind)], selected, fields: 'id apiVersion kind cluster { name } metadata { name namespace }' };
    for await (const page of listPages<SelectedItem>(session, { ...listing, report, answers })) found.push(...page);
  }
  if (found.length === 0 && answers.isComplete) session.terminal.err('No resources found\n');
  if (found.length === 0 && !answers.isComplete) answers.reportUnknown(session, words.join(','));
  return {
    targets: found.map(({ id }) => ({ id })),
    objects: found.map((object) => ({ cluster: object.cluster.name, object })),
    isPartial: !answers.isComplete,
  };
}

function refused(message: string): CommandFailure {
  return new CommandFailure(exitCodes.refused, message);
}
