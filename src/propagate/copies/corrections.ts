import type { InventoryEntry } from '../inventory.ts';
import type { ObjectAddress } from '../object-client.ts';
import { copyFault } from './copy-reason.ts';
import { type CopyScene, type Settled, settledWith } from './copy-task.ts';
import { managersOf } from './owned-fields.ts';

/** Corrected so often within the time, a copy is contended and left until the first of these is past it (docs/internals/propagation.md 7). */
export const mostCorrections = 5;
const withinMs = 10 * 60_000;

/** When it may be corrected again, in milliseconds of the epoch; undefined if it may be now. */
export function contendedUntilMs({ corrections = [] }: InventoryEntry, nowMs: number): number | undefined {
  const [first] = corrections.slice(-mostCorrections);
  if (first === undefined || corrections.length < mostCorrections) return undefined;
  const untilMs = Date.parse(first) + withinMs;
  return untilMs > nowMs ? untilMs : undefined;
}

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
