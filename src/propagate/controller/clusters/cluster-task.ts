import type { Fault } from '../../../core/faults.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { textOfKey } from '../../../manifests/object-key.ts';
import { markDeleting } from '../../apply/pending.ts';
import { pruneCopies } from '../../apply/remove-copies.ts';
import { applyCopies, correctDrift } from '../../apply/write-copies.ts';
import type { InventoryEntry } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from '../../plan/copies/copy-work.ts';
import type { ClusterFacts } from '../../status/facts.ts';
import type { ClusterNeeds } from './cluster-needs.ts';

/** What is done in one cluster; the last outcome has the share as it stands then, and all that failed. */
export type ClusterTask = (work: CopyWork, signal: AbortSignal) => Promise<readonly CopiesOutcome[]>;

/** The objects of a piece of work, and the step that does it. */
type TaskStep = (work: CopyWork, signal: AbortSignal) => Promise<CopiesOutcome>;

/**
 * Does what there is to do. What was taken away or changed comes back first: what is new may need it, as what a Namespace held needs that. Neither waits for
 * the other to succeed; but where what is wanted does not stand, nothing that was wanted before goes.
 *
 * What stands in the cluster is taken from its mirror as of now, not from when it was planned.
 */
export function taskFor(needs: ClusterNeeds, copies: ClusterFacts['copies']): ClusterTask {
  const fresh = withMirroredObject(copies);
  const bring: readonly (TaskStep | undefined)[] = [
    stepOf(needs.finish, (work, signal) => recordFinished(work, needs, signal)),
    stepOf(needs.healed, (work, signal) => clearFaults(work, needs, signal)),
    stepOf(needs.correct, (work, signal) => correctDrift(work, needs.correct.map(fresh), signal)),
    stepOf(needs.apply, (work, signal) => applyCopies(work, needs.apply.map(fresh), signal)),
  ];
  const take: readonly (TaskStep | undefined)[] = [
    stepOf(needs.announce, (work, signal) => announceDeletions(work, needs, signal)),
    stepOf(needs.prune, (work, signal) => pruneCopies(work, needs.prune.map(fresh), signal)),
  ];
  return async (work, signal) => {
    const outcomes: CopiesOutcome[] = [];
    for (const step of [...bring, ...take]) {
      if (step === undefined) continue;
      if (take.includes(step) && outcomes.some(({ copies }) => copies.some(({ fault }) => fault !== undefined))) break;
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

/** Each object with what its mirror holds now; where that is unread, with what the plan saw. */
function withMirroredObject(copies: ClusterFacts['copies']): (object: RenderedObject) => RenderedObject {
  const seen = new Map(copies.map(({ entry, mirrored }) => [textOfKey(entry.key), mirrored]));
  return (object) => {
    const mirrored = seen.get(textOfKey(object.key));
    if (mirrored === undefined || mirrored.result === 'unread') return object;
    const { live: _live, ...rest } = object;
    return mirrored.result === 'held' ? { ...rest, live: mirrored.object } : rest;
  };
}

/** Before a finished Job can be gone, the inventory knows that it was finished. */
async function recordFinished(work: CopyWork, { finish }: ClusterNeeds, signal: AbortSignal): Promise<CopiesOutcome> {
  const finished = new Set(finish.map(textOfKey));
  const entries = work.share.entries.map((entry) => (finished.has(textOfKey(entry.key)) ? { ...entry, finished: true } : entry));
  return await saveEntries({ ...work, share: { ...work.share, entries } }, work.share, signal);
}

/** What failed once and is not tried any more is not told any more. */
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

/** What was confirmed as one goes on as one, whatever becomes of the first of it: it waits for its turn as going. */
async function announceDeletions(work: CopyWork, { announce }: ClusterNeeds, signal: AbortSignal): Promise<CopiesOutcome> {
  const going = new Set(announce.map(textOfKey));
  const entries = work.share.entries.map((entry) =>
    going.has(textOfKey(entry.key)) ? { ...markDeleting(entry), action: 'Skipped' as const } : entry,
  );
  return await saveEntries({ ...work, share: { ...work.share, entries } }, work.share, signal);
}

/** Saves the share of the work; `before` is what stands if that is not done. */
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

/** Takes the share itself away: it is empty, or what is in it was given up. */
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

/** Why a step failed: of the hub first. */
export function faultsIn({ copies, ...outcome }: CopiesOutcome): readonly Fault[] {
  const ofHub = outcome.result === 'failed' ? [outcome.fault] : [];
  return [...ofHub, ...copies.flatMap(({ fault }) => fault ?? [])];
}

/** The version at which each copy that looked changed stands in the mirror. */
export function mirroredVersionsOf(objects: readonly RenderedObject[], copies: ClusterFacts['copies']): ReadonlyMap<string, string> {
  const fresh = withMirroredObject(copies);
  return new Map(objects.flatMap((object) => versionOf(textOfKey(object.key), fresh(object).live)));
}

function versionOf(text: string, live: KubernetesObject | undefined): readonly (readonly [string, string])[] {
  const version = live?.metadata.resourceVersion;
  return version === undefined ? [] : [[text, version]];
}
