import type { ObjectAddress } from '../../changes/object-client.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import type { GuardedClient } from '../../propagate/apply/guarded-client.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import { deletionOf } from '../../propagate/plan/copies/copy-marks.ts';
import { isClaimKey } from '../discover/owned-objects.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { shownKey } from '../plan/preflight-app.ts';
import { type AppPass, awayFault, clusterOf, type MigrationSide, mirroredIn, reachObject, withEntry } from './app-pass.ts';
import { withDiffering, withHeld, withLost, withReplaced } from './app-state.ts';
import { changeSpec, deleteFromCluster, type JudgeChange, type StepChange } from './change-objects.ts';
import { type ChangedApp, leftAction } from './create-copies.ts';
import { isClaimPolicySeen, keepOwned, patchToKeepClaims } from './keep-owned.ts';
import { checkLeave, checkReturn } from './leave-source.ts';
import { outsideNeedOf } from './outside-needs.ts';
import { isUsedByLaterMove, useBySiblings } from './sibling-objects.ts';
import { judgeSourceChange, type ReadObject, recordEdited } from './source-edits.ts';

/** The objects to remove. */
export interface RemovedObjects {
  readonly side: MigrationSide;
  /** Default: all. */
  readonly only?: (key: ObjectKey) => boolean;
}

/**
 * Deletes the objects of an application in one cluster, in reverse write order, each by its uid.
 *
 * - PersistentVolumeClaims and shared objects stay. So do the objects that Kubernetes would delete with their owner, except Pods and ReplicaSets.
 * - An object that another application of the migration needs stays. The last of these applications deletes it.
 * - In the target, an object that a later Migration found equal and uses stays, with a note.
 * - In the source, an object that was edited is recorded first. A Secret that has other data than its copy stays.
 * - In the source, an object that an object outside the migration needs by now stays, with a note.
 * - Each deletion waits until the other cluster has enough healthy replicas.
 *
 * The entry of a deleted object is removed. An object that waits for its finalizers keeps its entry, as `Deleting`.
 */
export async function removeObjects(pass: AppPass, given: MigratedApp, { side, only = () => true }: RemovedObjects): Promise<ChangedApp> {
  let app = given;
  for (const entry of inWriteOrder(given[side]).toReversed()) {
    const { key } = entry;
    // A shared entry with an intent token stands for a copy that another application of the migration created. The last application that uses the
    // copy deletes it.
    const isOwn = entry.state !== 'Shared' || (side === 'target' && entry.intent !== undefined);
    if (!only(key) || !isOwn) continue;
    const use = isClaimKey(key) ? 'used' : useBySiblings(pass, app, { side, key });
    if (use === 'unclear') continue;
    if (use === 'used') {
      app = withEntry(app, side, key, leftEntry(entry));
      continue;
    }
    if (side === 'target' && isUsedByLaterMove(pass, entry)) {
      const message = `${shownKey(key)} stays in ${clusterOf(pass, side)}: a later migration uses it`;
      app = withLost(withEntry(app, side, key, leftEntry(entry)), message);
      continue;
    }
    const reached = reachObject(pass, side, key);
    if ('fault' in reached) return { result: 'failed', app, ...reached };
    const check = side === 'source' ? await checkLeave(pass, app) : await checkReturn(pass, app);
    if (check.result !== 'ready') return check.result === 'stopped' ? { result: 'stopped' } : { ...check, app };
    const change = await removeObject(pass, app, { side, entry, ...reached });
    switch (change.result) {
      case 'changed':
        // The next pass deletes the workload, once its controller has seen that the claims stay.
        break;
      case 'refused':
        if (change.why === 'record') return await recordEdited(pass, app, { key, object: change.object });
        if (change.why === 'keep') app = withDiffering(withEntry(app, side, key, leftEntry(entry)), keptMessage(pass, key));
        if (change.why === 'needed') app = withHeld(withEntry(app, side, key, leftEntry(entry)), heldMessage(pass, key));
        break;
      case 'gone':
        app = withEntry(app, side, key, undefined);
        break;
      case 'foreign':
        app = withForeignLeft(pass, withEntry(app, side, key, undefined), { side, key });
        break;
      case 'deleting':
        app = withEntry(app, side, key, { ...entry, state: 'Deleting' });
        break;
      case 'failed':
        return { result: 'failed', app, fault: change.fault };
      case 'stopped':
        return change;
      default:
        return { result: 'failed', app, fault: awayFault(pass, side) };
    }
  }
  return { result: 'done', app };
}

interface RemovedObject {
  readonly side: MigrationSide;
  readonly entry: InventoryEntry;
  readonly client: GuardedClient;
  readonly address: ObjectAddress;
}

/**
 * Deletes one object, and keeps the objects that Kubernetes would delete with it:
 *
 * 1. A StatefulSet that would delete its claims is changed to keep them. It is deleted once its controller has seen the change (`later`).
 * 2. The references to the object are removed from the objects that it owns and that are no Pods or ReplicaSets.
 */
