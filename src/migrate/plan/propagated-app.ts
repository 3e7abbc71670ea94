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
 * Plans the placement that moves a propagated application. In a list of clusters, `to` takes the place of `from`. Otherwise `from` is
 * excluded. If the Propagation would not choose `to` then, the application is skipped.
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
