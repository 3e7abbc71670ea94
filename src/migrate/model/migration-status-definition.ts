import type { z } from 'zod';
import { listSchema, printDocument, readDocument, structureSchema, translatedSchema } from '../../core/json/documents.ts';
import {
  anyObject,
  anyText,
  clusterText,
  count,
  describedEnum,
  flag,
  integer,
  message,
  textEnum,
  time,
} from '../../core/json/field-definitions.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { entry, recordedFault } from '../../propagate/model/inventory-definition.ts';
import { recordedNote } from '../../propagate/model/note-definition.ts';
import { objectKeyFields, withKey } from '../../propagate/model/object-key-definition.ts';
import { propagationPhase } from '../../propagate/model/status-definition.ts';
import { maxApps } from './migration-spec-definition.ts';

/** Maximum number of objects of one application in one cluster. */
export const maxAppObjects = 100;

/**
 * Maximum number of objects of a whole Migration, in both clusters together. Each has about 350 bytes in the status, and a resource on the
 * hub has at most 1.5 MiB.
 */
export const maxMigrationObjects = 2_000;

const generation = integer(0, Number.MAX_SAFE_INTEGER);

/** The steps of an application, in their order. Each step is recorded before its first write. */
const migrationStep = describedEnum('MigrationStep', 'The step of an application in its migration.', {
  Preflight: 'The application is being checked. No object is written yet.',
  Surge: 'The objects of the application are being created in the target.',
  Health: 'The workload in the target is not healthy yet.',
  Traffic: 'Services and Ingresses are being created in the target, and the hook is called.',
  Soak: 'The application runs in both clusters.',
  Drain: 'Services and Ingresses of the source are being deleted, and its workload is scaled to 0.',
  Remove: 'The objects that are left in the source are being deleted.',
  Done: 'The application runs in the target only.',
  Undone: 'The application runs in the source as before.',
  Skipped: 'The application cannot be moved: see `reason`. No object was written.',
});

/** An amount of Pods, CPU and memory: the requests of an application, or the free room of a cluster. */
const room = structureSchema({
  pods: integer(-(2 ** 31), 2 ** 31 - 1).describe('The number of Pods.'),
  cpu: anyText.describe('The CPU cores as a quantity, such as `1500m`.'),
  memory: anyText.describe('The memory as a quantity, such as `2Gi`.'),
});

const reason = textEnum([
  'Capacity',
  'Conflict',
  'NamespaceMissing',
  'ApiMissing',
  'Denied',
  'Invalid',
  'TimedOut',
  'Unhealthy',
  'HookFailed',
  'Unreachable',
  'SurgeHeld',
]);

const hookCall = structureSchema({
  operation: textEnum(['Shift', 'Undo', 'Finish']).describe('The operation that the hook is asked for.'),
  id: anyText.describe('The id of the operation. It is the same for all attempts.'),
  state: textEnum(['Sent', 'Done', 'Failed']).describe(
    'Sent: recorded before the first attempt. Done and Failed: the operation has ended.',
  ),
  since: time.describe('The time at which the operation was recorded.'),
  attempts: count.exactOptional().describe('The number of attempts that failed. Not set if there was none.'),
  nextAt: time.exactOptional().describe('The time of the next attempt. Not set if none is planned.'),
});

/** The records that the undo of an application needs besides its inventory. They contain no data of Secrets. */
const undo = structureSchema({
  isRequested: flag.exactOptional().describe('True: the application is being undone.'),
  revision: anyText
    .exactOptional()
    .describe(
      'The ControllerRevision on the hub that has the manifests of the source, and those for the target, without the data of Secrets. Saved before the first copy is created. An object that was edited in the source since then is saved again before it is deleted.',
    ),
  replicas: count.exactOptional().describe('The number of replicas that the workload had in the source.'),
  reason: reason.exactOptional().describe('The reason of the failure because of which the application is undone. Not set otherwise.'),
  message: message.exactOptional().describe('The message of that failure.'),
  lost: listSchema(message, { max: maxAppObjects })
    .exactOptional()
    .describe('The parts that the undo could not restore, one text for each. Each is also a note `NOT_RESTORED`.'),
  held: listSchema(message, { max: maxAppObjects })
    .exactOptional()
    .describe(
      'The objects that stay in the source because objects outside the migration have needed them since the plan, one text for each. Each is also a note `STILL_NEEDED`.',
    ),
  differing: listSchema(message, { max: maxAppObjects })
    .exactOptional()
    .describe(
      'The objects of the source that were edited after the plan and have other values than their copies, one text for each. Each is also a note `COPY_DIFFERS`.',
    ),
  replaced: listSchema(message, { max: maxAppObjects })
    .exactOptional()
    .describe('The workloads of the source that were replaced, and stay there, one text for each. Each is also a note `POSSIBLY_DOUBLED`.'),
  placement: anyObject.exactOptional().describe('For a propagated application: the placement of its Propagation before the migration.'),
});

