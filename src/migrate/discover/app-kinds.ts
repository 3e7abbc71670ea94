import { type GroupKind, keyOfKind } from '../../core/kinds.ts';

/** The kinds among which `labels` selects applications. */
export const selectedKinds: readonly GroupKind[] = [
  { group: 'apps', kind: 'Deployment' },
  { group: 'apps', kind: 'StatefulSet' },
  { group: 'argoproj.io', kind: 'Rollout' },
];

/** Further kinds whose objects run Pods. A dependency that such an object shares with an application stays in the source. */
const otherWorkloadKinds: readonly GroupKind[] = [
  { group: 'apps', kind: 'DaemonSet' },
  { group: 'apps', kind: 'ReplicaSet' },
  { group: '', kind: 'ReplicationController' },
  { group: 'batch', kind: 'Job' },
  { group: 'batch', kind: 'CronJob' },
  { group: '', kind: 'Pod' },
];

/** All kinds whose objects run Pods, as far as Muster knows them. A kind that the cluster does not serve, such as Rollout, is skipped. */
export const workloadKinds: readonly GroupKind[] = [...selectedKinds, ...otherWorkloadKinds];

/** The kinds of objects that can belong to an application. */
export const partKinds = {
  service: { group: '', kind: 'Service' },
  ingress: { group: 'networking.k8s.io', kind: 'Ingress' },
  autoscaler: { group: 'autoscaling', kind: 'HorizontalPodAutoscaler' },
  disruptionBudget: { group: 'policy', kind: 'PodDisruptionBudget' },
  configMap: { group: '', kind: 'ConfigMap' },
  secret: { group: '', kind: 'Secret' },
  serviceAccount: { group: '', kind: 'ServiceAccount' },
  claim: { group: '', kind: 'PersistentVolumeClaim' },
} as const satisfies Readonly<Record<string, GroupKind>>;

/** Returns all kinds to read in the source. `more` are kinds of workloads that the input names. */
export function kindsToRead(more: readonly GroupKind[]): readonly GroupKind[] {
  const kinds = [...workloadKinds, ...Object.values(partKinds), ...more];
  return [...new Map(kinds.map((kind) => [keyOfKind(kind), kind])).values()];
}
