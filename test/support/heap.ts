import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the heap that are still referenced. */
export function liveHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The first collection finalizes objects, and the second one frees them.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Counts of objects that one forgotten listener, iterator or await would keep alive, and the bytes of the whole heap. */
export interface Census {
  readonly signals: number;
  readonly promises: number;
  readonly bytes: number;
}

/** Takes the counts, in about a second. */
export function takeCensus(): Census {
  // Each query collects garbage first.
  const signals = queryObjects(AbortSignal, { format: 'count' });
  const promises = queryObjects(Promise, { format: 'count' });
  return { signals, promises, bytes: process.memoryUsage().heapUsed };
}

/** Counts the resources that keep the process alive, by type: timers, sockets, requests. */
export function activeResources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
