import { compareOrderKeys, type OrderKey } from '../../core/json/json-values.ts';
import { compareText } from '../../core/text.ts';
import type { OrderPosition } from './cursor.ts';

/** Compares two positions: by the terms, each in its direction, then by namespace, name, cluster and kind. Missing values come last. */
export function comparePositions(descending: readonly boolean[], a: OrderPosition, b: OrderPosition): number {
  for (let term = 0; term < descending.length; term += 1) {
    const order = compareOrderTerm(a.keys[term], b.keys[term], descending[term] === true);
    if (order !== 0) return order;
  }
  return compareByDefaultOrder(a, b);
}

/** Compares by namespace, name, cluster and kind. */
export function compareByDefaultOrder(a: Omit<OrderPosition, 'keys'>, b: Omit<OrderPosition, 'keys'>): number {
  return (
    compareText(a.namespace, b.namespace) || compareText(a.name, b.name) || compareText(a.cluster, b.cluster) || compareText(a.kind, b.kind)
  );
}

/** Collects the first `limit` entries of all offered ones, and holds no others. */
interface TopEntries<T> {
  offer(entry: T): void;
  /** Returns the entries in order. Call it once, at the end. */
  list(): readonly T[];
}

/** Creates a bounded heap. Its root is the last of the kept entries in the order, so one comparison rejects an entry that comes after all of them. */
export function createTopEntries<T>(limit: number, compare: (a: T, b: T) => number): TopEntries<T> {
  const heap: T[] = [];
  return {
    offer(entry) {
      const root = heap[0];
      if (heap.length < limit) {
        heap.push(entry);
        rise(heap, compare);
      } else if (root !== undefined && compare(entry, root) < 0) {
        heap[0] = entry;
        sinkRoot(heap, compare);
      }
    },
    list: () => heap.sort(compare),
  };
}

function rise<T>(heap: T[], compare: (a: T, b: T) => number): void {
  let index = heap.length - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const [child, above] = [heap[index], heap[parent]];
    if (child === undefined || above === undefined || compare(child, above) <= 0) return;
    heap[index] = above;
    heap[parent] = child;
    index = parent;
  }
}

/** Moves the root down to its place, so that the largest entry is the root again. */
export function sinkRoot<T>(heap: T[], compare: (a: T, b: T) => number): void {
  let index = 0;
  for (;;) {
    let greatest = index;
    for (const child of [2 * index + 1, 2 * index + 2]) {
      const [candidate, best] = [heap[child], heap[greatest]];
      if (candidate !== undefined && best !== undefined && compare(candidate, best) > 0) greatest = child;
    }
    const [here, there] = [heap[index], heap[greatest]];
    if (greatest === index || here === undefined || there === undefined) return;
    heap[index] = there;
    heap[greatest] = here;
    index = greatest;
  }
}

/** Compares two keys. A missing key comes last in both directions. */
export function compareOrderTerm(a: OrderKey | undefined, b: OrderKey | undefined, descending: boolean): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return descending ? compareOrderKeys(b, a) : compareOrderKeys(a, b);
}
