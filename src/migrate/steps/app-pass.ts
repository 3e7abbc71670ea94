import { describeFault } from '../../changes/describe-fault.ts';
import type { ObjectAddress } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import { numberAt } from '../../core/json-at.ts';
import { type GroupKind, versionOfApiVersion } from '../../core/kinds.ts';
import { type ClusterName, clusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, namespacedNameOf, textOfKey } from '../../manifests/object-key.ts';
import type { GuardedClient } from '../../propagate/apply/guarded-client.ts';
import { retryAfterMs } from '../../propagate/controller/state/work-queue.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import type { CopyReason } from '../../propagate/model/propagation.ts';
import { copyFault, copyReasonOf, recordFault } from '../../propagate/plan/copies/copy-reason.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import type { BackupRead } from '../discover/source-objects.ts';
import type { KeptManifest } from '../hub/app-revision-store.ts';
import { isReturning } from '../model/migrated-app.ts';
import type { Migration } from '../model/migration.ts';
import type { MigratedApp, MigratedAppReason } from '../model/migration-status-definition.ts';
import { type CountField, countPathOf } from '../plan/movable-manifest.ts';
import { withoutReason } from './app-state.ts';
import type { MigrationPorts, ValidMigration } from './step-ports.ts';

/** A cluster of the migration: the source, which applications leave, or the target. */
export type MigrationSide = KeptManifest['side'];

/** The inputs and tools of one pass over one application. */
export interface AppPass {
  readonly ports: MigrationPorts;
  readonly migration: ValidMigration;
  /** The manifests of the application in both clusters. */
  readonly kept: readonly KeptManifest[];
  readonly signal: AbortSignal;
  /** Returns the client of one of the clusters, with the identity of the migration. Undefined if the cluster is not in the fleet. */
  client(side: MigrationSide): GuardedClient | undefined;
  /** Returns the Migrations that were planned after this one. */
  laterMoves(): readonly Migration[];
  /** Reads the backup from which the migration was planned, once in a pass. Only called for migrations from a backup. */
  backup(): Promise<BackupRead>;
}

/** Why a step of an application must not change or delete objects now. */
export interface StepHold {
  readonly reason: Extract<MigratedAppReason, 'Unhealthy' | 'Conflict'>;
  readonly message: string;
  /** True: the application has failed. False: it waits until the cause is gone. */
  readonly isFailure: boolean;
}

/** The result of one step of an application. */
export type StepOutcome =
  /** The application is recorded. Then the step that it has now runs at once: the next step, or the same one again. */
  | { readonly type: 'next'; readonly app: MigratedApp }
  /** The application is recorded. A change triggers the next pass, or `againMs` does. Undefined: only a change does. */
  | { readonly type: 'wait'; readonly app: MigratedApp; readonly againMs?: number | undefined }
  /** This process does not lead any more. Nothing is recorded. */
  | { readonly type: 'stopped' };

/** Maximum milliseconds until a waiting application is checked again. A change in the mirrors of its objects triggers a check at once. */
export const recheckMs = 10_000;

export function clusterOf({ migration: { spec } }: Pick<AppPass, 'migration'>, side: MigrationSide): ClusterName {
  return clusterName(side === 'source' ? spec.from : spec.to);
}

/** Returns the present time, in RFC 3339. */
export function nowOf({ ports: { clock } }: Pick<AppPass, 'ports'>): string {
  return new Date(clock.now()).toISOString();
}

/** True if the cluster is in the fleet and answers, as far as the mirrors know. */
export function isReachable(pass: Pick<AppPass, 'ports' | 'migration'>, side: MigrationSide): boolean {
  const phase = pass.ports.hub.members.get(clusterOf(pass, side))?.phase;
  return phase !== undefined && phase !== 'UNREACHABLE';
}

/** Returns the fault of a cluster that does not answer, or that has left the fleet. */
export function awayFault(pass: Pick<AppPass, 'ports' | 'migration'>, side: MigrationSide): Fault {
  const cluster = clusterOf(pass, side);
  return pass.ports.hub.members.get(cluster) === undefined
    ? copyFault(cluster, 'GONE', 'the cluster is not in the fleet')
    : copyFault(cluster, 'UNREACHABLE', 'the cluster does not answer');
}

