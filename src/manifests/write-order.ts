import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import type { ObjectKey } from './manifest.ts';
import { groupKindOfKey } from './object-key.ts';

/** Kinds in write order: a kind comes before the kinds that need it (docs/internals/propagation.md 5.1). */
const ranked: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition.apiextensions.k8s.io'],
  [
    'ServiceAccount',
    'Role.rbac.authorization.k8s.io',
    'ClusterRole.rbac.authorization.k8s.io',
    'RoleBinding.rbac.authorization.k8s.io',
    'ClusterRoleBinding.rbac.authorization.k8s.io',
  ],
  ['ConfigMap', 'Secret'],
  ['PersistentVolume', 'PersistentVolumeClaim'],
  ['Service'],
  [
    'Pod',
    'ReplicationController',
    'Deployment.apps',
    'ReplicaSet.apps',
    'StatefulSet.apps',
    'DaemonSet.apps',
    'Job.batch',
    'CronJob.batch',
  ],
  ['HorizontalPodAutoscaler.autoscaling', 'PodDisruptionBudget.policy'],
  ['Ingress.networking.k8s.io'],
];

const ranks: ReadonlyMap<string, number> = new Map(ranked.flatMap((keys, rank) => keys.map((key): [string, number] => [key, rank])));

/**
 * Returns the write rank of a kind. Lower ranks are written first, equal ranks together. Deletions use the reverse order. Kinds that
 * `ranked` does not list are written last.
 */
export function writeRankOf(kind: GroupKind): number {
  return ranks.get(keyOfKind(kind)) ?? ranked.length;
}

/** Sorts objects by write rank. Objects of one rank keep their order. */
export function inWriteOrder<T extends { readonly key: ObjectKey }>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => writeRankOf(groupKindOfKey(a.key)) - writeRankOf(groupKindOfKey(b.key)));
}
