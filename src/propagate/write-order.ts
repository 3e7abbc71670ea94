import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import { kindOfKey } from './object-key.ts';
import type { ObjectKey } from './spec.ts';

/** What others need comes first (docs/internals/propagation.md 5.1). */
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

/** When objects of a kind are written: lower ones first; equal ones together. What is deleted goes in the reverse order. */
export function writeRankOf(kind: GroupKind): number {
  return ranks.get(keyOfKind(kind)) ?? ranked.length;
}

/** In the order in which they are written; of one rank in the order they came. */
export function inWriteOrder<T extends { readonly key: ObjectKey }>(objects: readonly T[]): readonly T[] {
  return objects.toSorted((a, b) => writeRankOf(kindOfKey(a.key)) - writeRankOf(kindOfKey(b.key)));
}
