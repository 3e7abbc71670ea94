import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createFakeTerminal } from '../../support/fake-terminal.ts';
import { createRawClient, type RawClient } from '../../support/raw-client.ts';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../../support/real-cluster.ts';
import { manifestReader } from '../../support/run-cli.ts';
import { type RunningProcess, runMuster } from '../../support/run-process.ts';
import { customDefinition, customObjects } from './custom-objects.ts';
import { type PrintedObject, place, printedObjects } from './printed-objects.ts';

// kubectl's own output is the oracle: what it prints of objects in a cluster, we print too, column by column.

const kubectl = realPrograms === undefined ? undefined : path.join(realPrograms, 'kubectl');
const run = promisify(execFile);

const kinds = [
  'pods',
  'deployments',
  'replicasets',
  'statefulsets',
  'daemonsets',
  'jobs',
  'cronjobs',
  'services',
  'ingresses',
  'nodes',
  'namespaces',
  'configmaps',
  'persistentvolumeclaims',
  'persistentvolumes',
  'horizontalpodautoscalers',
  'events',
  'gadgets',
] as const;

describe.skipIf(kubectl === undefined || !existsSync(kubectl))(`kubectl, asking ${realServerTitle}, prints what we print`, () => {
  let cluster: RealCluster;
  let client: RawClient;
  let gateway: RunningProcess;
  let url: string;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-columns-'));
    cluster = await startRealCluster();
    client = createRawClient(cluster.endpoint);
    await send('POST', '/api/v1/namespaces', { metadata: { name: place } });
    for (const one of printedObjects) await make(one);
    await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', customDefinition);
    await vi.waitFor(async () => expect((await client.get('/apis/example.com/v1/gadgets')).status).toBe(200), { timeout: 10_000 });
    for (const object of customObjects) await send('POST', `/apis/example.com/v1/namespaces/${place}/gadgets`, object);
    gateway = runMuster(['--kubeconfig', cluster.kubeconfigPath, '--port', '0', '--log-level', 'error'], { HOME: folder });
    url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
  }, 120_000);
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    client?.[Symbol.dispose]();
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function send(method: string, at: string, body: JsonObject, type = 'application/json'): Promise<void> {
    const answer = await client.send(method, at, { body, headers: { 'content-type': type } });
    if (answer.status > 201) throw new Error(`${at}: ${answer.text}`);
  }

  async function make({ collection, object, status, deleted = false }: PrintedObject): Promise<void> {
    const { name } = object.metadata;
    const finalizers = deleted ? ['test.example/keep'] : [];
    await send('POST', collection, { ...object, metadata: { ...object.metadata, finalizers } });
    const known = status ?? {};
    if (Object.keys(known).length > 0)
      await send('PATCH', `${collection}/${name}/status`, { status: known }, 'application/merge-patch+json');
    if (deleted) await client.send('DELETE', `${collection}/${name}`);
  }

  async function theirs(...args: readonly string[]): Promise<readonly Row[]> {
    const { stdout } = await run(kubectl ?? '', ['--kubeconfig', cluster.kubeconfigPath, 'get', ...args]);
    return rowsOf(stdout);
  }

  async function ours(...args: readonly string[]): Promise<readonly Row[]> {
    const terminal = createFakeTerminal();
    const code = await runProgram(['get', ...args, '--gateway', url], {
      version: '1.2.3',
      serve: async () => 0,
      start: () => Promise.reject(new Error('expected a command that asks the gateway of the test')),
      reader: manifestReader,
      terminal,
      clock: systemClock,
      environment: {},
      directory: '.',
      signal: new AbortController().signal,
    });
    expect([code, terminal.told]).toEqual([0, '']);
    return rowsOf(terminal.written).map(([, ...cells]) => cells);
  }

  test.each(kinds.flatMap((kind) => [[kind], [`${kind} -o wide`]]))('%s', async (line) => {
    const args = line.split(' ');
    // Ages go on between two commands: ours is one of those before and after it.
    await vi.waitFor(
      async () => {
        const before = await theirs(...args, '-A');
        const own = await ours(...args, '-A');
        const after = await theirs(...args, '-A');
        expect(own.map((row, at) => row.map((cell, column) => (cell === after[at]?.[column] ? before[at]?.[column] : cell)))).toEqual(
          before,
        );
        expect(before.length).toBeGreaterThan(1);
      },
      { timeout: 20_000 },
    );
  });
});

type Row = readonly string[];

/** The cells of each line, the header's too: they begin where those of the header do, and any of them may be empty. */
function rowsOf(table: string): readonly Row[] {
  const lines = table.trimEnd().split('\n');
  const starts = [...(lines[0] ?? '').matchAll(/(?:^| {2,})(?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  return lines.map((line) => starts.map((start, at) => line.slice(start, starts[at + 1]).trim()));
}
