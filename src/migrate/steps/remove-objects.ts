import { keyOfKind } from '../../core/kinds.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, addressIn, awayFault, type Side, withEntry } from './app-pass.ts';
import { deleteFromCluster, type JudgeChange } from './change-objects.ts';
import { type ChangedApp, leftAction } from './create-copies.ts';
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
 * - PersistentVolumeClaims and shared objects stay.
 * - An object that another application of the migration needs stays. The last of these applications deletes it.
 * - In the source, an object that was edited is recorded first. A Secret that has other data than its copy stays.
 *
 * The entry of a deleted object is removed. An object that waits for its finalizers keeps its entry, as `Deleting`.
 */
export async function removeObjects(pass: AppPass, given: MigratedApp, { side, only = () => true }: RemovedObjects): Promise<ChangedApp> {
  let app = given;
  for (const entry of inWriteOrder(given[side]).toReversed()) {
    const { key } = entry;
    // A copy that another application of the migration created has its intent, and is deleted by the last one that uses it.
    const isOwn = entry.state !== 'Shared' || (side === 'target' && entry.intent !== undefined);
    if (!only(key) || !isOwn) continue;
    const use = isClaim(key) ? 'used' : useBySiblings(pass, app, { side, key });
    if (use === 'unclear') continue;
    if (use === 'used') {
      app = withEntry(app, side, key, leftEntry(entry));
      continue;
    }
    const client = pass.client(side);
    const address = addressIn(pass, side, key);
    if (client === undefined) return { result: 'failed', app, fault: awayFault(pass, side) };
    if ('fault' in address) return { result: 'failed', app, fault: address.fault };
    const own = app;
    const judge: JudgeChange = (object) => judgeSourceChange(pass, own, { key, object });
    const change = await deleteFromCluster(client, address, { entry, judge: side === 'source' ? judge : undefined });
    switch (change.result) {
      case 'refused':
        if (change.why === 'record') return await recordEdited(pass, app, { key, object: change.object });
        app = withEntry(app, side, key, leftEntry(entry));
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

/** Returns the entry of an object that stays: another application needs it, or its deletion would lose data. */
function leftEntry(entry: InventoryEntry): InventoryEntry {
  return { ...entry, state: 'Shared', action: leftAction };
}

/** True if an object of the application is still to be deleted, or is being deleted. */
export function isRemovalOpen(app: MigratedApp, { side, only = () => true }: RemovedObjects): boolean {
  return app[side].some(({ key, state }) => only(key) && state !== 'Shared');
}

/** Marks the objects that are to be deleted in a cluster that is away. */
export function withPendingRemovals(app: MigratedApp): MigratedApp {
  const pending = ({ state, ...entry }: InventoryEntry): InventoryEntry => ({
    ...entry,
    state: state === 'Shared' ? state : 'PendingDeletion',
  });
  return { ...app, source: app.source.map(pending) };
}

/** Removes the marks of `withPendingRemovals`. */
export function withoutPendingRemovals(app: MigratedApp): MigratedApp {
  const owned = ({ state, ...entry }: InventoryEntry): InventoryEntry => ({
    ...entry,
    state: state === 'PendingDeletion' ? 'Owned' : state,
  });
  return { ...app, source: app.source.map(owned) };
}

function isClaim(key: ObjectKey): boolean {
  return keyOfKind(groupKindOfKey(key)) === 'PersistentVolumeClaim';
}
