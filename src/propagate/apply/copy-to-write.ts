import type { Fault } from '../../core/faults.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { Manifest } from '../model/spec.ts';
import type { CopyWork } from '../plan/copies/copy-work.ts';
import { isOfLater, takenOverOf } from '../plan/copies/copy-marks.ts';
import { conflictsIn, copyFault } from '../plan/copies/copy-reason.ts';
import { type CopyScene, type CopyTask, type Settled, settledWith } from '../plan/copies/copy-task.ts';
import { observedHashOf } from '../plan/copies/observed.ts';
import { ownedPaths, printPaths } from '../plan/copies/owned-fields.ts';

/** One copy with the manifest to send: without marks, and for a Secret with its data. */
export interface CopyToWrite extends CopyScene {
  readonly task: CopyTask;
  readonly desired: Manifest;
}

/** The inputs for judging an existing object. */
export type CopyAtHand = Pick<CopyToWrite, 'task' | 'work'>;

/** `again`: the object changed between read and write. It must be read and judged again. */
export type CopyStep = Settled | { readonly result: 'again' };

/** Returns the result of a copy that could not be written. */
export function failedCopy({ task, work }: CopyAtHand, fault: Fault): Settled {
  return settledWith(task.entry, fault, { now: work.clock.now() });
}

/**
 * True if the write failed because the object has changed, or was replaced by another one, since it was read. False for fields of other
 * managers.
 */
export function isRaced(fault: Fault): boolean {
  if (fault.code === 'CONFLICT') return conflictsIn(fault).length === 0;
  return fault.code === 'INVALID' && (fault.status?.causes.some(({ field }) => field === 'metadata.uid') ?? false);
}

/** Returns the fault of a write that is retried later, because the object has changed since it was read. */
export function racedFault({ work }: Pick<CopyScene, 'work'>, message: string): Fault {
  return { ...copyFault(work.share.cluster, 'CONFLICT', message), retry: 'LATER' };
}

/** Returns the inventory entry after a write, from the object in the server's answer. */
export function writtenEntry({ task, work }: CopyToWrite, object: KubernetesObject, state: 'Owned' | 'Shared'): InventoryEntry {
  const { uid } = object.metadata;
  const { sent: _sent, takenOver: _takenOver, ...known } = task.entry;
  const takenOver = takenOverOf(task.entry, object);
  const sent = printPaths(ownedPaths(object));
  return {
    ...known,
    state,
    ...(uid === undefined ? {} : { uid }),
    appliedHash: task.object.desiredHash,
    observedHash: observedHashOf(task.object, object, work),
    appliedGeneration: work.generation,
    ...(sent === '' ? {} : { sent }),
    ...(takenOver === undefined ? {} : { takenOver }),
  };
}

/**
 * Sets the `managedFields` of an object, in a patch under its uid and version that changes nothing else. Returns the patched object, or the
 * reason to end or retry this write of the copy.
 */
export async function putOwners(
  { door, task, work }: CopyToWrite,
  object: KubernetesObject,
  managedFields: readonly Json[],
): Promise<CopyStep | { readonly object: KubernetesObject }> {
  const { uid, resourceVersion } = object.metadata;
  const patch: JsonObject = { metadata: { uid, resourceVersion, managedFields } };
  const answer = await door.write((client, signal) => client.patch({ ...task.address, type: 'merge', patch, run: 'real' }, signal));
  switch (answer.result) {
    case 'answered':
      return { object: answer.object };
    case 'absent':
      return { result: 'again' };
    case 'failed':
      return isRaced(answer.fault) ? { result: 'again' } : failedCopy({ task, work }, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

const staleMessage =
  'a later generation wrote it: if the hub was restored from a backup, resume the Propagation to write its current spec, ' +
  'or change its spec until its generation is higher';

/**
 * Returns a `Stale` fault for an object that a later generation wrote. Such an object is not changed. Undefined if no later generation
 * wrote it, or if a user resumed the Propagation after this copy had reported the fault.
 *
 * Either another process leads, and then the fault ends without help. Or the hub was restored from a backup, and a user must decide which
 * generation counts.
 */
export function staleCopy(
  { entry, work }: { readonly entry: InventoryEntry; readonly work: CopyWork },
  object: KubernetesObject,
): Settled | undefined {
  const { fault, ...others } = entry;
  const isReported = fault?.message === staleMessage;
  if (!isOfLater(object, work) || (isReported && Date.parse(fault.since) < (work.resumedAtMs ?? 0))) return undefined;
  // The start time must be that of this fault, not that of an earlier one.
  return settledWith(isReported ? entry : others, racedFault({ work }, staleMessage), { now: work.clock.now(), reason: 'Stale' });
}
