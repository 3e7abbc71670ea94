import { replicasPath, type WrittenOverride } from '../../../../src/importers/kubefed/cluster-overrides.ts';

/**
 * Returns the overrides of one cluster after a run of KubeFed's replica scheduler. The override of the replica count gets the planned
 * count, which may be 0. It is removed if the cluster has no planned count. Other overrides stay.
 */
export function mergeReplicaOverrides({
  cluster,
  clusterOverrides,
  scheduledReplicas,
}: {
  readonly cluster: string;
  readonly clusterOverrides: readonly WrittenOverride[];
  readonly scheduledReplicas: Readonly<Record<string, number>>;
}): readonly WrittenOverride[] {
  const replicas = Object.hasOwn(scheduledReplicas, cluster) ? scheduledReplicas[cluster] : undefined;
  if (replicas === undefined) return clusterOverrides.filter(({ path }) => path !== replicasPath);
  if (!clusterOverrides.some(({ path }) => path === replicasPath)) return [...clusterOverrides, { path: replicasPath, value: replicas }];
  return clusterOverrides.map((override) => (override.path === replicasPath ? { ...override, value: replicas } : override));
}
