import type { Json, JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import { takenOverOf } from '../plan/copies/copy-marks.ts';
import { type CopyResult, type CopyTask, failedCopy, isRaceFault } from '../plan/copies/copy-task.ts';
import type { CopyWork } from '../plan/copies/copy-work.ts';
import { observedHashOf } from '../plan/copies/observed-hash.ts';
import { fingerprintOfPaths, ownedPaths } from '../plan/copies/owned-fields.ts';
import type { GuardedClient } from './guarded-client.ts';
import type { ShareLedger } from './share-ledger.ts';

/** One copy to write. `desired` is the manifest to send. It has no marks yet, and for a Secret it has the data. */
export interface CopyToWrite extends CopyContext {
  readonly task: CopyTask;
  readonly desired: Manifest;
}

/** The result of one attempt to write a copy. `retry`: the object must be read again before the next attempt, usually because it changed. */
export type CopyWriteAttempt = CopyResult | { readonly result: 'retry' };

/** Returns the inventory entry after a write, from the object in the server's answer. */
export function entryAfterWrite({ task, work }: CopyToWrite, object: KubernetesObject, state: 'Owned' | 'Shared'): InventoryEntry {
  const { uid } = object.metadata;
  const { sent: _sent, takenOver: _takenOver, ...known } = task.entry;
  const takenOver = takenOverOf(task.entry, object);
  const sent = fingerprintOfPaths(ownedPaths(object));
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
export async function patchOwners(
  { guardedClient, task, work }: CopyToWrite,
  object: KubernetesObject,
  managedFields: readonly Json[],
): Promise<CopyWriteAttempt | { readonly object: KubernetesObject }> {
  const { uid, resourceVersion } = object.metadata;
  const patch: JsonObject = { metadata: { uid, resourceVersion, managedFields } };
  const answer = await guardedClient.write((client, signal) =>
    client.patch({ ...task.address, type: 'merge', patch, run: 'real' }, signal),
  );
  switch (answer.result) {
    case 'answered':
      return { object: answer.object };
    case 'absent':
      return { result: 'retry' };
    case 'failed':
      return isRaceFault(answer.fault) ? { result: 'retry' } : failedCopy({ task, work }, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** The inputs and tools of one job in a cluster, shared by all copies of the job. */
export interface CopyContext {
  readonly work: CopyWork;
  readonly guardedClient: GuardedClient;
  readonly ledger: ShareLedger;
  readonly signal: AbortSignal;
}
