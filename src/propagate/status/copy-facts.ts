import { groupKindOfKey, namespacedNameOf } from '../../manifests/object-key.ts';
import type { MemberObjects, MirroredObject } from '../../store/member-objects.ts';
import type { ClusterShare, InventoryEntry } from '../model/inventory.ts';
import { marks } from '../model/propagation.ts';
import type { CopyFacts } from './facts.ts';

/**
 * Returns each entry of the inventory of a cluster, with its mirrored object. An object that is not the copy counts as absent: the requester
 * may not be allowed to see it, so its state must not become a part of the status or of an answer.
 */
export function copyFactsOf(objects: Pick<MemberObjects, 'read'>, share: ClusterShare | undefined): readonly CopyFacts[] {
  if (share === undefined) return [];
  return share.entries.map((entry) => {
    const mirrored = objects.read(share.cluster, groupKindOfKey(entry.key), namespacedNameOf(entry.key));
    return { entry, mirrored: mirrored.result === 'held' && !isCopy(mirrored, { share, entry }) ? absentSince(mirrored) : mirrored };
  });
}

type HeldObject = Extract<MirroredObject, { result: 'held' }>;

/** True if the object is the recorded copy, or has the mark of its Propagation: a crash may have kept the uid from being recorded. */
function isCopy(
  { object: { metadata } }: HeldObject,
  { share, entry }: { readonly share: ClusterShare; readonly entry: InventoryEntry },
): boolean {
  return (entry.uid !== undefined && metadata.uid === entry.uid) || metadata.labels?.[marks.propagation] === share.owner;
}

function absentSince({ object: _object, ...mirrored }: HeldObject): MirroredObject {
  return { ...mirrored, result: 'absent' };
}
