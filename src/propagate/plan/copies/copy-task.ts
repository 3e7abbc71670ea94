import { conflictsIn, describeFault } from '../../../changes/describe-fault.ts';
import type { ObjectAddress } from '../../../changes/object-client.ts';
import type { Fault } from '../../../core/faults.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import type { InventoryEntry, InventoryState, WrittenAction } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import type { CopyReason } from '../../model/propagation.ts';
import { isWrittenByLaterGeneration } from './copy-marks.ts';
import { copyFault, copyReasonOf, recordFault } from './copy-reason.ts';
import type { CopyOutcome, CopyWork } from './copy-work.ts';

/** One object to write, with its current inventory entry. */
export interface CopyTask {
  readonly object: RenderedObject;
  readonly address: ObjectAddress;
  readonly entry: InventoryEntry;
  /** The existing object in the cluster. `unknown`: the cluster must be read first. `absent`: no object has this name. */
  readonly existing: ExistingObject;
  /** `apply`: a field of another manager is a conflict. `correct`: drift is undone, so fields that Muster sent are overwritten by force. */
  readonly purpose: 'apply' | 'correct';
}

export type ExistingObject = 'unknown' | 'absent' | KubernetesObject;

/**
 * The result for one object. `entry` is its new inventory entry; undefined removes the entry. `stopped`: the work ended before this object,
 * whose entry stays.
 */
export type CopyResult =
  | { readonly result: 'finished'; readonly outcome: CopyOutcome; readonly entry: InventoryEntry | undefined }
  | { readonly result: 'stopped' };

/** Returns the result for a copy that was written, or that already was as wanted. An earlier fault is removed from the entry. */
export function writtenResult(
  entry: InventoryEntry,
  more: { readonly action: WrittenAction; readonly warnings?: readonly string[]; readonly written?: KubernetesObject },
): CopyResult {
  const { action, warnings = [], written } = more;
  const version = written?.metadata.resourceVersion;
  const { fault: _fault, ...kept } = entry;
  return {
    result: 'finished',
    entry: { ...kept, action },
    outcome: {
      ...copyOutcomeOf(entry, action),
      ...(version === undefined ? {} : { version }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
}

/** Returns the result for a copy that needed no call. The entry keeps the action of its last write and loses an earlier fault. */
export function unchangedResult(entry: InventoryEntry): CopyResult {
  const { fault: _fault, ...kept } = entry;
  return { result: 'finished', entry: kept, outcome: copyOutcomeOf(entry, 'Unchanged') };
}

/**
 * Reasons that may disappear without a change of the intent. The write is retried although the server calls the error final
 * (docs/internals/propagation.md 5.1).
 */
const temporaryReasons: ReadonlySet<CopyReason> = new Set(['ApiMissing', 'NamespaceMissing', 'Terminating', 'Quota']);

/** Returns the result for a copy that could not be written or removed. The entry stays and records the fault. */
export function failedResult(
  entry: InventoryEntry,
  original: Fault,
  { now, reason = copyReasonOf(original) }: { readonly now: number; readonly reason?: CopyReason },
): CopyResult {
  const fault: Fault = temporaryReasons.has(reason) ? { ...original, retry: 'LATER' } : original;
  return {
    result: 'finished',
    entry: { ...entry, action: 'Failed', fault: recordFault(fault, entry.fault, new Date(now).toISOString()) },
    outcome: { ...copyOutcomeOf(entry, 'Failed'), fault, reason, message: describeFault(fault) },
  };
}

/** Returns the result for a copy that was left unchanged on purpose. The entry records `Skipped`. */
export function skippedResult(entry: InventoryEntry, more: { readonly reason?: CopyReason; readonly message: string }): CopyResult {
  const result = writtenResult(entry, { action: 'Skipped' });
  return result.result === 'stopped' ? result : { ...result, outcome: { ...result.outcome, ...more } };
}

/** Returns the result for a copy whose inventory entry is removed. */
export function removedResult(entry: InventoryEntry, action: WrittenAction, message?: string): CopyResult {
  const { state: _state, ...outcome } = copyOutcomeOf(entry, action);
  return { result: 'finished', entry: undefined, outcome: { ...outcome, ...(message === undefined ? {} : { message }) } };
}

/** Returns the outcome for an inventory entry, with only the members that every outcome has. */
export function copyOutcomeOf({ key, state, uid }: InventoryEntry, action: WrittenAction): CopyOutcome & Pick<InventoryEntry, 'state'> {
  return { key, action, state, ...(uid === undefined ? {} : { uid }) };
}

/** Creates the first inventory entry of a copy. */
export function newInventoryEntry(key: InventoryEntry['key'], state: InventoryState = 'Intended'): InventoryEntry {
  return { key, state, health: 'Unknown' };
}

/** The inputs for judging an existing object. */
export type CopyToJudge = { readonly task: CopyTask; readonly work: CopyWork };

/** Returns the result of a copy that could not be written. */
export function failedCopy({ task, work }: CopyToJudge, fault: Fault): CopyResult {
  return failedResult(task.entry, fault, { now: work.clock.now() });
}

/**
 * True if the write failed because the object has changed, or was replaced by another one, since it was read. False if the write failed
 * because other managers own its fields.
 */
export function isRaceFault(fault: Fault): boolean {
  if (fault.code === 'CONFLICT') return conflictsIn(fault).length === 0;
  return fault.code === 'INVALID' && (fault.status?.causes.some(({ field }) => field === 'metadata.uid') ?? false);
}

/** Returns the fault of a write that is retried later, because the object has changed since it was read. */
export function raceFault({ work }: { readonly work: CopyWork }, message: string): Fault {
  return { ...copyFault(work.share.cluster, 'CONFLICT', message), retry: 'LATER' };
}

/**
 * Returns a failed result with reason `Stale` for an object that a later generation wrote. The caller must not change such an object.
 * Undefined if no later generation wrote the object, or if a user resumed the Propagation after this copy had reported the fault.
 *
 * The fault has two possible causes. If another process leads by now, the fault ends without a user. If the hub was restored from a backup,
 * a user must decide which generation counts.
 */
export function staleCopyResult(
  { entry, work }: { readonly entry: InventoryEntry; readonly work: CopyWork },
  object: KubernetesObject,
): CopyResult | undefined {
  const { fault, ...others } = entry;
  const isReported = fault?.message === staleMessage;
  if (!isWrittenByLaterGeneration(object, work) || (isReported && Date.parse(fault.since) < (work.resumedAtMs ?? 0))) return undefined;
  // The start time must be that of this fault, not that of an earlier one.
  return failedResult(isReported ? entry : others, raceFault({ work }, staleMessage), { now: work.clock.now(), reason: 'Stale' });
}

// The inventory stores this text and later passes compare it. A new wording would not match entries of an older gateway.
const staleMessage =
  'a later generation wrote it: if the hub was restored from a backup, resume the Propagation to write its current spec, ' +
  'or change its spec until its generation is higher';
