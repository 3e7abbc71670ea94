import { textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { later } from './later.ts';

const whereTimesStand = [['series', 'lastObservedTime'], ['lastTimestamp'], ['eventTime'], ['metadata', 'creationTimestamp']] as const;

/**
 * When what an Event tells was last seen: the latest of the times that it has, as served. Who wrote it by which API decides which those are, and
 * one that goes on keeps its creation. Undefined if none of them is a time.
 */
export function lastSeenOf(event: KubernetesObject): string | undefined {
  return whereTimesStand.reduce<string | undefined>((latest, path) => later(latest, textAt(event, ...path)), undefined);
}
