import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import type { CopyWork } from './copies.ts';
import { isOfLater } from './copy-marks.ts';
import { type Settled, settledWith } from './copy-task.ts';
import { racedFault } from './copy-to-write.ts';

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
