import type { KubernetesObject } from '../../core/objects.ts';
import { failedCopy } from '../plan/copies/copy-task.ts';
import { turnedToApply } from '../plan/copies/owned-fields.ts';
import { type CopyStep, type CopyToWrite, putOwners } from './copy-to-write.ts';
import { takingOf } from './taking.ts';
import { updateCopy } from './update-copy.ts';

/**
 * Writes to an object that existed before. First it saves who owns the object and stores its old values. So after a crash, the object
 * cannot be mistaken for a created copy, and its old values are not lost.
 */
export async function takeOver(copy: CopyToWrite, object: KubernetesObject, as: 'Owned' | 'Shared'): Promise<CopyStep> {
  const announced = await announce(copy, object);
  if ('result' in announced) return announced;
  tell(announced, object);
  const turned = await turnToApply(announced, object);
  if ('result' in turned) return turned;
  return await updateCopy(announced, { object: turned.object, force: false, state: as });
}

/** Saves the entry and the old values, unless they were saved together with those of the other copies. */
async function announce(copy: CopyToWrite, object: KubernetesObject): Promise<CopyToWrite | CopyStep> {
  const { task, work, ledger, door, signal } = copy;
  const taking = takingOf(copy, object);
  if (taking === undefined || taking.entry === task.entry) return copy;
  const { entry, old } = taking;
  if (!work.mayWrite()) return { result: 'stopped' };
  const kept = old === undefined ? undefined : await work.keepOld([old], signal);
  if (kept?.result === 'failed') return failedCopy(copy, kept.fault);
  ledger.put(entry.key, entry);
  const saved = await ledger.save(signal);
  switch (saved.result) {
    case 'saved':
      return { ...copy, task: { ...task, entry } };
    case 'failed':
      return failedCopy(copy, saved.fault);
    case 'stopped':
      door.stop();
      return { result: 'stopped' };
    default:
      return saved satisfies never;
  }
}

function tell({ work, task }: CopyToWrite, { metadata: { uid } }: KubernetesObject): void {
  const { spec, log, share, owner, generation } = work;
  if (spec.conflict !== 'Overwrite') return;
  const { kind, namespace, name } = task.object.key;
  log.info(
    { cluster: share.cluster, kind, namespace, name, propagation: `${owner.namespace}/${owner.name}`, generation, uid },
    'took over an object',
  );
}

/** Fields that Muster owns by `Update` become its own by `Apply`, in a write that changes nothing else. */
async function turnToApply(copy: CopyToWrite, object: KubernetesObject): Promise<CopyStep | { readonly object: KubernetesObject }> {
  const managedFields = turnedToApply(object);
  return managedFields === undefined ? { object } : await putOwners(copy, object, managedFields);
}
