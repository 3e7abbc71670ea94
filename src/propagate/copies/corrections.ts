import type { InventoryEntry } from '../inventory.ts';

/** Corrected so often within the time, a copy is contended and left until the first of these is past it (propagation.md 7). */
export const mostCorrections = 5;
const withinMs = 10 * 60_000;

/** When it may be corrected again, in milliseconds of the epoch; undefined if it may be now. */
export function contendedUntilMs({ corrections = [] }: InventoryEntry, nowMs: number): number | undefined {
  const [first] = corrections.slice(-mostCorrections);
  if (first === undefined || corrections.length < mostCorrections) return undefined;
  const untilMs = Date.parse(first) + withinMs;
  return untilMs > nowMs ? untilMs : undefined;
}
