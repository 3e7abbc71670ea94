import { createObjectClient } from '../../../src/changes/create-object-client.ts';
import type { MemberCluster, Members } from '../../../src/changes/members.ts';
import type { ObjectClient } from '../../../src/changes/object-client.ts';
import type { ClusterApi } from '../../../src/cluster/cluster-api.ts';
import type { Endpoint, Impersonation } from '../../../src/cluster/endpoint.ts';
import { connectCluster } from '../../../src/cluster/requests/connect-cluster.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { withUnreachableTaint } from '../../../src/load/reads/cluster-views.ts';
import { migrationDefinition } from '../../../src/migrate/hub/migration-resource.ts';
import type { Hub } from '../../../src/propagate/hub/hub.ts';
import { hubDefinitions } from '../../../src/propagate/hub/hub-definitions.ts';
import { createMemberObjects } from '../../../src/watch/clusters/member-objects.ts';
import { createMirrors, type MirrorRegistry } from '../../../src/watch/clusters/registry.ts';
import { endpointFor } from '../cluster/transport.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { pass, pumped, until } from '../pumped-clock.ts';
import { seededRandom } from '../seeded-random.ts';
import type { SimCluster, SimClusterOptions } from '../sim/sim-cluster.ts';
import { startSimCluster } from '../sim/start-sim-cluster.ts';

/** The properties of a cluster for placement, besides its name. Default: none. */
type Traits = Partial<Pick<MemberCluster, 'labels' | 'provider' | 'region' | 'zones' | 'taints'>>;

/** Embedded clusters as the write side sees them: over real sockets and real mirrors, with a clock that only the test moves. */
export interface PropagationWorld extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly members: Members;
  readonly log: Log;
  /** The first cluster, which has the definitions of the hub. */
  readonly hub: Hub;
  /** @throws {Error} if there is no cluster with this name. */
  cluster(name: string): SimCluster;
  /** Returns a client of the cluster, with its own account or as another user. Undefined if the cluster is not a member. */
  clientOf(name: string, identity?: Impersonation): ObjectClient | undefined;
  /** Changes the properties of a cluster. Members are not notified of this change alone. */
  setTraits(name: string, traits: Traits): void;
  /** Changes the properties of a cluster, and notifies members, as the gateway does when its config file has changed. */
  redescribe(name: string, traits: Traits): void;
  /** Removes a member. Its cluster continues to run. */
  leave(name: string): void;
  join(name: string): void;
  /** Resolves with the value of the promise. The clock moves until then. */
  pumped<T>(promise: Promise<T>): Promise<T>;
  /** Moves the clock by this time in small steps. Sockets are read between the steps. */
  pass(ms: number): Promise<void>;
  /**
   * Moves the clock until the condition holds.
   *
   * @throws {Error} after `withinMs` of the clock. Default: a minute.
   */
  until(isSo: () => Promise<boolean> | boolean, withinMs?: number): Promise<void>;
}

export interface PropagationWorldOptions {
  readonly traits?: Readonly<Record<string, Traits>>;
  readonly log?: Log;
  /** Options of all clusters. */
  readonly clusters?: Partial<SimClusterOptions>;
  /** True: the hub lacks the definitions. */
  readonly bareHub?: true;
  /** Further names of members, each with the cluster that answers under it. */
  readonly aliases?: Readonly<Record<string, string>>;
  /**
   * Called once, before the members join and send their first request. Misbehaviours that must also meet the kinds that each member reads
   * at once, for example Nodes, begin here.
   */
  readonly beforeJoining?: (cluster: (name: string) => SimCluster) => void;
}