/** Returns the address of an object in one of the clusters, or the fault why there is none. */
export function addressIn(pass: AppPass, side: MigrationSide, key: ObjectKey): ObjectAddress | { readonly fault: Fault } {
  const cluster = clusterOf(pass, side);
  const served = pass.ports.hub.members.objects.served(cluster, key);
  if (served === undefined) return { fault: copyFault(cluster, 'UNREACHABLE', 'the cluster has not answered yet') };
  if (served === 'absent')
    return { fault: copyFault(cluster, 'NOT_SERVED', `the cluster does not serve ${key.kind} in ${key.apiVersion}`) };
  const { namespace, name } = key;
  return { resource: { ...served, version: versionOfApiVersion(key.apiVersion) }, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** The client and the address with which one object is read and changed. */
interface ReachedObject {
  readonly client: GuardedClient;
  readonly address: ObjectAddress;
}

/** Returns the client and the address of an object in one of the clusters, or the fault why the object cannot be reached. */
export function reachObject(pass: AppPass, side: MigrationSide, key: ObjectKey): ReachedObject | { readonly fault: Fault } {
  const client = pass.client(side);
  if (client === undefined) return { fault: awayFault(pass, side) };
  const address = addressIn(pass, side, key);
  return 'fault' in address ? address : { client, address };
}

/** Reads an object of one of the clusters from its mirror. */
export function mirroredIn(pass: Pick<AppPass, 'ports' | 'migration'>, side: MigrationSide, key: ObjectKey): MirroredObject {
  return pass.ports.hub.members.objects.read(clusterOf(pass, side), groupKindOfKey(key), namespacedNameOf(key));
}

const definitionKind: GroupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** Returns the path of a count of the workload. Default: that in `spec`. Undefined if no definition of its kind is visible. */
export function countPathIn(pass: AppPass, { key }: Pick<MigratedApp, 'key'>, field?: CountField): readonly string[] | undefined {
  const { objects } = pass.ports.hub.members;
  const sides: readonly MigrationSide[] = ['source', 'target'];
  const definitions = sides.flatMap((side) => objects.all(clusterOf(pass, side), definitionKind) ?? []);
  return countPathOf(key, definitions, field);
}

/** Returns the count in the spec of a workload. Undefined if it has none. */
export function countIn(pass: AppPass, app: Pick<MigratedApp, 'key'>, workload: Manifest | KubernetesObject): number | undefined {
  const path = countPathIn(pass, app);
  return path === undefined ? undefined : numberAt(workload, ...path);
}

/** The result of a live read. `object` is undefined if the object does not exist. `stopped`: this process does not lead any more. */
export type LiveObjectRead =
  | { readonly result: 'read'; readonly object: KubernetesObject | undefined }
  | { readonly result: 'failed'; readonly fault: Fault }
  | { readonly result: 'stopped' };

/** Reads an object of one of the clusters from its API server. */
export async function readInCluster(pass: AppPass, side: MigrationSide, key: ObjectKey): Promise<LiveObjectRead> {
  const reached = reachObject(pass, side, key);
  if ('fault' in reached) return { result: 'failed', ...reached };
  const answer = await reached.client.get(reached.address);
  switch (answer.result) {
    case 'answered':
      return { result: 'read', object: answer.object };
    case 'absent':
      return { result: 'read', object: undefined };
    case 'failed':
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** Returns the entry of an object in one of the clusters. Undefined if there is none. */
export function entryOf(app: Pick<MigratedApp, MigrationSide>, side: MigrationSide, key: ObjectKey): InventoryEntry | undefined {
  const text = textOfKey(key);
  return app[side].find((entry) => textOfKey(entry.key) === text);
}

/** Returns the application with `next` as the entry of an object. The entry is removed if `next` is undefined. */
export function withEntry(app: MigratedApp, side: MigrationSide, key: ObjectKey, next: InventoryEntry | undefined): MigratedApp {
  const text = textOfKey(key);
  const known = app[side].some((entry) => textOfKey(entry.key) === text);
  if (!known) return next === undefined ? app : { ...app, [side]: [...app[side], next] };
  return { ...app, [side]: app[side].flatMap((entry) => (textOfKey(entry.key) !== text ? [entry] : next === undefined ? [] : [next])) };
}

/**
 * Returns the outcome of a request that failed. If its cluster is away, the application waits and tries again, with a backoff. Any other
 * fault halts the application. An application that is being undone is never halted here: it tries again after each fault.
 */
export function outcomeOfFault(pass: AppPass, app: MigratedApp, fault: Fault): StepOutcome {
  const recorded = recordFault(fault, app.fault, nowOf(pass));
  const reason = appReasonOf(copyReasonOf(fault));
  const message = `${fault.cluster}: ${describeFault(fault)}`.slice(0, 1_024);
  const againMs = retryAfterMs(recorded.count ?? 1, pass.ports.clock.random());
  if (isReturning(app)) return { type: 'wait', app: { ...app, reason, message, fault: recorded }, againMs };
  if (reason !== 'Unreachable') return halted(pass, { ...app, fault: recorded }, { reason, message });
  return { type: 'wait', app: { ...app, reason, message, fault: recorded }, againMs };
}

/**
 * Returns the outcome of an application that waits without a fault: it has this message and no reason. A failure that caused the undo stays
 * in `undo`.
 */
export function waitFor(app: MigratedApp, message: string): StepOutcome {
  const isKnown = app.reason === undefined && app.message === message;
  return { type: 'wait', app: isKnown ? app : { ...withoutReason(app), message }, againMs: recheckMs };
}

/**
 * Returns the outcome of a failure. With `onFailure: Rollback`, the application is undone. With any other value, or while it is being
 * undone already, it stops with this reason.
 */
export function halted(
  { migration }: AppPass,
  app: MigratedApp,
  { reason, message }: { readonly reason: MigratedAppReason; readonly message: string },
): StepOutcome {
  const { deadlineSince: _deadline, ...failed } = { ...app, reason, message };
  if (migration.spec.onFailure !== 'Rollback' || isReturning(app)) return { type: 'wait', app: failed };
  return { type: 'next', app: { ...failed, undo: { ...app.undo, isRequested: true, reason, message } } };
}

function appReasonOf(reason: CopyReason): MigratedAppReason {
  switch (reason) {
    case 'Conflict':
    case 'Denied':
    case 'NamespaceMissing':
    case 'ApiMissing':
    case 'Invalid':
    case 'Unreachable':
    case 'Unhealthy':
    case 'TimedOut':
    case 'SurgeHeld':
      return reason;
    case 'Quota':
      return 'Denied';
    case 'Terminating':
      return 'NamespaceMissing';
    default:
      return 'Invalid';
  }
}
