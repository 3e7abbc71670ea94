import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import { type BackupUsed, type MigratedApp, migratedApp, type RecordedRoom } from '../../migrate/model/migration-status-definition.ts';
import type { MigrationView } from '../../migrate/model/migrations.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import { propagationPhase } from '../../propagate/model/status-definition.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { FieldsOf, ObjectRefOf } from '../builder/pothos.ts';
import { chargeList, resolveChargedList } from '../context/budget.ts';
import type { AddedPropagation } from '../propagation/propagation-root.ts';

/** One application of a Migration, with the clusters of the Migration. */
interface MigratedAppView {
  readonly app: MigratedApp;
  readonly from: string;
  readonly to: string;
}

/** The types that plans and Migrations share. */
export interface MigrationTypes {
  readonly migration: ObjectRefOf<MigrationView>;
  readonly room: ObjectRefOf<RecordedRoom>;
  readonly backup: ObjectRefOf<BackupUsed>;
}

/** Adds `Migration` and its parts. */
export function addMigrationTypes(builder: GraphBuilder, using: AddedPropagation): MigrationTypes {
  const room = addRoom(builder);
  const backup = addBackupUsed(builder);
  const app = addMigratedApp(builder, using, room);
  const migration = builder.pothos.objectRef<MigrationView>('Migration').implement({
    description: 'One move of applications from one cluster to another.',
    fields: (t) => ({
      ...migrationFields(t, using),
      backup: t.field({
        type: backup,
        description: 'The backup from which the manifests were read. Null if they were read from the cluster.',
        resolve: (view) => view.backup,
      }),
      apps: t.field({
        type: [app],
        nullable: false,
        description: 'The applications, in the order in which they move.',
        resolve: ({ apps, from, to }, _args, context) =>
          chargeList(
            apps.map((one) => ({ app: one, from, to })),
            context,
          ),
      }),
      notes: t.field({
        type: [using.note],
        nullable: false,
        description: 'The notes about the input and the progress.',
        resolve: resolveChargedList('notes'),
      }),
      faults: t.field({
        type: [builder.types.fault],
        nullable: false,
        description: 'The faults of the clusters.',
        resolve: resolveChargedList('faults'),
      }),
    }),
  });
  return { migration, room, backup };
}

function migrationFields(t: FieldsOf<MigrationView>, { defined }: AddedPropagation) {
  return {
    id: t.id({
      nullable: false,
      description: 'An opaque id of the Migration. It stays the same until the Migration is deleted.',
      resolve: ({ uid, namespace, name }) => Buffer.from(`migration/${uid ?? `${namespace}/${name}`}`).toString('base64url'),
    }),
    namespace: t.exposeString('namespace', { nullable: false, description: 'The namespace of the Migration on the hub.' }),
    name: t.exposeString('name', { nullable: false, description: 'The name of the Migration.' }),
    phase: t.field({
      type: defined.enum(propagationPhase),
      nullable: false,
      description:
        'The phase of the Migration. `PLANNING`: no application has begun to move. `ROLLING`: applications move. `ROLLING_BACK`: applications ' +
        'are moved back. ' +
        '`PAUSED`: a failed application waits for a user. `HELD`: the current plan has another digest. `FAILED`: the plan has ' +
        'an error, or an application was moved back after a failure. `DEGRADED`: an application was skipped, has failed, or waits for a cluster that is away. ' +
        '`SETTLED`: all applications have moved, or an undo has moved all of them back.',
      resolve: ({ phase }) => schemaSpelling(phase),
    }),
    digest: t.exposeString('digest', {
      nullable: false,
      description: 'The digest of the plan. Empty if no plan is recorded yet.',
    }),
    spec: t.field({
      type: 'JSON',
      nullable: false,
      description: 'The spec of the Migration, in the form of a `MigrateInput`.',
      resolve: ({ spec }) => spec as never,
    }),
    requester: t.exposeString('requester', { description: 'The user who requested the Migration. Null if it is unknown.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'The time at which the Migration was recorded on the hub. Null if it is not recorded, such as after a dry run.',
      resolve: ({ createdAt }) => createdAt,
    }),
  };
}

