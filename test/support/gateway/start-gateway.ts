import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Flags } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { Json } from '../../../src/core/json.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createGateway, type Gateway } from '../../../src/gateway.ts';
import { migrationDefinition } from '../../../src/migrate/hub/migration-resource.ts';
import { hubDefinitions } from '../../../src/propagate/hub/hub-definitions.ts';
import { startControllers } from '../../../src/sim/start-controllers.ts';
import { kubeconfigOf } from '../../../src/sim/start-demo-fleet.ts';
import { type LiveStream, openStream, type Transport, type Variables } from '../clients/live-socket.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { pass, pumped, until } from '../pumped-clock.ts';
import { seededRandom } from '../seeded-random.ts';
import type { SimCluster, SimClusterOptions } from '../sim/sim-cluster.ts';
import { startSimCluster } from '../sim/start-sim-cluster.ts';

/** The fields of a list that tests read. */
export interface Listed {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string } }[];
  readonly totalCount: number;
  readonly sync: readonly { readonly phase: string; readonly asOf: string | null; readonly cluster: { readonly name: string } }[];
  readonly faults: readonly { readonly code: string; readonly message: string; readonly cluster: { readonly name: string } }[];
}

export interface GraphAnswer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
  readonly extensions?: Readonly<Record<string, Json>>;
}

