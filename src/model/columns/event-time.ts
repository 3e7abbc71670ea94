import { textAt } from '../../core/json-at.ts';
import { parseInstant } from '../../core/json-values.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** In the order in which kubectl prefers them, then the creation. */
const paths = [
  ['series', 'lastObservedTime'],
  ['lastTimestamp'],
  ['firstTimestamp'],
  ['eventTime'],
  ['metadata', 'creationTimestamp'],
] as const;

/**
 * When an Event was last seen, as served: the time that kubectl prints under LAST SEEN. An Event without such a time has its creation. Undefined if none
 * of them is a time.
 */
export function lastSeenOf(event: KubernetesObject): string | undefined {
  return paths.map((path) => textAt(event, ...path)).find((text) => text !== undefined && parseInstant(text) !== undefined);
}