const propagationRef = structureSchema({
  namespace: anyText.describe('The namespace of the Propagation.'),
  name: anyText.describe('The name of the Propagation.'),
  uid: anyText.describe('The uid of the Propagation.'),
});

const appObjects = listSchema(entry, { max: maxAppObjects });

/** One application of a Migration. */
export const migratedApp = translatedSchema(
  structureSchema({
    ...objectKeyFields,
    uid: anyText.exactOptional().describe('The uid of the workload in the source, or in the backup.'),
    step: migrationStep.describe('The step of the application.'),
    from: count.describe('The number of replicas in the source.'),
    to: count.describe('The number of replicas in the target.'),
    reason: reason.exactOptional().describe('Why the application waits, failed or was skipped, as one word. Not set otherwise.'),
    message: message
      .exactOptional()
      .describe('Why the application waits, failed or was skipped, as a sentence. It contains no values of manifests.'),
    since: time.describe('The time since which the application is in this step.'),
    deadlineSince: time.exactOptional().describe('The time from which the deadline of the step counts. Not set if none runs.'),
    needs: room.describe('The Pods and resources that the replicas of the application request in the target.'),
    free: room.describe('The free Pods and resources of the target at the time of the plan, after the applications before this one.'),
    propagation: propagationRef.exactOptional().describe('The Propagation of the application. Not set if Muster does not propagate it.'),
    source: appObjects
      .default([])
      .describe('The objects in the source. An object that stays there is Shared. A deleted object has no entry.'),
    target: appObjects.default([]).describe('The objects in the target. A copy is Owned. An existing object that is used is Shared.'),
    calls: listSchema(hookCall, { max: 3 }).default([]).describe('The calls of the hook, at most one for each operation.'),
    undo: undo.exactOptional().describe('The records that the undo needs.'),
    fault: recordedFault
      .exactOptional()
      .describe('The last fault of a request for this application. Not set if the last request succeeded.'),
  }),
  {
    decode(flat) {
      const [key, rest] = withKey(flat);
      return { key, ...rest };
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** The backup from which the manifests were read. */
const backupUsed = structureSchema({
  cluster: clusterText.exactOptional().describe('The cluster that gave access to the backup. Not set for a file.'),
  name: anyText.describe('The name of the Backup, or the path of the file.'),
  completedAt: time.exactOptional().describe('The time at which the backup was completed. Not set for a file.'),
});

/** `status` of a Migration. Times are RFC 3339. A new resource has no status. */
export const migrationStatus = structureSchema({
  observedGeneration: generation.exactOptional().describe('The generation that the other fields are about.'),
  phase: propagationPhase.exactOptional().describe('The phase of the Migration.'),
  digest: anyText.exactOptional().describe('The digest of the plan that is carried out.'),
  plannedAt: time.exactOptional().describe('The time of the plan that is carried out. Not set before it is recorded.'),
  resumedAt: time.exactOptional().describe('The annotation `muster.dev/resumed-at` that was last acted on.'),
  undoSince: time.exactOptional().describe('The time at which the undo of the whole Migration began. Not set otherwise.'),
  backup: backupUsed.exactOptional().describe('The backup from which the manifests were read. Not set with source Live.'),
  apps: listSchema(migratedApp, { max: maxApps }).exactOptional().describe('The applications, in the order in which they move.'),
  notes: listSchema(recordedNote, { max: 1_000 }).exactOptional().describe('The notes of the plan and of its progress.'),
});

/** `status` of a Migration (`migration-status-definition.ts` describes the fields). */
export type MigrationStatus = z.output<typeof migrationStatus>;
export type MigratedApp = NonNullable<MigrationStatus['apps']>[number];
/** Why an application waits, failed or was skipped. `schemaSpelling` gives its code in GraphQL and in notes. */
export type MigratedAppReason = NonNullable<MigratedApp['reason']>;
export type HookCall = MigratedApp['calls'][number];
export type RecordedRoom = z.output<typeof room>;
export type BackupUsed = z.output<typeof backupUsed>;

/** Reads the status of a document. Leaves out top-level members that cannot be read. */
export function parseMigrationStatus(document: JsonObject): MigrationStatus {
  const read = readDocument(migrationStatus, document);
  if ('value' in read) return read.value;
  const wrong = new Set(read.problems.map(({ path }) => /^[^.[]*/.exec(path)?.[0]));
  const rest = Object.entries(document).filter(([name]) => !wrong.has(name));
  return rest.length < Object.keys(document).length ? parseMigrationStatus(Object.fromEntries(rest)) : {};
}

/** Prints a status as a document. */
export function printMigrationStatus(of: MigrationStatus): JsonObject {
  return objectAt({ status: printDocument(migrationStatus, of) }, 'status');
}
