import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the heap that something still refers to. */
export function liveHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What a first collection finalises is free after the second.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** What is alive that one forgotten listener, iterator or await would keep alive, and the bytes of everything. */
export interface Census {
  readonly signals: number;
  readonly promises: number;
  readonly bytes: number;
}

/** Counts it: takes a second or so. */
export function takeCensus(): Census {
  // Either collects what is garbage first.
  const signals = queryObjects(AbortSignal, { format: 'count' });
  const promises = queryObjects(Promise, { format: 'count' });
  return { signals, promises, bytes: process.memoryUsage().heapUsed };
}

/** What keeps the process alive, by type: timers, sockets, requests. */
export function activeResources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
