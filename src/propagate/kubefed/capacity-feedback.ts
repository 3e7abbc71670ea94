/** The fields of a Pod that KubeFed reads. */
export interface AnalyzedPod {
  readonly phase?: string | null | undefined;
  readonly conditions?: readonly AnalyzedPodCondition[] | null | undefined;
}

interface AnalyzedPodCondition {
  readonly type: string;
  readonly status?: string | null | undefined;
  readonly reason?: string | null | undefined;
  /** The seconds since the last transition of the condition. Default: 0. */
  readonly ageSeconds?: number | null | undefined;
}

/** The Pods of one workload in one cluster, counted as KubeFed does. */
export interface PodAnalysis {
  readonly total: number;
  /** Pods that run and have a condition `Ready`, of any status. */
  readonly runningAndReady: number;
  /** Pods that could not be scheduled for longer than the threshold. */
  readonly unschedulable: number;
  /** True if some Pods cannot be scheduled yet, but not for long enough to count. The analysis must then be repeated. */
  readonly recheck: boolean;
}

/** Pods that cannot be scheduled for longer than this count as unschedulable. */
export const unschedulableThresholdSeconds = 60;

/** Counts the Pods of one workload in one cluster, as KubeFed's AnalyzePods does. */
export function analyzePods({
  pods,
  unschedulableThresholdSeconds: threshold = unschedulableThresholdSeconds,
}: {
  readonly pods?: readonly AnalyzedPod[] | null | undefined;
  readonly unschedulableThresholdSeconds?: number | undefined;
}): PodAnalysis {
  const running = conditionsOf(pods ?? [], (phase) => phase === 'Running').filter(({ type }) => type === 'Ready');
  const waiting = conditionsOf(pods ?? [], (phase) => phase !== 'Running').filter(isUnschedulable);
  const unschedulable = waiting.filter(({ ageSeconds }) => (ageSeconds ?? 0) > threshold).length;
  return { total: pods?.length ?? 0, runningAndReady: running.length, unschedulable, recheck: unschedulable !== waiting.length };
}

function conditionsOf(pods: readonly AnalyzedPod[], hasPhase: (phase: AnalyzedPod['phase']) => boolean): readonly AnalyzedPodCondition[] {
  return pods.filter(({ phase }) => hasPhase(phase)).flatMap(({ conditions }) => conditions ?? []);
}

function isUnschedulable({ type, status, reason }: AnalyzedPodCondition): boolean {
  return type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable';
}

/** A workload in one cluster: its `spec.replicas`, its `status.readyReplicas` (default of both: 0) and its Pods. */
export interface ClusterWorkload {
  readonly replicas?: number | null | undefined;
  readonly readyReplicas?: number | null | undefined;
  /** Not needed if `replicas` and `readyReplicas` are equal. */
  readonly pods?: readonly AnalyzedPod[] | null | undefined;
}

/** The facts about running workloads that `planKubeFed` needs. */
export interface ClusterReplicaState {
  /** `currentReplicas` of the request, for each cluster with a workload. */
  readonly current: Readonly<Record<string, number>>;
  /** `estimatedCapacity` of the request. A cluster without unschedulable Pods has no entry. */
  readonly estimatedCapacity: Readonly<Record<string, number>>;
  /** True if the state must be computed again after the threshold, because some Pods cannot be scheduled yet. */
  readonly recheck: boolean;
}

/**
 * Returns the replica state of the clusters, as KubeFed's clustersReplicaState does. `clusters` has the workloads by cluster name. A
 * cluster without a workload is left out.
 */
export function clusterReplicaState({
  clusters,
  unschedulableThresholdSeconds: threshold,
}: {
  readonly clusters?: Readonly<Record<string, ClusterWorkload | null>> | null | undefined;
  readonly unschedulableThresholdSeconds?: number | undefined;
}): ClusterReplicaState {
  const current: Record<string, number> = {};
  const estimatedCapacity: Record<string, number> = {};
  let recheck = false;
  for (const [name, written] of Object.entries(clusters ?? {})) {
    const workload = written ?? {};
    const [replicas, readyReplicas] = [workload.replicas ?? 0, workload.readyReplicas ?? 0];
    if (replicas === readyReplicas) {
      current[name] = readyReplicas;
      continue;
    }
    const analysis = analyzePods({ pods: workload.pods, unschedulableThresholdSeconds: threshold });
    current[name] = analysis.runningAndReady;
    if (analysis.unschedulable > 0) estimatedCapacity[name] = replicas - analysis.unschedulable;
    recheck ||= analysis.recheck;
  }
  return { current, estimatedCapacity, recheck };
}