/** The whole gateway in process, over embedded clusters, with a clock that only the test moves. */
export interface TestGateway extends AsyncDisposable {
  /** The URL of GraphQL, over real HTTP. It changes with `restart`. */
  readonly url: string;
  readonly clock: ManualClock;
  /**
   * Returns a cluster, to change its objects or to make it fail.
   *
   * @throws {Error} if there is no cluster with this name.
   */
  cluster(name: string): SimCluster;
  /**
   * Returns the data of an operation.
   *
   * @throws {Error} if the operation has errors.
   */
  query<Data>(text: string, variables?: Readonly<Record<string, Json>>): Promise<Data>;
  ask<Data>(text: string, variables?: Readonly<Record<string, Json>>): Promise<GraphAnswer<Data>>;
  /** Opens one stream over its own connection. Resolves when the stream is open; its first messages may arrive later. */
  subscribe(query: string, variables?: Variables, transport?: Transport): Promise<LiveStream>;
  /** Moves the clock by this time in small steps. Sockets are read between the steps. */
  pass(ms: number): Promise<void>;
  /**
   * Moves the clock until the condition holds.
   *
   * @throws {Error} after `withinMs` of the clock. Default: a minute.
   */
  until(isSo: () => Promise<boolean> | boolean, withinMs?: number): Promise<void>;
  /** Rewrites the kubeconfig with these clusters only. Missing clusters leave the fleet, new ones join. */
  setMembers(names: readonly string[]): Promise<void>;
  /** Simulates `kill -9`: from now on the gateway sends no requests, not even to release its Lease. `restart` starts another. */
  kill(): Promise<void>;
  /** Ends the gateway at once and starts another one with the same files, state and clusters. Resolves when it is ready. */
  restart(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly flags?: Flags;
  /** The cluster that keeps Propagations. It has the definitions, and the gateway uses it as hub. */
  readonly hub?: string;
  /** True: each cluster has a Node and controllers, so Deployments roll out and Jobs run. */
  readonly living?: true;
  /** The content of the config file, besides its apiVersion. JSON is valid YAML. */
  readonly configFile?: Readonly<Record<string, Json>>;
  /** Options of clusters, by name. */
  readonly clusters?: Readonly<Record<string, Partial<SimClusterOptions>>>;
  /** Prepares the clusters before the gateway starts. */
  readonly before?: (cluster: (name: string) => SimCluster) => void;
  /** Variables of the environment, besides those of every test. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly log?: Log;
  /** The moment at which `startGateway` resolves. `listening`: as soon as the gateway listens. Default: `ready`. */
  readonly waitFor?: 'ready' | 'listening';
}

/**
 * Starts a gateway over one embedded cluster per name, with these objects. Definitions among them are created first. Resolves when it is
 * ready.
 */
export async function startGateway(
  fleet: Readonly<Record<string, readonly KubernetesObject[]>>,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  await using stack = new AsyncDisposableStack();
  const clock = createManualClock({ random: seededRandom(1) });
  const clusters = new Map<string, SimCluster>();
  for (const [name, objects] of Object.entries(fleet)) {
    const cluster = stack.use(await startSimCluster({ ...options.clusters?.[name], name, clock }));
    clusters.set(name, cluster);
    if (name === options.hub) fill(cluster, [...hubDefinitions(), migrationDefinition()]);
    fill(cluster, objects);
  }
  const cluster = (name: string) => {
    const found = clusters.get(name);
    if (found === undefined) throw new Error(`expected a cluster of ${[...clusters.keys()]}, got ${name}`);
    return found;
  };
  if (options.living === true) {
    const life = new AbortController();
    stack.defer(() => life.abort());
    for (const one of clusters.values()) void startControllers(one, { clock, objects: [nodeOf(one.name)] }, life.signal);
  }
  options.before?.(cluster);
  const directory = await mkdtemp(path.join(tmpdir(), 'muster-test-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const config = await configIn(directory, [...clusters.values()], options);
  const start = async () => {
    const started = await pumped(clock, createGateway({ config, clock, log: options.log ?? silentLog }));
    if (options.waitFor !== 'listening') await pumped(clock, started.whenStarted(new AbortController().signal));
    return started;
  };
  const running = { gateway: await start() };
  stack.defer(() => running.gateway[Symbol.asyncDispose]());
  return {
    ...testGatewayOf({ running, clock, cluster, stack: stack.move() }),
    get url() {
      return running.gateway.url;
    },
    // Replaced by a rename, because a half-written kubeconfig is invalid.
    async setMembers(names) {
      const kubeconfig = kubeconfigIn(directory);
      await writeFile(`${kubeconfig}.new`, kubeconfigOf(names.map(cluster)));
      await rename(`${kubeconfig}.new`, kubeconfig);
    },
    async kill() {
      using network = new DisposableStack();
      for (const one of clusters.values()) {
        network.use(one.refuse());
        one.disconnect();
      }
      await pumped(clock, Promise.resolve(running.gateway[Symbol.asyncDispose]()));
    },
    async restart() {
      await pumped(clock, Promise.resolve(running.gateway[Symbol.asyncDispose]()));
      running.gateway = await start();
    },
  };
}

function fill(cluster: SimCluster, objects: readonly KubernetesObject[]): void {
  const isDefinition = ({ kind }: KubernetesObject) => kind === 'CustomResourceDefinition';
  for (const object of objects.filter(isDefinition)) cluster.define(object);
  for (const object of objects.filter((one) => !isDefinition(one))) cluster.put(object);
}

/** Makes a node with room for all pods of a test. */
function nodeOf(cluster: string): KubernetesObject {
  const status = { allocatable: { cpu: '64', memory: '256Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${cluster}` }, status };
}

const kubeconfigIn = (directory: string) => path.join(directory, 'kubeconfig');

async function configIn(directory: string, clusters: readonly SimCluster[], { flags, hub, configFile, environment }: TestGatewayOptions) {
  const kubeconfig = kubeconfigIn(directory);
  await writeFile(kubeconfig, kubeconfigOf(clusters));
  const file = path.join(directory, 'config.yaml');
  if (configFile !== undefined) await writeFile(file, JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', ...configFile }));
  return loadConfig({
    flags: {
      kubeconfig,
      port: '0',
      ...(configFile === undefined ? {} : { config: file }),
      ...(hub === undefined ? {} : { hub }),
      ...flags,
    },
    environment: { HOME: directory, XDG_STATE_HOME: directory, PATH: process.env.PATH, ...environment },
    directory,
  });
}

interface Parts {
  /** The current gateway. */
  readonly running: { readonly gateway: Gateway };
  readonly clock: ManualClock;
  readonly cluster: (name: string) => SimCluster;
  readonly stack: AsyncDisposableStack;
}

function testGatewayOf({ running, clock, cluster, stack }: Parts): Omit<TestGateway, 'url' | 'setMembers' | 'kill' | 'restart'> {
  const ask = async <Data>(query: string, variables: Readonly<Record<string, Json>> = {}): Promise<GraphAnswer<Data>> => {
    const asked = fetch(running.gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const answer = await pumped(clock, asked);
    return (await answer.json()) as GraphAnswer<Data>;
  };
  return {
    clock,
    cluster,
    ask,
    async query<Data>(text: string, variables?: Readonly<Record<string, Json>>) {
      const { data, errors } = await ask<Data>(text, variables);
      if (errors !== undefined || data === undefined || data === null) throw new Error(`expected data, got ${JSON.stringify(errors)}`);
      return data;
    },
    subscribe: (query, variables = {}, transport = 'websocket') =>
      pumped(clock, openStream(transport, running.gateway.url, { query, variables })),
    pass: (ms) => pass(clock, ms),
    until: (isSo, withinMs) => until(clock, isSo, withinMs),
    async [Symbol.asyncDispose]() {
      await pumped(clock, stack.disposeAsync());
    },
  };
}
