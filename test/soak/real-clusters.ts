import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { Json } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { type RealCluster, startRealCluster } from '../support/cluster/real-cluster.ts';
import type { SoakCluster } from './soak-cluster.ts';

/** Starts real API servers with these namespaces. No controller runs, so all Jobs are `RUNNING`. SIGSTOP freezes a server. Linux only. */
export async function startReal(names: readonly string[], namespaces: readonly string[]): Promise<readonly SoakCluster[]> {
  return Promise.all(names.map((name) => startOne(name, namespaces)));
}

async function startOne(name: string, namespaces: readonly string[]): Promise<SoakCluster> {
  const real = await startRealCluster();
  const send = senderTo(real);
  for (const namespace of namespaces)
    await send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const { url, caPem, certPem = '', keyPem = '' } = real.endpoint;
  const pid = pidOf(new URL(url).port);
  let isStopped = false;
  return {
    name,
    endpoint: { url, caPem, certPem, keyPem },
    refusesChanges: () => isStopped,
    put: (object) => put(send, object),
    remove: async (kind, namespace, objectName) =>
      void (await send('DELETE', `${pathOf(kind, namespace)}/${objectName}?propagationPolicy=Background`)),
    objects: async () => {
      const lists = await Promise.all(['ConfigMap', 'Job'].map(async (kind) => ({ kind, list: await send('GET', pathOf(kind)) })));
      return lists.flatMap(({ kind, list }) =>
        (list as unknown as { readonly items: readonly KubernetesObject[] }).items.map((item) => ({ ...item, kind })),
      );
    },
    freeze: () => {
      isStopped = process.kill(pid, 'SIGSTOP');
      return {
        [Symbol.dispose]: () => {
          isStopped = !process.kill(pid, 'SIGCONT');
        },
      };
    },
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

type Send = (method: string, path: string, body?: object) => Promise<Json>;

/** Creates or patches the object. Requests to a frozen server wait until it runs again. */
async function put(send: Send, object: KubernetesObject): Promise<void> {
  const { kind = '', metadata } = object;
  const { namespace = '', name } = metadata;
  const labels = kind === 'Job' ? { ...metadata.labels, phase: 'RUNNING' } : metadata.labels;
  const { status: _, ...rest } = object as unknown as Readonly<Record<string, Json>>;
  const annotations = { changed: String(Math.random()) };
  const made = await send('POST', pathOf(kind, namespace), { ...rest, metadata: { ...metadata, labels, annotations } });
  if ((made as { readonly reason?: string }).reason !== 'AlreadyExists') return;
  const data = kind === 'Job' ? {} : { data: rest.data };
  await send('PATCH', `${pathOf(kind, namespace)}/${name}`, { metadata: { labels, annotations }, ...data });
}

function pathOf(kind: string, namespace?: string): string {
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return kind === 'Job' ? `/apis/batch/v1${within}/jobs` : `/api/v1${within}/configmaps`;
}

function senderTo({ endpoint: { url, caPem, certPem, keyPem } }: RealCluster): Send {
  const agent = new Agent({ keepAlive: true, ca: caPem, cert: certPem, key: keyPem });
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const call = request(`${url}${path}`, { agent, method, headers: { 'content-type': type } }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.once('end', () => resolve(JSON.parse(text) as Json));
      });
      call.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
}

/** Finds the process of the kube-apiserver that listens on this port. */
function pidOf(port: string): number {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const found = pids.find((pid) => commandOf(pid).some((word) => word === `--secure-port=${port}`));
  if (found === undefined) throw new Error(`expected a kube-apiserver on port ${port}`);
  return Number(found);
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
