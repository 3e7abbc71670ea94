import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createFakeTerminal } from '../../support/cli/fake-terminal.ts';
import { manifestReader } from '../../support/cli/run-cli.ts';
import { createRawClient, type RawClient } from '../../support/clients/raw-client.ts';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../../support/cluster/real-cluster.ts';
import { type RunningProcess, runMuster } from '../../support/run-process.ts';
import { customDefinition, customObjects } from './custom-objects.ts';
import { type PrintedObject, place } from './printed-object.ts';
import { printedObjects } from './printed-objects.ts';

// Compares our output with kubectl's, column by column, for objects in a real cluster.

const kubectl = realPrograms === undefined ? undefined : path.join(realPrograms, 'kubectl');
const run = promisify(execFile);

/** All kinds of the API server, except ComponentStatuses and the Events of the group events.k8s.io. */
const kinds = [
  ...['pods', 'deployments.apps', 'replicasets.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'cronjobs.batch', 'services'],
  ...['ingresses.networking.k8s.io', 'nodes', 'namespaces', 'configmaps', 'persistentvolumeclaims', 'persistentvolumes'],
  ...['horizontalpodautoscalers.autoscaling', 'events', 'gadgets.example.com', 'endpoints', 'limitranges', 'podtemplates'],
  ...['replicationcontrollers', 'resourcequotas', 'secrets', 'serviceaccounts', 'controllerrevisions.apps'],
  ...['validating', 'mutating'].flatMap((kind) =>
    ['webhookconfigurations', 'admissionpolicies', 'admissionpolicybindings'].map(
      (plural) => `${kind}${plural}.admissionregistration.k8s.io`,
    ),
  ),
  ...['customresourcedefinitions.apiextensions.k8s.io', 'apiservices.apiregistration.k8s.io', 'leases.coordination.k8s.io'],
  ...['certificatesigningrequests.certificates.k8s.io', 'endpointslices.discovery.k8s.io', 'runtimeclasses.node.k8s.io'],
  ...['flowschemas', 'prioritylevelconfigurations'].map((plural) => `${plural}.flowcontrol.apiserver.k8s.io`),
  ...['ingressclasses', 'ipaddresses', 'networkpolicies', 'servicecidrs'].map((plural) => `${plural}.networking.k8s.io`),
  ...['poddisruptionbudgets.policy', 'priorityclasses.scheduling.k8s.io'],
  ...['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'].map((plural) => `${plural}.rbac.authorization.k8s.io`),
  ...['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'].map((plural) => `${plural}.resource.k8s.io`),
  ...['storageclasses', 'volumeattachments', 'volumeattributesclasses', 'csidrivers', 'csinodes', 'csistoragecapacities'].map(
    (plural) => `${plural}.storage.k8s.io`,
  ),
];

/** Columns of Secrets that a gateway cannot know, because it mirrors only their metadata. */
const unknownHeaders = new Map([['secrets', ['TYPE', 'DATA']]]);

/** The API server prints FlowSchemas by precedence; a gateway prints every kind by name. */
const otherOrder = 'flowschemas.flowcontrol.apiserver.k8s.io';

describe.skipIf(kubectl === undefined || !existsSync(kubectl))(`kubectl prints the same table, with ${realServerTitle}`, () => {
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

  async function make({ collection, object, status, subresource = 'status', deleted = false }: PrintedObject): Promise<void> {
    const { name } = object.metadata;
    const finalizers = deleted ? ['test.example/keep'] : [];
    await send('POST', collection, { ...object, metadata: { ...object.metadata, finalizers } });
    const known = status ?? {};
    if (Object.keys(known).length > 0)
      await send('PATCH', `${collection}/${name}/${subresource}`, { status: known }, 'application/merge-patch+json');
    if (deleted) await client.send('DELETE', `${collection}/${name}`);
  }

  async function theirs(...args: readonly string[]): Promise<readonly Row[]> {
    const { stdout } = await run(kubectl ?? '', ['--kubeconfig', cluster.kubeconfigPath, 'get', ...args]);
    const [header = [], ...rows] = rowsOf(stdout);
    return [header, ...(args[0] === otherOrder ? rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)) : rows)];
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

  test('compares every kind', async () => {
    const { stdout } = await run(kubectl ?? '', ['--kubeconfig', cluster.kubeconfigPath, 'api-resources', '--verbs=list', '-o', 'name']);
    const served = stdout
      .trim()
      .split('\n')
      .filter((name) => !['componentstatuses', 'events.events.k8s.io'].includes(name));
    expect(served.toSorted()).toEqual(kinds.toSorted());
  });

  test.each(kinds.flatMap((kind) => [[kind], [`${kind} -o wide`]]))('%s', async (line) => {
    const args = line.split(' ');
    const unknown = unknownHeaders.get(args[0] ?? '') ?? [];
    await vi.waitFor(
      async () => {
        const before = await theirs(...args, '-A');
        const own = await ours(...args, '-A');
        // Ages grow between two commands, so ours may equal kubectl's output before or after it.
        const after = isDeepStrictEqual(own, before) ? before : await theirs(...args, '-A');
        const known = before.map((row, at) =>
          row.map((cell, column) => (at > 0 && unknown.includes(before[0]?.[column] ?? '') ? '<unknown>' : cell)),
        );
        expect(own.map((row, at) => row.map((cell, column) => (cell === after[at]?.[column] ? known[at]?.[column] : cell)))).toEqual(known);
        expect(before.length).toBeGreaterThan(1);
      },
      { timeout: 20_000 },
    );
  });
});

type Row = readonly string[];

/** Splits each line into cells at the start of the header's columns. Cells may be empty. */
function rowsOf(table: string): readonly Row[] {
  const lines = table.trimEnd().split('\n');
  const starts = [...(lines[0] ?? '').matchAll(/(?:^| {2,})(?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  return lines.map((line) => starts.map((start, at) => line.slice(start, starts[at + 1]).trim()));
}
