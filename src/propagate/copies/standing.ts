import type { InventoryEntry } from '../inventory.ts';
import type { RenderedObject } from '../plan.ts';
import { marksOf } from './copy-marks.ts';
import { observedHashOf, type Sight } from './observed.ts';
import { asWanted } from './pending.ts';

/**
 * How a copy stands. `absent`: not there, never written. `gone`: it was written and is not there. `stranger`: another object is there. `outdated`: other than
 * what is wanted was written last, or it was to go. `drifted`: what was written was changed. `settled`: as it was written.
 */
export type Standing = 'absent' | 'gone' | 'stranger' | 'outdated' | 'drifted' | 'settled';

/** How a copy stands by the inventory and what the mirror says, without a call. `settled` and a `gone` Job that was finished need none. */
export function standingOf(object: RenderedObject, entry: InventoryEntry | undefined, sight: Sight): Standing {
  const { live } = object;
  if (live === undefined) return entry?.uid === undefined ? 'absent' : 'gone';
  if (entry?.uid === undefined) return entry?.intent !== undefined && marksOf(live).intent === entry.intent ? 'outdated' : 'stranger';
  if (live.metadata.uid !== entry.uid) return 'stranger';
  if (entry.appliedHash !== object.desiredHash || asWanted(entry) !== entry) return 'outdated';
  return entry.observedHash === observedHashOf(object, live, sight) ? 'settled' : 'drifted';
}
