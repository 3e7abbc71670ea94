import { EventEmitter } from 'node:events';
import { queryObjects } from 'node:v8';

/**
 * How many listeners this process holds: those of every EventTarget that is reachable (AbortSignals above all), and those of its open sockets,
 * servers and streams. Walks the heap: some 100 ms.
 */
export function listenersHeld(): number {
  return queryObjects(targetListener(), { format: 'count' }) + ofHandles();
}

type Constructor = new (...args: never[]) => object;

/** Node's record of one listener of an EventTarget, which has no name that could be imported. */
function targetListener(): Constructor {
  const target = new EventTarget();
  target.addEventListener('any', () => undefined);
  for (const symbol of Object.getOwnPropertySymbols(target)) {
    // A Map of another making than ours, so no instance of it.
    const events = Reflect.get(target, symbol) as { get?(type: string): { readonly next?: object } | undefined } | undefined;
    const first = typeof events?.get === 'function' ? events.get('any') : undefined;
    if (first?.next !== undefined) return first.next.constructor as Constructor;
  }
  throw new Error('this Node keeps listeners of EventTargets in another way');
}

function ofHandles(): number {
  const handles = Reflect.get(process, '_getActiveHandles').call(process) as readonly unknown[];
  const emitters = handles.filter((handle) => handle instanceof EventEmitter);
  const ofOne = (emitter: EventEmitter) => emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
  return emitters.reduce((sum, emitter) => sum + ofOne(emitter), 0);
}
