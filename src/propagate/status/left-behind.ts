import { clusterName } from '../../core/names.ts';
import { compareText, shortenedList } from '../../core/text.ts';
import { groupKindOfKey, namespacedNameOf, textOfKey } from '../../manifests/object-key.ts';
import type { MemberObjects, MirroredObject } from '../../store/member-objects.ts';
import type { Note } from '../model/notes.ts';
import { type CopyLeftBehind, marks, type Propagation, type UnrecordedCopies } from '../model/propagation.ts';
import { maxLeftBehind } from '../model/status-definition.ts';
import type { ClusterFacts, LeftBehindFacts, PropagationFacts } from './facts.ts';

/** Reads the released copies of a Propagation from the mirrors of their clusters. */
export function leftBehindFactsOf(
  objects: Pick<MemberObjects, 'read'>,
  { metadata, status }: Pick<Propagation, 'metadata' | 'status'>,
): readonly LeftBehindFacts[] {
  return (status.leftBehind ?? []).map((copy) => {
    const mirrored = objects.read(clusterName(copy.cluster), groupKindOfKey(copy.key), namespacedNameOf(copy.key));
    return { copy, presence: presenceOf(copy, mirrored, metadata.uid) };
  });
}

function presenceOf({ uid }: CopyLeftBehind, mirrored: MirroredObject, owner: string): LeftBehindFacts['presence'] {
  switch (mirrored.result) {
    case 'unread':
      return mirrored.fault.code === 'GONE' ? 'outsideFleet' : 'unread';
    case 'absent':
      return 'resolved';
    case 'held': {
      const { uid: found, labels } = mirrored.object.metadata;
      // The mirror may still show the mark of this Propagation after the release.
      const other = labels?.[marks.propagation] ?? owner;
      return found === uid && other === owner ? 'present' : 'resolved';
    }
    default:
      return mirrored satisfies never;
  }
}

type LeftBehindInputs = Pick<PropagationFacts, 'generation' | 'spec' | 'plan' | 'previous' | 'clusters' | 'leftBehind'>;

/** The copies that `purge` Never releases or has released, sorted by cluster. */
export interface LeftBehind {
  readonly copies: readonly CopyLeftBehind[];
  /** The copies that had no room in `copies`. */
  readonly unrecorded: readonly UnrecordedCopies[];
}

/**
 * Returns the copies that `purge` Never releases or has released. A copy is added before its release, because afterwards the inventory does
 * not have it. It is removed when it is deleted, or when this or another Propagation has it again. If its cluster has left the fleet, it is
 * removed with the next generation.
 *
 * At most 200 copies are recorded. Copies that are recorded already come before new ones. Further copies are only counted, by cluster. The
 * count of a cluster is removed when the inventory has as many copies in the cluster again. A new generation removes all counts if no copy is
 * recorded.
 *
 * Without a plan, both lists stay as in the previous status.
 */
export function leftBehindIn(facts: LeftBehindInputs): LeftBehind {
  const { plan, previous, clusters, leftBehind = [] } = facts;
  const known = previous.leftBehind ?? [];
  if (plan === undefined) return { copies: known, unrecorded: previous.leftBehindUnrecorded ?? [] };
  const presenceOf = new Map(leftBehind.map(({ copy, presence }) => [textOf(copy), presence]));
  const kept = known.filter((copy) => !isResolved(copy, facts, presenceOf.get(textOf(copy))));
  const releasing = clusters.flatMap((cluster) => (isReleasing(cluster, facts) ? recordedCopies(cluster) : []));
  const all = [...new Map([...kept, ...releasing].map((copy) => [textOf(copy), copy]))];
  const recorded = all.slice(0, maxLeftBehind).toSorted(([a], [b]) => compareText(a, b));
  const beyond = all.slice(maxLeftBehind).map(([, copy]) => copy);
  return { copies: recorded.map(([, copy]) => copy), unrecorded: unrecordedIn(facts, beyond, recorded.length) };
}

