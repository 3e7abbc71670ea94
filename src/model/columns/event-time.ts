import type { CoreV1Event } from '@kubernetes/client-node';
import { parseInstant } from '../../core/json/json-values.ts';
import type { TypedObject } from '../../core/objects.ts';
import { textOrUndefined } from '../../core/stored.ts';

/**
 * Returns the time that kubectl prints under LAST SEEN for an Event, in the form the API server serves. An Event without such a time has
 * its creation time. Undefined if no value is a time.
 */
export function lastSeenOf({ series, lastTimestamp, firstTimestamp, eventTime, metadata }: TypedObject<CoreV1Event>): string | undefined {
  // The order is that in which kubectl prefers these times.
  const times = [series?.lastObservedTime, lastTimestamp, firstTimestamp, eventTime, metadata.creationTimestamp];
  return times.map(textOrUndefined).find((time) => time !== undefined && parseInstant(time) !== undefined);
}
