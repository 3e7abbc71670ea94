import { invariant, MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { LabelSelector } from '../../core/selectors.ts';
import { candidatesIn, fewObjects, prepareIndexes, visibleNamespaces } from '../filter/candidates.ts';
import { inAttempts } from '../filter/long-texts.ts';
import { createPredicate, exactLookupFor, indexHintsFor, type RelatedCondition } from '../filter/matching.ts';
import type { CompiledWhere } from '../filter/where.ts';
import type { QuerySource } from '../query-source.ts';
import { type CountReads, createReadCounter } from './count-reads.ts';
import type { OrderPosition } from './cursor.ts';
import { type CompiledOrder, defaultOrder } from './order.ts';
import { countObjects, namespacesOf, type WalkedSource, walkInOrder, walkSorted } from './ordered-walk.ts';
import { comparePositions, createTopEntries } from './ranking.ts';

/** What is asked of many mirrors at once. All conditions must hold. */
export interface QuerySpec {
  /** Objects in these namespaces only; cluster-scoped ones are in none. Absent: anywhere. */
  readonly namespaces?: readonly string[] | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly where?: CompiledWhere | undefined;
  /** A part of the name, of a label's key or of its value, or of `key=value`, whatever the case. Empty text asks nothing. */
  readonly search?: string | undefined;
  /** What relates them to another object. */
  readonly related?: RelatedCondition | undefined;
  /** Absent: by namespace, name, cluster and kind, by which any other order ends too. Text compares by code units. */
  readonly order?: CompiledOrder | undefined;
  /** Most objects on the page, at least 1. */
  readonly first: number;
  /** The page begins after it, whether or not an object still stands there. Made by a query of the same order. */
  readonly after?: OrderPosition | undefined;
  /** True: the result holds on to all that match, whatever the page, for who wants more of them than a count. */
  readonly keepMatches?: boolean | undefined;
  /** Told of each source, and of each object that is not found by an index alone. */
  readonly countReads?: CountReads | undefined;
}

/** One object on a page, and where it was found. */
export interface QueryHit<S extends QuerySource = QuerySource> {
  readonly source: S;
  readonly object: KubernetesObject;
}

/** All objects of one source that match, in no order. */
export interface SourceMatches<S extends QuerySource = QuerySource> {
  readonly source: S;
  readonly objects: readonly KubernetesObject[];
}

/** One page, all of one moment. */
export interface QueryResult<S extends QuerySource = QuerySource> {
  readonly hits: readonly QueryHit<S>[];
  /** Of all matching objects in sight, whatever the page. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** What `totalCount` counts; empty unless it was to be kept. */
  readonly matches: readonly SourceMatches<S>[];
  /** Where an object of this page stands in this order: `after` of the next page. */
  positionOf(hit: QueryHit<S>): OrderPosition;
}

/**
 * Asks many mirrors, clusters times kinds, one question. Whatever the number of steps, all that it finds is of one moment: that of the call, or, where a
 * large mirror has no index or order for it yet, the moment at which these are made.
 *
 * Filters and sorts before it cuts the page, in one total order over all sources. In the default order, without a filter or with one that an index
 * answers, a page costs what is on it, however much is held; else each candidate is looked at once, which indexes of labels, names, owners and nodes make few.
 *
 * @throws {MusterError} `BAD_INPUT` if `after` is of another order.
 */
export function* queryInSteps<S extends QuerySource>(sources: readonly S[], spec: QuerySpec): Steps<QueryResult<S>> {
  const { namespaces, selector, where, search = '', related, order = defaultOrder, first, after, countReads: look } = spec;
  invariant(Number.isInteger(first) && first > 0, `a page of at least one object, not of ${first}`);
  if (after !== undefined && after.keys.length !== order.descending.length) {
    throw new MusterError('BAD_INPUT', 'expected a cursor of this order, got one of another');
  }
  look?.(sources.length);
  const views = sources.map((source) => ({ source, namespaces: visibleNamespaces(namespaces, source.visibility) }));
  const filtered = (selector?.requirements.length ?? 0) > 0 || where !== undefined || search !== '' || related !== undefined;
  const isDefault = order.descending.length === 0;
  const sorted = isDefault ? (filtered ? sortedIn(views, spec) : everythingIn(views)) : undefined;
  return sorted === undefined ? yield* scan(views, { ...spec, order, search }) : walk(sorted, spec);
}

/** Smaller mirrors are indexed and sorted in well below a millisecond. */
const largeMirror = 2_000;

/**
 * Makes the indexes and orders of large mirrors that `queryInSteps` needs, a mirror in each step: at their first use, each takes some milliseconds of
 * 20,000 objects. To be run before it, where other operations wait.
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
      const [next] = namespacesOf([{ source, namespaces }], spec.after);
      if (next === undefined || source.store.countIn(next) < largeMirror) continue;
      source.store.inNamespace(next);
      yield;
    }
  }
}

/** All that matches, by namespace, name, cluster and kind, at the price of what is taken from it. */
interface InOrder<S extends QuerySource> {
  readonly totalCount: number;
  from(after: OrderPosition | undefined): IteratorObject<QueryHit<S>>;
  matches(): readonly SourceMatches<S>[];
}

function everythingIn<S extends QuerySource>(views: readonly WalkedSource<S>[]): InOrder<S> {
  return {
    totalCount: countObjects(views),
    from: (after) => walkInOrder(views, after),
    matches: () => views.map(({ source, namespaces }) => ({ source, objects: candidatesIn(source.store, namespaces, []).flat() })),
  };
}

/** Undefined unless indexes know it all, in order: a few objects have none, and what is in sight by namespaces is looked at. */
function sortedIn<S extends QuerySource>(views: readonly WalkedSource<S>[], spec: QuerySpec): InOrder<S> | undefined {
  const lists: SourceMatches<S>[] = [];
  for (const { source, namespaces } of views) {
    const hint = namespaces === undefined ? exactLookupFor(source, spec) : undefined;
    const objects = hint === undefined || source.store.size < fewObjects ? undefined : source.store.indexedInOrder(hint);
    if (objects === undefined) return undefined;
    lists.push({ source, objects });
  }
  const totalCount = lists.reduce((sum, { objects }) => sum + objects.length, 0);
  return { totalCount, from: (after) => walkSorted(lists, after), matches: () => lists };
}

/** A page in the default order. */
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
  const positionOf = (hit: QueryHit<S>) => placeOf(hit);
  const [firstOfAll] = after === undefined ? [] : inOrder.from(undefined).take(1);
  const hasPreviousPage = after !== undefined && firstOfAll !== undefined && comparePositions([], placeOf(firstOfAll), after) <= 0;
  const { totalCount } = inOrder;
  return { hits, totalCount, hasNextPage, hasPreviousPage, matches: keepMatches ? inOrder.matches() : [], positionOf };
}

