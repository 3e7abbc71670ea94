import type { Fault } from '../../../core/faults.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { textOfKey } from '../../../manifests/object-key.ts';
import { markDeleting } from '../../apply/deletion-state.ts';
import { pruneCopies } from '../../apply/remove-copies.ts';
import { applyCopies, correctDrift } from '../../apply/write-copies.ts';
import type { InventoryEntry } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from '../../plan/copies/copy-work.ts';
import type { ClusterFacts } from '../../status/facts.ts';
import type { ClusterNeeds } from './cluster-needs.ts';

/** The work of one job. Resolves with one outcome, which has the latest share and the copies of all steps. Empty if no step was needed. */
export type ClusterTask = (work: CopyWork, signal: AbortSignal) => Promise<readonly CopiesOutcome[]>;

/** One step of a task. */
type TaskStep = (work: CopyWork, signal: AbortSignal) => Promise<CopiesOutcome>;

/**
 * Returns the task for the needs of a cluster. The steps are:
 *
 * 1. Record Jobs that have ended, and clear faults that are over.
 * 2. Restore copies that were deleted or changed, because new copies may need them.
 * 3. Write new and changed copies (`applyCopies`).
 * 4. Delete copies that are no longer wanted. The deletions of a confirmed prune are recorded first. Skipped if a copy could not be written
 *    before.
 *
 * A copy that cannot be written does not stop steps 2 and 3. A failed save of the inventory stops the task. The existing objects come from
 * the mirror as of now, not as of the plan.
 */
export function taskFor(needs: ClusterNeeds, copies: ClusterFacts['copies']): ClusterTask {
  const fresh = withMirroredObject(copies);
  const writeSteps: readonly (TaskStep | undefined)[] = [
    stepOf(needs.finish, (work, signal) => recordFinished(work, needs, signal)),
    stepOf(needs.healed, (work, signal) => clearFaults(work, needs, signal)),
    stepOf(needs.correct, (work, signal) => correctDrift(work, needs.correct.map(fresh), signal)),
    stepOf(needs.apply, (work, signal) => applyCopies(work, needs.apply.map(fresh), signal)),
  ];
  const deleteSteps: readonly (TaskStep | undefined)[] = [
    stepOf(needs.announce, (work, signal) => announceDeletions(work, needs, signal)),
    stepOf(needs.prune, (work, signal) => pruneCopies(work, needs.prune.map(fresh), signal)),
  ];
  return async (work, signal) => {
    const outcomes: CopiesOutcome[] = [];
    for (const step of [...writeSteps, ...deleteSteps]) {
      if (step === undefined) continue;
      if (deleteSteps.includes(step) && outcomes.some(({ copies }) => copies.some(({ fault }) => fault !== undefined))) break;
      const { share } = outcomes.at(-1) ?? work;
      const outcome = await step({ ...work, share }, signal);
      outcomes.push(outcome);
      if (outcome.result !== 'done') break;
    }
    return outcomes.slice(-1).map((last) => ({ ...last, copies: outcomes.flatMap(({ copies }) => copies) }));
  };
}

function stepOf(wanted: readonly unknown[], step: TaskStep): TaskStep | undefined {
  return wanted.length === 0 ? undefined : step;
}

/**
 * Returns a function that sets `live` of an object to its mirrored object as of now. `live` stays the object that the plan saw if the mirror
 * is unread, or if no copy was written yet: the plan has only objects that the requester may see.
 */
function withMirroredObject(copies: ClusterFacts['copies']): (object: RenderedObject) => RenderedObject {
  const written = copies.filter(({ entry }) => entry.uid !== undefined);
  const seen = new Map(written.map(({ entry, mirrored }) => [textOfKey(entry.key), mirrored]));
  return (object) => {
    const mirrored = seen.get(textOfKey(object.key));
    if (mirrored === undefined || mirrored.result === 'unread') return object;
    const { live: _live, ...rest } = object;
    return mirrored.result === 'held' ? { ...rest, live: mirrored.object } : rest;
  };
}

/** Records in the inventory that Jobs have ended. If such a Job is deleted later, it is not created again. */
async function recordFinished(work: CopyWork, { finish }: ClusterNeeds, signal: AbortSignal): Promise<CopiesOutcome> {
  const finished = new Set(finish.map(textOfKey));
  const entries = work.share.entries.map((entry) => (finished.has(textOfKey(entry.key)) ? { ...entry, finished: true } : entry));
  return await saveEntries({ ...work, share: { ...work.share, entries } }, work.share, signal);
}

