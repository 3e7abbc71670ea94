import type { ObjectAddress } from '../../changes/object-client.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import { type CopyResult, failedResult } from '../plan/copies/copy-task.ts';
import { otherManagersOf } from '../plan/copies/owned-fields.ts';
import type { CopyContext } from './copy-to-write.ts';

/**
 * Maximum number of corrections of a copy in 10 minutes. After so many, the copy is `Contended`: it is not corrected again until the first
 * of these corrections is more than 10 minutes old, or until a user resumes the Propagation (docs/internals/propagation.md 7).
 */
export const maxCorrections = 5;
const withinMs = 10 * 60_000;

/**
 * Returns when the copy may be corrected again, in Unix milliseconds. Undefined if it may be corrected now. Corrections before the last
 * resume of the Propagation do not count.
 */
export function contendedUntilMs(
  { corrections = [] }: InventoryEntry,
  { nowMs, resumedAtMs = 0 }: { readonly nowMs: number; readonly resumedAtMs?: number | undefined },
): number | undefined {
  const counted = corrections.map((time) => Date.parse(time)).filter((ms) => ms > resumedAtMs);
  const [firstMs] = counted.slice(-maxCorrections);
  if (firstMs === undefined || counted.length < maxCorrections) return undefined;
  const untilMs = firstMs + withinMs;
  return untilMs > nowMs ? untilMs : undefined;
}

/**
 * Returns the result for a copy that is `Contended`: it is not corrected, and its fault names the field managers that change it. The first
 * time, the copy is read live to find these managers. Later, the fault in the inventory is repeated.
 */
export async function contendedResult(
  { work, guardedClient }: CopyContext,
  entry: InventoryEntry,
  address: ObjectAddress,
): Promise<CopyResult> {
  const contended = (message: string) =>
    failedResult(entry, copyFault(work.share.cluster, 'CONFLICT', message), { now: work.clock.now(), reason: 'Contended' });
  if (entry.fault?.code === 'CONFLICT') return unchanged(entry, contended(entry.fault.message));
  const answer = await guardedClient.get(address);
  if (answer.result === 'stopped') return answer;
  const managers = answer.result === 'answered' ? otherManagersOf(answer.object, entry.sent ?? '') : [];
  const who = managers.length === 0 ? 'others' : managers.join(', ');
  return contended(`corrected ${maxCorrections} times in 10 minutes, and changed again by ${who}`);
}

/** Returns the result with the entry as it was, so that the inventory need not be saved. */
function unchanged(entry: InventoryEntry, result: CopyResult): CopyResult {
  return result.result === 'stopped' ? result : { ...result, entry };
}
