import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as inRealTime } from 'node:timers/promises';
import type { Json } from '../../../src/core/json.ts';
import type { Log } from '../../../src/core/log.ts';
import { hubDefinitions } from '../../../src/propagate/hub/hub-definitions.ts';
import { type ApiBody, createRawClient, type RawAnswer, type RawClient, type RawRequest } from '../clients/raw-client.ts';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../cluster/real-cluster.ts';
import { type GraphAnswer, startGateway, type TestGateway, type TestGatewayOptions } from '../gateway/start-gateway.ts';
import { pumped } from '../pumped-clock.ts';
import { type RunningProcess, runMuster } from '../run-process.ts';
import type { SimCluster } from '../sim/sim-cluster.ts';
import { auditedWrites, auditPolicy } from './audited-writes.ts';
import { type Refusal, type RefusalKind, refuseOnServer } from './refusals.ts';
import { expectLawful, type SeenWrite } from './write-history.ts';

/** A gateway with a hub. Tests send it GraphQL, and read its clusters as kubectl does. */
export interface WritingFleet extends AsyncDisposable {
  /** The names of the clusters. The first one is the hub. */
  readonly names: readonly string[];
  /** A namespace that exists in every cluster and belongs to this test only. */
  readonly namespace: string;
  /**
   * Returns the data of an operation.
   *
   * @throws {Error} if the operation has errors.
   */
  query<Data>(text: string, variables?: Readonly<Record<string, Json>>): Promise<Data>;
  ask<Data>(text: string, variables?: Readonly<Record<string, Json>>): Promise<GraphAnswer<Data>>;
  /** Sends a request to a cluster as another client, such as kubectl. */
  send(cluster: string, method: string, path: string, request?: RawRequest): Promise<RawAnswer>;
  pass(ms: number): Promise<void>;
  until(isSo: () => Promise<boolean> | boolean, withinMs?: number): Promise<void>;
  /** Kills the process and starts another one with the same files. Resolves when it answers. */
  restart(): Promise<void>;
  /**
   * Kills the process after this many further writes, not counting its Lease. In an embedded fleet the count is exact. It dies at the
   * latest after 10 s without a write, because a repeated run may need fewer writes. Resolves when it is dead.
   */
  dieAfter(writes: number): Promise<void>;
  /** Returns the number of writes so far, not counting its Lease. */
  written(): number;
  /** Makes admission in the cluster refuse ConfigMaps of the fleet's namespace. */
  refuse(cluster: string, how: RefusalKind): Promise<Refusal>;
  /** Returns the log so far: the fields and message of each line. */
  logged(): readonly Readonly<Record<string, unknown>>[];
}

/** The environment of such fleets. Servers that several tests share end with it. */
export interface FleetGround extends AsyncDisposable {
  /** Starts a gateway over clusters without objects of other tests. When the fleet is disposed of, all its writes are checked. */
  start(): Promise<WritingFleet>;
}

export interface FleetKind {
  readonly title: string;
  readonly available: boolean;
  /** The writes after which a crash is tested. `each`: after every write, where that is cheap. */
  readonly crashes: 'each' | readonly number[];
  open(): Promise<FleetGround>;
}

const fleetNames = ['north', 'south', 'east'] as const;

/** The embedded fleet, and real API servers. */
export const fleetKinds: readonly FleetKind[] = [
  {
    title: 'the embedded fleet',
    available: true,
    crashes: 'each',
    open: async () => ({ start: () => startEmbedded(), [Symbol.asyncDispose]: async () => undefined }),
  },
  { title: realServerTitle, available: realPrograms !== undefined, crashes: [1, 5, 9], open: openReal },
];

/** An embedded fleet with these names, whose clusters can also misbehave. */
export interface EmbeddedFleet extends WritingFleet {
  readonly gateway: TestGateway;
  cluster(name: string): SimCluster;
}

let places = 0;

