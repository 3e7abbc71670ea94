import type { Fault, FaultCode } from '../core/faults.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { ObjectKey } from './spec.ts';

export type InventoryState = 'Intended' | 'Owned' | 'Shared' | 'Deleting' | 'PendingDeletion';

/** What our last write did to an object. Equal to the schema's `Action`, in CamelCase. */
export type WrittenAction = 'Created' | 'Configured' | 'Unchanged' | 'Deleted' | 'Orphaned' | 'Restored' | 'Skipped' | 'Failed';

export type Health = 'Healthy' | 'Unhealthy' | 'Unknown';

/** One object of the inventory: proof of what is ours (propagation.md 5.3). */
export interface InventoryEntry {
  readonly key: ObjectKey;
  readonly state: InventoryState;
  /** Of the copy. Absent while Intended. */
  readonly uid?: string;
  /** Random, saved before the first write and carried by the object: after a crash it tells our own object from a stranger's. */
  readonly intent?: string;
  /** Of the manifest last written: `RenderedObject.desiredHash`. */
  readonly appliedHash?: string;
  /** What the server made of the fields we sent, hashed: a copy whose same fields hash otherwise has drifted. Of a Secret: its resourceVersion. */
  readonly observedHash?: string;
  /** The generation of the Propagation whose write this was; it never goes back. */
  readonly appliedGeneration?: number;
  readonly action?: WrittenAction;
  readonly health: Health;
  readonly fault?: RecordedFault;
  /**
   * The paths of the fields that we sent, as `printPaths` gives them: a field that others take from us later is drift, one that was never ours is a
   * conflict (propagation.md 7).
   */
  readonly sent?: string;
  /** RFC 3339, of the last corrections of drift, the newest last; at most 5 (propagation.md 7, CONTENDED). */
  readonly corrections?: readonly string[];
  /** Of a Job: it was seen complete or failed. If it is gone then, it is not made again. */
  readonly finished?: boolean;
  /** Of an object that was there before us. Saved before the first write to it: after a crash, too, what is a stranger's is known as his. */
  readonly takenOver?: TakenOver;
}

/** It is being taken back, or is to be as soon as its cluster answers. */
export function isOnItsWay({ state }: Pick<InventoryEntry, 'state'>): boolean {
  return state === 'Deleting' || state === 'PendingDeletion';
}

/** An object that was somebody's before we wrote to it (propagation.md 5.2). Another object of its name is ours from its beginning. */
export interface TakenOver {
  readonly uid: string;
  /** `Owned`: taken into the inventory. `Shared`: it stays theirs, with fields of ours. */
  readonly as: 'Owned' | 'Shared';
  /** The revision that took it: what it held before is kept beside it. */
  readonly revision: number;
  /** What it held before, hashed: tells it from what was kept at an earlier try. Absent: nothing is kept, as of Secrets, and of what is shared. */
  readonly values?: string;
}

/** A fault as it is kept. `count`: how often in a row. Messages hold no values of manifests. */
export interface RecordedFault {
  readonly code: FaultCode;
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
  readonly count?: number;
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
