import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Log, silentLog } from '../../src/core/log.ts';
import { kubeconfigText, runGateway } from '../support/gateway/run-gateway.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const never = new AbortController().signal;
let north: SimCluster;
let south: SimCluster;
beforeAll(async () => {
  [north, south] = await Promise.all([startSimCluster({ name: 'north' }), startSimCluster({ name: 'south' })]);
  for (const cluster of [north, south])
    cluster.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `web-${cluster.name}`, namespace: 'default' },
      spec: { containers: [] },
    });
});
afterAll(async () => {
  await Promise.all([north, south].map((cluster) => cluster[Symbol.asyncDispose]()));
});

const both = () => [
  { name: 'north', cluster: north },
  { name: 'south', cluster: south },
];
/** A cluster whose address has no listener. */
const nowhere = () => ({ ...north, url: 'https://127.0.0.1:1', caPem: north.caPem, token: 'x' });
const clustersOf = async (run: Awaited<ReturnType<typeof runGateway>>) =>
  (
    (await run.query('{ clusters { name phase faults { code message } } }')) as {
      clusters: { name: string; phase: string; faults: { code: string; message: string }[] }[];
    }
  ).clusters;
const namesOf = async (run: Awaited<ReturnType<typeof runGateway>>) => (await clustersOf(run)).map(({ name }) => name).join(' ');

test('answers typed objects of every context of the kubeconfig', async () => {
  await using run = await runGateway({ contexts: both() });
  await run.gateway.whenStarted(never);
  expect(await run.query('{ pods { totalCount items { cluster { name } metadata { name } } faults { code } } gateway { demo } }')).toEqual({
    pods: {
      totalCount: 2,
      items: [
        { cluster: { name: 'north' }, metadata: { name: 'web-north' } },
        { cluster: { name: 'south' }, metadata: { name: 'web-south' } },
      ],
      faults: [],
    },
    gateway: { demo: false },
  });
});

test('reports the progress of each cluster during the start', async () => {
  await using run = await runGateway({ contexts: [...both(), { name: 'nowhere', cluster: nowhere() }] });
  await run.gateway.whenStarted(never);
  const steps = (cluster: string) => [...new Set(run.progress.filter((step) => step.cluster === cluster).map(({ step }) => step))];
  expect(steps('north').at(0)).toBe('connecting');
  expect(steps('north').at(-1)).toBe('synced');
  expect(run.progress.findLast(({ cluster }) => cluster === 'south')).toMatchObject({
    step: 'synced',
    version: south.gitVersion,
    objects: expect.any(Number),
  });
  expect(run.progress.findLast(({ cluster }) => cluster === 'nowhere')).toMatchObject({ step: 'failed', code: 'UNREACHABLE' });
});

test('once it is ready it serves all custom kinds, and it stays ready', async () => {
  const names = { kind: 'Gadget', plural: 'gadgets', singular: 'gadget' };
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
  };
  south.define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  });
  await using run = await runGateway({ contexts: [{ name: 'south', cluster: south }] });
  await run.gateway.whenStarted(never);
  expect(await run.query('{ exampleGadgets { totalCount items { spec { size } } } }')).toEqual({
    exampleGadgets: { totalCount: 0, items: [] },
  });
  const readyz = async () => (await fetch(new URL('/readyz', run.gateway.url))).status;
  expect(await readyz()).toBe(200);
  await run.rewrite(
    'kubeconfig',
    kubeconfigText([
      { name: 'south', cluster: south },
      { name: 'nowhere', cluster: nowhere() },
    ]),
  );
  await vi.waitUntil(
    async () => {
      expect(await readyz()).toBe(200);
      return (await namesOf(run)) === 'nowhere south';
    },
    { timeout: 20_000 },
  );
});