/** Removes the faults that are over from the inventory, and saves it on the hub. Returns the copies of these faults as `Unchanged`. */
async function clearFaults(work: CopyWork, { healed }: ClusterNeeds, signal: AbortSignal): Promise<CopiesOutcome> {
  const keys = new Set(healed.map(textOfKey));
  const settled = work.share.entries.map((entry) => (keys.has(textOfKey(entry.key)) ? settledHealed(entry) : entry));
  const saved = await saveEntries({ ...work, share: { ...work.share, entries: settled } }, work.share, signal);
  if (saved.result !== 'done') return saved;
  const copies = healed.map((key): CopyOutcome => ({ key, action: 'Unchanged' }));
  return { ...saved, copies };
}

function settledHealed({ fault: _fault, ...entry }: InventoryEntry): InventoryEntry {
  return entry.action === 'Failed' ? { ...entry, action: 'Unchanged' } : entry;
}

/**
 * Marks all copies of a confirmed prune as `Deleting` in the inventory, before the first of them is deleted. So later passes need no new
 * confirmation for the deletions that are left.
 */
async function announceDeletions(work: CopyWork, { announce }: ClusterNeeds, signal: AbortSignal): Promise<CopiesOutcome> {
  const going = new Set(announce.map(textOfKey));
  const entries = work.share.entries.map((entry) =>
    going.has(textOfKey(entry.key)) ? { ...markDeleting(entry), action: 'Skipped' as const } : entry,
  );
  return await saveEntries({ ...work, share: { ...work.share, entries } }, work.share, signal);
}

/** Saves the share of the work on the hub. If it is not saved, the share of the outcome is `before`. */
export async function saveEntries(
  { share, shares, mayWrite }: Pick<CopyWork, 'share' | 'shares' | 'mayWrite'>,
  before: CopyWork['share'],
  signal: AbortSignal,
): Promise<CopiesOutcome> {
  if (!mayWrite()) return { result: 'stopped', share: before, copies: [] };
  const saved = await shares.save(share, signal);
  switch (saved.result) {
    case 'saved':
      return { result: 'done', share: saved.share, copies: [] };
    case 'conflict':
      return { result: 'stopped', share: before, copies: [] };
    case 'failed':
      return { result: 'failed', fault: saved.fault, share: before, copies: [] };
    default:
      return saved satisfies never;
  }
}

/**
 * Deletes the share on the hub, because it is empty or its copies were abandoned. The outcome has the share without entries. If the share
 * was not deleted, the outcome has it unchanged.
 */
export async function removeShare(
  { share, shares, mayWrite }: Pick<CopyWork, 'share' | 'shares' | 'mayWrite'>,
  signal: AbortSignal,
): Promise<CopiesOutcome> {
  if (!mayWrite()) return { result: 'stopped', share, copies: [] };
  const removed = await shares.remove(share, signal);
  if (removed.result === 'failed') return { result: 'failed', fault: removed.fault, share, copies: [] };
  if (removed.result === 'conflict') return { result: 'stopped', share, copies: [] };
  const { version: _version, uid: _uid, ...rest } = share;
  return { result: 'done', share: { ...rest, entries: [] }, copies: [] };
}

/** Collects the faults of an outcome. A fault of the hub comes first. */
export function faultsIn({ copies, ...outcome }: CopiesOutcome): readonly Fault[] {
  const ofHub = outcome.result === 'failed' ? [outcome.fault] : [];
  return [...ofHub, ...copies.flatMap(({ fault }) => fault ?? [])];
}

/** Returns the mirrored version of each of these copies, by `textOfKey`. */
export function mirroredVersionsOf(objects: readonly RenderedObject[], copies: ClusterFacts['copies']): ReadonlyMap<string, string> {
  const fresh = withMirroredObject(copies);
  return new Map(objects.flatMap((object) => versionOf(textOfKey(object.key), fresh(object).live)));
}

function versionOf(text: string, live: KubernetesObject | undefined): readonly (readonly [string, string])[] {
  const version = live?.metadata.resourceVersion;
  return version === undefined ? [] : [[text, version]];
}
