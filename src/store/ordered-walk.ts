import { keyOfKind } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { Position } from './cursor.ts';
import type { QuerySource } from './query-source.ts';
import { comparePlaces, sink } from './ranking.ts';

/** A source, and where of it a query looks: in these namespaces, or in all. */
export interface View<S extends QuerySource> {
  readonly source: S;
  readonly namespaces: ReadonlySet<string> | undefined;
}

/** One object met on the way. */
export interface Met<S extends QuerySource> {
  readonly source: S;
  readonly object: KubernetesObject;
}

/**
 * All objects of the views by namespace, name, cluster and kind, from after the position on.
 *
 * Costs what is taken from it: namespaces hold their names in order, and only those reached are looked into. Changes meanwhile are not seen to;
 * take what is needed in one turn.
 */
export function* walkInOrder<S extends QuerySource>(views: readonly View<S>[], after: Position | undefined): Generator<Met<S>> {
  for (const namespace of namespacesOf(views)) {
    if (after === undefined || namespace >= after.namespace) yield* merge(lanesOf(views, namespace, after));
  }
}

/** How many objects the views show. */
export function countViews<S extends QuerySource>(views: readonly View<S>[]): number {
  let count = 0;
  for (const { source, namespaces } of views) {
    if (namespaces === undefined) count += source.store.size;
    else for (const namespace of namespaces) count += source.store.countIn(namespace);
  }
  return count;
}

/** One source's objects of one namespace, and how far they have been walked. */
interface Lane<S extends QuerySource> {
  readonly source: S;
  readonly objects: readonly KubernetesObject[];
  readonly cluster: string;
  readonly kind: string;
  next: number;
}

function namespacesOf<S extends QuerySource>(views: readonly View<S>[]): readonly string[] {
  const all = new Set<string>();
  for (const { source, namespaces } of views) {
    for (const namespace of source.store.namespaces()) if (namespaces === undefined || namespaces.has(namespace)) all.add(namespace);
  }
  return [...all].sort();
}

function lanesOf<S extends QuerySource>(views: readonly View<S>[], namespace: string, after: Position | undefined): Lane<S>[] {
  const lanes: Lane<S>[] = [];
  for (const { source, namespaces } of views) {
    if (namespaces !== undefined && !namespaces.has(namespace)) continue;
    const objects = source.store.inNamespace(namespace);
    const lane: Lane<S> = { source, objects, cluster: source.cluster.name, kind: keyOfKind(source.kind), next: 0 };
    if (after?.namespace === namespace) lane.next = firstAfter(lane, after);
    if (lane.next < objects.length) lanes.push(lane);
  }
  return lanes;
}

/** By halving: a page in the middle of a large namespace is as cheap as the first. */
function firstAfter<S extends QuerySource>({ objects, cluster, kind }: Lane<S>, after: Position): number {
  let [low, high] = [0, objects.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const name = objects[middle]?.metadata.name ?? '';
    if (comparePlaces({ namespace: after.namespace, name, cluster, kind }, after) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

function* merge<S extends QuerySource>(lanes: Lane<S>[]): Generator<Met<S>> {
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
    sink(heap, (a, b) => compareLanes(b, a));
  }
}

function compareLanes<S extends QuerySource>(a: Lane<S>, b: Lane<S>): number {
  return comparePlaces(placeOf(a), placeOf(b));
}

/** Lanes stand in one namespace. */
function placeOf<S extends QuerySource>({ objects, next, cluster, kind }: Lane<S>): Omit<Position, 'keys'> {
  return { namespace: '', name: objects[next]?.metadata.name ?? '', cluster, kind };
}