test('a cluster that joins or leaves the kubeconfig joins or leaves the graph, and the others are not touched', async () => {
  await using run = await runGateway({ contexts: [{ name: 'north', cluster: north }] });
  await run.gateway.whenStarted(never);
  await run.query('{ pods { totalCount } }');
  const connections = north.connections();
  // The gateway checks the identity of a cluster from time to time, with a field selector. Nothing else here has one.
  const requestCount = () => north.requests.filter(({ query }) => query.fieldSelector === undefined).length;
  const requests = requestCount();
  await run.rewrite('kubeconfig', kubeconfigText(both()));
  await vi.waitUntil(async () => (await namesOf(run)) === 'north south', { timeout: 20_000 });
  expect(await run.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 2 } });
  await run.rewrite('kubeconfig', kubeconfigText([{ name: 'north', cluster: north }]));
  await vi.waitUntil(async () => (await namesOf(run)) === 'north', { timeout: 20_000 });
  expect(await run.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 1 } });
  await vi.waitUntil(() => south.connections() === 0, { timeout: 20_000 });
  expect(north.connections()).toBe(connections);
  expect(requestCount()).toBe(requests);
});

test('a kubeconfig that breaks while it runs changes nothing, and is logged', async () => {
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields, message) => message.startsWith('the kubeconfig') && warnings.push(fields) };
  await using run = await runGateway({ contexts: both(), log });
  await run.gateway.whenStarted(never);
  await run.rewrite('kubeconfig', '{ broken');
  await vi.waitUntil(() => warnings.length > 0, { timeout: 20_000 });
  expect(await namesOf(run)).toBe('north south');
  expect(await run.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 2 } });
});

test('an inventory in a cluster that the kubeconfig does not have is logged, at the start and after a change of the config file', async () => {
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields, message) => message.startsWith('the cluster of an inventory') && warnings.push(fields) };
  const withInventories = (...clusters: readonly string[]) =>
    JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', inventories: clusters.map((cluster) => ({ type: 'ArgoCD', cluster })) });
  await using run = await runGateway({ contexts: both(), configFile: withInventories('north', 'nort'), log });
  expect(warnings).toEqual([{ inventory: 'inventories[1]', cluster: 'nort' }]);
  await run.rewrite('config', withInventories('sout', 'north'));
  await vi.waitUntil(() => warnings.length > 1, { timeout: 20_000 });
  expect(warnings.slice(1)).toEqual([{ inventory: 'inventories[0]', cluster: 'sout' }]);
});

test('one cluster by two contexts is one, with a DUPLICATE fault: by its address at once', async () => {
  await using run = await runGateway({ contexts: [...both(), { name: 'north-admin', cluster: north }] });
  await run.gateway.whenStarted(never);
  const clusters = await clustersOf(run);
  expect(clusters.map(({ name }) => name)).toEqual(['north', 'south']);
  expect(clusters[0]?.faults).toEqual([{ code: 'DUPLICATE', message: 'north-admin is the same cluster: it is read once, as north' }]);
  expect(await run.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 2 } });
});

test('one kube-system uid at two addresses is two clusters, with a DUPLICATE fault each', async () => {
  const aliased = {
    name: 'alias',
    cluster: { ...north, url: north.url.replace('127.0.0.1', 'localhost'), caPem: north.caPem, token: north.token },
  };
  await using run = await runGateway({ contexts: [...both(), aliased] });
  await run.gateway.whenStarted(never);
  const codesOf = async () => (await clustersOf(run)).map(({ name, faults }) => [name, ...faults.map(({ code }) => code)].join(' '));
  await vi.waitUntil(async () => (await codesOf()).join() === 'alias DUPLICATE,north DUPLICATE,south', { timeout: 20_000 });
});

test('the config file describes clusters, and its changes are applied', async () => {
  const header = 'apiVersion: config.muster.dev/v1alpha1\n';
  const first = `${header}clusters:\n  - { name: eu, context: north, region: eu-1, labels: { tier: prod } }\n`;
  await using run = await runGateway({ contexts: both(), configFile: first });
  await run.gateway.whenStarted(never);
  const view = () => run.query('{ clusters { name region labels } }');
  expect(await view()).toEqual({ clusters: [{ name: 'eu', region: 'eu-1', labels: { tier: 'prod' } }] });
  await run.rewrite('config', `${first}  - { name: us, context: south }\n`);
  await vi.waitUntil(async () => (await namesOf(run)) === 'eu us', { timeout: 20_000 });
  expect(await view()).toMatchObject({ clusters: [{ name: 'eu' }, { name: 'us', region: null, labels: {} }] });
});

