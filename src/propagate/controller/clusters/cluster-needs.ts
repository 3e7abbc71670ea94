import { hasTrueCondition } from '../../../core/conditions.ts';
import { keyOfKind } from '../../../core/kinds.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../../manifests/object-key.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import { isRemoval } from '../../plan/held-prune.ts';

/** The facts that decide what one cluster needs. */
export interface NeedsInput {
  /** The rendered objects, in write order. */
  readonly objects: readonly RenderedObject[];
  readonly share: Pick<ClusterShare, 'entries'> | undefined;
  readonly mirrored: (key: ObjectKey) => MirroredObject;
  /** True if the mirror has seen our last write of that copy. */
  readonly hasSeenWrite: (mirrored: MirroredObject, key: ObjectKey) => boolean;
  /** True if a field that Muster sent has another value now. */
  readonly isDrifted: (object: RenderedObject, entry: InventoryEntry, mirrored: MirroredObject) => boolean;
  /** True if drift is corrected. False: drift is only reported, but objects that were never written in their wanted form are written. */
  readonly correctsDrift: boolean;
  /** Which unwanted copies may be deleted: `all`, only those whose deletion has started (`begun`), or no copy (`nothing`). */
  readonly mayPrune: 'all' | 'begun' | 'nothing';
  /** True if a user confirmed the prune. All its deletions are then recorded in the inventory before the first one. */
  readonly isConfirmed: boolean;
  /**
   * For a generation that goes back to an older revision: true if a later revision took the object over. It is then given back to its
   * owner. Default: no object is given back.
   */
  readonly isToReturn?: (entry: InventoryEntry) => boolean;
}

/** The work in a cluster. All lists are empty if there is none. */
export interface ClusterNeeds {
  /** Objects that were never written, or whose wanted form has changed. */
  readonly apply: readonly RenderedObject[];
  /** Copies that were deleted or changed since they were written, according to the mirror. */
  readonly correct: readonly RenderedObject[];
  /** Copies in the inventory that are no longer wanted. */
  readonly prune: readonly RenderedObject[];
  /** The part of `prune` that the inventory must record as being deleted before the first deletion. */
  readonly announce: readonly ObjectKey[];
  /** Jobs that have ended. The inventory records this, so that a Job is not created again once it is gone. */
  readonly finish: readonly ObjectKey[];
  /** Copies with a recorded fault that are now in their wanted state. */
  readonly healed: readonly ObjectKey[];
  /**
   * Copies that differ from their wanted state but are not written, because the cluster is suspended or drift is only reported (`correctsDrift` is
   * false).
   */
  readonly watched: readonly RenderedObject[];
}

export const noNeeds: ClusterNeeds = { apply: [], correct: [], prune: [], announce: [], finish: [], healed: [], watched: [] };

/** Compares the wanted objects with the inventory and the mirror. Pure. */
export function needsOf(facts: NeedsInput): ClusterNeeds {
  const entries = new Map(facts.share?.entries.map((entry) => [textOfKey(entry.key), entry]));
  const apply: RenderedObject[] = [];
  const correct: RenderedObject[] = [];
  const prune: RenderedObject[] = [];
  const watched: RenderedObject[] = [];
  const healed: ObjectKey[] = [];
  for (const object of facts.objects) {
    const entry = entries.get(textOfKey(object.key));
    if (object.held === 'Source') {
      // Removes the entry from the inventory, if there is one. The object itself is not written.
      if (entry !== undefined) apply.push(object);
    } else if (object.held === 'Circle') {
      apply.push(object);
    } else if (isRemoval(object)) {
      if (entry !== undefined && mayPruneEntry(entry, facts) && !isBeingDeleted(entry, facts)) prune.push(object);
    } else if (isReturned(entry, facts) && object.held !== 'Suspended') {
      apply.push(object);
    } else if (object.action === 'HOLD' && object.held === 'SourceMissing') {
      // The wanted state is unknown, so the copy stays as it is.
    } else if (object.action === 'HOLD' && object.held === 'Suspended') {
      if (!isWritten(object, entry) || isChanged(object, entry, facts)) watched.push(object);
    } else if (object.action === 'HOLD' && object.held === 'CreateOnly') {
      // With `CreateOnly`, an existing object is never changed.
      if (isHealed(entry, facts)) healed.push(object.key);
    } else if (!isWritten(object, entry)) apply.push(object);
    else if (isChanged(object, entry, facts)) (facts.correctsDrift ? correct : watched).push(object);
    else if (isHealed(entry, facts)) healed.push(object.key);
  }
  const finish = (facts.share?.entries ?? []).filter((entry) => isFinishing(entry, facts.mirrored(entry.key))).map(({ key }) => key);
  const announce = facts.isConfirmed ? prune.filter(({ key }) => isToAnnounce(entries.get(textOfKey(key)))).map(({ key }) => key) : [];
  return { apply, correct, prune, announce, finish, healed, watched };
}

