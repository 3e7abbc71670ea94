import { compareOrderKeys, type OrderKey } from '../../core/json/json-values.ts';
import { compareText } from '../../core/text.ts';
import type { OrderPosition } from './cursor.ts';

/** Which of two positions comes first: by the terms, each in its direction, then namespace, name, cluster and kind. Missing values stand last. */
export function comparePositions(descending: readonly boolean[], a: OrderPosition, b: OrderPosition): number {
  for (let term = 0; term < descending.length; term += 1) {
    const order = compareOrderTerm(a.keys[term], b.keys[term], descending[term] === true);
    if (order !== 0) return order;
  }
  return compareByDefaultOrder(a, b);
}

/** By namespace, name, cluster and kind alone. */
export function compareByDefaultOrder(a: Omit<OrderPosition, 'keys'>, b: Omit<OrderPosition, 'keys'>): number {
  return (
    compareText(a.namespace, b.namespace) || compareText(a.name, b.name) || compareText(a.cluster, b.cluster) || compareText(a.kind, b.kind)
  );
}

/** The first `limit` of all that are offered, in any order, without holding more than these. */
interface TopEntries<T> {
  offer(entry: T): void;
  /** In order. Asked once, at the end. */
  list(): readonly T[];
}

/** A bounded heap, whose root is the last of the leaders: what comes after it is turned away by one comparison. */
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

/** Puts the root where it belongs, so that the greatest is the root again. */
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

/** Which of two keys comes first; what is missing stands last in both directions. */
export function compareOrderTerm(a: OrderKey | undefined, b: OrderKey | undefined, descending: boolean): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return descending ? compareOrderKeys(b, a) : compareOrderKeys(a, b);
}
