import { createObjectClient } from '../../../src/changes/create-object-client.ts';
import type { ConfiguredHook } from '../../../src/config/config.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createBackupReader } from '../../../src/migrate/backups/create-backup-reader.ts';
import { createAppRevisionStore } from '../../../src/migrate/hub/app-revision-store.ts';
import { createMigrationStore, type MigrationStore, migrationKind } from '../../../src/migrate/hub/migration-store.ts';
import type { Migration } from '../../../src/migrate/model/migration.ts';
import { createMigrationPlanner } from '../../../src/migrate/plan/create-migration-planner.ts';
import { runMigrations } from '../../../src/migrate/steps/run-migrations.ts';
import type { MigrationPorts } from '../../../src/migrate/steps/step-ports.ts';
import { type ControllerWorld, deployment, type LeaderProcess, startControllerWorld } from '../../propagate/controller/controller-world.ts';

/** Clusters, a hub, and processes with the engine of migrations. */
export interface MigrationWorld extends AsyncDisposable {
  readonly controller: ControllerWorld;
  readonly migrations: MigrationStore;
  /** Creates a Migration in `default`, from south to east. */
  migrate(name: string, document: JsonObject, annotations?: Readonly<Record<string, string>>): Promise<void>;
  annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void>;
  /** Deletes the Migration as a user does. Its finalizer keeps it until its applications are taken back. */
  delete(name: string): Promise<void>;
  /** The Migration from the mirror, at once. */
  mirrored(name: string): Migration | undefined;
  /** Advances time until the Migration has this phase, and its applications these steps. */
  ended(name: string, phase: string, steps: Readonly<Record<string, string>>, withinMs?: number): Promise<Migration>;
  /** An object of a cluster as kubectl gets it. */
  live(cluster: string, kind: string, name: string): KubernetesObject | undefined;
}

export interface MigrationWorldOptions {
  /** The objects in south. */
  readonly objects: readonly KubernetesObject[];
  /** The objects in other clusters. A further cluster joins the fleet. */
  readonly others?: Readonly<Record<string, readonly KubernetesObject[]>>;
  readonly hook?: ConfiguredHook;
}

/** Starts the clusters north (the hub), south with these objects, and east. */
export async function startMigrationWorld({ objects, others, hook }: MigrationWorldOptions): Promise<MigrationWorld> {
  const life = new AbortController();
  let stored: MigrationStore | undefined;
  const controller = await startControllerWorld(
    { north: [], south: objects, east: [], ...others },
    {
      living: true,
      leaderWork: (process) => (term) => {
        const { hub, stores, clock, log } = process;
        const ports: MigrationPorts = {
          ...{ hub, clock, log },
          clientOf: clientsOf(hub),
          migrations: createMigrationStore(hub, term.signal),
          revisions: createAppRevisionStore(hub),
          ...{ propagations: stores.propagations, shares: stores.shares },
          planner: migrationPlannerOf(process, () => stored?.all()),
          readBackup: backupReaderOf(process),
          hookNamed: () => hook,
        };
        return runMigrations(ports, term);
      },
    },
  );
  const { world } = controller;
  const migrations = createMigrationStore(world.hub, life.signal);
  stored = migrations;
  const read = (name: string) => {
    const found = migrations.read({ namespace: 'default', name });
    return found.result === 'held' ? found.migration : undefined;
  };
  return {
    ...{ controller, migrations, mirrored: read },
    async migrate(name, document, annotations = {}) {
      const place = { namespace: 'default', name };
      const creation = { document: { from: 'south', to: 'east', ...document }, annotations };
      const written = await world.pumped(migrations.create(place, creation, life.signal));
      if (written.result !== 'written') throw new Error(`expected a Migration, got ${JSON.stringify(written)}`);
    },
    async annotate(name, annotations) {
      await world.until(() => read(name) !== undefined);
      const found = read(name);
      if (found === undefined) throw new Error(`expected ${name}`);
      await world.pumped(migrations.annotate(found, annotations, life.signal));
    },
    async delete(name) {
      const resource = world.members.objects.served(world.hub.cluster, migrationKind);
      if (resource === undefined || resource === 'absent') throw new Error('expected a served kind');
      const deletion = { resource, namespace: 'default', name, preconditions: {}, cascade: 'Background', run: 'real' } as const;
      await world.pumped(Promise.resolve(world.clientOf('north')?.delete(deletion, life.signal)));
    },
    async ended(name, phase, steps, withinMs) {
      const isSo = () => {
        const status = read(name)?.status;
        const now = Object.fromEntries((status?.apps ?? []).map((app) => [app.key.name, app.step]));
        return status?.phase === phase && JSON.stringify(now) === JSON.stringify(steps);
      };
      try {
        await world.until(isSo, withinMs);
      } catch {
        throw new Error(`expected ${name} to be ${phase}, got ${JSON.stringify(read(name)?.status ?? null, null, 1)}`);
      }
      const found = read(name);
      if (found === undefined) throw new Error(`expected ${name}`);
      return found;
    },
    live: (cluster, kind, name) => world.cluster(clusterName(cluster)).get(kind, name, 'default'),
    async [Symbol.asyncDispose]() {
      life.abort();
      await controller[Symbol.asyncDispose]();
    },
  };
}

function clientsOf({ members }: LeaderProcess['hub']): MigrationPorts['clientOf'] {
  return (name) => {
    const api = members.api(name);
    return api === undefined ? undefined : createObjectClient(api);
  };
}

/** Reads backups of Velero. No folder with archives is configured. */
function backupReaderOf({ hub, clock }: Pick<LeaderProcess, 'hub' | 'clock'>): MigrationPorts['readBackup'] {
  const config = { folders: [], groups: [], allowHttp: false };
  return createBackupReader({ members: hub.members, clientOf: clientsOf(hub), config, clock });
}

function migrationPlannerOf({ hub, stores, planner, clock }: Omit<LeaderProcess, 'log'>, all: MigrationStore['all']) {
  return createMigrationPlanner({
    migrations: { all },
    readBackup: backupReaderOf({ hub, clock }),
    ...{ members: hub.members, clientOf: clientsOf(hub), clock, planner, sensitiveKinds: { has: () => false } },
    hub: { ...stores, cluster: hub.cluster },
  });
}

/** A Service for the Pods of the workload with the same name. */
export function service(name: string): KubernetesObject {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 }] } };
}

/** A Deployment, as an object of a cluster. */
export function workload(name: string, replicas = 2): KubernetesObject {
  return deployment(name, replicas) as KubernetesObject;
}

/** Makes a cluster unreachable until the result is disposed of. */
export function cutOff({ controller: { world } }: MigrationWorld, name: string): Disposable {
  const refused = world.cluster(name).refuse();
  world.cluster(name).disconnect();
  return refused;
}
