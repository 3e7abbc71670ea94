import { keyOfKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { MemberChange } from '../../store/member-objects.ts';

/** What was heard in one turn, told at its end: each once. */
export interface MemberChanges {
  publish(change: MemberChange): void;
  /** Until the signal aborts. */
  subscribe(callback: (changes: readonly MemberChange[]) => void, signal: AbortSignal): void;
}

/** Nobody listens yet. */
export function createMemberChanges(log: Log): MemberChanges {
  const listeners = new Set<(changes: readonly MemberChange[]) => void>();
  let waiting = new Map<string, MemberChange>();

  function flush(): void {
    const changes = [...waiting.values()];
    waiting = new Map();
    for (const listener of [...listeners]) {
      try {
        listener(changes);
      } catch (error) {
        log.error({ err: loggableError(error) }, 'a listener of changes of members threw');
      }
    }
  }

  return {
    publish(change) {
      if (listeners.size === 0) return;
      if (waiting.size === 0) queueMicrotask(flush);
      waiting.set(keyOf(change), change);
    },
    subscribe(callback, signal) {
      if (signal.aborted) return;
      // One of its own, as the same function may be given twice.
      const own = (changes: readonly MemberChange[]) => callback(changes);
      listeners.add(own);
      signal.addEventListener('abort', () => listeners.delete(own), { once: true });
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
      return JSON.stringify([change.cluster, keyOfKind(change.kind), change.place.namespace, change.place.name]);
    default:
      return change satisfies never;
  }
}
