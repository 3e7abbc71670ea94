import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { QuerySource } from '../query-source.ts';
import type { OrderPosition } from './cursor.ts';
import { compareByDefaultOrder, sinkRoot } from './ranking.ts';

/** A source, and the namespaces of it that a query reads. Undefined: all namespaces. */
export interface WalkedSource<S extends QuerySource> {
  readonly source: S;
  readonly namespaces: ReadonlySet<string> | undefined;
}

/** An object, and the source that has it. */
interface WalkedObject<S extends QuerySource> {
  readonly source: S;
  readonly object: KubernetesObject;
}

/**
 * Yields the objects of all walked sources by namespace, name, cluster and kind. Begins with the first one after the position.
 *
 * The cost depends on the number of objects that are taken. The store keeps the names in each namespace sorted, and only the namespaces
 * that the walk reaches are read. Later changes may be missed, so take all needed objects in one synchronous step.
 */
export function* walkInOrder<S extends QuerySource>(
  walked: readonly WalkedSource<S>[],
  after: OrderPosition | undefined,
): Generator<WalkedObject<S>> {
  for (const namespace of walkNamespaces(walked, after)) yield* merge(lanesOf(walked, namespace, after));
}

/** The objects of one source, sorted by namespace and name. */
interface SortedSource<S extends QuerySource> {
  readonly source: S;
  readonly objects: readonly KubernetesObject[];
}

/** Yields the objects of these sorted lists in the order of `walkInOrder`. Begins with the first one after the position. */
export function* walkSorted<S extends QuerySource>(
  lists: readonly SortedSource<S>[],
  after: OrderPosition | undefined,
): Generator<WalkedObject<S>> {
  yield* merge(lists.map((list) => laneOf(list, after)).filter(({ objects, next }) => next < objects.length));
}

/** Returns the number of objects in the walked sources. */
export function countObjects<S extends QuerySource>(walked: readonly WalkedSource<S>[]): number {
  let count = 0;
  for (const { source, namespaces } of walked) {
    if (namespaces === undefined) count += source.store.size;
    else for (const namespace of namespaces) count += source.store.countIn(namespace);
  }
  return count;
}

/** The sorted objects of one source, and the index of the next one in the walk. */
interface Lane<S extends QuerySource> {
  readonly source: S;
  readonly objects: readonly KubernetesObject[];
  readonly cluster: string;
  readonly kind: string;
  next: number;
}

/** Yields the namespaces of all walked sources, each once, in order. Begins with the first one that may have objects after the position. */
export function* walkNamespaces<S extends QuerySource>(
  walked: readonly WalkedSource<S>[],
  after: OrderPosition | undefined,
): Generator<string> {
  const lists = walked.map((one) => ({ names: namespacesIn(one), next: 0 }));
  for (;;) {
    let least: string | undefined;
    for (const list of lists) {
      while (after !== undefined && (list.names[list.next] ?? after.namespace) < after.namespace) list.next += 1;
      const name = list.names[list.next];
      if (name !== undefined && (least === undefined || name < least)) least = name;
    }
    if (least === undefined) return;
    yield least;
    for (const list of lists) if (list.names[list.next] === least) list.next += 1;
  }
}

/**
 * Returns the sorted namespaces of one source. Goes through the smaller of two sets, the namespaces to read and the namespaces that have
 * objects, because the larger one may have ten thousand.
 */
function namespacesIn<S extends QuerySource>({ source: { store }, namespaces }: WalkedSource<S>): readonly string[] {
  const held = store.namespaces();
  if (namespaces === undefined) return held;
  if (namespaces.size > held.length) return held.filter((namespace) => namespaces.has(namespace));
  return [...namespaces].filter((namespace) => store.countIn(namespace) > 0).sort();
}

function lanesOf<S extends QuerySource>(
  walked: readonly WalkedSource<S>[],
  namespace: string,
  after: OrderPosition | undefined,
): Lane<S>[] {
  const lanes: Lane<S>[] = [];
  for (const { source, namespaces } of walked) {
    if (namespaces !== undefined && !namespaces.has(namespace)) continue;
    const lane = laneOf({ source, objects: source.store.inNamespace(namespace) }, after);
    if (lane.next < lane.objects.length) lanes.push(lane);
  }
  return lanes;
}

function laneOf<S extends QuerySource>({ source, objects }: SortedSource<S>, after: OrderPosition | undefined): Lane<S> {
  const lane: Lane<S> = { source, objects, cluster: source.cluster.name, kind: keyOfKind(source.kind), next: 0 };
  if (after !== undefined) lane.next = firstAfter(lane, after);
  return lane;
}

/**
 * Returns the index of the first object after the position. Uses a binary search, so a page in the middle of a large namespace costs as
 * little as the first.
 */
function firstAfter<S extends QuerySource>({ objects, cluster, kind }: Lane<S>, after: OrderPosition): number {
  let [low, high] = [0, objects.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { namespace = '', name = '' } = objects[middle]?.metadata ?? {};
    if (compareByDefaultOrder({ namespace, name, cluster, kind }, after) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

function* merge<S extends QuerySource>(lanes: Lane<S>[]): Generator<WalkedObject<S>> {
  const [only] = lanes;
  if (only !== undefined && lanes.length === 1) return yield* objectsOf(only);
  const heap = lanes.sort(compareLanes);
  for (let lane = heap[0]; lane !== undefined; lane = heap[0]) {
    const object = lane.objects[lane.next];
    if (object !== undefined) yield { source: lane.source, object };
    lane.next += 1;
    if (lane.next >= lane.objects.length) {
      const last = heap.pop();
      if (last === undefined || last === lane) return;
      heap[0] = last;
    }
    sinkRoot(heap, (a, b) => compareLanes(b, a));
  }
}

function* objectsOf<S extends QuerySource>({ source, objects, next }: Lane<S>): Generator<WalkedObject<S>> {
  for (let index = next; index < objects.length; index += 1) {
    const object = objects[index];
    if (object !== undefined) yield { source, object };
  }
}

function compareLanes<S extends QuerySource>(a: Lane<S>, b: Lane<S>): number {
  return compareByDefaultOrder(positionOfNext(a), positionOfNext(b));
}

function positionOfNext<S extends QuerySource>({ objects, next, cluster, kind }: Lane<S>): Omit<OrderPosition, 'keys'> {
  const { namespace = '', name = '' } = objects[next]?.metadata ?? {};
  return { namespace, name, cluster, kind };
}
