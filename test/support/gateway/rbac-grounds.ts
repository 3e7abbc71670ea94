import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createRawClient } from '../clients/raw-client.ts';
import { realPrograms, realServerTitle, startRealCluster } from '../cluster/real-cluster.ts';
import { startSimCluster } from '../sim/start-sim-cluster.ts';
import type { RunGatewayOptions } from './run-gateway.ts';

/** A cluster that decides by RBAC, for a gateway with authentication. */
export interface RbacGround extends AsyncDisposable {
  /** The name of the context of the cluster, which is also its name. */
  readonly context: string;
  /** The options with which a gateway reaches the cluster. */
  readonly reach: Pick<RunGatewayOptions, 'contexts' | 'flags'>;
  create(...objects: readonly KubernetesObject[]): Promise<void>;
  /** Returns the users that the gateway has impersonated so far, each once. */
  impersonated(): Promise<readonly string[]>;
  /** Returns the resources that the gateway has listed or watched with its own account, each once and sorted. */
  listedByGateway(): Promise<readonly string[]>;
  /** Returns the names of all headers of all requests. Undefined for a real API server, which does not record them. */
  headerNames(): ReadonlySet<string> | undefined;
}

/** The same cluster as an embedded one and as a real API server. */
const rbacGrounds: readonly { readonly title: string; readonly available: boolean; start(): Promise<RbacGround> }[] = [
  { title: 'the embedded fleet', available: true, start: startEmbeddedGround },
  { title: realServerTitle, available: realPrograms !== undefined, start: startRealGround },
];

/** Defines a test that runs on each ground, where it is available. The cluster has these objects from the start. */
export function testOnRbacGrounds(title: string, objects: readonly KubernetesObject[], run: (ground: RbacGround) => Promise<void>): void {
  for (const { title: place, available, start } of rbacGrounds)
    describe.skipIf(!available)(place, () => {
      test(title, { timeout: 120_000 }, async () => {
        await using ground = await start();
        await ground.create(...objects);
        await run(ground);
      });
    });
}

async function startEmbeddedGround(): Promise<RbacGround> {
  const cluster = await startSimCluster({ name: 'north', authorization: 'rbac' });
  return {
    context: 'north',
    reach: { contexts: [{ name: 'north', cluster }] },
    async create(...objects) {
      for (const object of objects) cluster.put(object);
    },
    async impersonated() {
      const users = cluster.requests.flatMap(({ headers }) => headers['impersonate-user'] ?? []);
      return [...new Set(users)];
    },
    async listedByGateway() {
      const own = cluster.requests.filter(({ method, headers }) => method === 'GET' && headers['impersonate-user'] === undefined);
      return [...new Set(own.flatMap(({ resource }) => resource?.resource ?? []))].sort();
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
    context: 'envtest',
    reach: { contexts: [], flags: { kubeconfig: cluster.kubeconfigPath } },
    async create(...objects) {
      for (const object of objects) {
        const { status, text } = await client.send('POST', pathOf(object), { body: object });
        if (status !== 201) throw new Error(text);
      }
    },
    async impersonated() {
      const users = (await auditEventsIn(log)).flatMap(({ impersonatedUser }) => impersonatedUser?.username ?? []);
      return [...new Set(users)];
    },
    async listedByGateway() {
      const own = (await auditEventsIn(log)).filter(
        ({ stage, verb, user, impersonatedUser }) =>
          // The first stage is before the impersonation.
          stage !== 'RequestReceived' &&
          (verb === 'list' || verb === 'watch') &&
          impersonatedUser === undefined &&
          !user.username.startsWith('system:'),
      );
      return [...new Set(own.flatMap(({ objectRef }) => objectRef?.resource ?? []))].sort();
    },
    headerNames: () => undefined,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: { readonly resource: string };
}

async function auditEventsIn(file: string): Promise<readonly AuditEvent[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AuditEvent);
}

function pathOf({ apiVersion = '', kind = '', metadata }: KubernetesObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${root}${within}/${kind.toLowerCase()}s`;
}
