import type { ObjectAddress } from '../../changes/object-client.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import type { GuardedClient } from '../../propagate/apply/guarded-client.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import { isClaimKey } from '../discover/owned-objects.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, addressIn, awayFault, type Side, withEntry } from './app-pass.ts';
import { changeSpec, deleteFromCluster, type JudgeChange, type StepChange } from './change-objects.ts';
import { type ChangedApp, leftAction } from './create-copies.ts';
import { isClaimPolicySeen, keepOwned, patchToKeepClaims } from './keep-owned.ts';
import { checkLeave } from './leave-source.ts';
import { useBySiblings } from './sibling-objects.ts';
import { judgeSourceChange, recordEdited } from './source-edits.ts';

/** The objects to remove. */
export interface RemovedObjects {
  readonly side: Side;
  /** Default: all. */
  readonly only?: (key: ObjectKey) => boolean;
}

/**
 * Deletes the objects of an application in one cluster, in reverse write order, each by its uid.
 *
 * - PersistentVolumeClaims and shared objects stay. So do the objects that Kubernetes would delete with their owner, except Pods and ReplicaSets.
 * - An object that another application of the migration needs stays. The last of these applications deletes it.
 * - In the source, an object that was edited is recorded first. A Secret that has other data than its copy stays.
 * - In the source, each deletion waits until the target has enough healthy replicas.
 *
 * The entry of a deleted object is removed. An object that waits for its finalizers keeps its entry, as `Deleting`.
 */
export async function removeObjects(pass: AppPass, given: MigratedApp, { side, only = () => true }: RemovedObjects): Promise<ChangedApp> {
  let app = given;
  for (const entry of inWriteOrder(given[side]).toReversed()) {
    const { key } = entry;
    // With a copy that another application of the migration created, the entry has its intent token. The last application that uses the
    // copy deletes it.
    const isOwn = entry.state !== 'Shared' || (side === 'target' && entry.intent !== undefined);
    if (!only(key) || !isOwn) continue;
    const use = isClaimKey(key) ? 'used' : useBySiblings(pass, app, { side, key });
    if (use === 'unclear') continue;
    if (use === 'used') {
      app = withEntry(app, side, key, leftEntry(entry));
      continue;
    }
    const client = pass.client(side);
    const address = addressIn(pass, side, key);
    if (client === undefined) return { result: 'failed', app, fault: awayFault(pass, side) };
    if ('fault' in address) return { result: 'failed', app, fault: address.fault };
    const check = side === 'source' ? await checkLeave(pass, app) : ({ result: 'ready' } as const);
    if (check.result !== 'ready') return check.result === 'stopped' ? { result: 'stopped' } : { ...check, app };
    const change = await removeObject(pass, app, { side, entry, client, address });
    switch (change.result) {
      case 'changed':
        // The next pass deletes the workload, once its controller has seen that the claims stay.
        break;
      case 'refused':
        if (change.why === 'record') return await recordEdited(pass, app, { key, object: change.object });
        if (change.why === 'keep') app = withEntry(app, side, key, leftEntry(entry));
        break;
      case 'gone':
      case 'foreign':
        app = withEntry(app, side, key, undefined);
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
  readonly side: Side;
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
    const verdict = side === 'source' ? await judgeSourceChange(pass, app, { key, object }) : 'change';
    if (verdict !== 'change') return verdict;
    if (Object.keys(patchToKeepClaims(object)).length > 0 || !isClaimPolicySeen(object)) return 'later';
    const { uid } = object.metadata;
    return (uid === undefined ? undefined : await keepOwned(pass, side, { key, uid })) ?? 'change';
  };
  const change = await deleteFromCluster(client, address, { entry, judge });
  if (change.result !== 'refused' || change.why !== 'later') return change;
  return await changeSpec(client, address, { entry, patchOf: patchToKeepClaims });
}

/** Returns the entry of an object that stays: another application needs it, or its deletion would lose data. */
function leftEntry(entry: InventoryEntry): InventoryEntry {
  return { ...entry, state: 'Shared', action: leftAction };
}

/** True if an object of the application is still to be deleted, or is being deleted. */
export function isRemovalOpen(app: MigratedApp, { side, only = () => true }: RemovedObjects): boolean {
  return app[side].some(({ key, state }) => only(key) && state !== 'Shared');
}

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
