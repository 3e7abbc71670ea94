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

/** How many objects of these classes are alive, each with its subclasses. */
export function countAlive<Name extends string>(classes: Readonly<Record<Name, new (...args: never[]) => object>>): Record<Name, number> {
  liveHeapBytes();
  const counts = Object.entries<new (...args: never[]) => object>(classes).map(([name, one]) => [
    name,
    queryObjects(one, { format: 'count' }),
  ]);
  return Object.fromEntries(counts) as Record<Name, number>;
}

/** What keeps the process alive, by type: timers, sockets, requests. */
export function activeResources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const type of process.getActiveResourcesInfo()) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
