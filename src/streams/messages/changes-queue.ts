import type { KubernetesObject } from '../../core/objects.ts';

/** One change of an object of a selection. A `DELETED` change has the last state that matched. */
export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The key that `keyOfObject` makes. It contains the uid, so an object that is created again under its name has another key. */
  readonly key: string;
  readonly object: KubernetesObject;
}

/** Changes that wait to be sent. Holds the latest change of each object, ordered by the time of that change. */
export interface ChangesQueue {
  readonly size: number;
  put(change: ObjectChange): void;
  /**
   * Removes the next changes from the queue, at most `max`, and returns them for one message. Returns an empty list only if no change
   * waits.
   *
   * If an object was deleted and created again under its name, the message has only the deletion, and the creation waits for a later
   * message. A client that does not select the uid cannot tell the two objects apart.
   */
  take(max: number): readonly ObjectChange[];
  clear(): void;
}

/** Creates an empty queue. */
export function createChangesQueue(): ChangesQueue {
  const waiting = new Map<string, ObjectChange>();
  return {
    get size() {
      return waiting.size;
    },
    put(change) {
      const before = waiting.get(change.key);
      // Deleted first, so that the change moves to the end of the map.
      if (before !== undefined) waiting.delete(change.key);
      const merged = before === undefined ? change : mergeChanges(before, change);
      if (merged !== undefined) waiting.set(change.key, merged);
    },
    take(max) {
      const batch: ObjectChange[] = [];
      const deleted = new Set<string>();
      for (const [key, change] of waiting) {
        if (batch.length === max) break;
        if (change.type === 'DELETED') deleted.add(listPlaceOf(change.object));
        else if (deleted.size > 0 && deleted.has(listPlaceOf(change.object))) continue;
        batch.push(change);
        waiting.delete(key);
      }
      return batch;
    },
    clear: () => waiting.clear(),
  };
}

/** Merges two changes of one object for a reader that has seen neither. Undefined if they cancel each other. */
export function mergeChanges(first: ObjectChange, next: ObjectChange): ObjectChange | undefined {
  if (next.type === 'DELETED') return first.type === 'ADDED' ? undefined : next;
  const type = first.type === 'ADDED' ? 'ADDED' : 'MODIFIED';
  return next.type === type ? next : { ...next, type };
}

/**
 * Returns the sort key of an object: `namespace/name`. The `INITIAL` messages, with which a stream begins, have the objects in this order.
 * API servers list objects in the same order.
 */
export function listPlaceOf({ metadata: { namespace = '', name } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}
