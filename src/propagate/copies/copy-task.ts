import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry, InventoryState, WrittenAction } from '../inventory.ts';
import type { ObjectAddress } from '../object-client.ts';
import type { RenderedObject } from '../plan.ts';
import type { CopyReason } from '../propagation.ts';
import type { CopyOutcome, CopyWork } from './copies.ts';
import type { CopyDoor } from './copy-door.ts';
import { describeFault, reasonOf, recordFault } from './copy-reason.ts';
import type { ShareLedger } from './share-ledger.ts';

/** What all objects of one piece of work have in common. */
export interface CopyScene {
  readonly work: CopyWork;
  readonly door: CopyDoor;
  readonly ledger: ShareLedger;
  readonly signal: AbortSignal;
}

/** One object to be written, with what the inventory has of it by now. */
export interface CopyTask {
  readonly object: RenderedObject;
  readonly address: ObjectAddress;
  readonly entry: InventoryEntry;
  /** What stands there: to be read, nothing, or this. */
  readonly seen: Seen;
  /** `correct`: what was ours is taken back by force. */
  readonly purpose: 'apply' | 'correct';
}

export type Seen = 'unknown' | 'absent' | KubernetesObject;

/** What is known of one object after it was worked on: an entry to put down, or none to keep. */
export type Settled =
  | { readonly result: 'settled'; readonly outcome: CopyOutcome; readonly entry: InventoryEntry | undefined }
  | { readonly result: 'stopped' };

/** It was written, or is as it is to be. */
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

/** It is as it was written, and nothing was asked: the entry keeps what the last write did, and forgets what was in the way of others. */
export function settledAsIs(entry: InventoryEntry): Settled {
  const { fault: _fault, ...kept } = entry;
  return { result: 'settled', entry: kept, outcome: outcomeOf(entry, 'Unchanged') };
}

/** What comes by itself, or by others: told as final by the server, it is tried again all the same (docs/internals/propagation.md 5.1). */
const awaited: ReadonlySet<CopyReason> = new Set(['ApiMissing', 'NamespaceMissing', 'Terminating', 'Quota']);

/** It could not be done; the entry stays, with what was in the way. */
export function settledWith(
  entry: InventoryEntry,
  told: Fault,
  { now, reason = reasonOf(told) }: { readonly now: number; readonly reason?: CopyReason },
): Settled {
  const fault: Fault = awaited.has(reason) ? { ...told, retry: 'LATER' } : told;
  return {
    result: 'settled',
    entry: { ...entry, action: 'Failed', fault: recordFault(fault, entry.fault, new Date(now).toISOString()) },
    outcome: { ...outcomeOf(entry, 'Failed'), fault, reason, message: describeFault(fault) },
  };
}

/** It was left alone on purpose, and the inventory says so. */
export function settledSkipped(entry: InventoryEntry, more: { readonly reason?: CopyReason; readonly message: string }): Settled {
  const settled = settledAs(entry, { action: 'Skipped' });
  return settled.result === 'stopped' ? settled : { ...settled, outcome: { ...settled.outcome, ...more } };
}

/** It is no longer in the inventory. */
export function settledGone(entry: InventoryEntry, action: WrittenAction, message?: string): Settled {
  const { state: _state, ...outcome } = outcomeOf(entry, action);
  return { result: 'settled', entry: undefined, outcome: { ...outcome, ...(message === undefined ? {} : { message }) } };
}

/** What every outcome for an object of the inventory says. */
export function outcomeOf({ key, state, uid }: InventoryEntry, action: WrittenAction): CopyOutcome & Pick<InventoryEntry, 'state'> {
  return { key, action, state, ...(uid === undefined ? {} : { uid }) };
}

/** An entry of which nothing is known yet. */
export function newEntry(key: InventoryEntry['key'], state: InventoryState = 'Intended'): InventoryEntry {
  return { key, state, health: 'Unknown' };
}
