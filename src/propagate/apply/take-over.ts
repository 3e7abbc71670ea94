import type { KubernetesObject } from '../../core/objects.ts';
import { failedCopy } from '../plan/copies/copy-task.ts';
import { updatesTurnedToApply } from '../plan/copies/owned-fields.ts';
import { type CopyToWrite, type CopyWriteAttempt, patchOwners } from './copy-to-write.ts';
import { planTakeOver } from './plan-take-over.ts';
import { updateCopy } from './update-copy.ts';

/**
 * Writes to an object that existed before. First it stores the old values of the object and saves in the inventory that the object is taken
 * over. So after a crash, the object cannot be mistaken for a created copy, and its old values are not lost.
 */
export async function takeOver(copy: CopyToWrite, object: KubernetesObject, as: 'Owned' | 'Shared'): Promise<CopyWriteAttempt> {
  const announced = await saveTakeOver(copy, object);
  if ('result' in announced) return announced;
  logTakeOver(announced, object);
  const turned = await turnToApply(announced, object);
  if ('result' in turned) return turned;
  return await updateCopy(announced, { object: turned.object, force: false, state: as });
}

/**
 * Saves the entry and the old values, unless they were saved together with those of the other copies. Returns the copy with the saved
 * entry, or the result if the write ends here.
 */
async function saveTakeOver(copy: CopyToWrite, object: KubernetesObject): Promise<CopyToWrite | CopyWriteAttempt> {
  const { task, work, ledger, guardedClient, signal } = copy;
  const takeOver = planTakeOver(copy, object);
  if (takeOver === undefined || takeOver.entry === task.entry) return copy;
  const { entry, oldValues } = takeOver;
  if (!work.mayWrite()) return { result: 'stopped' };
  const kept = oldValues === undefined ? undefined : await work.storeOldValues([oldValues], signal);
  if (kept?.result === 'failed') return failedCopy(copy, kept.fault);
  ledger.put(entry.key, entry);
  const saved = await ledger.save(signal);
  switch (saved.result) {
    case 'saved':
      return { ...copy, task: { ...task, entry } };
    case 'failed':
      return failedCopy(copy, saved.fault);
    case 'stopped':
      guardedClient.stop();
      return { result: 'stopped' };
    default:
      return saved satisfies never;
  }
}

function logTakeOver({ work, task }: CopyToWrite, { metadata: { uid } }: KubernetesObject): void {
  const { spec, log, share, owner, generation } = work;
  if (spec.conflict !== 'Overwrite') return;
  const { kind, namespace, name } = task.object.key;
  log.info(
    { cluster: share.cluster, kind, namespace, name, propagation: `${owner.namespace}/${owner.name}`, generation, uid },
    'took over an object',
  );
}

/**
 * Moves the fields that Muster owns by `Update` to its `Apply` entry in `managedFields`, in a write that changes nothing else. Without that
 * write, an apply that omits one of these fields would not remove it.
 */
async function turnToApply(copy: CopyToWrite, object: KubernetesObject): Promise<CopyWriteAttempt | { readonly object: KubernetesObject }> {
  const managedFields = updatesTurnedToApply(object);
  return managedFields === undefined ? { object } : await patchOwners(copy, object, managedFields);
}
