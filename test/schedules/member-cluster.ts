import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createRawClient, type RawClient } from '../support/clients/raw-client.ts';

/** The parts of an object that the schedules read or write. */
export interface LiveObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string; readonly name: string }[];
    readonly deletionTimestamp?: string;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** One real cluster. The schedules read and disturb it directly, without the gateway. */
export interface MemberCluster extends Disposable {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  get(path: string): Promise<LiveObject | undefined>;
  list(path: string): Promise<readonly LiveObject[]>;
  /** Sends a write and returns the HTTP status. No status throws, because a schedule may lose a race. */
  write(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<number>;
  /** Records Pods of the namespace until the signal aborts: their uids, by the name of their Job. */
  recordPods(namespace: string, signal: AbortSignal): ReadonlyMap<string, ReadonlySet<string>>;
}

interface KubeconfigFile {
  readonly clusters: readonly { readonly name: string; readonly cluster: Record<string, string> }[];
  readonly users: readonly { readonly name: string; readonly user: Record<string, string> }[];
  readonly contexts: readonly { readonly name: string; readonly context: { readonly cluster: string; readonly user: string } }[];
}

/**
 * Reads the kubeconfig's contexts as clusters. Certificates must be inline (`…-data`), as the tools that start test clusters write them.
 */
export function readMembers(file: string): { readonly members: readonly MemberCluster[]; readonly kubeconfig: KubeconfigFile } {
  const kubeconfig = parse(readFileSync(file, 'utf8')) as KubeconfigFile;
  const members = kubeconfig.contexts.map(({ name, context }) => {
    const cluster = kubeconfig.clusters.find((entry) => entry.name === context.cluster)?.cluster ?? {};
    const user = kubeconfig.users.find((entry) => entry.name === context.user)?.user ?? {};
    const inline = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();
    return createMember(name, cluster.server ?? '', {
      caPem: inline(cluster['certificate-authority-data']),
      certPem: inline(user['client-certificate-data']),
      keyPem: inline(user['client-key-data']),
    });
  });
  return { members, kubeconfig };
}

function createMember(name: string, server: string, keys: { caPem: string; certPem: string; keyPem: string }): MemberCluster {
  const client = createRawClient({ url: server, ...keys });
  const { hostname, port } = new URL(server);
  return {
    name,
    host: hostname,
    port: Number(port),
    get: async (path) => {
      const answer = await client.get(path);
      return answer.status === 200 ? (answer.json() as unknown as LiveObject) : undefined;
    },
    list: async (path) => {
      const answer = await client.get(path);
      if (answer.status !== 200) throw new Error(`${name}: GET ${path} answered ${answer.status} ${answer.text.slice(0, 200)}`);
      return (answer.json() as unknown as { readonly items: readonly LiveObject[] }).items;
    },
    write: async (method, path, body) => {
      const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
      return (await client.send(method, path, body === undefined ? {} : { body, headers })).status;
    },
    recordPods: (namespace, signal) => {
      const podsOfJobs = new Map<string, Set<string>>();
      const record = ({ metadata: { labels, uid } }: LiveObject) => {
        const job = labels?.['batch.kubernetes.io/job-name'];
        if (job !== undefined) podsOfJobs.set(job, (podsOfJobs.get(job) ?? new Set()).add(uid));
      };
      void watchPods(client, namespace, record, signal);
      return podsOfJobs;
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

/** Watches all Pods, and starts again after each end. Pods live longer than the gap between two watches, so none is missed. */
async function watchPods(client: RawClient, namespace: string, record: (pod: LiveObject) => void, signal: AbortSignal): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
  while (!signal.aborted) {
    try {
      using watch = await client.watch(path);
      const stop = () => watch[Symbol.dispose]();
      signal.addEventListener('abort', stop, { once: true });
      for (let event = await watch.next(); event !== undefined; event = await watch.next())
        if (event.type !== 'BOOKMARK') record(event.object as unknown as LiveObject);
      signal.removeEventListener('abort', stop);
    } catch {
      // The client ends a watch that is quiet for 15 s. The loop opens it again.
    }
  }
}

/** Returns the REST path of a namespaced kind, or with `name` of one object. */
export function pathOf(kind: string, namespace: string, name?: string): string {
  const groups: Readonly<Record<string, string>> = {
    ConfigMap: '/api/v1',
    Deployment: '/apis/apps/v1',
    Job: '/apis/batch/v1',
    Propagation: '/apis/muster.dev/v1alpha1',
    ClusterShare: '/apis/muster.dev/v1alpha1',
  };
  const group = groups[kind];
  if (group === undefined) throw new Error(`expected a kind of the schedules, got ${kind}`);
  return `${group}/namespaces/${namespace}/${kind.toLowerCase()}s${name === undefined ? '' : `/${name}`}`;
}
