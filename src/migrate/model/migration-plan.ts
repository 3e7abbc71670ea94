import type { Fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import type { Note } from '../../propagate/model/notes.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import type { BackupUsed, MigratedAppReason, RecordedRoom } from './migration-status-definition.ts';

/**
 * The codes of the notes of a migration. A skipped application has a WARNING with the code of its reason. A plan has an ERROR only with
 * `NO_APPS`, `UNREACHABLE`, `DENIED`, `NOTHING_FITS`, `NO_BACKUP`, `BACKUP_MALFORMED` or `TOO_LARGE`. The answer to a `migrate` request and a
 * Migration on the hub can also have the ERROR `PLAN_STALE`. Only a Migration on the hub can have the ERROR `INVALID`.
 */
export type MigrationNoteCode =
  | 'NO_APPS'
  | 'UNREACHABLE'
  | 'DENIED'
  | 'NOTHING_FITS'
  | 'NO_BACKUP'
  | 'BACKUP_MALFORMED'
  | 'TOO_LARGE'
  | 'PLAN_STALE'
  | 'CAPACITY'
  | 'CONFLICT'
  | 'NAMESPACE_MISSING'
  | 'API_MISSING'
  | 'INVALID'
  | 'UNKNOWN_APP'
  | 'COPIES_IGNORED'
  | 'VOLUME_DATA'
  | 'OWNED_OBJECTS'
  | 'SOURCE_REACHABLE'
  | 'POSSIBLY_DOUBLED'
  | 'HOOK_FAILED'
  | 'NOT_RESTORED'
  | 'STILL_NEEDED'
  | 'COPY_DIFFERS';

/** A warning, error or information about a migration. Messages never contain values of a manifest. */
export interface MigrationNote extends Omit<Note, 'code'> {
  readonly code: MigrationNoteCode;
}

/** One object of an application in the target. */
export interface PlannedTargetObject {
  readonly key: ObjectKey;
  /** `UNCHANGED`: an equal ConfigMap, Secret or ServiceAccount exists already. It is used, and an undo leaves it. */
  readonly action: 'CREATE' | 'UNCHANGED';
  /** `Traffic`: a Service that is not headless, or an Ingress. It is written only after the workload is healthy. `Surge`: any other object. */
  readonly stage: 'Surge' | 'Traffic';
  /**
   * The manifest with the replicas of the target, without the fields that a server fills in (`portableOf`). It has no marks, and for a
   * Secret no data.
   */
  readonly desired: Manifest;
  /** SHA-256 of the canonical JSON of `desired`. For a Secret, the resourceVersion of its source is included. */
  readonly desiredHash: string;
  /** The uid of the existing object. Only for `UNCHANGED`. */
  readonly uid?: string;
}

/** One object of an application in the source. */
export interface LeavingObject {
  readonly key: ObjectKey;
  /**
   * `HOLD`: the object stays. An object outside the migration needs it, or it is a PersistentVolumeClaim, or a Secret that the target has
   * already.
   */
  readonly action: 'DELETE' | 'HOLD';
  /** `Traffic`: deleted in the step Drain, before the workload is scaled to 0. `Surge`: deleted in the step Remove. */
  readonly stage: 'Surge' | 'Traffic';
  /** The object as it is in the source, or in the backup. Secrets have metadata only. */
  readonly object: KubernetesObject;
  readonly uid?: string;
}

/** The plan for one application. */
export interface AppPlan {
  readonly key: ObjectKey;
  /** The uid of the workload. Absent if it does not exist. */
  readonly uid?: string;
  /** The labels of the workload, for the hook. */
  readonly labels: Readonly<Record<string, string>>;
  /** The number of replicas in the source. `to` is the number in the target. */
  readonly from: number;
  readonly to: number;
  /** The room that the replicas of the application need in the target. */
  readonly needs: RecordedRoom;
  /** The free room of the target, without the room of the applications that move earlier. */
  readonly free: RecordedRoom;
  /** Why the application is skipped. Absent if it moves. */
  readonly skipped?: { readonly reason: MigratedAppReason; readonly message: string };
  /** The Propagation of the workload. Its placement is changed instead of the objects. Absent if Muster does not propagate the workload. */
  readonly propagated?: PropagatedApp;
  /** The objects in write order. Empty if the application is skipped or propagated. */
  readonly target: readonly PlannedTargetObject[];
  /** The objects in reverse write order. Empty if the application is skipped or propagated. */
  readonly source: readonly LeavingObject[];
}

/** The Propagation of an application, and the placement that moves it. */
export interface PropagatedApp {
  readonly propagation: Propagation;
  /** The `placement` of the spec document after the move. */
  readonly placement: Propagation['document'];
}

/** The plan of a migration. Nothing was written for it. */
export interface MigrationPlan {
  /** The digest of `migrationDigestOf`. Plans with the same digest move the same applications in the same way. */
  readonly digest: string;
  /** True if no note has the severity ERROR. */
  readonly ok: boolean;
  /** The earliest time of sync among the mirrors of the source, in Unix milliseconds. The time of the plan if none of them was read. */
  readonly asOfMs: number;
  /** The source of the migration. It may have left the fleet, as may `to`, the target. */
  readonly from: ClusterName;
  readonly to: ClusterName;
  /** The needs of all applications together, also of those that are skipped. */
  readonly needs: RecordedRoom;
  /** The room in the target before the migration. */
  readonly free: RecordedRoom;
  /** The backup from which objects are read. Absent if the source is read. */
  readonly backup?: BackupUsed;
  /** The applications in the order in which they move. */
  readonly apps: readonly AppPlan[];
  readonly notes: readonly MigrationNote[];
  readonly faults: readonly Fault[];
}