function unrecordedIn(
  { generation, previous, clusters }: LeftBehindInputs,
  beyond: readonly CopyLeftBehind[],
  recorded: number,
): readonly UnrecordedCopies[] {
  const isForgotten = recorded === 0 && previous.observedGeneration !== generation;
  const known = isForgotten ? [] : (previous.leftBehindUnrecorded ?? []);
  const before = known.filter(({ cluster, count }) => !clusters.some((facts) => facts.cluster === cluster && hasCopies(facts, count)));
  const counts = new Map(before.map(({ cluster, count }) => [cluster, count]));
  // While copies leave a cluster, the inventory has fewer of them in each pass, so the largest count is kept.
  for (const [cluster, copies] of Map.groupBy(beyond, (copy) => copy.cluster))
    counts.set(cluster, Math.max(counts.get(cluster) ?? 0, copies.length));
  return [...counts].map(([cluster, count]) => ({ cluster, count })).toSorted((a, b) => compareText(a.cluster, b.cluster));
}

function hasCopies(facts: ClusterFacts, count: number): boolean {
  return facts.stage !== 'leaving' && recordedCopies(facts).length >= count;
}

function isReleasing({ cluster, stage }: ClusterFacts, { spec, plan, previous }: LeftBehindInputs): boolean {
  if (stage !== 'leaving' || spec?.failover?.purge !== 'Never') return false;
  const evictions = plan?.evictions ?? previous.evictions ?? [];
  return evictions.some((eviction) => eviction.cluster === cluster && eviction.cause !== 'Return' && eviction.to !== undefined);
}

/** Returns the copies of a cluster in the inventory. Leaves out shared objects, which Muster did not create. */
function recordedCopies({ cluster, copies }: ClusterFacts): readonly CopyLeftBehind[] {
  return copies.flatMap(({ entry: { key, uid, state } }) => (uid === undefined || state === 'Shared' ? [] : [{ cluster, key, uid }]));
}

function isResolved(
  copy: CopyLeftBehind,
  { generation, previous, clusters }: LeftBehindInputs,
  presence: LeftBehindFacts['presence'] | undefined,
): boolean {
  if (presence === 'resolved' || (presence === 'outsideFleet' && previous.observedGeneration !== generation)) return true;
  const facts = clusters.find(({ cluster }) => cluster === copy.cluster);
  return facts !== undefined && facts.stage !== 'leaving' && isInInventory(copy, facts);
}

function isInInventory({ key, uid }: CopyLeftBehind, { copies }: ClusterFacts): boolean {
  return copies.some(({ entry }) => entry.uid === uid && textOfKey(entry.key) === textOfKey(key));
}

/** Maximum number of copies that a note names. */
const maxNamed = 5;

/** Returns a warning for each cluster with copies that `purge` Never has released, and that are still there. */
export function releasedCopyNotes({ copies, unrecorded }: LeftBehind, clusters: readonly ClusterFacts[]): readonly Note[] {
  const released = copies.filter((copy) => !clusters.some((facts) => facts.cluster === copy.cluster && isInInventory(copy, facts)));
  const byCluster = Map.groupBy(released, ({ cluster }) => cluster);
  const recordedNotes = [...byCluster].map(([cluster, all]) => {
    const names = all.map(({ key: { kind, namespace, name } }) =>
      namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`,
    );
    return leftBehindNote(
      `cluster ${cluster} still has copies that failover.purge Never released: ${shortenedList(names, maxNamed)}. Delete them there if they are not needed`,
    );
  });
  const unrecordedNotes = unrecorded.map(({ cluster, count }) => {
    const bound = `status.leftBehind has at most ${maxLeftBehind}`;
    return leftBehindNote(
      `cluster ${cluster} may have ${count} further copies that failover.purge Never released, and that no status names: ${bound}. Look there for objects with the names of the template, and delete those that are not needed`,
    );
  });
  return [...recordedNotes, ...unrecordedNotes];
}

function leftBehindNote(message: string): Note {
  return { severity: 'WARNING', code: 'LEFT_BEHIND', message };
}

function textOf({ cluster, key }: CopyLeftBehind): string {
  return `${cluster} ${textOfKey(key)}`;
}
