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

/** One embedded cluster, mirrored over real sockets. Only the test moves the clock. */
export interface OverSocket extends AsyncDisposable {
  readonly sim: SimCluster;
  readonly clock: ManualClock;
  readonly mirrors: MirrorRegistry;
  readonly reports: readonly WatchReport[];
  /** Removes the cluster. */
  leave(): void;
  /** Holds the mirror of a kind as soon as it is served, without waiting for its list. */
  hold(kind: string): Promise<Held>;
  /** Moves the clock, slowly enough for sockets to follow. */
  pass(ms: number): Promise<void>;
  /**
   * Moves the clock until the condition holds.
   *
   * @throws {Error} if the condition does not hold within that time.
   */
  until(isSo: () => boolean, withinMs?: number): Promise<void>;
}

export interface Held extends Disposable {
  readonly mirror: MirrorReader;
  /** Follows the store since the mirror last settled, or since it was held. */
  readonly follower: Follower;
  /** Waits until the mirror equals the server, then checks that the received events lead to the same content. */
  converges(withinMs?: number): Promise<void>;
  /** Also waits until the kind is watched again. The follower's events count from then on. */
  settles(withinMs?: number): Promise<void>;
  /** Returns the number of lists or watches of the kind that the server received. */
  asked(verb: 'list' | 'watch'): number;
}

/** The virtual and real milliseconds that pass in each step. */
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
    // Most conditions hold without moving the clock.
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
      // A watch that ends within its first second follows another rule.
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

/** Returns the objects of the server in the form of a mirror. */
function truth(sim: SimCluster, kind: string): readonly KubernetesObject[] {
  return sim.objects(kind).map((object) => {
    const { managedFields: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  });
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
