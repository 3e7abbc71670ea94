import type { Json, JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import { takenOverOf } from '../plan/copies/copy-marks.ts';
import { type CopyTask, failedCopy, isRaced, type Settled } from '../plan/copies/copy-task.ts';
import type { CopyWork } from '../plan/copies/copy-work.ts';
import { observedHashOf } from '../plan/copies/observed.ts';
import { ownedPaths, printPaths } from '../plan/copies/owned-fields.ts';
import type { CopyDoor } from './copy-door.ts';
import type { ShareLedger } from './share-ledger.ts';

/** One copy with the manifest to send: without marks, and for a Secret with its data. */
export interface CopyToWrite extends CopyScene {
  readonly task: CopyTask;
  readonly desired: Manifest;
}

/** `again`: the object changed between read and write. It must be read and judged again. */
export type CopyStep = Settled | { readonly result: 'again' };

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

/** The context that all objects of one piece of work in a cluster share. */
export interface CopyScene {
  readonly work: CopyWork;
  readonly door: CopyDoor;
  readonly ledger: ShareLedger;
  readonly signal: AbortSignal;
}
