import type { CoreV1Event } from '@kubernetes/client-node';
import type { KubernetesObject, TypedObject } from '../../core/objects.ts';
import { kubernetesTime, type ReportedEvent, type World } from './world.ts';

/** How long an Event is kept after it was last seen, as an API server's `--event-ttl`, which is an hour. */
const eventTtlMs = 15 * 60_000;
/** The most Events of one cluster: past it the oldest go first. */
const maxEvents = 400;
/** How many are left then, so that the next ones cost nothing for a while. */
const keptEvents = 350;

/** Turns what happens into Events. What happens again is counted in the Event it already has. */
export interface EventLog {
  record(happening: ReportedEvent, world: World): void;
  /** Removes Events whose time has come, and the oldest beyond the most that are kept. */
  prune(world: World): void;
}

/** An empty log. It remembers only which Event stands for what, as long as the Event is there. */
export function createEventLog(): EventLog {
  const names = new Map<string, string>();
  let made = 0;
  return {
    record(happening, world) {
      // What went well in a past that is made up was told in Events that are gone by now.
      if (world.isFastForward && happening.type === 'Normal') return;
      const { to, reason, message } = happening;
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
      world.put({ ...eventOf(happening, world), metadata: { name, namespace } });
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