test('a change of labels, region or taints keeps connections, mirrors and requests in flight', async () => {
  const header = 'apiVersion: config.muster.dev/v1alpha1\n';
  const describedAs = (more: string) => `${header}clusters:\n  - { name: eu, context: north, ${more} }\n`;
  await using run = await runGateway({ contexts: both(), configFile: describedAs('labels: { tier: test }') });
  await run.gateway.whenStarted(never);
  await run.query('{ pods { totalCount } }');
  const asked = () => north.requests.filter(({ resource }) => resource?.resource === 'pods' && resource.verb !== 'get').length;
  const [before, connections] = [asked(), north.connections()];
  using _slow = north.delay(2_000, { verb: 'get', resource: 'pods' });
  const inFlight = run.query('{ pod(cluster: "eu", namespace: "default", name: "web-north", live: true) { metadata { name } } }');
  await vi.waitUntil(() => north.requests.some(({ resource }) => resource?.resource === 'pods' && resource.verb === 'get'));
  await run.rewrite('config', describedAs('region: eu-2, labels: { tier: prod }, taints: [{ key: full, effect: NoSchedule }]'));
  const view = async () => JSON.stringify(await run.query('{ clusters { region labels taints { key } } }'));
  const expected = JSON.stringify({ clusters: [{ region: 'eu-2', labels: { tier: 'prod' }, taints: [{ key: 'full' }] }] });
  await vi.waitUntil(async () => (await view()) === expected, { timeout: 20_000 });
  expect(await inFlight).toMatchObject({ pod: { metadata: { name: 'web-north' } } });
  expect(asked()).toBe(before);
  expect(north.connections()).toBe(connections);
});

test('a cluster that cannot be reached at the start is a fault of its own, and the others answer', async () => {
  await using run = await runGateway({ contexts: [{ name: 'nowhere', cluster: nowhere() }, ...both()] });
  await run.gateway.whenStarted(never);
  const { pods } = (await run.query('{ pods { totalCount faults { code cluster { name } } } }')) as { pods: unknown };
  expect(pods).toEqual({ totalCount: 2, faults: [{ code: 'UNREACHABLE', cluster: { name: 'nowhere' } }] });
});

test('its end leaves nothing connected', async () => {
  const run = await runGateway({ contexts: both() });
  await run.gateway.whenStarted(never);
  await run.query('{ pods { totalCount } deployments { totalCount } }');
  expect(north.connections()).toBeGreaterThan(0);
  await run.gateway.stop();
  await vi.waitUntil(() => north.connections() + south.connections() === 0, { timeout: 20_000 });
  await expect(fetch(run.gateway.url)).rejects.toThrow();
  await run[Symbol.asyncDispose]();
});

test('metrics describe clusters and the requests to them', async () => {
  await using run = await runGateway({ contexts: both() });
  await run.gateway.whenStarted(never);
  await run.query('{ pods { totalCount } }');
  const text = await (await fetch(new URL('/metrics', run.gateway.url))).text();
  expect(text).toContain('muster_cluster_phase{cluster="north",phase="SYNCED"} 1\n');
  expect(text).toMatch(/muster_mirror_objects\{cluster="south"\} [1-9]/);
  expect(text).toMatch(/muster_upstream_requests_total\{cluster="north",verb="get",code="OK"\} [1-9]/);
});

test('metrics count anomalies of watches', async () => {
  await using run = await runGateway({ contexts: both() });
  await run.gateway.whenStarted(never);
  await run.query('{ pods { totalCount } }');
  await vi.waitUntil(() => north.emit('garbage\n', { resource: 'pods' }) > 0, { timeout: 20_000 });
  await vi.waitUntil(
    async () =>
      /muster_watch_anomalies_total\{cluster="north",type="unreadable"\} [1-9]/.test(
        await (await fetch(new URL('/metrics', run.gateway.url))).text(),
      ),
    { timeout: 20_000 },
  );
});
