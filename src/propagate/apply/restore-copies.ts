import { textOfKey } from '../../manifests/object-key.ts';
import type { InventoryEntry, OldValues, WrittenAction } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from '../plan/copies/copy-work.ts';
import { removeCopies } from './remove-copies.ts';
import type { Removal } from './remove-copy.ts';
import { writeCopies } from './write-copies.ts';

/** The input for rolling back one cluster. */
interface Restoration {
  /** The rendered objects of the target revision. Empty if that revision placed nothing here, or if there is no such revision. */
  readonly rendered: readonly RenderedObject[];
  /** The old values that were stored when objects were taken over. */
  readonly oldValues: readonly OldValues[];
}

/**
 * Rolls back a generation in one cluster (docs/internals/propagation.md 5.5).
 *
 * - Objects of the target revision are written as that revision rendered them.
 * - Objects that Muster created and that the revision does not have are deleted.
 * - Objects that existed before Muster wrote them get their old values back and are released, whichever generation took them over. Where no
 *   old values are stored, as for Secrets, the object is released as it is: `Orphaned`.
 *
 * Each step is guarded by uid and version of a fresh read. An object that has changed since Muster's own write is `Skipped`. This is a
 * compensation, not a transaction: a failure of one object stops no other.
 *
 * `work.generation` is the generation that is rolled back. The outcomes have the actions `Restored`, `Deleted`, `Orphaned`, `Unchanged`,
 * `Skipped` or `Failed`. They are in the order of `rendered`, then in the order of the inventory.
 */
export async function restoreCopies(work: CopyWork, { rendered, oldValues }: Restoration, signal: AbortSignal): Promise<CopiesOutcome> {
  // Objects that this generation took over get their old values back, even if the target revision renders them. They belonged to other
  // owners while that revision was in effect.
  const taken = work.share.entries.filter(({ takenOver }) => takenOver !== undefined && takenOver.revision >= work.revision);
  const returned = new Set(taken.map(({ key }) => textOfKey(key)));
  const had = rendered.filter(({ key }) => !returned.has(textOfKey(key)));
  const written = await writeCopies(work, { objects: had, purpose: 'apply' }, signal);
  const copies = written.copies.map(asRestored);
  if (written.result !== 'done') return { ...written, copies };
  const kept = new Set(had.map(({ key }) => textOfKey(key)));
  const removals = written.share.entries.filter(({ key }) => !kept.has(textOfKey(key))).map((entry) => removalOf(entry, oldValues));
  const removed = await removeCopies({ ...work, share: written.share }, removals, signal);
  return { ...removed, copies: [...copies, ...removed.copies] };
}

function asRestored(outcome: CopyOutcome): CopyOutcome {
  const actions: Readonly<Partial<Record<WrittenAction, WrittenAction>>> = { Created: 'Restored', Configured: 'Restored' };
  return { ...outcome, action: actions[outcome.action] ?? outcome.action };
}

function removalOf({ key, appliedGeneration }: InventoryEntry, oldValues: readonly OldValues[]): Removal {
  return { key, lastGeneration: appliedGeneration, how: { type: 'giveBack', targetRevision: 0, oldValues } };
}
