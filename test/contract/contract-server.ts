import type { ApiBody, Endpoint, RawClient } from '../support/clients/raw-client.ts';
import { createRawClient } from '../support/clients/raw-client.ts';
import { realPrograms, realServerTitle, startRealCluster } from '../support/cluster/real-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

/** An API server under the contract suite. Its answers are compared only with the expectations in the cases. */
export interface ContractServer extends AsyncDisposable {
  /** A client with the rights of an administrator. */
  readonly client: RawClient;
  readonly endpoint: Endpoint;
  /** Returns the endpoint of a known user without any rights in this namespace. */
  outsider(namespace: string): Promise<Endpoint>;
  /** Forgets the history of Events, which no API server keeps in a cache. */
  forgetEvents(): Promise<void>;
}

export interface ContractServerKind {
  readonly title: string;
  readonly available: boolean;
  start(): Promise<ContractServer>;
}

/** The embedded server, and the real one that it imitates. */
export const contractServers: readonly ContractServerKind[] = [
  { title: 'the embedded fleet', available: true, start: startEmbedded },
  { title: realServerTitle, available: realPrograms !== undefined, start: startReal },
];

async function startEmbedded(): Promise<ContractServer> {
  const cluster = await startSimCluster({ name: 'contract' });
  const endpoint = { url: cluster.url, caPem: cluster.caPem, token: cluster.token };
  const client = createRawClient(endpoint);
  return {
    client,
    endpoint,
    outsider: async (namespace) => {
      cluster.forbid({ namespaces: [namespace] });
      return endpoint;
    },
    forgetEvents: async () => cluster.compact(),
    [Symbol.asyncDispose]: async () => {
      client[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

async function startReal(): Promise<ContractServer> {
  const cluster = await startRealCluster();
  const client = createRawClient(cluster.endpoint);
  return {
    client,
    endpoint: cluster.endpoint,
    outsider: (namespace) => cluster.addUser(`outside-${namespace}`),
    async forgetEvents() {
      // etcd keeps the revision at which it is compacted, and a watch starts one after its version. Two more changes make all earlier
      // versions too old.
      for (let n = 0; n < 2; n++) await client.send('POST', '/api/v1/namespaces', { body: { metadata: { generateName: 'compacted-' } } });
      const events: ApiBody = (await client.get('/api/v1/events?limit=1')).json();
      await cluster.compact(events.metadata.resourceVersion);
    },
    [Symbol.asyncDispose]: async () => {
      client[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}
