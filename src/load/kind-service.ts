import { keyOfKind } from '../core/kinds.ts';
import { dayOf } from '../model/schema-lock.ts';
import type { KindSchema } from '../model/shapes.ts';
import type { ClusterState } from '../watch/mirrors.ts';

/** Which kinds are served, by `keyOfKind`. */
export interface KindService {
  /** Takes in what the clusters serve and define now. Gives what was served once, and is neither served nor defined any more. */
  unserved(clusters: readonly ClusterState[], defined: readonly KindSchema[]): ReadonlySet<string>;
  /** The last day on which it was served, as `dayOf` gives it: today, if it is served as of the last look. Undefined if it never was. */
  servedOn(key: string): string | undefined;
}

/**
 * Nothing is served yet.
 *
 * @param earlier The last day of kinds that were served in earlier runs. While a cluster has not said yet what it serves, it may be these.
 */
export function createKindService(earlier: ReadonlyMap<string, string>, clock: { now(): number }): KindService {
  const days = new Map(earlier);
  const ever = new Set<string>();
  let served: ReadonlySet<string> = new Set();
  return {
    unserved(clusters, defined) {
      const today = dayOf(clock.now());
      const definedKeys = defined.filter(({ versions }) => versions.length > 0).map(keyOfKind);
      const before = served;
      served = new Set([...clusters.flatMap(({ resources = [] }) => resources.map(keyOfKind)), ...definedKeys]);
      for (const key of [...before, ...served]) days.set(key, today);
      for (const key of served) ever.add(key);
      const allHaveSaid = clusters.every(({ resources }) => resources !== undefined);
      return new Set([...ever, ...(allHaveSaid ? earlier.keys() : [])].filter((key) => !served.has(key)));
    },
    servedOn: (key) => (served.has(key) ? dayOf(clock.now()) : days.get(key)),
  };
}
