import { clusterName } from '../../core/names.ts';
import { compareText } from '../../core/text.ts';
import { groupKindOfKey, objectPlaceOf, textOfKey } from '../../manifests/object-key.ts';
import type { MemberObjects, MirroredObject } from '../../store/member-objects.ts';
import type { Note } from '../model/notes.ts';
import { type CopyLeftBehind, marks, type Propagation } from '../model/propagation.ts';
import { maxLeftBehind } from '../model/status-definition.ts';
import type { ClusterFacts, LeftBehindFacts, PropagationFacts } from './facts.ts';

/** Reads the released copies of a Propagation from the mirrors of their clusters. */
export function leftBehindFactsOf(
  objects: Pick<MemberObjects, 'read'>,
  { metadata, status }: Pick<Propagation, 'metadata' | 'status'>,
): readonly LeftBehindFacts[] {
  return (status.leftBehind ?? []).map((copy) => {
    const mirrored = objects.read(clusterName(copy.cluster), groupKindOfKey(copy.key), objectPlaceOf(copy.key));
    return { copy, presence: presenceOf(copy, mirrored, metadata.uid) };
  });
}

function presenceOf({ uid }: CopyLeftBehind, mirrored: MirroredObject, owner: string): LeftBehindFacts['presence'] {
  switch (mirrored.result) {
    case 'unread':
      return mirrored.fault.code === 'GONE' ? 'outsideFleet' : 'unread';
    case 'absent':
      return 'over';
    case 'held': {
      const { uid: found, labels } = mirrored.object.metadata;
      // The mirror may still show the mark of this Propagation after the release.
      const other = labels?.[marks.propagation] ?? owner;
      return found === uid && other === owner ? 'there' : 'over';
    }
    default:
      return mirrored satisfies never;
  }
}

type Inputs = Pick<PropagationFacts, 'generation' | 'spec' | 'plan' | 'previous' | 'clusters' | 'leftBehind'>;

/**
 * Returns the copies that `purge` Never releases or has released, by cluster and key. A copy is added before its release, because afterwards
 * the inventory does not have it. It is removed when it is deleted, or when it is a copy of this or another Propagation again. If its cluster
 * has left the fleet, it is removed with the next generation.
 *
 * Without a plan, the copies of the previous status stay. At most 200 copies are returned.
 */
export function leftBehindIn(facts: Inputs): readonly CopyLeftBehind[] {
  const { plan, previous, clusters, leftBehind = [] } = facts;
  const known = previous.leftBehind ?? [];
  if (plan === undefined) return known;
  const presenceOf = new Map(leftBehind.map(({ copy, presence }) => [textOf(copy), presence]));
  const kept = known.filter((copy) => !isOver(copy, facts, presenceOf.get(textOf(copy))));
  const releasing = clusters.flatMap((cluster) => (isReleasing(cluster, facts) ? recordedCopies(cluster) : []));
  const all = new Map([...kept, ...releasing].map((copy) => [textOf(copy), copy]));
  return [...all]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([, copy]) => copy)
    .slice(0, maxLeftBehind);
}

function isReleasing({ cluster, stage }: ClusterFacts, { spec, plan, previous }: Inputs): boolean {
  if (stage !== 'leaving' || spec?.failover?.purge !== 'Never') return false;
  const evictions = plan?.evictions ?? previous.evictions ?? [];
  return evictions.some((eviction) => eviction.cluster === cluster && eviction.cause !== 'Return' && eviction.to !== undefined);
}

/** Returns the copies of a cluster in the inventory. Leaves out shared objects, which Muster did not create. */
function recordedCopies({ cluster, copies }: ClusterFacts): readonly CopyLeftBehind[] {
  return copies.flatMap(({ entry: { key, uid, state } }) => (uid === undefined || state === 'Shared' ? [] : [{ cluster, key, uid }]));
}

function isOver(
  copy: CopyLeftBehind,
  { generation, previous, clusters }: Inputs,
  presence: LeftBehindFacts['presence'] | undefined,
): boolean {
  if (presence === 'over' || (presence === 'outsideFleet' && previous.observedGeneration !== generation)) return true;
  const facts = clusters.find(({ cluster }) => cluster === copy.cluster);
  return facts !== undefined && facts.stage !== 'leaving' && isInInventory(copy, facts);
}

function isInInventory({ key, uid }: CopyLeftBehind, { copies }: ClusterFacts): boolean {
  return copies.some(({ entry }) => entry.uid === uid && textOfKey(entry.key) === textOfKey(key));
}

/** Maximum number of copies that a note names. */
const maxNamed = 5;

/** Returns a warning for each cluster with copies that `purge` Never has released, and that are still there. */
export function releasedCopyNotes(copies: readonly CopyLeftBehind[], clusters: readonly ClusterFacts[]): readonly Note[] {
  const released = copies.filter((copy) => !clusters.some((facts) => facts.cluster === copy.cluster && isInInventory(copy, facts)));
  const byCluster = Map.groupBy(released, ({ cluster }) => cluster);
  return [...byCluster].map(([cluster, all]): Note => {
    const names = all
      .slice(0, maxNamed)
      .map(({ key: { kind, namespace, name } }) => [`${kind} `, namespace ?? '', namespace === undefined ? '' : '/', name].join(''));
    const more = all.length > maxNamed ? ` and ${all.length - maxNamed} more` : '';
    const message = `cluster ${cluster} still has copies that failover.purge Never released: ${names.join(', ')}${more}. Delete them there if they are not needed`;
    return { severity: 'WARNING', code: 'LEFT_BEHIND', message };
  });
}

function textOf({ cluster, key }: CopyLeftBehind): string {
  return `${cluster} ${textOfKey(key)}`;
}
