import { setTimeout as inRealTime } from 'node:timers/promises';
import { expect } from 'vitest';
import { connectCluster } from '../../src/cluster/requests/connect-cluster.ts';
import { keyOfKind } from '../../src/core/kinds.ts';
import { silentLog } from '../../src/core/log.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { createMirrors, type MirrorRegistry } from '../../src/watch/clusters/registry.ts';
import type { MirrorLease, MirrorReader } from '../../src/watch/mirrors.ts';
import type { WatchReport } from '../../src/watch/reflector/reflector-state.ts';
import { endpointFor } from '../support/cluster/transport.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { SimCluster, SimClusterOptions } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';
import { contentOf, type Follower, followStore } from './watching.ts';

/** One embedded cluster, mirrored over real sockets, by one clock that only the test moves. */
export interface OverSocket extends AsyncDisposable {
  readonly sim: SimCluster;
  readonly clock: ManualClock;
  readonly mirrors: MirrorRegistry;
  readonly reports: readonly WatchReport[];
  /** Ends the cluster's life. */
  leave(): void;
  /** Holds the mirror of a kind as soon as it is served, without waiting for its list. */
  hold(kind: string): Promise<Held>;
  /** Moves time on, slowly enough for sockets to follow. */
  pass(ms: number): Promise<void>;
  /** Moves time on until it is so. @throws {Error} if it has not become so in that time. */
  until(isSo: () => boolean, withinMs?: number): Promise<void>;
}

export interface Held extends Disposable {
  readonly mirror: MirrorReader;
  /** Follows since the mirror was last settled, or held. */
  readonly follower: Follower;
  /** Waits until the mirror equals the server, then checks that what was told adds up to it. */
  converges(withinMs?: number): Promise<void>;
  /** Waits until it is watched again, too. From here on the follower's events count. */
  settles(withinMs?: number): Promise<void>;
  /** Requests for the kind that the server saw, by verb: lists, and watches. */
  asked(verb: 'list' | 'watch'): number;
}

/** So much of our time passes per step, and so much of the machine's. */
const step = { virtualMs: 200, realMs: 3 } as const;

export async function startOverSocket(
  options: Partial<SimClusterOptions> = {},
  before: (sim: SimCluster) => void = () => undefined,
): Promise<OverSocket> {
  const clock = createManualClock({ random: seededRandom(1) });
  const sim = await startSimCluster({ name: 'north', clock, ...options });
  before(sim);
  const life = new AbortController();
  const reports: WatchReport[] = [];
  const mirrors = createMirrors({ clock, log: silentLog, onReport: (_cluster, report) => reports.push(report) });
  const endpoint = endpointFor(sim);
  const api = connectCluster(endpoint, { clock, log: silentLog, signal: life.signal });
  mirrors.engage({ name: endpoint.name, api, namespaces: [], secrets: 'live' }, life.signal);

  const tick = async (ms: number) => {
    await clock.advance(ms);
    await inRealTime(step.realMs);
  };
  const until = async (isSo: () => boolean, withinMs = 60_000) => {
    // Most of it needs no time at all.
    for (let turn = 0; turn < 30 && !isSo(); turn++) await inRealTime(1);
    for (const endMs = clock.monotonic() + withinMs; !isSo(); await tick(step.virtualMs)) {
      if (clock.monotonic() > endMs) throw new Error(`expected it to become so within ${withinMs} ms: ${isSo}`);
    }
  };
  return {
    sim,
    clock,
    mirrors,
    reports,
    until,
    leave: () => life.abort(),
    async pass(ms) {
      for (let left = ms; left > 0; left -= step.virtualMs) await tick(Math.min(left, step.virtualMs));
    },
    async hold(kind) {
      const served = () => mirrors.cluster(endpoint.name)?.resources?.find((resource) => keyOfKind(resource) === kind);
      await until(() => served() !== undefined);
      const resource = served();
      const lease = resource === undefined ? undefined : mirrors.acquire(endpoint.name, resource);
      if (lease === undefined) throw new Error(`${kind} is not served`);
      return heldOf(lease, { sim, clock, kind, until });
    },
    async [Symbol.asyncDispose]() {
      life.abort();
      await mirrors[Symbol.asyncDispose]();
      await sim.stop();
    },
  };
}

function heldOf(
  lease: MirrorLease,
  { sim, clock, kind, until }: Pick<OverSocket, 'sim' | 'clock' | 'until'> & { readonly kind: string },
): Held {
  const { mirror } = lease;
  let following = new AbortController();
  let follower = followStore(mirror.store, following.signal);
  const isEqual = () => same(contentOf(mirror.store.objects()), contentOf(truth(sim, kind))) && mirror.sync().phase === 'SYNCED';
  const converges = async (withinMs?: number) => {
    await until(isEqual, withinMs);
    await inRealTime(1);
    expect(contentOf(mirror.store.objects())).toEqual(contentOf(truth(sim, kind)));
    expect(follower.content()).toEqual(contentOf(mirror.store.objects()));
    const deleted = follower.events.flatMap((event) => (event.type === 'deleted' ? [event.object.metadata.uid] : []));
    expect(new Set(deleted).size).toBe(deleted.length);
  };
  const isWatched = () =>
    sim.openWatches().some(({ resource, request }) => resource === mirror.resource.resource && request.status === 200);
  return {
    mirror,
    get follower() {
      return follower;
    },
    converges,
    async settles(withinMs) {
      await until(isWatched, withinMs);
      // A watch that ends within its first second is another matter.
      const openedMs = clock.monotonic();
      await until(() => clock.monotonic() - openedMs > 1_000);
      await converges(withinMs);
      following.abort();
      following = new AbortController();
      follower = followStore(mirror.store, following.signal);
    },
    asked: (verb) =>
      sim.requests.filter(({ resource }) => resource?.verb === verb && resource.resource === mirror.resource.resource).length,
    [Symbol.dispose]: () => lease[Symbol.dispose](),
  };
}

/** What the server has, as a mirror holds it. */
function truth(sim: SimCluster, kind: string): readonly KubernetesObject[] {
  return sim.objects(kind).map((object) => {
    const { managedFields: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  });
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