async function removeObject(pass: AppPass, app: MigratedApp, { side, entry, client, address }: RemovedObject): Promise<StepChange> {
  const { key } = entry;
  const judge: JudgeChange = async (object) => {
    const verdict = side === 'source' ? await judgeRemoval(pass, app, { key, object }) : 'change';
    if (verdict !== 'change') return verdict;
    if (Object.keys(patchToKeepClaims(object)).length > 0 || !isClaimPolicySeen(object)) return 'later';
    const { uid } = object.metadata;
    return (uid === undefined ? undefined : await keepOwned(pass, side, { key, uid })) ?? 'change';
  };
  const change = await deleteFromCluster(client, address, { entry, judge });
  if (change.result !== 'refused' || change.why !== 'later') return change;
  return await changeSpec(client, address, { entry, patchOf: patchToKeepClaims });
}

/**
 * Decides whether an object of the source may be removed: only if an undo can restore it, and no object outside the migration needs it now.
 * The check of the needs is not made for the workload itself.
 */
async function judgeRemoval(pass: AppPass, app: MigratedApp, read: ReadObject): ReturnType<JudgeChange> {
  const verdict = await judgeSourceChange(pass, app, read);
  if (verdict !== 'change' || textOfKey(read.key) === textOfKey(app.key)) return verdict;
  const need = await outsideNeedOf(pass, app, read.key);
  if (typeof need === 'object') return need;
  return need === 'unneeded' ? 'change' : need === 'needed' ? 'needed' : 'wait';
}

/**
 * Adds a note if an object stays because it has been replaced: any object of the source, and the workload in the target, which may run in
 * both clusters now.
 */
function withForeignLeft(
  pass: AppPass,
  app: MigratedApp,
  { side, key }: { readonly side: MigrationSide; readonly key: ObjectKey },
): MigratedApp {
  const isWorkload = textOfKey(key) === textOfKey(app.key);
  const cluster = clusterOf(pass, side);
  if (side === 'source' && isWorkload) return withReplacedWorkload(pass, app);
  if (side === 'source') return withDiffering(app, `${shownKey(key)} in ${cluster} has another uid than in the plan, and stays`);
  if (!isWorkload) return app;
  return withLost(app, `${shownKey(key)} in ${cluster} has another uid than the copy, and stays: delete it there if it is not needed`);
}

/** Adds a note if the mirror shows a workload in the source that has the name of the application, and is not the one that has moved. */
export function withReplacedWorkload(pass: AppPass, app: MigratedApp): MigratedApp {
  const mirrored = mirroredIn(pass, 'source', app.key);
  if (mirrored.result !== 'held' || mirrored.object.metadata.uid === app.uid || deletionOf(mirrored.object) !== undefined) return app;
  const cluster = clusterOf(pass, 'source');
  const message = `${shownKey(app.key)} in ${cluster} has another uid than the workload that has moved, and may run in addition to its copy: delete it there if it is not needed`;
  return withReplaced(app, message);
}

function keptMessage(pass: AppPass, key: ObjectKey): string {
  return `${shownKey(key)} stays in ${clusterOf(pass, 'source')}: an undo could not restore its data from ${clusterOf(pass, 'target')}`;
}

function heldMessage(pass: AppPass, key: ObjectKey): string {
  return `${shownKey(key)} stays in ${clusterOf(pass, 'source')}: since the plan, an object outside the migration needs it`;
}

/** Returns the entry of an object that stays: an application or an object outside the migration needs it, or its deletion would lose data. */
function leftEntry(entry: InventoryEntry): InventoryEntry {
  return { ...entry, state: 'Shared', action: leftAction };
}

/** True if an object of the application is still to be deleted, or is being deleted. */
export function isRemovalOpen(app: MigratedApp, { side, only = () => true }: RemovedObjects): boolean {
  return app[side].some(({ key, state }) => only(key) && state !== 'Shared');
}

/** Returns a message for an application whose removal is not finished: the object for which it waits, and the finalizers that keep that object. */
export function removalMessage(pass: AppPass, app: MigratedApp, removed: RemovedObjects): string {
  const { side, only = () => true } = removed;
  const open = app[side].filter(({ key, state }) => only(key) && state !== 'Shared');
  const entry = open.find(({ state }) => state === 'Deleting') ?? open[0];
  if (entry === undefined) return `waits until its objects in ${clusterOf(pass, side)} are deleted`;
  const mirrored = mirroredIn(pass, side, entry.key);
  const finalizers = (mirrored.result === 'held' ? deletionOf(mirrored.object)?.finalizers : undefined) ?? [];
  const kept = finalizers.length === 0 ? '' : `, which its finalizers prevent: ${finalizers.slice(0, maxFinalizers).join(', ')}`;
  return `waits until ${shownKey(entry.key)} is deleted in ${clusterOf(pass, side)}${kept}`.slice(0, 1_024);
}

/** Maximum number of finalizers that a message names. */
const maxFinalizers = 3;

/** Sets the objects that are still to be deleted in the source to `PendingDeletion`, because that cluster is away. */
export function withPendingRemovals(app: MigratedApp): MigratedApp {
  const pending = ({ state, ...entry }: InventoryEntry): InventoryEntry => ({
    ...entry,
    state: state === 'Shared' ? state : 'PendingDeletion',
  });
  return { ...app, source: app.source.map(pending) };
}

/** Sets `PendingDeletion` objects back to `Owned`. */
export function withoutPendingRemovals(app: MigratedApp): MigratedApp {
  const owned = ({ state, ...entry }: InventoryEntry): InventoryEntry => ({
    ...entry,
    state: state === 'PendingDeletion' ? 'Owned' : state,
  });
  return { ...app, source: app.source.map(owned) };
}
