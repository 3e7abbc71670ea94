import { hasTrueCondition } from '../../../core/conditions.ts';
import { keyOfKind } from '../../../core/kinds.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../../manifests/object-key.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import { isRemoval } from '../../plan/held-prune.ts';

/** What one cluster is judged by. */
export interface NeedsInput {
  /** In the order of writes. */
  readonly objects: readonly RenderedObject[];
  readonly share: Pick<ClusterShare, 'entries'> | undefined;
  readonly mirrored: (key: ObjectKey) => MirroredObject;
  /** True if the mirror has seen our last write of that copy. */
  readonly hasSeenWrite: (mirrored: MirroredObject, key: ObjectKey) => boolean;
  /** True if a field that we sent is another one by now. */
  readonly isDrifted: (object: RenderedObject, entry: InventoryEntry, mirrored: MirroredObject) => boolean;
  /** False: it is only watched. What was never written as it is to be now is written all the same. */
  readonly isKept: boolean;
  /** `begun`: what is on its way already; all else that is to go stays for now. */
  readonly mayPrune: 'all' | 'begun' | 'nothing';
  /** What goes was confirmed as one: the inventory knows of all of it first. */
  readonly isConfirmed: boolean;
  /** True for what was taken over since the revision that is gone back to. Absent: nothing was. */
  readonly isToReturn?: (entry: InventoryEntry) => boolean;
}

/** What there is to do in a cluster. All empty: nothing. */
export interface ClusterNeeds {
  /** Never written, or not as it is to be now. */
  readonly apply: readonly RenderedObject[];
  /** Written, and somebody took it away or changed it since, by what the mirror says. */
  readonly correct: readonly RenderedObject[];
  /** Held, and not wanted any more. */
  readonly prune: readonly RenderedObject[];
  /** Of these: those which the inventory is to know as going before the first of them goes. */
  readonly announce: readonly ObjectKey[];
  /** Jobs that came to their end, which the inventory is to remember: gone then, they are not done again. */
  readonly finish: readonly ObjectKey[];
  /** What is wrong with these by the inventory is over: they stand as they are wanted. */
  readonly healed: readonly ObjectKey[];
  /** Otherwise than wanted, and not to be written: the cluster is suspended, or only watched. */
  readonly watched: readonly RenderedObject[];
}

export const noNeeds: ClusterNeeds = { apply: [], correct: [], prune: [], announce: [], finish: [], healed: [], watched: [] };

/** Compares what is wanted with what the inventory says was written, and with what the mirror says became of it. Pure. */
export function needsOf(facts: NeedsInput): ClusterNeeds {
  const entries = new Map(facts.share?.entries.map((entry) => [textOfKey(entry.key), entry]));
  const apply: RenderedObject[] = [];
  const correct: RenderedObject[] = [];
  const prune: RenderedObject[] = [];
  const amiss: RenderedObject[] = [];
  const healed: ObjectKey[] = [];
  for (const object of facts.objects) {
    const entry = entries.get(textOfKey(object.key));
    if (object.held === 'Source') {
      // Its entry leaves the inventory, if there is one. Nothing is written to the object.
      if (entry !== undefined) apply.push(object);
    } else if (object.held === 'Circle') {
      apply.push(object);
    } else if (isRemoval(object)) {
      if (entry !== undefined && mayPruneEntry(entry, facts) && !isBeingDeleted(entry, facts)) prune.push(object);
    } else if (isReturned(entry, facts) && object.held !== 'Suspended') {
      apply.push(object);
    } else if (object.action === 'HOLD' && object.held === 'SourceMissing') {
      // Nobody knows what it is to be: it stays as it is.
    } else if (object.action === 'HOLD' && object.held === 'Suspended') {
      if (!isWritten(object, entry) || isChanged(object, entry, facts)) amiss.push(object);
    } else if (object.action === 'HOLD' && object.held === 'CreateOnly') {
      // Left alone on purpose, where it stands already.
      if (isHealed(entry, facts)) healed.push(object.key);
    } else if (!isWritten(object, entry)) apply.push(object);
    else if (isChanged(object, entry, facts)) (facts.isKept ? correct : amiss).push(object);
    else if (isHealed(entry, facts)) healed.push(object.key);
  }
  const finish = (facts.share?.entries ?? []).filter((entry) => isFinishing(entry, facts.mirrored(entry.key))).map(({ key }) => key);
  const announce = facts.isConfirmed ? prune.filter(({ key }) => isToAnnounce(entries.get(textOfKey(key)))).map(({ key }) => key) : [];
  return { apply, correct, prune, announce, finish, healed, watched: amiss };
}

