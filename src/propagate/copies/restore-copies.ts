import type { InventoryEntry, WrittenAction } from '../inventory.ts';
import { textOfKey } from '../object-key.ts';
import type { RenderedObject } from '../plan.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork, OldValues } from './copies.ts';
import { removeCopies } from './remove-copies.ts';
import type { Removal } from './take-back.ts';
import { writeCopies } from './write-copies.ts';

/** What is restored in one cluster. */
interface Restoration {
  /** Of the revision that is gone back to; empty where it placed nothing, or where there is none. */
  readonly rendered: readonly RenderedObject[];
  /** What was kept when objects were taken over. */
  readonly old: readonly OldValues[];
}

/**
 * Takes a generation back in one cluster (docs/internals/propagation.md 5.5): what the revision had is written as it was; what it had not is deleted if we made it, or gets
 * its old values back and is let go if it was there before us, whichever generation took it over. Where nothing is kept of what it held, as of Secrets, it is
 * let go as it is: `Orphaned`. Each only as our own write left it, under uid and version of a fresh read: what moved is
 * `Skipped`. It is compensation, no transaction. One that fails stops no other.
 *
 * `work.generation` is the one that is taken back. Actions are `Restored`, `Deleted`, `Orphaned`, `Unchanged`, `Skipped`, `Failed`; in the order of `rendered`, then of the
 * inventory.
 */
export async function restoreCopies(work: CopyWork, { rendered, old }: Restoration, signal: AbortSignal): Promise<CopiesOutcome> {
  // What this generation took over the revision did not have, also where it is meant to have it.
  const taken = work.share.entries.filter(({ takenOver }) => takenOver !== undefined && takenOver.revision >= work.revision);
  const returned = new Set(taken.map(({ key }) => textOfKey(key)));
  const had = rendered.filter(({ key }) => !returned.has(textOfKey(key)));
  const written = await writeCopies(work, { objects: had, purpose: 'apply' }, signal);
  const copies = written.copies.map(asRestored);
  if (written.result !== 'done') return { ...written, copies };
  const kept = new Set(had.map(({ key }) => textOfKey(key)));
  const removals = written.share.entries.filter(({ key }) => !kept.has(textOfKey(key))).map((entry) => removalOf(entry, old));
  const removed = await removeCopies({ ...work, share: written.share }, removals, signal);
  return { ...removed, copies: [...copies, ...removed.copies] };
}

function asRestored(outcome: CopyOutcome): CopyOutcome {
  const actions: Readonly<Partial<Record<WrittenAction, WrittenAction>>> = { Created: 'Restored', Configured: 'Restored' };
  return { ...outcome, action: actions[outcome.action] ?? outcome.action };
}

function removalOf({ key, appliedGeneration }: InventoryEntry, old: readonly OldValues[]): Removal {
  return { key, ifGeneration: appliedGeneration, how: { type: 'giveBack', to: 0, old } };
}
