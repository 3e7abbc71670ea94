import type { z } from 'zod';
import type { Fault } from '../core/faults.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { entry } from './spec/inventory.ts';

/** One object of the inventory: proof that it belongs to a Propagation (docs/internals/propagation.md 5.3). What the fields mean: `spec/inventory.ts`. */
export type InventoryEntry = z.output<typeof entry>;

export type InventoryState = InventoryEntry['state'];

/** What the last write did to an object: `Action` of the schema, in CamelCase. */
export type WrittenAction = NonNullable<InventoryEntry['action']>;

export type Health = InventoryEntry['health'];

/** An object that existed before the first write to it (docs/internals/propagation.md 5.2). */
export type TakenOver = NonNullable<InventoryEntry['takenOver']>;

/** A fault as it is kept. Messages hold no values of manifests. */
export type RecordedFault = NonNullable<InventoryEntry['fault']>;

/** It is being taken back, or is to be as soon as its cluster answers. */
export function isOnItsWay({ state }: Pick<InventoryEntry, 'state'>): boolean {
  return state === 'Deleting' || state === 'PendingDeletion';
}

/** `ClusterShare` on the hub: the inventory of one Propagation in one cluster. At most 200 entries. */
export interface ClusterShare {
  /** `metadata.name` of the resource: `shareNameOf` the Propagation and the cluster. `newShare` makes one that is not there yet. */
  readonly name: string;
  readonly namespace: string;
  /** uid of the Propagation, and its name. */
  readonly owner: string;
  readonly ownerName: string;
  readonly cluster: ClusterName;
  /** Of the resource as read: every save is guarded by it. Absent: not created yet. */
  readonly version?: ResourceVersion;
  readonly uid?: string;
  readonly entries: readonly InventoryEntry[];
}

/** What saving came to. `conflict`: somebody else acts; stop, read again. */
export type ShareSaved =
  | { readonly result: 'saved'; readonly share: ClusterShare }
  | { readonly result: 'conflict' }
  | { readonly result: 'failed'; readonly fault: Fault };

/** Where inventories stand. */
export interface ShareStore {
  /** Live, from the hub, not from its mirror: what a write is decided by must not be stale. */
  load(
    owner: { readonly namespace: string; readonly uid: string },
    signal: AbortSignal,
  ): Promise<readonly ClusterShare[] | { readonly fault: Fault }>;
  /** Creates it, or replaces it under the version it was read with. Refused with `conflict` otherwise. */
  save(share: ClusterShare, signal: AbortSignal): Promise<ShareSaved>;
  /** Under its uid and version. What is gone already is saved. */
  remove(
    share: ClusterShare,
    signal: AbortSignal,
  ): Promise<{ readonly result: 'removed' | 'conflict' } | { readonly result: 'failed'; readonly fault: Fault }>;
}
