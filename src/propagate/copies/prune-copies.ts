import type { RenderedObject } from '../plan.ts';
import type { CopiesOutcome, CopyWork } from './copies.ts';
import { removeCopies } from './remove-copies.ts';
import type { Removal } from './take-back.ts';

/**
 * Takes copies back from one cluster, in the reverse order of kinds: deletes what the inventory has by its uid, after a live read, under its uid and version;
 * lets go of all with `spec.deletion.policy` Orphan and of what is `RELEASE`; of what is shared only our fields go. What was adopted is ours and goes like
 * what we made, but where `work.goingBack` says that it was taken over since: that gets its old values back and stays. What is not in the inventory is not
 * touched, nor is another object of the same name: then the entry goes and the object stays. What waits for finalizers stays in the inventory as
 * `Deleting`, with since when; asking again costs no call while the mirror shows the same. Namespaces and definitions wait until all else is gone.
 *
 * What a cluster that does not answer holds is `PendingDeletion`. A share without entries is removed.
 */
export function pruneCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const removals = objects.map((object): Removal => ({ key: object.key, how: removalOf(object, work), live: object.live }));
  return removeCopies(work, removals, signal);
}

function removalOf({ action }: RenderedObject, { spec, goingBack }: Pick<CopyWork, 'spec' | 'goingBack'>): Removal['how'] {
  if (action === 'RELEASE' || spec.deletion.policy === 'Orphan') return { type: 'release' };
  return goingBack === undefined ? { type: 'delete' } : { type: 'giveBack', ...goingBack };
}
