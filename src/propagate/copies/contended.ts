import type { InventoryEntry } from '../inventory.ts';
import type { ObjectAddress } from '../object-client.ts';
import { copyFault } from './copy-reason.ts';
import { type CopyScene, type Settled, settledWith } from './copy-task.ts';
import { mostCorrections } from './corrections.ts';
import { managersOf } from './owned-fields.ts';

/** A copy that others change again and again: it is left, and who does it is named. They are looked for once, with one read. */
export async function settleContended({ work, door }: CopyScene, entry: InventoryEntry, address: ObjectAddress): Promise<Settled> {
  const told = (message: string) =>
    settledWith(entry, copyFault(work.share.cluster, 'CONFLICT', message), { now: work.clock.now(), reason: 'Contended' });
  if (entry.fault?.code === 'CONFLICT') return unchanged(entry, told(entry.fault.message));
  const answer = await door.get(address);
  if (answer.result === 'stopped') return answer;
  const managers = answer.result === 'answered' ? managersOf(answer.object, entry.sent ?? '') : [];
  const who = managers.length === 0 ? 'others' : managers.join(', ');
  return told(`corrected ${mostCorrections} times in 10 minutes, and changed again by ${who}`);
}

/** Nothing new: the inventory need not be saved for it. */
function unchanged(entry: InventoryEntry, settled: Settled): Settled {
  return settled.result === 'stopped' ? settled : { ...settled, entry };
}
