import { invariant, MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { LabelSelector } from '../../core/selectors.ts';
import { findCandidates, minIndexedObjects, prepareIndexes, visibleNamespaces } from '../filter/candidates.ts';
import { divideIntoAttempts } from '../filter/long-texts.ts';
import { createPredicate, exactLookupFor, indexHintsFor, type RelatedCondition } from '../filter/matching.ts';
import type { CompiledWhere } from '../filter/where.ts';
import type { QuerySource } from '../query-source.ts';
import { type CountReads, createReadCounter } from './count-reads.ts';
import type { OrderPosition } from './cursor.ts';
import { type CompiledOrder, defaultOrder } from './order.ts';
import { countObjects, type WalkedSource, walkInOrder, walkNamespaces, walkSorted } from './ordered-walk.ts';
import { comparePositions, createTopEntries } from './ranking.ts';

/** A query over many mirrors. All conditions must hold. */
export interface QuerySpec {
  /** Only objects in these namespaces, so no cluster-scoped ones. Default: all objects, also cluster-scoped ones. */
  readonly namespaces?: readonly string[] | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly where?: CompiledWhere | undefined;
  /**
   * Text that occurs in the name, in the key or value of a label, or in `key=value`. Ignores case. An empty text, and undefined, match
   * every object.
   */
  readonly search?: string | undefined;
  /** Only objects that are related to another object. Default: all objects. */
  readonly related?: RelatedCondition | undefined;
  /**
   * The order of the pages. Every order ends with namespace, name, cluster and kind, which are also the default. Text compares by code
   * units.
   */
  readonly order?: CompiledOrder | undefined;
  /** Maximum number of objects on the page: at least 1. */
  readonly first: number;
  /** The page begins after this position, even if its object no longer exists. It must come from a query of the same order. */
  readonly after?: OrderPosition | undefined;
  /** True if the result must contain all matching objects, not only those of the page. Default: false. */
  readonly keepMatches?: boolean | undefined;
  /**
   * Receives one read for each source, and one for each object that is checked. If indexes alone can answer a page, no object is checked.
   * Default: reads are not reported.
   */
  readonly countReads?: CountReads | undefined;
}

/** One object of a page, and the source that has it. */
export interface QueryHit<S extends QuerySource = QuerySource> {
  readonly source: S;
  readonly object: KubernetesObject;
}

/** All matching objects of one source, in no order. */
export interface SourceMatches<S extends QuerySource = QuerySource> {
  readonly source: S;
  readonly objects: readonly KubernetesObject[];
}

/** One page, all of one moment. */
export interface QueryResult<S extends QuerySource = QuerySource> {
  readonly hits: readonly QueryHit<S>[];
  /** Number of all matching visible objects, on this page or not. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** All matching objects. Empty unless `keepMatches` was set. */
  readonly matches: readonly SourceMatches<S>[];
  /** Returns the position of an object of this page. The position of the last object is `after` of the next page. */
  positionOf(hit: QueryHit<S>): OrderPosition;
}

/**
 * Queries many mirrors: clusters times kinds.
 *
 * However many steps the query takes, its result is of one moment: that of the first step.
 *
 * Filters and sorts all sources in one total order before it takes the page. In the default order, with no filter or with one that an index
 * answers, the cost depends only on the page. For any other query, each candidate is read once. Indexes of labels, names, owners and nodes
 * keep the candidates few.
 *
 * The steps run in `src/core/scheduling/operation-scheduler.ts`, so that other operations continue between two of them.
 *
 * @throws {MusterError} `BAD_INPUT` if `after` is from another order.
 */
export function* queryInSteps<S extends QuerySource>(sources: readonly S[], spec: QuerySpec): Steps<QueryResult<S>> {
  const { namespaces, selector, where, search = '', related, order = defaultOrder, first, after, countReads } = spec;
  invariant(Number.isInteger(first) && first > 0, `a page of at least one object, not of ${first}`);
  if (after !== undefined && after.keys.length !== order.descending.length) {
    throw new MusterError('BAD_INPUT', 'expected a cursor of this order, got one of another');
  }
  countReads?.(sources.length);
  const walked = sources.map((source) => ({ source, namespaces: visibleNamespaces(namespaces, source.visibility) }));
  const filtered = (selector?.requirements.length ?? 0) > 0 || where !== undefined || search !== '' || related !== undefined;
  const isDefault = order.descending.length === 0;
  const sorted = isDefault ? (filtered ? sortedIn(walked, spec) : everythingIn(walked)) : undefined;
  return sorted === undefined ? yield* scan(walked, { ...spec, order, search }) : walk(sorted, spec);
}

/** Minimum number of objects of a large mirror. Smaller ones are indexed and sorted in well below a millisecond. */
const largeMirror = 2_000;

/**
 * Makes the indexes and sorted lists that `queryInSteps` needs of large mirrors, one mirror in each step. The first use of each costs some
 * milliseconds per 20,000 objects. Run it before the query if other operations wait.
 */
export function* prepareQuery(sources: readonly QuerySource[], spec: Omit<QuerySpec, 'first'>): Steps<void> {
  const large = sources.filter(({ store }) => store.size >= largeMirror);
  if (large.length === 0) return;
  const isDefault = (spec.order?.descending.length ?? 0) === 0;
  for (const source of large) {
    const namespaces = visibleNamespaces(spec.namespaces, source.visibility);
    const hints = indexHintsFor(source, spec);
    if (hints.length > 0) {
      prepareIndexes(source.store, namespaces, hints);
      yield;
    } else if (isDefault) {
      const [next] = walkNamespaces([{ source, namespaces }], spec.after);
      if (next === undefined || source.store.countIn(next) < largeMirror) continue;
      source.store.inNamespace(next);
      yield;
    }
  }
}

/** All matching objects by namespace, name, cluster and kind. The cost depends on the number of objects that are taken. */
interface InOrder<S extends QuerySource> {
  readonly totalCount: number;
  from(after: OrderPosition | undefined): IteratorObject<QueryHit<S>>;
  matches(): readonly SourceMatches<S>[];
}

function everythingIn<S extends QuerySource>(sources: readonly WalkedSource<S>[]): InOrder<S> {
  return {
    totalCount: countObjects(sources),
    from: (after) => walkInOrder(sources, after),
    matches: () => sources.map(({ source, namespaces }) => ({ source, objects: findCandidates(source.store, namespaces, []).flat() })),
  };
}

/**
 * Returns all matching objects in order, if an index has them in order for every source. Undefined otherwise.
 *
 * Small mirrors have no index. If the query is limited to some namespaces, an index does not answer it alone, because each of its objects
 * must be checked.
 */
function sortedIn<S extends QuerySource>(sources: readonly WalkedSource<S>[], spec: QuerySpec): InOrder<S> | undefined {
  const lists: SourceMatches<S>[] = [];
  for (const { source, namespaces } of sources) {
    const hint = namespaces === undefined ? exactLookupFor(source, spec) : undefined;
    const objects = hint === undefined || source.store.size < minIndexedObjects ? undefined : source.store.indexedInOrder(hint);
    if (objects === undefined) return undefined;
    lists.push({ source, objects });
  }
  const totalCount = lists.reduce((sum, { objects }) => sum + objects.length, 0);
  return { totalCount, from: (after) => walkSorted(lists, after), matches: () => lists };
}

/** Takes a page in the default order. */
function walk<S extends QuerySource>(inOrder: InOrder<S>, { first, after, keepMatches = false }: QuerySpec): QueryResult<S> {
  const hits: QueryHit<S>[] = [];
  let hasNextPage = false;
  for (const hit of inOrder.from(after)) {
    if (hits.length === first) {
      hasNextPage = true;
      break;
    }
    hits.push(hit);
  }
  const positionOf = (hit: QueryHit<S>) => defaultPositionOf(hit);
  const [firstOfAll] = after === undefined ? [] : inOrder.from(undefined).take(1);
  const hasPreviousPage =
    after !== undefined && firstOfAll !== undefined && comparePositions([], defaultPositionOf(firstOfAll), after) <= 0;
  const { totalCount } = inOrder;
  return { hits, totalCount, hasNextPage, hasPreviousPage, matches: keepMatches ? inOrder.matches() : [], positionOf };
}

interface Scan extends QuerySpec {
  readonly order: CompiledOrder;
  readonly search: string;
}

/** Takes a page by reading every candidate. */
function* scan<S extends QuerySource>(
  sources: readonly WalkedSource<S>[],
  { order, first, after, keepMatches = false, countReads, ...conditions }: Scan,
): Steps<QueryResult<S>> {
  const compare = (a: RankedHit<S>, b: RankedHit<S>) => comparePositions(order.descending, a.position, b.position);
  const leaders = createTopEntries<RankedHit<S>>(first + 1, compare);
  let totalCount = 0;
  let hasPreviousPage = false;
  const matches: SourceMatches<S>[] = [];
  const reads = createReadCounter(countReads);
  const read = { values: 0 };
  // These lists are of one moment. Changes between two steps do not show in them.
  const candidates = sources.map(({ source, namespaces }) => findCandidates(source.store, namespaces, indexHintsFor(source, conditions)));
  for (const [index, { source }] of sources.entries()) {
    const objects: KubernetesObject[] = [];
    const keysOf = order.keysFor(source, read);
    const judge = divideIntoAttempts(createPredicate(source, conditions, read), read);
    for (const list of candidates[index] ?? []) {
      for (const object of list) {
        let isMatch = judge(object);
        for (; isMatch === undefined; isMatch = judge(object)) yield;
        if (isMatch) {
          totalCount += 1;
          if (keepMatches) objects.push(object);
          const hit = { source, object };
          const position = { ...defaultPositionOf(hit), keys: keysOf(object) };
          if (after !== undefined && comparePositions(order.descending, position, after) <= 0) hasPreviousPage = true;
          else leaders.offer({ hit, position });
        }
        // `reads.add(1)` counts the object with its first value, so only its further values are added here. `||` must not skip one of the calls.
        const isStep = reads.addCompared(Math.max(0, read.values - 1));
        read.values = 0;
        if (reads.add(1) || isStep) yield;
      }
    }
    if (keepMatches) matches.push({ source, objects });
  }
  reads.end();
  const ranked = leaders.list();
  const page = ranked.slice(0, first);
  const positions = new Map(page.map(({ hit, position }) => [hit, position]));
  const positionOf = (hit: QueryHit<S>): OrderPosition => {
    const position = positions.get(hit);
    invariant(position !== undefined, 'a hit of this page');
    return position;
  };
  return { hits: page.map(({ hit }) => hit), totalCount, hasNextPage: ranked.length > first, hasPreviousPage, matches, positionOf };
}

interface RankedHit<S extends QuerySource> {
  readonly hit: QueryHit<S>;
  readonly position: OrderPosition;
}

/** Returns the position of an object in the default order. */
export function defaultPositionOf<S extends QuerySource>({ source, object }: QueryHit<S>): OrderPosition {
  const { namespace = '', name } = object.metadata;
  return { keys: [], namespace, name, cluster: source.cluster.name, kind: keyOfKind(source.kind) };
}
