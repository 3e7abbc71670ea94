import type { Fault } from '../../core/faults.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import type { Manifest } from '../spec.ts';
import type { CopyWork } from './copies.ts';
import { isOfLater, takenOverOf } from './copy-marks.ts';
import { conflictsIn, copyFault } from './copy-reason.ts';
import { type CopyScene, type CopyTask, type Settled, settledWith } from './copy-task.ts';
import { observedHashOf } from './observed.ts';
import { ownedPaths, printPaths } from './owned-fields.ts';

/** One copy, and what is to be sent: the manifest without marks; of a Secret with its data. */
export interface CopyToWrite extends CopyScene {
  readonly task: CopyTask;
  readonly desired: Manifest;
}

/** What it takes to judge what stands there. */
export type CopyAtHand = Pick<CopyToWrite, 'task' | 'work'>;

/** `again`: somebody changed it between read and write, and what stands there now must be looked at. */
export type CopyStep = Settled | { readonly result: 'again' };

/** The copy could not be written. */
export function failedCopy({ task, work }: CopyAtHand, fault: Fault): Settled {
  return settledWith(task.entry, fault, { now: work.clock.now() });
}

/** It changed, or another stands there, since it was read; not that others own its fields. */
export function isRaced(fault: Fault): boolean {
  if (fault.code === 'CONFLICT') return conflictsIn(fault).length === 0;
  return fault.code === 'INVALID' && (fault.status?.causes.some(({ field }) => field === 'metadata.uid') ?? false);
}

/** The fault of a write that is tried again later, because the object has changed since it was read. */
export function racedFault({ work }: Pick<CopyScene, 'work'>, message: string): Fault {
  return { ...copyFault(work.share.cluster, 'CONFLICT', message), retry: 'LATER' };
}

/** The entry of what was just written, as the server answered it. */
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
 * Says anew who owns which fields of an object, in a write that changes nothing else: under its uid and version. Gives the object as it stands then, or what
 * came between.
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

const words =
  'a later generation wrote it: if the hub was restored from a backup, resume the Propagation to let what it says now hold, or change it until its generation is later';

/**
 * What an object that a later generation wrote comes to: it is left, and told as a fault. Another process may lead, and then it is over by itself; or the hub
 * was restored, and then somebody must say which one holds. Undefined if none wrote it, or if it was resumed since that was told of this very copy.
 */
export function staleCopy(
  { entry, work }: { readonly entry: InventoryEntry; readonly work: CopyWork },
  object: KubernetesObject,
): Settled | undefined {
  const { fault, ...others } = entry;
  const isTold = fault?.message === words;
  if (!isOfLater(object, work) || (isTold && Date.parse(fault.since) < (work.resumedAtMs ?? 0))) return undefined;
  // Since when it is told must be of this, and of nothing that was in the way before.
  return settledWith(isTold ? entry : others, racedFault({ work }, words), { now: work.clock.now(), reason: 'Stale' });
}
