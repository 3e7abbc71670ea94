import type { Fault } from '../../../core/faults.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import type { InventoryEntry, InventoryState, WrittenAction } from '../../model/inventory.ts';
import type { ObjectAddress } from '../../../changes/object-client.ts';
import type { RenderedObject } from '../../model/plan.ts';
import type { CopyReason } from '../../model/propagation.ts';
import type { CopyOutcome, CopyWork } from './copy-work.ts';
import type { CopyDoor } from '../../apply/copy-door.ts';
import { describeFault, reasonOf, recordFault } from './copy-reason.ts';
import type { ShareLedger } from '../../apply/share-ledger.ts';

/** The context that all objects of one piece of work in a cluster share. */
export interface CopyScene {
  readonly work: CopyWork;
  readonly door: CopyDoor;
  readonly ledger: ShareLedger;
  readonly signal: AbortSignal;
}

/** One object to write, with its current inventory entry. */
export interface CopyTask {
  readonly object: RenderedObject;
  readonly address: ObjectAddress;
  readonly entry: InventoryEntry;
  /** The existing object in the cluster. `unknown`: it must be read first. `absent`: there is none. */
  readonly seen: Seen;
  /** `apply`: a field of another manager is a conflict. `correct`: drift is undone, so fields that Muster sent are overwritten by force. */
  readonly purpose: 'apply' | 'correct';
}

export type Seen = 'unknown' | 'absent' | KubernetesObject;

/**
 * The result for one object. `entry` is its new inventory entry; undefined removes the entry. `stopped`: the work ended before this object,
 * whose entry stays.
 */
export type Settled =
  | { readonly result: 'settled'; readonly outcome: CopyOutcome; readonly entry: InventoryEntry | undefined }
  | { readonly result: 'stopped' };

/** The result for a copy that was written, or that already was as wanted. An earlier fault is removed from the entry. */
export function settledAs(
  entry: InventoryEntry,
  more: { readonly action: WrittenAction; readonly warnings?: readonly string[]; readonly written?: KubernetesObject },
): Settled {
  const { action, warnings = [], written } = more;
  const version = written?.metadata.resourceVersion;
  const { fault: _fault, ...kept } = entry;
  return {
    result: 'settled',
    entry: { ...kept, action },
    outcome: {
      ...outcomeOf(entry, action),
      ...(version === undefined ? {} : { version }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
}

/** The result for a copy that needed no call. The entry keeps the action of its last write and loses an earlier fault. */
export function settledAsIs(entry: InventoryEntry): Settled {
  const { fault: _fault, ...kept } = entry;
  return { result: 'settled', entry: kept, outcome: outcomeOf(entry, 'Unchanged') };
}

/**
 * Reasons that may disappear without a change of the intent. The write is retried although the server calls the error final
 * (docs/internals/propagation.md 5.1).
 */
const temporaryReasons: ReadonlySet<CopyReason> = new Set(['ApiMissing', 'NamespaceMissing', 'Terminating', 'Quota']);

/** The result for a copy that could not be written or removed. The entry stays and records the fault. */
export function settledWith(
  entry: InventoryEntry,
  original: Fault,
  { now, reason = reasonOf(original) }: { readonly now: number; readonly reason?: CopyReason },
): Settled {
  const fault: Fault = temporaryReasons.has(reason) ? { ...original, retry: 'LATER' } : original;
  return {
    result: 'settled',
    entry: { ...entry, action: 'Failed', fault: recordFault(fault, entry.fault, new Date(now).toISOString()) },
    outcome: { ...outcomeOf(entry, 'Failed'), fault, reason, message: describeFault(fault) },
  };
}

/** The result for a copy that was left unchanged on purpose. The entry records `Skipped`. */
export function settledSkipped(entry: InventoryEntry, more: { readonly reason?: CopyReason; readonly message: string }): Settled {
  const settled = settledAs(entry, { action: 'Skipped' });
  return settled.result === 'stopped' ? settled : { ...settled, outcome: { ...settled.outcome, ...more } };
}

/** The result for a copy whose inventory entry is removed. */
export function settledGone(entry: InventoryEntry, action: WrittenAction, message?: string): Settled {
  const { state: _state, ...outcome } = outcomeOf(entry, action);
  return { result: 'settled', entry: undefined, outcome: { ...outcome, ...(message === undefined ? {} : { message }) } };
}

/** Returns the members that the outcome of every inventory entry has. */
export function outcomeOf({ key, state, uid }: InventoryEntry, action: WrittenAction): CopyOutcome & Pick<InventoryEntry, 'state'> {
  return { key, action, state, ...(uid === undefined ? {} : { uid }) };
}

/** Creates the first inventory entry of a copy. */
export function newEntry(key: InventoryEntry['key'], state: InventoryState = 'Intended'): InventoryEntry {
  return { key, state, health: 'Unknown' };
}
