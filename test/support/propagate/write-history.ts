import { expect } from 'vitest';
import { labelsAt, listAt, textAt } from '../../../src/core/json-at.ts';
import { marks, musterGroup } from '../../../src/propagate/model/propagation.ts';
import type { SimWrite } from '../sim/sim-cluster.ts';

/** The fields of a write that the rules check. Embedded clusters record writes, and real ones write an audit log. */
export type SeenWrite = Pick<
  SimWrite,
  'atMs' | 'verb' | 'group' | 'kind' | 'namespace' | 'name' | 'manager' | 'isDry' | 'preconditions' | 'result' | 'object'
>;

/** Clusters by name, and the name of the hub. */
export interface WrittenFleet {
  readonly hub: string;
  readonly clusters: Readonly<Record<string, { writes(): readonly SeenWrite[] }>>;
}

/** A message about a write that breaks a rule. */
type Offence = string;

/**
 * Returns the writes that break a promise of docs/promises.md D. The promises hold in every run, even with crashes, frozen processes and
 * other writers:
 *
 * - A copy is created under version "1", which never changes an existing object. It is changed only under the uid and version that were
 *   read.
 * - A copy is created only after the inventory of its cluster has its intent token.
 * - An object is deleted only by a uid that the inventory had for that cluster before, and with a version. The same holds for revisions.
 * - No copy is written by an older generation than the generation before, unless the Propagation was resumed in between.
 * - Each Job of an intent is created once in each cluster.
 * - An object that an intent refers to is never written for that intent in the cluster that it is read from.
 * - Inventories are created, or written under the version that was read.
 */
function offencesIn(fleet: WrittenFleet): readonly Offence[] {
  const shares = inventoriesOf(fleet);
  const resumed = resumptionsOf(fleet);
  const sources = sourcesOf(fleet);
  const ofMembers = Object.entries(fleet.clusters).flatMap(([name, cluster]) => {
    const writes = cluster.writes().filter(({ isDry, group }) => !isDry && group !== musterGroup);
    return [
      ...unguardedCopies(name, writes),
      ...unrecordedCopies(name, writes, shares),
      ...deletionsWithoutProof(name, writes, shares),
      ...olderGenerations(name, writes, resumed),
      ...repeatedJobs(name, writes),
      ...writtenSources(name, writes, sources),
    ];
  });
  return [...ofMembers, ...unguardedShares(hubWrites(fleet, 'ClusterShare'))];
}

/** Fails the test if any write breaks a rule. */
export function expectLawful(fleet: WrittenFleet): void {
  expect(offencesIn(fleet)).toEqual([]);
}

/** Checks copies only. Writes of mutations on single objects are guarded only as far as their caller requests. */
function unguardedCopies(cluster: string, writes: readonly SeenWrite[]): readonly Offence[] {
  const copies = new Set(
    writes.filter((write) => isCopy(write) && write.kind !== 'ControllerRevision').map(({ object }) => object.metadata.uid),
  );
  return writes.flatMap((write) => {
    const { uid, resourceVersion } = write.preconditions;
    if (write.manager !== 'muster' || write.verb === 'delete' || !copies.has(write.object.metadata.uid)) return [];
    const isGuarded = write.result === 'created' ? resourceVersion === '1' : uid !== undefined && resourceVersion !== undefined;
    return isGuarded ? [] : [`${cluster}: ${textOf(write)} was ${write.result} without a guard (uid ${uid}, version ${resourceVersion})`];
  });
}

function unrecordedCopies(cluster: string, writes: readonly SeenWrite[], shares: readonly Proof[]): readonly Offence[] {
  return writes.flatMap((write) => {
    const token = textAt(write.object, 'metadata', 'annotations', marks.intent);
    if (write.manager !== 'muster' || write.result !== 'created' || token === undefined || !isCopy(write)) return [];
    const isRecorded = shares.some((share) => share.cluster === cluster && share.intent === token && share.atMs <= write.atMs);
    return isRecorded ? [] : [`${cluster}: ${textOf(write)} was created before the inventory had its intent token`];
  });
}

function hubWrites({ hub, clusters }: WrittenFleet, of: 'ClusterShare' | 'Propagation'): readonly SeenWrite[] {
  return (clusters[hub]?.writes() ?? []).filter(({ isDry, kind }) => !isDry && kind === of);
}

/** A uid that an inventory of the cluster had from this time on. It proves that the object is a copy. */
interface Proof {
  readonly cluster: string;
  readonly uid: string;
  readonly intent: string;
  readonly atMs: number;
}

function inventoriesOf(fleet: WrittenFleet): readonly Proof[] {
  return hubWrites(fleet, 'ClusterShare').flatMap(({ object, atMs }) =>
    listAt(object, 'objects').map((entry) => ({
      cluster: textAt(object, 'cluster') ?? '',
      uid: textAt(entry, 'uid') ?? '',
      intent: textAt(entry, 'intent') ?? '',
      atMs,
    })),
  );
}