interface Scan extends QuerySpec {
  readonly order: CompiledOrder;
  readonly search: string;
}

/** A page of what is found by looking at every candidate. */
function* scan<S extends QuerySource>(
  views: readonly WalkedSource<S>[],
  { order, first, after, keepMatches = false, countReads: look, ...conditions }: Scan,
): Steps<QueryResult<S>> {
  const compare = (a: RankedHit<S>, b: RankedHit<S>) => comparePositions(order.descending, a.position, b.position);
  const leaders = createTopEntries<RankedHit<S>>(first + 1, compare);
  let totalCount = 0;
  let hasPreviousPage = false;
  const matches: SourceMatches<S>[] = [];
  const looks = createReadCounter(look);
  const read = { values: 0 };
  // These lists are of one moment: they do not contain changes that happen between two steps.
  const candidates = views.map(({ source, namespaces }) => candidatesIn(source.store, namespaces, indexHintsFor(source, conditions)));
  for (const [index, { source }] of views.entries()) {
    const objects: KubernetesObject[] = [];
    const keysOf = order.keysFor(source, read);
    const judge = inAttempts(createPredicate(source, conditions, read), read);
    for (const list of candidates[index] ?? []) {
      for (const object of list) {
        let isMatch = judge(object);
        for (; isMatch === undefined; isMatch = judge(object)) yield;
        if (isMatch) {
          totalCount += 1;
          if (keepMatches) objects.push(object);
          const hit = { source, object };
          const position = { ...placeOf(hit), keys: keysOf(object) };
          if (after !== undefined && comparePositions(order.descending, position, after) <= 0) hasPreviousPage = true;
          else leaders.offer({ hit, position });
        }
        // The look includes the first value. Both are counted, whatever the first call says.
        const isStep = looks.addCompared(Math.max(0, read.values - 1));
        read.values = 0;
        if (looks.add(1) || isStep) yield;
      }
    }
    if (keepMatches) matches.push({ source, objects });
  }
  looks.end();
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

function placeOf<S extends QuerySource>({ source, object }: QueryHit<S>): OrderPosition {
  const { namespace = '', name } = object.metadata;
  return { keys: [], namespace, name, cluster: source.cluster.name, kind: keyOfKind(source.kind) };
}
