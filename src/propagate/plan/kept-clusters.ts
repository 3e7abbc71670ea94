import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { ClusterName } from '../../core/names.ts';
import { type AffinityGroup, isDividedAsKubeFed, type PropagationSpec, printSpec } from '../model/spec.ts';
import { areReplicasChanged } from './placing/reschedule.ts';
import type { PlanSnapshot, PreviousDecision } from './snapshot/snapshot.ts';

interface KeptClustersInput {
  readonly snapshot: PlanSnapshot;
  /** The wanted replicas of all workloads together. Undefined without a workload. */
  readonly desired: number | undefined;
  /** True if a reschedule was requested. */
  readonly fresh: boolean;
}

/**
 * Returns the clusters of the previous division if nothing requires a new one. Changed labels and capacity do not move replicas
 * (docs/internals/propagation.md 3.2). Undefined: divide again. The result is always undefined with the rules of KubeFed, because
 * `divideAsKubeFed` decides which numbers stay. With the rules of Karmada, a change of affinity groups that are not in use requires no new
 * division.
 */
export function keptClusters({
  snapshot: { spec, previous, clusters },
  desired,
  fresh,
}: KeptClustersInput): readonly ClusterName[] | undefined {
  if (previous === undefined || desired === undefined || spec.replicas.mode !== 'Divided' || fresh) return undefined;
  if (isDividedAsKubeFed(spec)) return undefined;
  const names = clusters.map(({ cluster }) => cluster.name).filter((name) => previous.replicas.has(name));
  const placed = [...previous.replicas.values()].map((replicas) => ({ replicas }));
  const isSame = names.length > 0 && names.length === placed.length && !areReplicasChanged(desired, placed, 'Divided');
  return isSame && textOfPlacing(previous.spec, previous) === textOfPlacing(spec, previous) ? names : undefined;
}

function textOfPlacing({ placement, replicas, exact, ...rest }: PropagationSpec, { affinityGroup }: PreviousDecision): string {
  const isInUse = ({ name }: AffinityGroup) => exact?.system !== 'Karmada' || affinityGroup === undefined || name === affinityGroup;
  const inUse = { ...placement, affinityGroups: placement.affinityGroups.filter(isInUse) };
  const printed = printSpec({ ...rest, placement: inUse, replicas, ...(exact === undefined ? {} : { exact }) });
  return canonicalJson({ placement: printed.placement ?? null, replicas: printed.replicas ?? null, exact: printed.exact ?? null });
}
