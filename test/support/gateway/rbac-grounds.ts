import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createRawClient } from '../clients/raw-client.ts';
import { realPrograms, realServerTitle, startRealCluster } from '../cluster/real-cluster.ts';
import { startSimCluster } from '../sim/start-sim-cluster.ts';
import type { RunGatewayOptions } from './run-gateway.ts';

/** A cluster that decides by RBAC, for a gateway with authentication. */
export interface RbacGround extends AsyncDisposable {
  /** The options with which a gateway reaches the cluster. */
  readonly reach: Pick<RunGatewayOptions, 'contexts' | 'flags'>;
  create(...objects: readonly KubernetesObject[]): Promise<void>;
  /** Returns the users that the gateway has impersonated so far, each once. */
  impersonated(): Promise<readonly string[]>;
  /** Returns the names of all headers of all requests. Undefined for a real API server, which does not record them. */
  headerNames(): ReadonlySet<string> | undefined;
}

/** The same cluster as an embedded one and as a real API server. */
export const rbacGrounds: readonly { readonly title: string; readonly available: boolean; start(): Promise<RbacGround> }[] = [
  { title: 'the embedded fleet', available: true, start: startEmbeddedGround },
  { title: realServerTitle, available: realPrograms !== undefined, start: startRealGround },
];

async function startEmbeddedGround(): Promise<RbacGround> {
  const cluster = await startSimCluster({ name: 'north', authorization: 'rbac' });
  return {
    reach: { contexts: [{ name: 'north', cluster }] },
    async create(...objects) {
      for (const object of objects) cluster.put(object);
    },
    async impersonated() {
      const users = cluster.requests.flatMap(({ headers }) => headers['impersonate-user'] ?? []);
      return [...new Set(users)];
    },
    headerNames: () => new Set(cluster.requests.flatMap(({ headers }) => Object.keys(headers))),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

const metadataPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };

async function startRealGround(): Promise<RbacGround> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-ground-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const [policy, log] = [path.join(folder, 'policy.json'), path.join(folder, 'audit.log')];
  await writeFile(policy, JSON.stringify(metadataPolicy));
  const cluster = stack.use(await startRealCluster({ apiServerFlags: { 'audit-policy-file': policy, 'audit-log-path': log } }));
  const client = stack.use(createRawClient(cluster.endpoint));
  const rest = stack.move();
  return {
    reach: { contexts: [], flags: { kubeconfig: cluster.kubeconfigPath } },
    async create(...objects) {
      for (const object of objects) {
        const { status, text } = await client.send('POST', pathOf(object), { body: object });
        if (status !== 201) throw new Error(text);
      }
    },
    async impersonated() {
      const events = (await readFile(log, 'utf8')).split('\n').slice(0, -1);
      const users = events.flatMap((line) => {
        const { impersonatedUser } = JSON.parse(line) as { readonly impersonatedUser?: { readonly username: string } };
        return impersonatedUser?.username ?? [];
      });
      return [...new Set(users)];
    },
    headerNames: () => undefined,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

function pathOf({ apiVersion = '', kind = '', metadata }: KubernetesObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${root}${within}/${kind.toLowerCase()}s`;
}
