import type { V1Pod } from '@kubernetes/client-node';
import type { Members } from '../../../changes/members.ts';
import type { Clock } from '../../../core/clock.ts';
import { isJsonObject } from '../../../core/json.ts';
import { numberAt, textAt, valueAt } from '../../../core/json-at.ts';
import type { GroupKind } from '../../../core/kinds.ts';
import { labelSelectorOf } from '../../../core/label-selectors.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { KubernetesObject, TypedObject } from '../../../core/objects.ts';
import { matchesLabelSelector } from '../../../core/selectors.ts';
import { itemsOf } from '../../../core/stored.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../../manifests/object-key.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import { type AnalyzedPod, clusterReplicaState, unschedulableThresholdSeconds } from '../../kubefed/capacity-feedback.ts';
import type { RunningReplicas } from '../../model/placement.ts';
import { countFieldOf } from '../placing/workload-count.ts';

/**
 * Milliseconds for which a Pod must be unschedulable before it lowers `RunningReplicas.capacity`. While replicas are not ready, the plan is
 * made again after this time.
 */
export const roomRecheckMs = 1_000 * unschedulableThresholdSeconds;

interface ExistingWorkloads {
  readonly manifests: readonly Manifest[];
  /** The existing objects of the cluster, by `textOfKey`. */
  readonly live: ReadonlyMap<string, MirroredObject>;
  /**
   * True if the requester may list the Pods of a namespace. Without this right, its Pods are not counted: a workload whose selector selects the Pods
   * of other users would reveal their number.
   */
  readonly mayListPods: (namespace: string | undefined) => boolean;
}

/**
 * Returns the running replicas of each workload that exists in the cluster, by its index in `manifests`. Jobs have no entry.
 *
 * If not all replicas are ready, the Pods in the mirror are counted. While the Pods are unread, or if the requester may not list them, the
 * ready replicas count as running.
 */
export function runningReplicasIn(
  { members, clock }: { readonly members: Pick<Members, 'objects'>; readonly clock: Clock },
  cluster: ClusterName,
  { manifests, live, mayListPods }: ExistingWorkloads,
): ReadonlyMap<number, RunningReplicas> {
  const found = new Map<number, RunningReplicas>();
  for (const [index, manifest] of manifests.entries()) {
    const existing = live.get(textOfKey(keyOfManifest(manifest)));
    if (existing?.result !== 'held' || countFieldOf(manifest) !== 'replicas') continue;
    const pods = mayListPods(existing.object.metadata.namespace) ? members.objects.all(cluster, podKind) : undefined;
    found.set(index, pods === undefined ? readyReplicasOf(existing.object) : runningReplicasOf(existing.object, pods, clock.now()));
  }
  return found;
}

const podKind: GroupKind = { group: '', kind: 'Pod' };

function readyReplicasOf(workload: KubernetesObject): RunningReplicas {
  return { current: numberAt(workload, 'status', 'readyReplicas') ?? 0 };
}

function runningReplicasOf(workload: KubernetesObject, pods: readonly KubernetesObject[], nowMs: number): RunningReplicas {
  const replicas = numberAt(workload, 'spec', 'replicas') ?? 0;
  const { current: readyReplicas } = readyReplicasOf(workload);
  const own = replicas === readyReplicas ? [] : podsOf(workload, pods);
  const state = clusterReplicaState({
    clusters: { here: { replicas, readyReplicas, pods: own.map((pod) => analyzedPodOf(pod, nowMs)) } },
  });
  const { here: current = 0 } = state.current;
  const { here: capacity } = state.estimatedCapacity;
  return { current, ...(capacity === undefined ? {} : { capacity }) };
}

/** Returns the Pods that the selector of the workload selects. A workload without a selector has none. */
function podsOf(workload: KubernetesObject, pods: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const written = valueAt(workload, 'spec', 'selector');
  const selector = isJsonObject(written) ? labelSelectorOf(written) : undefined;
  const { namespace } = workload.metadata;
  if (selector === undefined) return [];
  return pods.filter(({ metadata }) => metadata.namespace === namespace && matchesLabelSelector(selector, metadata.labels ?? undefined));
}

function analyzedPodOf({ status }: TypedObject<V1Pod>, nowMs: number): AnalyzedPod {
  return {
    phase: status?.phase,
    conditions: itemsOf(status?.conditions).map((condition) => ({
      type: textAt(condition, 'type') ?? '',
      status: condition.status,
      reason: condition.reason,
      ageSeconds: (nowMs - Date.parse(condition.lastTransitionTime ?? '1970-01-01T00:00:00Z')) / 1_000,
    })),
  };
}
