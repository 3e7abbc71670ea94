import { isDeepStrictEqual } from 'node:util';
import { objectAt } from '../../core/json-at.ts';
import type { ClusterName } from '../../core/names.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import { type ClusterSet, type PropagationSpec, printSpec } from '../../propagate/model/spec.ts';
import type { PropagatedApp } from '../model/migration-plan.ts';
import type { MigrationPlannerPorts, MigrationPlanRequest } from './migration-planner.ts';
import type { SkipReason } from './preflight-app.ts';

/** Returns the Propagation whose inventory in the cluster has this uid. Undefined if Muster does not propagate the object. */
export function propagationOfObject(
  hub: MigrationPlannerPorts['hub'],
  { cluster, uid }: { readonly cluster: ClusterName; readonly uid: string | undefined },
): Propagation | undefined {
  if (hub === undefined || uid === undefined) return undefined;
  return (hub.propagations.all() ?? []).find(({ metadata }) =>
    hub.shares.read(metadata, cluster)?.entries.some((entry) => entry.uid === uid && entry.state === 'Owned'),
  );
}

/**
 * Plans the placement of `movedPlacement` for a propagated application. If the Propagation would not choose `to` with this placement, the
 * application is skipped.
 */
export async function planPropagatedApp(
  { planner }: Pick<MigrationPlannerPorts, 'planner'>,
  { spec: { from, to }, signal }: MigrationPlanRequest,
  propagation: Propagation,
): Promise<PropagatedApp | { readonly skipped: SkipReason }> {
  const { metadata, spec, status } = propagation;
  const name = `Propagation ${metadata.namespace}/${metadata.name}`;
  if ('problems' in spec) return { skipped: { reason: 'Invalid', message: `${name} has an invalid spec` } };
  const moved: PropagationSpec = { ...spec, placement: movedPlacement(spec.placement, from, to) };
  const existing = { uid: metadata.uid, status, decided: spec };
  const { namespace } = metadata;
  const plan = await planner.render({ namespace, name: metadata.name, spec: moved, purpose: 'decide', existing, signal });
  const chosen = plan.clusters.some((one) => one.chosen.cluster === to && one.fault === undefined);
  if (chosen && plan.ok) return { propagation, placement: objectAt(printSpec(moved), 'placement') };
  const rejected = plan.rejected.find(({ cluster }) => cluster === to);
  const detail = rejected === undefined ? plan.notes.find(({ severity }) => severity === 'ERROR')?.message : rejected.detail;
  return { skipped: { reason: 'Invalid', message: `${name} would not choose ${to}${detail === undefined ? '' : `: ${detail}`}` } };
}

/**
 * Returns the placement that leaves `from` for `to`: in a list of clusters, `to` takes the place of `from`, otherwise `from` is excluded. A
 * placement that has left `from` already stays the same.
 */
export function movedPlacement(placement: PropagationSpec['placement'], from: string, to: string): PropagationSpec['placement'] {
  if (placement.affinityGroups.length === 0) return { ...placement, ...movedSet(placement, from, to) };
  const affinityGroups = placement.affinityGroups.map((group) => ({
    ...group,
    set: movedSet(group.set, from, to),
    overflow: group.overflow.map((tier) => ({ ...tier, set: movedSet(tier.set, from, to) })),
  }));
  return { ...placement, affinityGroups };
}

function movedSet<Set extends Pick<ClusterSet, 'clusters' | 'exclude'>>(set: Set, from: string, to: string): Set {
  if (set.clusters === undefined) return { ...set, exclude: [...new Set([...(set.exclude ?? []), from])] };
  if (!set.clusters.includes(from)) return set;
  const clusters = [...new Set(set.clusters.map((name) => (name === from ? to : name)))];
  return { ...set, clusters };
}

/** The placement before a move, and the clusters of the move. */
interface PlacementMove {
  readonly before: PropagationSpec['placement'];
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the placement that undoes a move. If the placement was not edited since the move, this is the placement before the move. In an edited
 * placement, only the change of `movedPlacement` is reversed, set by set, and all other edits stay. Undefined if no set of the result allows `from`.
 */
export function returnedPlacement(present: PropagationSpec['placement'], move: PlacementMove): PropagationSpec['placement'] | undefined {
  const { before, from, to } = move;
  if (isDeepStrictEqual(present, movedPlacement(before, from, to))) return before;
  const known = new Map(namedSets(before));
  const back = <Set extends MovableSet>(name: string, set: Set) => returnedSet(set, known.get(name), move);
  const placement = {
    ...present,
    ...(present.affinityGroups.length === 0 ? back('', present) : {}),
    affinityGroups: present.affinityGroups.map((group) => ({
      ...group,
      set: back(group.name, group.set),
      overflow: group.overflow.map((tier) => ({ ...tier, set: back(`${group.name}/${tier.name}`, tier.set) })),
    })),
  };
  return namedSets(placement).some(([, set]) => allowsCluster(set, from)) ? placement : undefined;
}

type MovableSet = Pick<ClusterSet, 'clusters' | 'exclude'>;

/** Returns the sets of a placement, each with a name by which `returnedPlacement` finds it in another placement. */
function namedSets(placement: PropagationSpec['placement']): readonly (readonly [string, MovableSet])[] {
  if (placement.affinityGroups.length === 0) return [['', placement]];
  return placement.affinityGroups.flatMap(({ name, set, overflow }) => [
    [name, set] as const,
    ...overflow.map((tier) => [`${name}/${tier.name}`, tier.set] as const),
  ]);
}

function allowsCluster({ clusters, exclude = [] }: MovableSet, cluster: string): boolean {
  return (clusters?.includes(cluster) ?? true) && !exclude.includes(cluster);
}

function returnedSet<Set extends MovableSet>(set: Set, before: MovableSet | undefined, { from, to }: PlacementMove): Set {
  if (before === undefined || allowsCluster(set, from) || !allowsCluster(before, from)) return set;
  if (set.clusters === undefined) {
    const { exclude = [], ...rest } = set;
    const left = exclude.filter((name) => name !== from);
    return (left.length === 0 && before.exclude === undefined ? rest : { ...set, exclude: left }) as Set;
  }
  const returned = before.clusters?.includes(to) === true ? [from, to] : [from];
  return { ...set, clusters: set.clusters.flatMap((name) => (name === to ? returned : [name])) };
}
