import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { apiVersionOf, type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { PathRelation } from '../../model/paths/path-relations.ts';
import { candidatesFor, type ListConditions } from '../../store/filter/matching.ts';
import type { FrozenObjects } from '../../store/mirror-store.ts';
import { type CountReads, createReadCounter } from '../../store/query/count-reads.ts';
import type { RelatedObject, RelatedObjects } from '../../store/query-source.ts';
import type { MirrorReader } from '../../watch/mirrors.ts';
import type { BegunRelations } from '../reads/list-arguments.ts';
import { sourceOf } from '../reads/list-page.ts';
import { lookUpIn } from '../reads/read-object.ts';
import { type Ask, type HeldPart, type Part, type PartOptions, partOfOne, syncViewOf, unknownKindFault } from '../reads/read-sources.ts';
import type { ClusterView, ReadContext } from '../reads/reads.ts';
import { nodeOfPod, ownerReferenceOf, targetOfOwner } from './reference-targets.ts';
import { memberOf } from './related-sources.ts';
import type { Target } from './relations.ts';

/** Where paths lead that begin with relations, and how long may be waited for it. */
export interface AskedRelated {
  readonly model: Model;
  readonly relations: BegunRelations;
  /** Where the objects are that the paths are asked of. */
  readonly namespaces?: readonly string[] | undefined;
  readonly waitMs: number;
  readonly context: ReadContext;
}

/** A kind of one cluster that is led to. */
interface LedTo {
  readonly cluster: ClusterView;
  readonly kind: GroupKind;
}

/** Kinds of owners in one cluster: each is a mirror. */
const maxOwnerKinds = 16;

const targetsOf: Readonly<Record<PathRelation['name'], (object: KubernetesObject) => Target | undefined>> = {
  node: nodeOfPod,
  owner: (object) => targetOfOwner(ownerReferenceOf(object), object),
};

/**
 * What the paths of one list lead to: mirrors of other kinds in the same clusters, as of one moment until this is disposed of.
 *
 * `hold` waits for first lists, as long as all of it may take; `look` takes stock, after which `of` answers. What the caller may not see reads as absent.
 * A kind that may not be read at all, is not served or has no first list is told by `readIn`, and what would be found there is unknown.
 */
export class BegunRelated implements Disposable {
  readonly #options: PartOptions;
  readonly #asked: AskedRelated;
  readonly #untilMs: number;
  readonly #copies = new DisposableStack();
  readonly #ledTo = new Map<ClusterName, Map<string, LedTo>>();
  #found = new Map<ClusterName, Map<string, Part | Fault>>();
  readonly #frozen = new Map<MirrorReader, FrozenObjects>();

  constructor(options: PartOptions, asked: AskedRelated) {
    this.#options = options;
    this.#asked = asked;
    this.#untilMs = options.clock.monotonic() + asked.waitMs;
  }

  /** How long may still be waited. */
  get restMs(): number {
    return Math.max(0, this.#untilMs - this.#options.clock.monotonic());
  }

  /** What is known beforehand, from the kinds asked. */
  knownOf(asks: readonly Pick<Ask, 'cluster' | 'kind'>[]): readonly LedTo[] {
    return asks.flatMap(({ cluster, kind }) =>
      this.#relationsOf(kind).flatMap(({ to }) => (to === undefined ? [] : [{ cluster, kind: to }])),
    );
  }

  /**
   * The kinds that the objects of these parts name as their owners, as far as the objects may meet the conditions.
   *
   * @throws {MusterError} `TOO_COSTLY` for more than 16 kinds in one cluster.
   */
  *ownersIn(parts: readonly Part[], conditions: ListConditions): Steps<readonly LedTo[]> {
    const owners: LedTo[] = [];
    for (const part of parts) {
      if (part.type !== 'held' || !this.#relationsOf(part.ask.kind).some(({ to }) => to === undefined)) continue;
      const kinds = yield* ownerKindsOf(candidatesFor(sourceOf(part), conditions), this.#asked.context.look);
      for (const kind of kinds) owners.push({ cluster: part.ask.cluster, kind });
    }
    for (const [cluster, ofCluster] of Map.groupBy(owners, (owner) => owner.cluster.name)) {
      const kinds = new Set(ofCluster.map(({ kind }) => keyOfKind(kind))).size;
      if (kinds > maxOwnerKinds) throw tooManyOwners(cluster, kinds);
    }
    return owners;
  }

  /** Holds the mirrors of these kinds, and waits for their first lists. False if all of them were held already. */
  async hold(ledTo: readonly LedTo[]): Promise<boolean> {
    const added = ledTo.filter((one) => {
      const ofCluster = memberOf(this.#ledTo, one.cluster.name);
      const key = keyOfKind(one.kind);
      return !ofCluster.has(key) && ofCluster.set(key, one);
    });
    await Promise.all(added.map((one) => this.#partOf(one, this.restMs)));
    return added.length > 0;
  }

  /** Takes what may be seen now of all that is held: rights may have changed while something was waited for. */
  async look(): Promise<void> {
    const all = [...this.#ledTo.values()].flatMap((ofCluster) => [...ofCluster.values()]);
    const parts = await Promise.all(all.map(async (one) => ({ one, part: await this.#partOf(one, 0) })));
    this.#found = new Map();
    for (const { one, part } of parts) memberOf(this.#found, one.cluster.name).set(keyOfKind(one.kind), part);
  }

  /** What the objects of this part lead to, as of the first call. Undefined if no path asked of them begins with a relation. */
  of({ ask: { cluster, kind } }: HeldPart): RelatedObjects | undefined {
    if (this.#relationsOf(kind).length === 0) return undefined;
    this.#freeze();
    const partOf = this.#finderIn(cluster);
    const frozen = this.#frozen;
    let unknown = 0;
    return {
      get unknown() {
        return unknown;
      },
      find(relation, object) {
        const target = targetsOf[relation.name](object);
        if (target === undefined) return undefined;
        const { object: known, isUnknown } = lookUp(partOf(target.kind), target, frozen);
        if (isUnknown === true) unknown += 1;
        return known;
      },
    };
  }

  /** What is looked up later, in other turns, is of the moment of the page. */
  #freeze(): void {
    for (const ofCluster of this.#found.values()) {
      for (const part of ofCluster.values()) {
        if (!isPart(part) || part.type !== 'held' || this.#frozen.has(part.mirror)) continue;
        this.#frozen.set(part.mirror, this.#copies.use(part.mirror.store.freeze()));
      }
    }
  }

  /** Most objects lead to the kind that the one before them led to. */
  #finderIn(cluster: ClusterView): (kind: GroupKind) => Part | Fault {
    const found = memberOf(this.#found, cluster.name);
    let last: { readonly kind: GroupKind; readonly part: Part | Fault } | undefined;
    return (kind) => {
      if (last === undefined || !isSameKind(last.kind, kind)) {
        const key = keyOfKind(kind);
        const part = found.get(key) ?? this.#cameLate({ cluster, kind });
        found.set(key, part);
        last = { kind, part };
      }
      return last.part;
    };
  }

  /** What was read in a cluster, and why some of it could not be. */
  readIn(cluster: ClusterName): { readonly parts: readonly Part[]; readonly faults: readonly Fault[] } {
    const all = [...(this.#found.get(cluster)?.values() ?? [])];
    return { parts: all.filter(isPart), faults: all.filter((one): one is Fault => !isPart(one)) };
  }

  [Symbol.dispose](): void {
    this.#copies.dispose();
  }

  #relationsOf(kind: ModelKind): readonly PathRelation[] {
    return this.#asked.relations.get(kind) ?? [];
  }

  #partOf({ cluster, kind: led }: LedTo, waitMs: number): PromiseOrValue<Part | Fault> {
    const { model, context } = this.#asked;
    const kind = model.kinds.get(keyOfKind(led));
    if (kind === undefined) return unknownKindFault(cluster, led);
    return partOfOne(this.#options, { ask: this.#askOf(cluster, kind), waitMs, context });
  }

  #askOf(cluster: ClusterView, kind: ModelKind): Ask {
    const { namespaced } = this.#options.mirrors.served(cluster.name, kind) ?? kind;
    return { cluster, kind, verb: 'get', named: true, namespaces: namespaced ? this.#asked.namespaces : undefined };
  }

  /** Nobody named the kind before the others were waited for: to wait again might never end. */
  #cameLate({ cluster, kind: led }: LedTo): Part | Fault {
    const kind = this.#asked.model.kinds.get(keyOfKind(led));
    if (kind === undefined) return unknownKindFault(cluster, led);
    const ask = this.#askOf(cluster, kind);
    return { type: 'missing', ask, sync: syncViewOf(ask, { phase: 'SYNCING' }) };
  }
}

interface LookedUp {
  readonly object?: RelatedObject;
  /** It may be there, for all that can be told. */
  readonly isUnknown?: boolean;
}

const unknown: LookedUp = { isUnknown: true };
const absent: LookedUp = {};

type Frozen = ReadonlyMap<MirrorReader, FrozenObjects>;

function lookUp(part: Part | Fault, { namespace, name, uid }: Target, frozen: Frozen): LookedUp {
  if (!isPart(part) || part.type !== 'held') return unknown;
  const { resource } = part.mirror;
  if (resource.namespaced && (namespace ?? '') === '') return absent;
  const { object, fault } = lookUpIn(part, { namespace: resource.namespaced ? namespace : undefined, name, uid }, frozen.get(part.mirror));
  if (object === undefined) return fault === undefined ? absent : unknown;
  return { object: { object, servedAs: { apiVersion: apiVersionOf(resource), kind: resource.kind } } };
}

function isPart(one: Part | Fault): one is Part {
  return 'ask' in one;
}

function* ownerKindsOf(lists: readonly (readonly KubernetesObject[])[], look: CountReads): Steps<readonly GroupKind[]> {
  const kinds = new Map<string, GroupKind>();
  let last: GroupKind | undefined;
  const looks = createReadCounter(look);
  for (const list of lists) {
    for (const object of list) {
      if (looks.add(1)) yield;
      const kind = targetsOf.owner(object)?.kind;
      if (kind === undefined || (last !== undefined && isSameKind(last, kind))) continue;
      kinds.set(keyOfKind(kind), kind);
      last = kind;
    }
  }
  looks.end();
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
