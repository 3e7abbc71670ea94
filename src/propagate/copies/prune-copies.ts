import type { InventoryEntry } from '../inventory.ts';
import { textOfKey } from '../object-key.ts';
import type { RenderedObject } from '../plan.ts';
import type { CopiesOutcome, CopyWork } from './copies.ts';
import { removeCopies } from './remove-copies.ts';
import type { Removal } from './take-back.ts';

/**
 * Takes copies back from one cluster, in the reverse order of kinds: deletes what the inventory has by its uid, after a live read, under its uid and version;
 * lets go of all with `spec.deletion.policy` Orphan and of what is `RELEASE`; of what is shared only our fields go. What is not in the inventory is not
 * touched, nor is another object of the same name: then the entry goes and the object stays. What waits for finalizers stays in the inventory as
 * `Deleting`, with since when; asking again costs no call while the mirror shows the same. Namespaces and definitions wait until all else is gone.
 *
 * What a cluster that does not answer holds is `PendingDeletion`. A share without entries is removed.
 */
export function pruneCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const entries = new Map(work.share.entries.map((entry) => [textOfKey(entry.key), entry]));
  const removals = objects.map((object): Removal => {
    const how = { type: removalOf(object, entries.get(textOfKey(object.key)), work) };
    return { key: object.key, how, live: object.live };
  });
  return removeCopies(work, removals, signal);
}

function removalOf(
  { action }: RenderedObject,
  entry: InventoryEntry | undefined,
  { spec }: Pick<CopyWork, 'spec'>,
): 'delete' | 'release' | 'withdraw' {
  if (entry?.state === 'Shared') return 'withdraw';
  return action === 'RELEASE' || spec.deletion.policy === 'Orphan' ? 'release' : 'delete';
}
