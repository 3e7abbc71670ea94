import { textAt } from '../../core/json-at.ts';
import { type Instant, parseInstant } from '../../core/json-values.ts';
import type { KubernetesObject } from '../../core/objects.ts';

const whereTimesStand = [['series', 'lastObservedTime'], ['lastTimestamp'], ['eventTime'], ['metadata', 'creationTimestamp']] as const;

/**
 * When what an Event tells was last seen: the latest of the times that it has, as served. Who wrote it by which API decides which those are, and
 * one that goes on keeps its creation. Undefined if none of them is a time.
 */
export function lastSeenOf(event: KubernetesObject): string | undefined {
  let latest: { readonly text: string; readonly instant: Instant } | undefined;
  for (const path of whereTimesStand) {
    const text = textAt(event, ...path);
    const instant = text === undefined ? undefined : parseInstant(text);
    if (text === undefined || instant === undefined) continue;
    if (latest === undefined || isLater(instant, latest.instant)) latest = { text, instant };
  }
  return latest?.text;
}

function isLater(a: Instant, b: Instant): boolean {
  return a.ms > b.ms || (a.ms === b.ms && a.nanos > b.nanos);
}
