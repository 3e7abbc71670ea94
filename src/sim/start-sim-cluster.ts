import { randomUUID } from 'node:crypto';
import { systemClock } from '../core/clock.ts';
import { administer } from './administer.ts';
import type { SimServer } from './answer-context.ts';
import { Behaviour } from './behaviour.ts';
import { builtInKinds } from './built-in-kinds.ts';
import { createCertificate } from './certificate.ts';
import { ClusterState } from './cluster-state.ts';
import { ContainerLogs } from './container-logs.ts';
import { Door, type Handler } from './door.ts';
import { misbehave } from './misbehave.ts';
import { createRequestHandler } from './request-handler.ts';
import { RequestLog } from './request-log.ts';
import type { SimCluster, SimClusterOptions } from './sim-cluster.ts';
import { upset } from './upset.ts';
import { WriteLog } from './write-log.ts';

const firstNamespaces = ['kube-system', 'default', 'kube-node-lease', 'kube-public'];

/**
 * Starts one cluster: it listens on loopback when this resolves, and holds the namespaces that every cluster has.
 *
 * @throws {Error} if no port can be had.
 */
export async function startSimCluster(options: SimClusterOptions): Promise<SimCluster> {
  const { name, version = '1.36.3', clock = systemClock, protocols = 'both', maxConcurrentStreams = 100 } = options;
  const { historyLength = 1_000, bookmarkSeconds = 60, talkative = false } = options;
  const state = new ClusterState({ clock, historyLength, kinds: builtInKinds(minorOf(version)) });
  const log = new RequestLog(clock);
  const certificate = await createCertificate();
  const server: SimServer = {
    ...{ state, behaviour: new Behaviour(), watches: new Set(), bookmarkSeconds },
    ...{ logs: new ContainerLogs(clock), talkative, writes: new WriteLog() },
    ...{ gitVersion: gitVersionOf(version), token: options.token ?? randomUUID(), tokensExpiredAt: -1 },
    get host() {
      return door.host;
    },
  };
  const handler = createRequestHandler(server, log);
  let answering: { readonly handler: Handler } = { handler };
  const door = await Door.open({
    certificate,
    protocols,
    maxConcurrentStreams,
    handler: (request, response) => answering.handler(request, response),
  });
  state.onChange((change) => {
    for (const stream of [...server.watches]) stream.tell(change);
  });
  state.onWrite(({ type, storage, object }) => {
    if (type === 'DELETED' && storage.kind.resource === 'pods' && storage.kind.group === '') server.logs.forget(object.uid);
  });
  const admin = administer(server);
  for (const namespace of firstNamespaces) admin.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const stop = () => door[Symbol.asyncDispose]();
  const reversion = (next: string) => {
    server.gitVersion = gitVersionOf(next);
    const kinds = builtInKinds(minorOf(next));
    for (const kind of kinds) state.serve(kind);
    for (const storage of state.storages()) {
      const isKnown =
        storage.kind.source !== 'builtIn' || kinds.some(({ kind, group }) => kind === storage.kind.kind && group === storage.kind.group);
      if (!isKnown) state.withdraw(storage);
    }
  };
  return {
    name,
    url: `https://${door.host}`,
    caPem: certificate.ca,
    get token() {
      return server.token;
    },
    get gitVersion() {
      return server.gitVersion;
    },
    get requests() {
      return log.all;
    },
    openWatches: () => [...server.watches].map(({ asked, request }) => ({ ...asked.resource, request })),
    connections: () => door.connections,
    writes: () => server.writes.all,
    onWrite: (hook) => server.writes.onWrite(hook),
    ...admin,
    ...misbehave(server, door),
    ...upset(server, door, reversion),
    handler,
    exchange(other) {
      answering = other;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function gitVersionOf(version: string): string {
  return version.startsWith('v') ? version : `v${version}`;
}

function minorOf(version: string): number {
  return Number(/^v?1\.(\d+)/.exec(version)?.[1] ?? '36');
}
