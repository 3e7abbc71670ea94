import { keyOfKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { MemberChange } from '../../store/member-objects.ts';

/**
 * Collects changes, and sends them together in a microtask, once the current synchronous code has ended. Several changes of the same type,
 * cluster, kind and object until then are sent once.
 */
export interface MemberChanges {
  publish(change: MemberChange): void;
  /** Calls back until the signal aborts. */
  subscribe(callback: (changes: readonly MemberChange[]) => void, signal: AbortSignal): void;
}

/** Creates the collection without subscribers. */
export function createMemberChanges(log: Log): MemberChanges {
  const subscribers = new Set<(changes: readonly MemberChange[]) => void>();
  let waiting = new Map<string, MemberChange>();

  function flush(): void {
    const changes = [...waiting.values()];
    waiting = new Map();
    for (const subscriber of [...subscribers]) {
      try {
        subscriber(changes);
      } catch (error) {
        log.error({ err: loggableError(error) }, 'a subscriber of changes of members threw');
      }
    }
  }

  return {
    publish(change) {
      if (subscribers.size === 0) return;
      if (waiting.size === 0) queueMicrotask(flush);
      waiting.set(keyOf(change), change);
    },
    subscribe(callback, signal) {
      if (signal.aborted) return;
      // A function of its own for each call, because one callback may be subscribed twice.
      const own = (changes: readonly MemberChange[]) => callback(changes);
      subscribers.add(own);
      signal.addEventListener('abort', () => subscribers.delete(own), { once: true });
    },
  };
}

function keyOf(change: MemberChange): string {
  switch (change.type) {
    case 'cluster':
      return JSON.stringify([change.cluster]);
    case 'mirror':
      return JSON.stringify([change.cluster, keyOfKind(change.kind)]);
    case 'object':
      return JSON.stringify([change.cluster, keyOfKind(change.kind), change.objectName.namespace, change.objectName.name]);
    default:
      return change satisfies never;
  }
}