/** Starts a gateway over embedded clusters. When it is disposed of, all its writes are checked. */
export async function startEmbedded({
  names = fleetNames,
  ...options
}: Omit<TestGatewayOptions, 'hub'> & { readonly names?: readonly string[] } = {}): Promise<EmbeddedFleet> {
  const [hub = ''] = names;
  const namespace = `place-${++places}`;
  const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  const logged: Record<string, unknown>[] = [];
  const line: Log['info'] = (fields, message) => void logged.push({ ...fields, message });
  const log: Log = { debug: line, info: line, warn: line, error: line };
  const gateway = await startGateway(Object.fromEntries(names.map((name) => [name, [made]])), { log, ...options, hub });
  const clients = new Map(names.map((name) => [name, createRawClient(gateway.cluster(name))]));
  const clusters = names.map(gateway.cluster);
  const grave = { network: new DisposableStack() };
  return {
    ...{ gateway, names, namespace },
    cluster: gateway.cluster,
    query: gateway.query,
    ask: gateway.ask,
    pass: gateway.pass,
    until: gateway.until,
    send: (cluster, method, at, request) => pumped(gateway.clock, sendAsKubectl(clients.get(cluster), { method, at, request })),
    refuse: async (cluster, how) => {
      const types = { quota: 'quota', policy: 'denied', webhook: 'webhookTimeout' } as const;
      const refusal = gateway.cluster(cluster).refuseWrites({ type: types[how] }, { kind: 'ConfigMap' });
      const end = async () => refusal[Symbol.dispose]();
      return { end, [Symbol.asyncDispose]: end };
    },
    written: () => clusters.reduce((sum, cluster) => sum + cluster.writes().filter(isCounted).length, 0),
    async dieAfter(writes) {
      const death = cutAfter(clusters, writes, grave.network);
      let [seen, sinceMs] = [death.seen(), gateway.clock.monotonic()];
      await gateway.until(() => {
        if (death.seen() !== seen) [seen, sinceMs] = [death.seen(), gateway.clock.monotonic()];
        return death.isDead() || gateway.clock.monotonic() - sinceMs > quietMs;
      }, 10 * quietMs);
      death.cut();
    },
    async restart() {
      await gateway.kill();
      grave.network.dispose();
      grave.network = new DisposableStack();
      // A new process would wait 15 s for the Lease of the dead one. These tests do not test that.
      gateway.cluster(hub).remove('Lease.coordination.k8s.io', 'muster-controller', 'muster-system');
      await gateway.restart();
    },
    logged: () => logged,
    async [Symbol.asyncDispose]() {
      try {
        expectLawful({ hub, clusters: Object.fromEntries(names.map((name) => [name, gateway.cluster(name)])) });
      } finally {
        for (const client of clients.values()) client[Symbol.dispose]();
        await gateway[Symbol.asyncDispose]();
      }
    },
  };
}

function isCounted({ manager, kind, isDry }: SeenWrite): boolean {
  return manager === 'muster' && kind !== 'Lease' && !isDry;
}

/** Milliseconds without a write after which a fleet has no more writes to do. */
const quietMs = 10_000;

interface Death {
  /** Number of recorded writes. */
  seen(): number;
  isDead(): boolean;
  /** Cuts the network now, unless it is cut already. */
  cut(): void;
}

/** Cuts the network after this write. The gateway then sends nothing more and does not receive the answer to the write. */
function cutAfter(clusters: readonly SimCluster[], most: number, network: DisposableStack): Death {
  let seen = 0;
  let isDead = false;
  const cut = () => {
    if (isDead) return;
    isDead = true;
    for (const one of clusters) {
      network.use(one.refuse());
      one.disconnect();
    }
  };
  for (const cluster of clusters)
    network.use(
      cluster.onWrite((write) => {
        if (isDead) return 'lost';
        if (!isCounted(write)) return undefined;
        seen += 1;
        if (seen < most) return undefined;
        cut();
        return 'lost';
      }),
    );
  return { seen: () => seen, isDead: () => isDead, cut };
}

interface KubectlRequest {
  readonly method: string;
  readonly at: string;
  readonly request: RawRequest | undefined;
}

function sendAsKubectl(client: RawClient | undefined, { method, at, request = {} }: KubectlRequest): Promise<RawAnswer> {
  if (client === undefined) throw new Error(`expected a cluster to send ${method} ${at} to`);
  return client.send(method, at, { ...request, headers: { 'user-agent': 'kubectl', ...request.headers } });
}

interface RealServer {
  readonly name: string;
  readonly cluster: RealCluster;
  readonly client: RawClient;
  readonly audit: string;
}