function isReturned(entry: InventoryEntry | undefined, { isToReturn }: NeedsInput): boolean {
  return entry !== undefined && isToReturn?.(entry) === true;
}

function mayPruneEntry(entry: InventoryEntry, { mayPrune }: NeedsInput): boolean {
  return mayPrune === 'all' || (mayPrune === 'begun' && isBeingRemoved(entry));
}

/** What is shared is let go of, and never on its way. */
function isToAnnounce(entry: InventoryEntry | undefined): boolean {
  return entry !== undefined && entry.state !== 'Shared' && !isBeingRemoved(entry);
}

/** Nothing is to be written in the cluster. */
export function needsNoWrite({ apply, correct, prune }: ClusterNeeds): boolean {
  return apply.length + correct.length + prune.length === 0;
}

/** There is something to do, if only on the hub. */
export function hasWork(needs: ClusterNeeds): boolean {
  return !needsNoWrite(needs) || needs.finish.length + needs.healed.length > 0;
}

/** What failed is not tried any more, as what is wanted stands there by now: an older spec that was gone back to, or somebody put it right. */
function isHealed(entry: InventoryEntry | undefined, { mirrored, hasSeenWrite: isHeard }: NeedsInput): boolean {
  if (entry === undefined || (entry.fault === undefined && entry.action !== 'Failed')) return false;
  const seen = mirrored(entry.key);
  if (seen.result === 'absent') return entry.finished === true;
  return seen.result === 'held' && isHeard(seen, entry.key) && seen.object.metadata.deletionTimestamp === undefined;
}

/** It was last sent as it would be sent now. */
function isWritten({ desiredHash }: RenderedObject, entry: InventoryEntry | undefined): entry is InventoryEntry {
  return entry !== undefined && (entry.state === 'Owned' || entry.state === 'Shared') && entry.appliedHash === desiredHash;
}

function isChanged(object: RenderedObject, entry: InventoryEntry, { mirrored, hasSeenWrite: isHeard, isDrifted }: NeedsInput): boolean {
  const seen = mirrored(object.key);
  if (seen.result === 'unread' || !isHeard(seen, object.key)) return false;
  if (seen.result === 'absent' || seen.object.metadata.uid !== entry.uid) return entry.finished !== true;
  // What is on its way out comes back once it is gone: until then nothing holds.
  return seen.object.metadata.deletionTimestamp === undefined && isDrifted(object, entry, seen);
}

/** Nothing to be done but to wait: its deletion was asked for, and others have not let go of it yet. What waits for its own turn is `Skipped`. */
export function isBeingDeleted(
  { key, state, uid, action }: InventoryEntry,
  { mirrored, hasSeenWrite: isHeard }: Pick<NeedsInput, 'mirrored' | 'hasSeenWrite'>,
): boolean {
  if (state !== 'Deleting' || action === 'Skipped') return false;
  const seen = mirrored(key);
  if (seen.result !== 'held' || seen.object.metadata.uid !== uid) return false;
  return seen.object.metadata.deletionTimestamp !== undefined || !isHeard(seen, key);
}

function isFinishing(entry: InventoryEntry, seen: MirroredObject): boolean {
  if (entry.finished === true || seen.result !== 'held' || seen.object.metadata.uid !== entry.uid) return false;
  if (keyOfKind(groupKindOfKey(entry.key)) !== 'Job.batch') return false;
  return hasTrueCondition(seen.object, 'Complete') || hasTrueCondition(seen.object, 'Failed');
}
