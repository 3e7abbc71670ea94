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

/** A gateway with a hub, as those see it who ask it by GraphQL, and look at its clusters as kubectl does. */
export interface WritingFleet extends AsyncDisposable {
  /** The first is the hub. */
  readonly names: readonly string[];
  /** In every cluster, and of no other test. */
  readonly namespace: string;
  /** The data of an operation. @throws {Error} if it had errors. */
  query<Data>(text: string, variables?: Readonly<Record<string, Json>>): Promise<Data>;
  ask<Data>(text: string, variables?: Readonly<Record<string, Json>>): Promise<GraphAnswer<Data>>;
  /** Asks a cluster, as somebody who is not Muster: kubectl. */
  send(cluster: string, method: string, path: string, request?: RawRequest): Promise<RawAnswer>;
  pass(ms: number): Promise<void>;
  until(isSo: () => Promise<boolean> | boolean, withinMs?: number): Promise<void>;
  /** As kill -9; then another process with the same files, resolved when it answers. */
  restart(): Promise<void>;
  /**
   * As kill -9 once it has done so many writes from now on, those to its Lease aside: of an embedded fleet exactly so many. At the latest when it has written
   * nothing for 10 s: the next run of the same may need fewer. Resolves when it is dead.
   */
  dieAfter(writes: number): Promise<void>;
  /** How many writes it has done so far, those to its Lease aside. */
  written(): number;
  /** From now on the cluster says no to ConfigMaps of the fleet's namespace, in admission. */
  refuse(cluster: string, how: RefusalKind): Promise<Refusal>;
  /** What the gateway logged so far: fields and message of each line. */
  logged(): readonly Readonly<Record<string, unknown>>[];
}

/** Where such fleets run. What is started for several tests ends with it. */
export interface FleetGround extends AsyncDisposable {
  /** A gateway over clusters that hold nothing of other tests. All it wrote is judged when it is disposed of. */
  start(): Promise<WritingFleet>;
}

export interface FleetKind {
  readonly title: string;
  readonly available: boolean;
  /** After which writes it is worth while to crash there: each one where that is cheap. */
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

/** An embedded fleet of these names, whose clusters can also misbehave. */
export interface EmbeddedFleet extends WritingFleet {
  readonly gateway: TestGateway;
  cluster(name: string): SimCluster;
}

let places = 0;

/** A gateway over embedded clusters. All it wrote is judged when it is disposed of. */
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
      // Whoever waits for the Lease of the dead waits 15 s: that is not what these tests are about.
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

/** Who writes nothing for so long has nothing to write. */
const quietMs = 10_000;

interface Death {
  /** How many writes were seen. */
  seen(): number;
  isDead(): boolean;
  /** Now, if not before. */
  cut(): void;
}

/** After that write nothing is heard of the gateway any more, nor does it hear what came of the write. */
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

/** A process of `muster` over real API servers. */
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

/** The hub as it was: nobody collects there what belongs to what is gone. */
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
