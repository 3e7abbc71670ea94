import { EventEmitter } from 'node:events';
import { queryObjects } from 'node:v8';

/**
 * Counts the listeners of this process: of every reachable EventTarget (mostly AbortSignals), and of open sockets, servers and streams.
 * Walks the heap, which takes about 100 ms.
 */
export function listenersHeld(): number {
  return queryObjects(targetListener(), { format: 'count' }) + handleListeners();
}

type Constructor = new (...args: never[]) => object;

/** Returns Node's class for one listener of an EventTarget. Node does not export it. */
function targetListener(): Constructor {
  const target = new EventTarget();
  target.addEventListener('any', () => undefined);
  for (const symbol of Object.getOwnPropertySymbols(target)) {
    // Node uses its own Map class, so `instanceof Map` is false.
    const events = Reflect.get(target, symbol) as { get?(type: string): { readonly next?: object } | undefined } | undefined;
    const first = typeof events?.get === 'function' ? events.get('any') : undefined;
    if (first?.next !== undefined) return first.next.constructor as Constructor;
  }
  throw new Error('this version of Node stores the listeners of EventTargets differently');
}

function handleListeners(): number {
  const handles = Reflect.get(process, '_getActiveHandles').call(process) as readonly unknown[];
  const emitters = handles.filter((handle) => handle instanceof EventEmitter);
  const listenersOf = (emitter: EventEmitter) => emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
  return emitters.reduce((sum, emitter) => sum + listenersOf(emitter), 0);
}