function addRoom({ pothos }: GraphBuilder): ObjectRefOf<RecordedRoom> {
  return pothos.objectRef<RecordedRoom>('Room').implement({
    description: 'An amount of Pods, CPU and memory: requested or free.',
    fields: (t) => ({
      pods: t.exposeInt('pods', { nullable: false, description: 'The number of Pods.' }),
      cpu: t.field({ type: 'Quantity', nullable: false, description: 'The CPU cores, such as `1500m`.', resolve: ({ cpu }) => cpu }),
      memory: t.field({ type: 'Quantity', nullable: false, description: 'The memory, such as `2Gi`.', resolve: ({ memory }) => memory }),
    }),
  });
}

function addBackupUsed({ pothos }: GraphBuilder): ObjectRefOf<BackupUsed> {
  return pothos.objectRef<BackupUsed>('BackupUsed').implement({
    description: 'The backup from which manifests are read.',
    fields: (t) => ({
      cluster: t.exposeString('cluster', { description: 'The name of the cluster that gives access to the backup. Null for a file.' }),
      name: t.exposeString('name', { nullable: false, description: 'The name of the Backup, or the path of the file.' }),
      completedAt: t.field({
        type: 'DateTime',
        description: 'The time at which the backup was completed. Null for a file.',
        resolve: ({ completedAt }) => completedAt,
      }),
      ageSeconds: t.float({
        description: 'The age of the backup in seconds. Null for a file.',
        resolve: ({ completedAt }, _args, { clock }) =>
          completedAt === undefined ? undefined : Math.max(0, (clock.now() - Date.parse(completedAt)) / 1_000),
      }),
    }),
  });
}

/** The members of an application that GraphQL returns unchanged. */
const appFields = ['step', 'from', 'to', 'reason', 'message', 'since'];

function addMigratedApp(builder: GraphBuilder, using: AddedPropagation, room: ObjectRefOf<RecordedRoom>): ObjectRefOf<MigratedAppView> {
  const { changing, defined, propagation, object } = using;
  const entries = (cluster: string, list: readonly InventoryEntry[]) => list.map((entry) => ({ cluster, entry }));
  return builder.pothos.objectRef<MigratedAppView>('MigratedApp').implement({
    description: 'One application of a Migration.',
    fields: (t) => ({
      key: t.field({
        type: changing.objectKey,
        nullable: false,
        description: 'The identity of the workload.',
        resolve: ({ app }) => app.key,
      }),
      ...defined.fields(t, migratedApp, { names: appFields, of: ({ app }) => app }),
      needs: t.field({
        type: room,
        nullable: false,
        description: 'The Pods and resources that the replicas of the application request in the target.',
        resolve: ({ app }) => app.needs,
      }),
      free: t.field({
        type: room,
        nullable: false,
        description: 'The free room of the target at the time of the plan, less the needs of the applications that move before this one.',
        resolve: ({ app }) => app.free,
      }),
      propagation: t.field({
        type: propagation,
        description: 'The Propagation of the application. Null if Muster does not propagate it.',
        resolve: ({ app }, _args, { propagations, read }) =>
          app.propagation === undefined ? undefined : propagations.get(read, app.propagation),
      }),
      source: t.field({
        type: [object],
        nullable: false,
        description: 'The objects in the source. A deleted object is not listed.',
        resolve: ({ app, from }, _args, context) => chargeList(entries(from, app.source), context),
      }),
      target: t.field({
        type: [object],
        nullable: false,
        description: 'The objects in the target that are written or used.',
        resolve: ({ app, to }, _args, context) => chargeList(entries(to, app.target), context),
      }),
    }),
  });
}
