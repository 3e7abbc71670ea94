import type { KubernetesObject } from '../../core/objects.ts';

/** What became of one object of a selection. Of a `DELETED` one, the last state in which it was part of it. */
export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `keyOfObject`. */
  readonly key: string;
  readonly object: KubernetesObject;
}

/** Changes that wait, the latest of each object, in the order of these. */
export interface ChangesQueue {
  readonly size: number;
  put(change: ObjectChange): void;
  /**
   * The next changes, as many as one message holds: of an object that was deleted and made again under its name, the deletion alone, as without uids both have
   * one id. Empty only if nothing waits.
   */
  take(most: number): readonly ObjectChange[];
  clear(): void;
}

/** Nothing waits. */
export function createChangesQueue(): ChangesQueue {
  const waiting = new Map<string, ObjectChange>();
  return {
    get size() {
      return waiting.size;
    },
    put(change) {
      const before = waiting.get(change.key);
      // Taken out first, so that it moves to the end.
      if (before !== undefined) waiting.delete(change.key);
      const merged = before === undefined ? change : mergeChanges(before, change);
      if (merged !== undefined) waiting.set(change.key, merged);
    },
    take(most) {
      const batch: ObjectChange[] = [];
      const deleted = new Set<string>();
      for (const [key, change] of waiting) {
        if (batch.length === most) break;
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

/** What two changes of one object are to someone who has seen neither. Undefined: nothing. */
export function mergeChanges(first: ObjectChange, next: ObjectChange): ObjectChange | undefined {
  if (next.type === 'DELETED') return first.type === 'ADDED' ? undefined : next;
  const type = first.type === 'ADDED' ? 'ADDED' : 'MODIFIED';
  return next.type === type ? next : { ...next, type };
}

/** Where an object stands among those of its source: in the order in which API servers list them. */
export function listPlaceOf({ metadata: { namespace = '', name } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}
