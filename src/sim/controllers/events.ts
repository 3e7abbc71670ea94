import type { CoreV1Event } from '@kubernetes/client-node';
import type { KubernetesObject, TypedObject } from '../../core/objects.ts';
import { kubernetesTime, type ReportedEvent, type World } from './world.ts';

/** Lifetime of an Event after its last occurrence. An API server's `--event-ttl` is one hour by default. */
const eventTtlMs = 15 * 60_000;
/** The largest number of Events in a cluster. Beyond it the oldest are removed. */
const maxEvents = 400;
/** Number of Events that a removal beyond `maxEvents` leaves. The distance to `maxEvents` avoids a removal for each further Event. */
const keptEvents = 350;

/** Stores Events. A repeated event increases the count of the stored one. */
export interface EventLog {
  record(occurrence: ReportedEvent, world: World): void;
  /** Removes expired Events, and the oldest ones beyond `maxEvents`. */
  prune(world: World): void;
}

/** Creates an empty log. It remembers the name of each stored Event, so that repetitions find it. */
export function createEventLog(): EventLog {
  const names = new Map<string, string>();
  let made = 0;
  return {
    record(occurrence, world) {
      // Normal Events of the simulated past have expired already.
      if (world.isFastForward && occurrence.type === 'Normal') return;
      const { to, reason, message } = occurrence;
      const key = `${to.metadata.uid} ${reason} ${message}`;
      const namespace = to.metadata.namespace ?? 'default';
      const known = names.get(key);
      const before = known === undefined ? undefined : world.view.find('Event', known, namespace);
      if (before !== undefined) {
        world.put(countedAgain(before, world));
        return;
      }
      made += 1;
      const name = `${to.metadata.name}.${(Math.floor(world.nowMs) * 4096 + (made % 4096)).toString(16)}`;
      names.set(key, name);
      world.put({ ...eventOf(occurrence, world), metadata: { name, namespace } });
    },
    prune(world) {
      if (world.view.count('Event') <= maxEvents && !world.hasElapsed('events age', 30_000, 30_000)) return;
      const events = [...world.view.objects('Event')].toSorted((a, b) => lastSeenMs(a) - lastSeenMs(b));
      const surplus = events.length > maxEvents ? events.length - keptEvents : 0;
      const old = events.filter((event, index) => index < surplus || world.nowMs - lastSeenMs(event) > eventTtlMs);
      for (const event of old) world.remove('Event', event);
      if (old.length === 0) return;
      const kept = new Set(Array.from(world.view.objects('Event'), ({ metadata }) => metadata.name));
      for (const [key, name] of names) if (!kept.has(name)) names.delete(key);
    },
  };
}

function countedAgain(event: TypedObject<CoreV1Event>, world: World): KubernetesObject {
  return { ...event, count: (event?.count ?? 1) + 1, lastTimestamp: kubernetesTime(world.nowMs) };
}

function eventOf({ to, type, reason, message, from }: ReportedEvent, world: World): Omit<KubernetesObject, 'metadata'> {
  const { name, namespace, uid = '', resourceVersion = '' } = to.metadata;
  const where = namespace === undefined ? {} : { namespace };
  return {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { kind: to.kind ?? '', ...where, name, uid, apiVersion: to.apiVersion ?? '', resourceVersion },
    reason,
    message,
    source: { component: from },
    firstTimestamp: kubernetesTime(world.nowMs),
    lastTimestamp: kubernetesTime(world.nowMs),
    count: 1,
    type,
    eventTime: null,
    reportingComponent: from,
    reportingInstance: '',
  };
}

function lastSeenMs({ lastTimestamp }: KubernetesObject): number {
  return typeof lastTimestamp === 'string' ? Date.parse(lastTimestamp) : 0;
}
