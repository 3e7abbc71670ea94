import type { z } from 'zod';
import type { Fault } from '../../core/faults.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ClusterName, ResourceVersion } from '../../core/names.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import type { entry } from './inventory-definition.ts';

/**
 * One entry of the inventory: the proof that an object belongs to a Propagation (docs/internals/propagation.md 5.3). Its fields are
 * described in `inventory-definition.ts`.
 */
export type InventoryEntry = z.output<typeof entry>;

export type InventoryState = InventoryEntry['state'];

/** The result of the last write to an object: `ObjectAction` of the schema, in CamelCase. */
export type WrittenAction = NonNullable<InventoryEntry['action']>;

export type CopyHealth = InventoryEntry['health'];

/** How Muster took over an object that existed before the first write to it (docs/internals/propagation.md 5.2). */
export type TakenOver = NonNullable<InventoryEntry['takenOver']>;

/** A fault as the hub stores it. Its message contains no values of manifests. */
export type RecordedFault = NonNullable<InventoryEntry['fault']>;

/** True if the copy is being deleted, or will be deleted as soon as its cluster answers. */
export function isBeingRemoved({ state }: Pick<InventoryEntry, 'state'>): boolean {
  return state === 'Deleting' || state === 'PendingDeletion';
}

/** The inventory of one Propagation in one cluster: a `ClusterShare` on the hub, with at most 200 entries. */
export interface ClusterShare {
  /** `metadata.name` of the resource. `shareNameOf` makes it from the Propagation and the cluster. */
  readonly name: string;
  readonly namespace: string;
  /** The uid of the Propagation. `ownerName` is its name. */
  readonly owner: string;
  readonly ownerName: string;
  readonly cluster: ClusterName;
  /** The resourceVersion that was read. Every save is guarded by it. Absent if the hub does not have the share yet. */
  readonly version?: ResourceVersion;
  readonly uid?: string;
  readonly entries: readonly InventoryEntry[];
}

/** The result of a save. `conflict`: another process saved the share since it was read. The caller stops and reads the share again. */
export type ShareSaved =
  | { readonly result: 'saved'; readonly share: ClusterShare }
  | { readonly result: 'conflict' }
  | { readonly result: 'failed'; readonly fault: Fault };

/** Loads and saves inventories on the hub. */
export interface ShareStore {
  /** Loads all shares of a Propagation live from the hub. The mirror is not used, because writes must not be decided by outdated data. */
  load(
    owner: { readonly namespace: string; readonly uid: string },
    signal: AbortSignal,
  ): Promise<readonly ClusterShare[] | { readonly fault: Fault }>;
  /** Creates the share, or replaces it under the version that was read. Another version gives `conflict`. */
  save(share: ClusterShare, signal: AbortSignal): Promise<ShareSaved>;
  /** Deletes the share under its uid and version. A share that is gone already counts as removed. */
  remove(
    share: ClusterShare,
    signal: AbortSignal,
  ): Promise<{ readonly result: 'removed' | 'conflict' } | { readonly result: 'failed'; readonly fault: Fault }>;
}

/** The values of an object before the Propagation took it over. A revision stores them. Never used for Secrets. */
export interface OldValues {
  readonly cluster: string;
  readonly key: ObjectKey;
  readonly uid: string;
  /** The old values of the fields that the Propagation writes. The whole object if `whole` is true. */
  readonly values: Manifest;
  /** The owners of the fields at that time: the entries of `managedFields` of other managers. Absent if there were none. */
  readonly owners?: readonly JsonObject[];
  /** True if the write mode is `Replace`. Then `values` is the whole object, and a replacement restores it. */
  readonly whole?: boolean;
}
