// Complete clusters with controllers and nodes, as a user reaches them: by kubectl, and through a gateway that is started as a user starts it.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { realPrograms } from '../../support/cluster/real-cluster.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { createTextClient } from './text-client.ts';

const run = promisify(execFile);

/** A Deployment of one replica that every node has room for. */
export interface BenchDeployment extends JsonObject {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** The first three contexts of a kubeconfig, with a namespace of this process in each. The first context is the hub. */
export interface RealClusters extends AsyncDisposable {
  readonly contexts: readonly string[];
  readonly hub: string;
  readonly namespace: string;
  /** A folder for files of this process. */
  readonly folder: string;
  kubectl(context: string, args: readonly string[]): Promise<void>;
  /** Applies all objects with one file. */
  applyFile(context: string, objects: readonly JsonObject[]): Promise<void>;
  /** Waits until all Deployments are available. */
  waitFor(context: string, deployments: readonly BenchDeployment[]): Promise<void>;
}

/** Installs the definitions of the hub, and creates the namespaces. */
export async function prepareRealClusters(kubeconfig: string): Promise<RealClusters> {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
  const contexts = (parse(readFileSync(kubeconfig, 'utf8')) as { contexts: readonly { name: string }[] }).contexts
    .map(({ name }) => name)
    .slice(0, 3);
  const [hub = ''] = contexts;
  const namespace = `bench-${process.pid}`;
  const kubectl: RealClusters['kubectl'] = async (context, args) => {
    await run(path.join(realPrograms ?? '', 'kubectl'), ['--kubeconfig', kubeconfig, '--context', context, ...args]);
  };
  await kubectl(hub, ['apply', '-f', fileURLToPath(new URL('../../../deploy/crds', import.meta.url))]);
  for (const context of contexts) await kubectl(context, ['create', 'namespace', namespace]);
  return {
    ...{ contexts, hub, namespace, folder, kubectl },
    async applyFile(context, items) {
      const file = path.join(folder, `${context}-all.json`);
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
      await kubectl(context, ['apply', '-n', namespace, '-f', file]);
    },
    async waitFor(context, deployments) {
      const names = deployments.map(({ metadata: { name } }) => `deployment/${name}`);
      await kubectl(context, ['wait', '-n', namespace, '--for=condition=Available', '--timeout=120s', ...names]);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(contexts.map((context) => kubectl(context, ['delete', 'namespace', namespace, '--wait=false'])));
    },
  };
}

export function benchDeployment(name: string, labels: Readonly<Record<string, string>> = {}): BenchDeployment {
  const containers = [{ name: 'web', image: 'registry.example.com/web:1.0', resources: { requests: { cpu: '10m', memory: '16Mi' } } }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers } },
    },
  };
}

/** A gateway in a process of its own. */
export interface RealGateway {
  /** Returns the data of an operation. Rejects if the answer has errors. */
  ask(query: string, variables?: JsonObject): Promise<unknown>;
  /** Returns the text of an answer. */
  read(query: string, variables?: JsonObject): Promise<string>;
  kill(): void;
}

/** Starts a gateway with these flags, on any free port. It keeps its state in `folder`. Resolves when it is ready. */
export async function startRealGateway(flags: readonly string[], folder: string): Promise<RealGateway> {
  const { url, kill } = await startGatewayProcess(flags, { folder });
  const { origin, pathname } = new URL(url);
  const client = createTextClient(origin);
  const read: RealGateway['read'] = (query, variables = {}) => client.send('POST', pathname, JSON.stringify({ query, variables }));
  return {
    read,
    ask: async (query, variables) => {
      const { data, errors } = JSON.parse(await read(query, variables)) as { data: unknown; errors?: Json };
      if (errors !== undefined) throw new Error(JSON.stringify(errors).slice(0, 2_000));
      return data;
    },
    kill: () => kill('SIGTERM'),
  };
}

/** Returns the milliseconds that some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/**
 * Reads all pods in pages of 500, each object with this selection. Returns the texts of the pages. They are not parsed, as those of the floor are
 * not.
 */
export async function readPages(gateway: RealGateway, selection: string): Promise<string[]> {
  const query = `query ($after: String) { pods(first: 500, after: $after) { pageInfo { hasNextPage endCursor } items { ${selection} } } }`;
  const texts: string[] = [];
  for (let after: string | null = null; ; ) {
    const text = await gateway.read(query, { after });
    texts.push(text);
    const end: RegExpExecArray | null = /"hasNextPage":(true|false),"endCursor":"([^"\\]*)"/.exec(text);
    if (end === null) throw new Error(text.slice(0, 500));
    if (end[1] === 'false') return texts;
    after = end[2] ?? null;
  }
}

/** The pages after which the gateway's code is compiled. A gateway that runs for a day has answered more. */
const warmPageCount = 600;

/**
 * Reads all pages again and again, until the gateway's code is compiled.
 *
 * @throws {Error} if there are more or fewer pods than `count`.
 */
export async function warmPages(gateway: RealGateway, selection: string, count: number): Promise<void> {
  const pages = (await readPages(gateway, selection)).map((text) => JSON.parse(text) as { data: { pods: { items: readonly unknown[] } } });
  const seen = pages.reduce((sum, { data }) => sum + data.pods.items.length, 0);
  if (seen !== count) throw new Error(`expected ${count} pods, got ${seen}`);
  for (let read = pages.length; read < warmPageCount; read += pages.length) await readPages(gateway, selection);
}
