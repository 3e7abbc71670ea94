import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigratedApp, parseMigrationStatus } from '../../../src/migrate/model/migration-status-definition.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import type { ScheduledApp } from './random-fleet.ts';

/** The names of the clusters. The first one is the hub, and migrations go from the second to the third. */
export const clusterNames = ['north', 'south', 'east', 'west'] as const;
type ScheduledCluster = (typeof clusterNames)[number];

/** The kinds of all objects that applications have. */
const appKinds = [
  'Deployment.apps',
  'StatefulSet.apps',
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'PersistentVolumeClaim',
  'Service',
  'Ingress.networking.k8s.io',
  'HorizontalPodAutoscaler.autoscaling',
  'PodDisruptionBudget.policy',
] as const;

/** The objects of one cluster, as an administrator reads them, by `kind name`. */
export type ClusterContent = ReadonlyMap<string, KubernetesObject>;

/** An object that no migration may touch. */
export interface Stranger {
  readonly cluster: ScheduledCluster;
  readonly object: KubernetesObject;
}

/** The facts of one seed that the invariants need. */
export interface MovingFleet {
  readonly apps: readonly ScheduledApp[];
  /** Healthy replicas that an application must always have, in all clusters together. */
  readonly needed: ReadonlyMap<string, number>;
  /** By uid. Grows and shrinks while the schedule runs. */
  readonly strangers: Map<string, Stranger>;
  /** True if the gateway has been unable to read this cluster for some time. */
  isAway(name: string): boolean;
  cluster(name: string): SimCluster;
}

/** One application of a Migration on the hub. */
export interface RecordedApp {
  readonly migration: KubernetesObject;
  readonly from: string;
  readonly to: string;
  readonly app: MigratedApp;
}

/** Returns a Migration as the hub has it now. Undefined if there is none. */
export function migrationOnHub({ cluster }: Pick<MovingFleet, 'cluster'>, name: string): KubernetesObject | undefined {
  return cluster('north').get('Migration.muster.dev', name, 'default');
}

/** Returns the applications of all Migrations, as the hub has them now. */
export function recordedApps({ cluster }: Pick<MovingFleet, 'cluster'>): readonly RecordedApp[] {
  return cluster('north')
    .objects('Migration.muster.dev')
    .flatMap((migration) => {
      const { from, to } = migration.spec as { readonly from: string; readonly to: string };
      return statusOf(migration).apps?.map((app) => ({ migration, from, to, app })) ?? [];
    });
}

export function statusOf(migration: KubernetesObject | undefined) {
  return parseMigrationStatus((migration?.status ?? {}) as never);
}

export function keyOf({ kind, metadata }: Pick<KubernetesObject, 'kind' | 'metadata'>): string {
  return `${kind} ${metadata.name}`;
}

/** Returns all objects of applications in a cluster, without those that every namespace has. */
export function contentOf(cluster: SimCluster): ClusterContent {
  const objects = appKinds.flatMap((kind) => cluster.objects(kind, 'default'));
  return new Map(
    objects.filter(({ metadata }) => !['kube-root-ca.crt', 'default'].includes(metadata.name)).map((one) => [keyOf(one), one]),
  );
}

/** Returns the available replicas of a workload in one cluster. A stranger of the same name does not count. */
export function availableIn({ cluster, strangers }: MovingFleet, name: string, { kind, metadata }: KubernetesObject): number {
  const object = cluster(name).get(`${kind}.apps`, metadata.name, 'default');
  if (object === undefined || strangers.has(object.metadata.uid ?? '')) return 0;
  return (object.status as { readonly availableReplicas?: number } | undefined)?.availableReplicas ?? 0;
}

/** True if the cluster has the Service of the application that receives traffic from outside. */
export function hasServiceIn({ cluster, strangers }: MovingFleet, name: string, { metadata }: KubernetesObject): boolean {
  const service = cluster(name).get('Service', metadata.name, 'default');
  return service !== undefined && !strangers.has(service.metadata.uid ?? '');
}
