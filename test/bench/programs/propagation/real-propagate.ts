// Measures Deployments to three complete clusters until all copies are ready: by kubectl, and as Propagations through a gateway as a user
// starts it.
//   real-propagate.ts KUBECONFIG ROUNDS     the first context is the hub; the clusters have controllers and nodes
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import { realPrograms } from '../../../support/cluster/real-cluster.ts';

const [kubeconfig = '', roundCount = '3'] = process.argv.slice(2);
const many = 50;
const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const contexts = (parse(readFileSync(kubeconfig, 'utf8')) as { contexts: readonly { name: string }[] }).contexts
  .map(({ name }) => name)
  .slice(0, 3);
const [hub = ''] = contexts;
const namespace = `bench-${process.pid}`;
await kubectl(hub, ['apply', '-f', fileURLToPath(new URL('../../../../deploy/crds', import.meta.url))]);
for (const context of contexts) await kubectl(context, ['create', 'namespace', namespace]);
const gateway = await startGateway();
try {
  const samples: Record<string, number>[] = [];
  // The first round warms both sides up: images of programs, mirrors, discovery.
  for (let round = -1; round < Number(roundCount); round += 1) {
    const sample = await measured(round + 1);
    // The nodes have room for the pods of one sample only.
    await clean();
    if (round >= 0) samples.push(sample);
  }
  const figures = Object.keys(samples[0] ?? {}).map((name) => [name, median(samples.map((sample) => sample[name] ?? Number.NaN))]);
  console.log(JSON.stringify(Object.fromEntries(figures)));
} finally {
  gateway.kill();
  await Promise.all(contexts.map((context) => kubectl(context, ['delete', 'namespace', namespace, '--wait=false'])));
}
process.exit(0);

async function measured(round: number): Promise<Record<string, number>> {
  const one = deploymentsOf(`one-${round}`, 1);
  const fifty = deploymentsOf(`many-${round}`, many);
  return {
    kubectlOneMs: await timed(() => Promise.all(contexts.map((context) => byKubectl(context, one)))),
    loopOneMs: await timed(() => inTurn(contexts, (context) => byKubectl(context, one.map(renamed)))),
    musterOneMs: await timed(() => byMuster(one.map(muster))),
    kubectlManyMs: await timed(() => Promise.all(contexts.map((context) => byKubectl(context, fifty)))),
    fileManyMs: await timed(() => Promise.all(contexts.map((context) => byOneFile(context, fifty.map(renamed))))),
    musterManyMs: await timed(() => byMuster(fifty.map(muster))),
  };
}

async function clean(): Promise<void> {
  await kubectl(hub, ['delete', 'propagations', '--all', '-n', namespace, '--timeout=120s']);
  await Promise.all(
    contexts.map(async (context) => {
      await kubectl(context, ['delete', 'deployments', '--all', '-n', namespace, '--cascade=foreground', '--timeout=120s']);
      await kubectl(context, ['wait', 'pods', '--all', '-n', namespace, '--for=delete', '--timeout=120s']);
    }),
  );
}

interface Deployment extends JsonObject {
  readonly metadata: { readonly name: string };
}

function deploymentsOf(prefix: string, count: number): readonly Deployment[] {
  return Array.from({ length: count }, (_, index) => deployment(`${prefix}-${index}`));
}

function renamed({ metadata: { name } }: Deployment): Deployment {
  return deployment(`${name}-again`);
}

function muster({ metadata: { name } }: Deployment): Deployment {
  return deployment(`${name}-muster`);
}

function deployment(name: string): Deployment {
  const containers = [{ name: 'web', image: 'registry.example.com/web:1.0', resources: { requests: { cpu: '10m', memory: '16Mi' } } }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers } },
    },
  };
}

/** Applies each Deployment and then waits for all, as a script does in one cluster. */
async function byKubectl(context: string, deployments: readonly Deployment[]): Promise<void> {
  for (const [index, one] of deployments.entries()) {
    const file = path.join(folder, `${context}-${index}.json`);
    writeFileSync(file, JSON.stringify(one));
    await kubectl(context, ['apply', '-n', namespace, '-f', file]);
  }
  await waitFor(context, deployments);
}

async function byOneFile(context: string, deployments: readonly Deployment[]): Promise<void> {
  const file = path.join(folder, `${context}-all.json`);
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: deployments }));
  await kubectl(context, ['apply', '-n', namespace, '-f', file]);
  await waitFor(context, deployments);
}

async function waitFor(context: string, deployments: readonly Deployment[]): Promise<void> {
  const names = deployments.map(({ metadata: { name } }) => `deployment/${name}`);
  await kubectl(context, ['wait', '-n', namespace, '--for=condition=Available', '--timeout=120s', ...names]);
}

/** Sends one Propagation per Deployment, all at once, and waits until every one has settled. */
async function byMuster(deployments: readonly Deployment[]): Promise<void> {
  const mutation = 'mutation ($input: PropagationInput!) { propagate(input: $input) { result notes { message } faults { message } } }';
  await Promise.all(
    deployments.map(async (json) => {
      const input = { namespace, name: json.metadata.name, template: [{ json }], placement: { clusters: contexts } };
      const { propagate } = (await gateway.ask(mutation, { input })) as { propagate: { result: string } };
      if (propagate.result !== 'ACCEPTED') throw new Error(JSON.stringify(propagate));
    }),
  );
  const names = new Set(deployments.map(({ metadata: { name } }) => name));
  const query = `{ propagations(namespaces: ["${namespace}"], phases: [SETTLED], first: 500) { items { name ready } } }`;
  for (let tries = 0; ; tries += 1) {
    const { propagations } = (await gateway.ask(query, {})) as { propagations: { items: readonly { name: string; ready: number }[] } };
    const settled = propagations.items.filter(({ name, ready }) => names.has(name) && ready === contexts.length);
    if (settled.length === deployments.length) return;
    if (tries > 3_000) throw new Error(`${settled.length} of ${deployments.length} have settled`);
    await sleep(20);
  }
}

async function startGateway(): Promise<{ ask(query: string, variables: JsonObject): Promise<unknown>; kill(): void }> {
  const main = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url));
  const flags = ['--kubeconfig', kubeconfig, '--hub', hub, '--port', '0', '--log-level', 'silent'];
  const child = spawn(process.execPath, [main, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: folder },
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.once('close', (code) => reject(new Error(`the gateway ended with ${code}:\n${text}`)));
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const ready = /ready (\S+)/.exec(text);
      if (ready?.[1] !== undefined) resolve(ready[1]);
    });
  });
  return {
    ask: async (query, variables) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
      const { data, errors } = (await answer.json()) as { data: unknown; errors?: Json };
      if (errors !== undefined) throw new Error(JSON.stringify(errors).slice(0, 2_000));
      return data;
    },
    kill: () => child.kill('SIGTERM'),
  };
}

async function kubectl(context: string, args: readonly string[]): Promise<void> {
  await run(path.join(realPrograms ?? '', 'kubectl'), ['--kubeconfig', kubeconfig, '--context', context, ...args]);
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await work(item);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
