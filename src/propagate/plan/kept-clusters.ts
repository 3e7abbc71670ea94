import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ClusterSelection } from '../model/placement.ts';
import { type PropagationSpec, printSpec } from '../model/spec.ts';
import { isDividedAsKubeFed } from './exact/divide-as-kubefed.ts';
import { areReplicasChanged } from './placing/reschedule.ts';
import { sumBy } from './placing/sum-by.ts';
import type { PlanSnapshot, PreviousDecision } from './snapshot/snapshot.ts';

interface KeptClustersInput {
  readonly snapshot: PlanSnapshot;
  readonly selection: ClusterSelection;
  /** The wanted replicas of all workloads together. Undefined without a workload. */
  readonly desired: number | undefined;
  /** True if a reschedule was requested. */
  readonly fresh: boolean;
}

/**
 * Returns the clusters of the previous division if nothing requires a new one. Changed labels and capacity do not move replicas
 * (docs/internals/propagation.md 3.2). Undefined: divide again.
 *
 * With the rules of KubeFed, a cluster that joins or leaves requires a new division, and so do Pods that wait for room.
 */
export function keptClusters({ snapshot, selection, desired, fresh }: KeptClustersInput): readonly ClusterName[] | undefined {
  const { spec, previous, clusters } = snapshot;
  if (previous === undefined || desired === undefined || spec.replicas.mode !== 'Divided' || fresh) return undefined;
  const names = clusters.map(({ cluster }) => cluster.name).filter((name) => previous.replicas.has(name));
  if (names.length === 0 || names.length !== previous.replicas.size) return undefined;
  const isSame = isDividedAsKubeFed(spec)
    ? isSameForKubeFed(snapshot, selection, { previous, desired })
    : !areReplicasChanged(
        desired,
        [...previous.replicas.values()].map((replicas) => ({ replicas })),
        'Divided',
      );
  return isSame && textOfPlacing(previous.spec) === textOfPlacing(spec) ? names : undefined;
}

/** True if KubeFed's planner would get the same request as before, apart from replicas that are not ready at the moment. */
function isSameForKubeFed(
  { clusters }: PlanSnapshot,
  { chosen }: ClusterSelection,
  { previous, desired }: { readonly previous: PreviousDecision; readonly desired: number },
): boolean {
  const isFull = clusters.some(({ running }) => running?.values().some(({ capacity }) => capacity !== undefined));
  const placed = sumBy([...previous.replicas.values()], (replicas) => replicas);
  const hasSameClusters = chosen.length === previous.replicas.size && chosen.every(({ cluster }) => previous.replicas.has(cluster));
  // `placed` exceeds `desired` if a cluster was full at the last division. The division then has to be computed again.
  return hasSameClusters && !isFull && previous.desired === desired && placed <= desired;
}

function textOfPlacing(spec: PropagationSpec): string {
  const { placement = null, replicas = null, exact = null } = printSpec(spec);
  return canonicalJson({ placement, replicas, exact });
}