function isReturned(entry: InventoryEntry | undefined, { isToReturn }: NeedsInput): boolean {
  return entry !== undefined && isToReturn?.(entry) === true;
}

function mayPruneEntry(entry: InventoryEntry, { mayPrune }: NeedsInput): boolean {
  return mayPrune === 'all' || (mayPrune === 'begun' && isBeingRemoved(entry));
}

/** True for an owned copy whose deletion has not started. Shared objects are released and never deleted. */
function isToAnnounce(entry: InventoryEntry | undefined): boolean {
  return entry !== undefined && entry.state !== 'Shared' && !isBeingRemoved(entry);
}

/** True if no object has to be written or deleted in the cluster. */
export function needsNoWrite({ apply, correct, prune }: ClusterNeeds): boolean {
  return apply.length + correct.length + prune.length === 0;
}

/** True if there is work in the cluster or in its inventory on the hub. */
export function hasWork(needs: ClusterNeeds): boolean {
  return !needsNoWrite(needs) || needs.finish.length + needs.healed.length > 0;
}

/**
 * True if the inventory records a fault that is over. The caller has found the object in its wanted state: after a rollback to an older
 * spec, or because a user fixed it.
 */
function isHealed(entry: InventoryEntry | undefined, { mirrored, hasSeenWrite }: NeedsInput): boolean {
  if (entry === undefined || (entry.fault === undefined && entry.action !== 'Failed')) return false;
  const seen = mirrored(entry.key);
  if (seen.result === 'absent') return entry.finished === true;
  return seen.result === 'held' && hasSeenWrite(seen, entry.key) && seen.object.metadata.deletionTimestamp === undefined;
}

/** True if the object was last sent in its wanted form. */
function isWritten({ desiredHash }: RenderedObject, entry: InventoryEntry | undefined): entry is InventoryEntry {
  return entry !== undefined && (entry.state === 'Owned' || entry.state === 'Shared') && entry.appliedHash === desiredHash;
}

function isChanged(object: RenderedObject, entry: InventoryEntry, { mirrored, hasSeenWrite, isDrifted }: NeedsInput): boolean {
  const seen = mirrored(object.key);
  if (seen.result === 'unread' || !hasSeenWrite(seen, object.key)) return false;
  if (seen.result === 'absent' || seen.object.metadata.uid !== entry.uid) return entry.finished !== true;
  // A copy that is being deleted is created again once it is gone. Until then it does not count as changed.
  return seen.object.metadata.deletionTimestamp === undefined && isDrifted(object, entry, seen);
}

/**
 * True if the deletion of the copy was requested, and only finalizers delay it. The action `Skipped` marks a copy that still waits for its
 * deletion request.
 */
export function isBeingDeleted(
  { key, state, uid, action }: InventoryEntry,
  { mirrored, hasSeenWrite }: Pick<NeedsInput, 'mirrored' | 'hasSeenWrite'>,
): boolean {
  if (state !== 'Deleting' || action === 'Skipped') return false;
  const seen = mirrored(key);
  if (seen.result !== 'held' || seen.object.metadata.uid !== uid) return false;
  return seen.object.metadata.deletionTimestamp !== undefined || !hasSeenWrite(seen, key);
}

function isFinishing(entry: InventoryEntry, seen: MirroredObject): boolean {
  if (entry.finished === true || seen.result !== 'held' || seen.object.metadata.uid !== entry.uid) return false;
  if (keyOfKind(groupKindOfKey(entry.key)) !== 'Job.batch') return false;
  return hasTrueCondition(seen.object, 'Complete') || hasTrueCondition(seen.object, 'Failed');
}