function deletionsWithoutProof(cluster: string, writes: readonly SeenWrite[], proofs: readonly Proof[]): readonly Offence[] {
  const ours = writes.filter((write) => write.verb === 'delete' && write.manager === 'muster' && isCopy(write));
  const revisions = new Set(writes.filter(isNewRevision).map(({ object }) => object.metadata.uid));
  return ours.flatMap((write) => {
    const { uid, resourceVersion } = write.preconditions;
    const intent = textAt(write.object, 'metadata', 'annotations', marks.intent) ?? '';
    const isProven =
      revisions.has(uid) ||
      proofs.some(
        (proof) =>
          proof.cluster === cluster && proof.atMs <= write.atMs && (proof.uid === uid || (intent !== '' && proof.intent === intent)),
      );
    if (uid !== undefined && resourceVersion !== undefined && isProven) return [];
    return [`${cluster}: ${textOf(write)} was deleted without proof (uid ${uid}, version ${resourceVersion})`];
  });
}

/** The times at which Propagations were resumed, by uid. */
type Resumptions = ReadonlyMap<string, readonly number[]>;

function resumptionsOf(fleet: WrittenFleet): Resumptions {
  const ofPropagations = Map.groupBy(hubWrites(fleet, 'Propagation'), ({ object }) => object.metadata.uid ?? '');
  const saysOf = (write: SeenWrite | undefined) => textAt(write?.object, 'metadata', 'annotations', marks.resumedAt);
  const toldIn = (writes: readonly SeenWrite[]) =>
    writes.filter((write, index) => saysOf(write) !== undefined && saysOf(write) !== saysOf(writes[index - 1])).map(({ atMs }) => atMs);
  return new Map([...ofPropagations].map(([uid, writes]) => [uid, toldIn(writes)]));
}

function olderGenerations(cluster: string, writes: readonly SeenWrite[], resumed: Resumptions): readonly Offence[] {
  const newest = new Map<string, { readonly generation: number; readonly atMs: number }>();
  return writes.flatMap((write) => {
    const { atMs, object } = write;
    const generation = Number(textAt(object, 'metadata', 'annotations', marks.generation) ?? Number.NaN);
    if (write.manager !== 'muster' || write.result === 'unchanged' || write.verb === 'delete' || Number.isNaN(generation)) return [];
    const owner = labelsAt(object, 'metadata', 'labels')[marks.propagation] ?? '';
    const key = `${owner} ${textOf(write)} ${object.metadata.uid}`;
    const before = newest.get(key);
    const isWanted = before !== undefined && (resumed.get(owner)?.some((ms) => ms > before.atMs && ms <= atMs) ?? false);
    if (before === undefined || generation >= before.generation || isWanted) newest.set(key, { generation, atMs });
    return before === undefined || generation >= before.generation || isWanted
      ? []
      : [`${cluster}: ${textOf(write)} was written by generation ${generation} after ${before.generation}`];
  });
}

function repeatedJobs(cluster: string, writes: readonly SeenWrite[]): readonly Offence[] {
  const created = writes.filter((write) => write.kind === 'Job' && write.result === 'created' && isCopy(write));
  const counts = Map.groupBy(created, (write) => `${labelsAt(write.object, 'metadata', 'labels')[marks.propagation]} ${textOf(write)}`);
  return [...counts].flatMap(([key, same]) => (same.length > 1 ? [`${cluster}: ${key} was created ${same.length} times`] : []));
}

/** Returns the objects that each generation of each Propagation refers to: `uid generation cluster kind namespace/name`. */
function sourcesOf(fleet: WrittenFleet): ReadonlySet<string> {
  return new Set(
    hubWrites(fleet, 'Propagation').flatMap(({ object }) => {
      const { uid, generation, namespace = '' } = object.metadata;
      return listAt(object, 'spec', 'template').flatMap((template) => {
        const [cluster, kind, name] = ['cluster', 'kind', 'name'].map((field) => textAt(template, 'ref', field));
        if (cluster === undefined) return [];
        const places = [textAt(template, 'ref', 'namespace') ?? namespace, ''];
        return places.map((place) => `${uid} ${generation} ${cluster} ${kind} ${place}/${name}`);
      });
    }),
  );
}

function writtenSources(cluster: string, writes: readonly SeenWrite[], sources: ReadonlySet<string>): readonly Offence[] {
  return writes.flatMap((write) => {
    const generation = textAt(write.object, 'metadata', 'annotations', marks.generation);
    const uid = labelsAt(write.object, 'metadata', 'labels')[marks.propagation];
    const isSource = write.manager === 'muster' && sources.has(`${uid} ${generation} ${cluster} ${textOf(write)}`);
    return isSource ? [`${cluster}: ${textOf(write)} was ${write.result} for the intent that it is the source of`] : [];
  });
}

function unguardedShares(writes: readonly SeenWrite[]): readonly Offence[] {
  return writes.flatMap((write) => {
    const isGuarded = write.result === 'created' || write.preconditions.resourceVersion !== undefined;
    return isGuarded
      ? []
      : [`the hub: ${textOf(write)} was written without a version (${write.verb} ${JSON.stringify(write.preconditions)} ${write.result})`];
  });
}

/** True if the write created a revision. Inventories have no revisions, so Muster may delete exactly those that it created. */
function isNewRevision({ kind, manager, result, object }: SeenWrite): boolean {
  const isOfTemplate = textAt(object, 'metadata', 'annotations', marks.intent) !== undefined;
  return kind === 'ControllerRevision' && manager === 'muster' && result === 'created' && !isOfTemplate;
}

function isCopy({ object }: SeenWrite): boolean {
  return labelsAt(object, 'metadata', 'labels')[marks.propagation] !== undefined;
}

function textOf({ kind, namespace = '', name }: SeenWrite): string {
  return `${kind} ${namespace}/${name}`;
}
