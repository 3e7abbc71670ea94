import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { apiVersionOf, type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { PathRelation } from '../../model/paths/path-relations.ts';
import { findCandidatesFor, type ListConditions } from '../../store/filter/matching.ts';
import type { FrozenObjects } from '../../store/mirror-store.ts';
import { type CountReads, createReadCounter } from '../../store/query/count-reads.ts';
import type { RelatedObject, RelatedObjects } from '../../store/query-source.ts';
import type { MirrorReader } from '../../watch/mirrors.ts';
import type { RelationsByKind } from '../reads/list-arguments.ts';
import { querySourceOf } from '../reads/list-page.ts';
import { lookUpObject } from '../reads/read-object.ts';
import {
  loadReadSource,
  type MirroredSource,
  type ReadSource,
  type ReadSourceOptions,
  type SourceRequest,
  syncViewOf,
  unknownKindFault,
} from '../reads/read-sources.ts';
import type { ClusterView, ReadContext } from '../reads/reads.ts';
import { nodeOfPod, ownerReferenceOf, targetOfOwner } from './reference-targets.ts';
import { innerMapOf } from './related-sources.ts';
import type { ReferenceTarget } from './relations.ts';

/** The relations that paths begin with, and the time to wait for related objects. */
export interface RelationLookupRequest {
  readonly model: Model;
  readonly relations: RelationsByKind;
  /** The namespaces of the objects whose paths are read. Undefined: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  readonly waitMs: number;
  readonly context: ReadContext;
}

/** A kind in one cluster that a relation leads to. */
interface RelatedKind {
  readonly cluster: ClusterView;
  readonly kind: GroupKind;
}

/** Maximum number of kinds of owners in one cluster. Each kind needs a mirror. */
const maxOwnerKinds = 16;

const targetsOf: Readonly<Record<PathRelation['name'], (object: KubernetesObject) => ReferenceTarget | undefined>> = {
  node: nodeOfPod,
  owner: (object) => targetOfOwner(ownerReferenceOf(object), object),
};

/**
 * Finds the related objects for the paths of one list, in other mirrors of the same clusters. The first call of `relatedTo` freezes these
 * mirrors, so all lookups see one moment. Disposing the lookup ends the freeze.
 *
 * Call `holdMirrors` first: it waits for first lists. Then `refreshSources` reads the sources, and `relatedTo` finds objects in them. Hidden
 * objects look absent.
 *
 * `readsIn` reports the kinds that may not be read, are not served or have no first list. Their objects count as unknown.
 */
export class RelationLookup implements Disposable {
  readonly #options: ReadSourceOptions;
  readonly #request: RelationLookupRequest;
  readonly #untilMs: number;
  readonly #freezes = new DisposableStack();
  readonly #relatedKinds = new Map<ClusterName, Map<string, RelatedKind>>();
  #found = new Map<ClusterName, Map<string, ReadSource | Fault>>();
  readonly #frozen = new Map<MirrorReader, FrozenObjects>();

  constructor(options: ReadSourceOptions, request: RelationLookupRequest) {
    this.#options = options;
    this.#request = request;
    this.#untilMs = options.clock.monotonic() + request.waitMs;
  }

  /** Milliseconds that the list may still wait. */
  get remainingWaitMs(): number {
    return Math.max(0, this.#untilMs - this.#options.clock.monotonic());
  }

  /**
   * Returns the target kinds of the relations whose target always has the same kind, such as Node for `node`. An owner may have any kind:
   * see `ownerKindsIn`.
   */
  relatedKindsOf(requests: readonly Pick<SourceRequest, 'cluster' | 'kind'>[]): readonly RelatedKind[] {
    return requests.flatMap(({ cluster, kind }) =>
      this.#relationsOf(kind).flatMap(({ to }) => (to === undefined ? [] : [{ cluster, kind: to }])),
    );
  }

  /**
   * Returns the kinds of the owners of the objects in these sources. Objects that cannot meet the conditions are skipped.
   *
   * @throws {MusterError} `TOO_COSTLY` for more than 16 kinds in one cluster.
   */
  *ownerKindsIn(sources: readonly ReadSource[], conditions: ListConditions): Steps<readonly RelatedKind[]> {
    const owners: RelatedKind[] = [];
    for (const source of sources) {
      if (source.type !== 'held' || !this.#relationsOf(source.request.kind).some(({ to }) => to === undefined)) continue;
      const kinds = yield* ownerKindsOf(findCandidatesFor(querySourceOf(source), conditions), this.#request.context.countReads);
      for (const kind of kinds) owners.push({ cluster: source.request.cluster, kind });
    }
    for (const [cluster, ofCluster] of Map.groupBy(owners, (owner) => owner.cluster.name)) {
      const kinds = new Set(ofCluster.map(({ kind }) => keyOfKind(kind))).size;
      if (kinds > maxOwnerKinds) throw tooManyOwners(cluster, kinds);
    }
    return owners;
  }

  /** Holds the mirrors of these kinds, and waits for their first lists. Returns true if at least one of them was not held before. */
  async holdMirrors(kinds: readonly RelatedKind[]): Promise<boolean> {
    const added = kinds.filter((one) => {
      const ofCluster = innerMapOf(this.#relatedKinds, one.cluster.name);
      const key = keyOfKind(one.kind);
      return !ofCluster.has(key) && ofCluster.set(key, one);
    });
    await Promise.all(added.map((one) => this.#sourceOf(one, this.remainingWaitMs)));
    return added.length > 0;
  }

  /** Reads all held sources with the current rights of the caller, which may have changed during a wait. */
  async refreshSources(): Promise<void> {
    const all = [...this.#relatedKinds.values()].flatMap((ofCluster) => [...ofCluster.values()]);
    const sources = await Promise.all(all.map(async (one) => ({ one, source: await this.#sourceOf(one, 0) })));
    this.#found = new Map();
    for (const { one, source } of sources) innerMapOf(this.#found, one.cluster.name).set(keyOfKind(one.kind), source);
  }

  /**
   * Returns the lookup of one source. For an object of the source, it finds the object to which a relation leads, such as the Node of a Pod.
   * All lookups see the objects as they were at the first call of this method. Undefined if no path of the query begins
   * with a relation of this kind.
   */
  relatedTo({ request: { cluster, kind } }: MirroredSource): RelatedObjects | undefined {
    if (this.#relationsOf(kind).length === 0) return undefined;
    this.#freeze();
    const sourceOf = this.#finderIn(cluster);
    const frozen = this.#frozen;
    let unknown = 0;
    return {
      get unknown() {
        return unknown;
      },
      find(relation, object) {
        const target = targetsOf[relation.name](object);
        if (target === undefined) return undefined;
        const { object: known, isUnknown } = lookUp(sourceOf(target.kind), target, frozen);
        if (isUnknown === true) unknown += 1;
        return known;
      },
    };
  }

  /** Freezes the sources, so that lookups in later event-loop turns see the moment of the page. */
  #freeze(): void {
    for (const ofCluster of this.#found.values()) {
      for (const source of ofCluster.values()) {
        if (!isReadSource(source) || source.type !== 'held' || this.#frozen.has(source.mirror)) continue;
        this.#frozen.set(source.mirror, this.#freezes.use(source.mirror.store.freeze()));
      }
    }
  }

  /**
   * Returns a lookup of sources by kind in one cluster. It remembers the last kind, because most objects are related to the same kind as
   * the object before.
   */
  #finderIn(cluster: ClusterView): (kind: GroupKind) => ReadSource | Fault {
    const found = innerMapOf(this.#found, cluster.name);
    let last: { readonly kind: GroupKind; readonly source: ReadSource | Fault } | undefined;
    return (kind) => {
      if (last === undefined || !isSameKind(last.kind, kind)) {
        const key = keyOfKind(kind);
        const source = found.get(key) ?? this.#lateSource({ cluster, kind });
        found.set(key, source);
        last = { kind, source };
      }
      return last.source;
    };
  }

  /** Returns the sources that were read in a cluster, and the faults of those that could not be read. */
  readsIn(cluster: ClusterName): { readonly sources: readonly ReadSource[]; readonly faults: readonly Fault[] } {
    const all = [...(this.#found.get(cluster)?.values() ?? [])];
    return { sources: all.filter(isReadSource), faults: all.filter((one): one is Fault => !isReadSource(one)) };
  }

  [Symbol.dispose](): void {
    this.#freezes.dispose();
  }

  #relationsOf(kind: ModelKind): readonly PathRelation[] {
    return this.#request.relations.get(kind) ?? [];
  }

  #sourceOf({ cluster, kind: relatedKind }: RelatedKind, waitMs: number): PromiseOrValue<ReadSource | Fault> {
    const { model, context } = this.#request;
    const kind = model.kinds.get(keyOfKind(relatedKind));
    if (kind === undefined) return unknownKindFault(cluster, relatedKind);
    return loadReadSource(this.#options, { request: this.#requestFor(cluster, kind), waitMs, context });
  }

  #requestFor(cluster: ClusterView, kind: ModelKind): SourceRequest {
    const { namespaced } = this.#options.mirrors.served(cluster.name, kind) ?? kind;
    return { cluster, kind, verb: 'get', isNamed: true, namespaces: namespaced ? this.#request.namespaces : undefined };
  }

  /**
   * Returns the source of a related kind that was not waited for, because the reference to it was found only after the wait for mirrors.
   * The source is reported as `SYNCING`: another wait for each new kind might never end.
   */
  #lateSource({ cluster, kind: relatedKind }: RelatedKind): ReadSource | Fault {
    const kind = this.#request.model.kinds.get(keyOfKind(relatedKind));
    if (kind === undefined) return unknownKindFault(cluster, relatedKind);
    const request = this.#requestFor(cluster, kind);
    return { type: 'missing', request, sync: syncViewOf(request, { phase: 'SYNCING' }) };
  }
}

interface LookedUp {
  readonly object?: RelatedObject;
  /** True if the object may exist, but its source cannot be read. */
  readonly isUnknown?: boolean;
}

const unknown: LookedUp = { isUnknown: true };
const absent: LookedUp = {};

type FrozenSources = ReadonlyMap<MirrorReader, FrozenObjects>;

function lookUp(source: ReadSource | Fault, { namespace, name, uid }: ReferenceTarget, frozen: FrozenSources): LookedUp {
  if (!isReadSource(source) || source.type !== 'held') return unknown;
  const { resource } = source.mirror;
  if (resource.namespaced && (namespace ?? '') === '') return absent;
  const { object, fault } = lookUpObject(
    source,
    { namespace: resource.namespaced ? namespace : undefined, name, uid },
    frozen.get(source.mirror),
  );
  if (object === undefined) return fault === undefined ? absent : unknown;
  return { object: { object, servedAs: { apiVersion: apiVersionOf(resource), kind: resource.kind } } };
}

function isReadSource(one: ReadSource | Fault): one is ReadSource {
  return 'request' in one;
}

function* ownerKindsOf(lists: readonly (readonly KubernetesObject[])[], countReads: CountReads): Steps<readonly GroupKind[]> {
  const kinds = new Map<string, GroupKind>();
  let last: GroupKind | undefined;
  const reads = createReadCounter(countReads);
  for (const list of lists) {
    for (const object of list) {
      if (reads.add(1)) yield;
      const kind = targetsOf.owner(object)?.kind;
      if (kind === undefined || (last !== undefined && isSameKind(last, kind))) continue;
      kinds.set(keyOfKind(kind), kind);
      last = kind;
    }
  }
  reads.end();
  return [...kinds.values()];
}

function isSameKind(a: GroupKind, b: GroupKind): boolean {
  return a.kind === b.kind && a.group === b.group;
}

function tooManyOwners(cluster: ClusterName, kinds: number): MusterError {
  return new MusterError(
    'TOO_COSTLY',
    `owner: expected owners of at most ${maxOwnerKinds} kinds in a cluster, got ${kinds} in ${cluster}: name fewer kinds or namespaces`,
  );
}