/** Starts one cluster per name, with these objects. The first one is the hub. Resolves when all have answered. */
export async function startPropagationWorld(
  fleet: Readonly<Record<string, readonly KubernetesObject[]>>,
  options: PropagationWorldOptions = {},
): Promise<PropagationWorld> {
  await using stack = new AsyncDisposableStack();
  const clock = createManualClock({ random: seededRandom(1) });
  const log = options.log ?? silentLog;
  const clusters = new Map<string, SimCluster>();
  for (const [name, objects] of Object.entries(fleet)) {
    const cluster = stack.use(await startSimCluster({ ...options.clusters, name, clock }));
    clusters.set(name, cluster);
    for (const object of objects) cluster.put(object);
  }
  const [hubName] = clusters.keys();
  if (hubName === undefined) throw new Error('expected at least one cluster');
  if (options.bareHub === undefined)
    for (const definition of [...hubDefinitions(), migrationDefinition()]) clusters.get(hubName)?.define(definition);
  const traits = new Map<string, Traits>(Object.entries(options.traits ?? {}));
  const { aliases = {} } = options;
  const cluster = (name: string) => {
    const found = clusters.get(aliases[name] ?? name);
    if (found === undefined) throw new Error(`expected a cluster of ${[...clusters.keys()]}, got ${name}`);
    return found;
  };
  const endpointOf = (name: string) => ({ ...endpointFor(cluster(name)), name: clusterName(name) });
  const { mirrors, members, clientOf, join, leave } = stack.use(createTestMembers({ clock, log, endpointOf, traits }));
  options.beforeJoining?.(cluster);
  for (const name of [...clusters.keys(), ...Object.keys(aliases)]) join(name);
  const hub = clusterName(hubName);
  await until(clock, () => mirrors.clusters().every(({ resources }) => resources !== undefined));
  const rest = stack.move();
  return {
    ...{ clock, members, log, cluster, clientOf, join, leave },
    hub: { cluster: hub, members, client: () => clientOf(hub) },
    setTraits: (name, next) => void traits.set(name, next),
    redescribe(name, next) {
      traits.set(name, next);
      mirrors.redescribed(clusterName(name));
    },
    pumped: (promise) => pumped(clock, promise),
    pass: (ms) => pass(clock, ms),
    until: (isSo, withinMs) => until(clock, isSo, withinMs),
    [Symbol.asyncDispose]: () => pumped(clock, rest.disposeAsync()),
  };
}

export interface TestMembersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly endpointOf: (name: string) => Endpoint;
  readonly traits?: ReadonlyMap<string, Traits>;
}

/** Members over real mirrors of any servers. Disposing of it ends the mirrors. */
export interface TestMembers extends AsyncDisposable {
  readonly mirrors: MirrorRegistry;
  readonly members: Members;
  clientOf(name: string, identity?: Impersonation): ObjectClient | undefined;
  join(name: string): void;
  leave(name: string): void;
}

export function createTestMembers({ clock, log, endpointOf, traits = new Map() }: TestMembersOptions): TestMembers {
  const life = new AbortController();
  const mirrors = createMirrors({ clock, log });
  const objects = createMemberObjects({ mirrors, clock, log }, life.signal);
  const joined = new Map<string, { readonly api: ClusterApi; readonly end: AbortController }>();
  const memberOf = (name: ClusterName): MemberCluster | undefined => {
    const state = mirrors.cluster(name);
    if (state === undefined || !joined.has(name)) return undefined;
    const { phase, faults, asOfMs } = state;
    const { taints = [], ...rest } = traits.get(name) ?? {};
    const bare = { name, labels: {}, zones: [], taints: withUnreachableTaint(taints, phase), phase, faults };
    return { ...bare, ...(asOfMs === undefined ? {} : { asOfMs }), ...rest };
  };
  return {
    mirrors,
    members: {
      all: () => [...mirrors.members()].map(memberOf).filter((member) => member !== undefined),
      get: (name) => memberOf(clusterName(name)),
      api: (name) => joined.get(name)?.api,
      objects,
    },
    clientOf(name, identity) {
      const api = joined.get(name)?.api;
      return api === undefined ? undefined : createObjectClient(api, { as: identity });
    },
    join(name) {
      const end = new AbortController();
      const api = connectCluster(endpointOf(name), { clock, log, signal: AbortSignal.any([life.signal, end.signal]) });
      joined.set(name, { api, end });
      mirrors.engage({ name: clusterName(name), api, namespaces: [], secrets: 'live' }, end.signal);
    },
    leave(name) {
      joined.get(name)?.end.abort();
      joined.delete(name);
    },
    async [Symbol.asyncDispose]() {
      await mirrors[Symbol.asyncDispose]();
      life.abort();
    },
  };
}