async function openReal(): Promise<FleetGround> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-promises-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const policy = path.join(folder, 'audit.json');
  await writeFile(policy, JSON.stringify(auditPolicy));
  const [hub] = fleetNames;
  const definitions = await hubDefinitions();
  const servers = await Promise.all(
    fleetNames.map(async (name): Promise<RealServer> => {
      const audit = path.join(folder, `${name}.log`);
      const apiServerFlags = { 'audit-policy-file': policy, 'audit-log-path': audit };
      const cluster = await startRealCluster({ apiServerFlags, ...(name === hub ? { crds: [...definitions] as never } : {}) });
      return { name, cluster, client: createRawClient(cluster.endpoint), audit };
    }),
  );
  for (const { cluster, client } of servers) {
    stack.use(cluster);
    stack.use(client);
  }
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(servers)));
  const rest = stack.move();
  return { start: () => startOverReal({ servers, folder, kubeconfig }), [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

function kubeconfigFor(servers: readonly RealServer[]): Json {
  const encoded = (text: string | undefined) => Buffer.from(text ?? '').toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: servers.map(({ name, cluster: { endpoint } }) => ({
      name,
      cluster: { server: endpoint.url, 'certificate-authority-data': encoded(endpoint.caPem) },
    })),
    users: servers.map(({ name, cluster: { endpoint } }) => ({
      name,
      user: { 'client-certificate-data': encoded(endpoint.certPem), 'client-key-data': encoded(endpoint.keyPem) },
    })),
    contexts: servers.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  };
}

interface RealGround {
  readonly servers: readonly RealServer[];
  readonly folder: string;
  readonly kubeconfig: string;
}

/** Starts a process of `muster` over real API servers. */
async function startOverReal({ servers, folder, kubeconfig }: RealGround): Promise<WritingFleet> {
  const namespace = `place-${++places}`;
  const [hub] = fleetNames;
  const earlier = new Map(servers.map(({ name, audit }) => [name, auditedWrites(audit).length]));
  const named = (name: string) => servers.find((server) => server.name === name);
  const send: WritingFleet['send'] = (cluster, method, at, request) => sendAsKubectl(named(cluster)?.client, { method, at, request });
  for (const { name } of servers) await send(name, 'POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  const start = async () => {
    const state = { HOME: folder, XDG_STATE_HOME: path.join(folder, 'state') };
    const gateway = runMuster(['--kubeconfig', kubeconfig, '--hub', hub, '--port', '0', '--log-level', 'info'], state);
    const [, url = ''] = await gateway.says(/^ready (http\S+)$/m);
    return { gateway, url };
  };
  let now = await start();
  const died: RunningProcess[] = [];
  const ask = async <Data>(query: string, variables: Readonly<Record<string, Json>> = {}): Promise<GraphAnswer<Data>> => {
    const body = JSON.stringify({ query, variables });
    const answer = await fetch(now.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await answer.json()) as GraphAnswer<Data>;
  };
  const written = () =>
    servers.reduce((sum, { name, audit }) => sum + auditedWrites(audit).slice(earlier.get(name)).filter(isCounted).length, 0);
  const kill = async () => {
    if (!died.includes(now.gateway)) {
      now.gateway.kill('SIGKILL');
      await now.gateway.ended;
      died.push(now.gateway);
    }
    await send(hub, 'DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/muster-controller');
    await send(hub, 'DELETE', '/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-controller');
  };
  return {
    ...{ names: fleetNames, namespace, ask, send },
    async query<Data>(text: string, variables?: Readonly<Record<string, Json>>) {
      const { data, errors } = await ask<Data>(text, variables);
      if (errors !== undefined || data === undefined || data === null) throw new Error(`expected data, got ${JSON.stringify(errors)}`);
      return data;
    },
    pass: (ms) => inRealTime(ms),
    async until(isSo, withinMs = 30_000) {
      for (const endMs = performance.now() + withinMs; !(await isSo()); await inRealTime(50))
        if (performance.now() > endMs) throw new Error(`expected it to become so within ${withinMs} ms: ${isSo}`);
    },
    refuse: (cluster, how) => refuseOnServer({ send: (...asked) => send(cluster, ...asked), namespace, how }),
    written,
    async dieAfter(writes) {
      const before = written();
      let [seen, sinceMs] = [before, performance.now()];
      while (seen < before + writes && performance.now() - sinceMs < quietMs) {
        await inRealTime(1);
        const now = written();
        if (now !== seen) [seen, sinceMs] = [now, performance.now()];
      }
      await kill();
    },
    async restart() {
      await kill();
      now = await start();
    },
    logged: () => [...new Set([...died, now.gateway])].flatMap((one) => linesIn(one.err())),
    async [Symbol.asyncDispose]() {
      await kill();
      const writes = new Map(servers.map(({ name, audit }) => [name, auditedWrites(audit).slice(earlier.get(name))]));
      await forget(send);
      expectLawful({ hub, clusters: Object.fromEntries(fleetNames.map((name) => [name, { writes: () => writes.get(name) ?? [] }])) });
    },
  };
}

function linesIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => {
    const { msg: message, ...fields } = JSON.parse(line) as Record<string, unknown>;
    return { ...fields, message };
  });
}

/**
 * Deletes all Propagations and shares of the hub, despite finalizers. A bare API server has no garbage collector that deletes the shares.
 */
async function forget(send: WritingFleet['send']): Promise<void> {
  const [hub] = fleetNames;
  const group = '/apis/muster.dev/v1alpha1';
  const headers = { 'content-type': 'application/merge-patch+json' };
  const list = async (resource: string): Promise<readonly ApiBody[]> => (await send(hub, 'GET', `${group}/${resource}`)).json().items;
  for (const resource of ['propagations', 'clustershares'])
    for (const { metadata } of await list(resource)) {
      const at = `${group}/namespaces/${metadata.namespace}/${resource}/${metadata.name}`;
      await send(hub, 'DELETE', at);
      await send(hub, 'PATCH', at, { body: { metadata: { finalizers: null } }, headers });
    }
}
