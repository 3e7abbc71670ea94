import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import type { Manifest } from '../spec.ts';
import { takenOverOf } from './copy-marks.ts';
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

/** It is to be tried again, as what stands there is not what was seen. */
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
