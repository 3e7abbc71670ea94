import { expect, test } from 'vitest';
import type { Fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import type { FakeCluster } from '../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { readContext } from '../support/graph/read-context.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const deployments = servedAs(model, 'Deployment.apps');

function withPods({ mirrors }: GraphOverMirrors, name: string, ...names: readonly string[]): FakeCluster {
  const cluster = mirrors.join(name);
  cluster.discover(pods, deployments);
  cluster.mirror(pods).list(...names.map((pod) => objectNamed(pod, { namespace: 'shop' }, { spec: { nodeName: `${name}-1` } })));
  return cluster;
}

const unreachable = (cluster: string): Fault => ({
  code: 'UNREACHABLE',
  cluster: clusterName(cluster),
  message: 'connection refused',
  retry: 'LATER',
});

const asked =
  '{ pods(waitSeconds: 10) { items { cluster { name } metadata { name } } sync { cluster { name } phase } faults { code cluster { name } } } }';

test('answers from every cluster at once, and keeps objects of one name apart', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'south', 'web');
  withPods(graph, 'north', 'web');

  const { at, errors } = await graph.ask(
    '{ pods { totalCount items { id kind apiVersion cluster { name } metadata { name } spec { nodeName } } sync { cluster { name } phase } faults { code } } }',
  );

  expect(errors).toBeUndefined();
  expect(at('pods.items.cluster.name')).toEqual(['north', 'south']);
  expect(at('pods.items.spec.nodeName')).toEqual(['north-1', 'south-1']);
  expect(new Set(at('pods.items.id') as string[]).size).toBe(2);
  // The items of a list have neither kind nor apiVersion.
  expect(at('pods.items.kind')).toEqual(['Pod', 'Pod']);
  expect(at('pods.items.apiVersion')).toEqual(['v1', 'v1']);
  expect(at('pods.totalCount')).toBe(2);
  expect(at('pods.sync.phase')).toEqual(['SYNCED', 'SYNCED']);
  expect(at('pods.faults')).toEqual([]);
});

test('answers at once although a cluster has never been reached, with a fault', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'north', 'web');
  graph.mirrors.join('south').fail(unreachable('south'));

  const { at } = await graph.ask(asked);

  expect(at('pods.items.cluster.name')).toEqual(['north']);
  expect(at('pods.sync')).toEqual([
    { cluster: { name: 'north' }, phase: 'SYNCED' },
    { cluster: { name: 'south' }, phase: 'SYNCING' },
  ]);
  expect(at('pods.faults')).toEqual([{ code: 'UNREACHABLE', cluster: { name: 'south' } }]);
});

test('keeps answering from the last mirror while a cluster is unreachable', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'north', 'web').mirror(pods).fail(unreachable('north'));

  const { at } = await graph.ask(asked);

  expect(at('pods.items.metadata.name')).toEqual(['web']);
  expect(at('pods.sync.phase')).toEqual(['STALE']);
  expect(at('pods.faults.code')).toEqual(['UNREACHABLE']);
});

test('waits for a first list until it is complete', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  const answer = graph.ask(asked);
  await turns();
  north.discover(pods);
  await turns();
  expect(north.leases).toBe(1);
  north.mirror(pods).list(objectNamed('web', { namespace: 'shop' }));

  expect((await answer).at('pods.items.metadata.name')).toEqual(['web']);
  expect((await answer).at('pods.faults')).toEqual([]);
  expect(north.leases).toBe(0);
  expect(graph.clock.sleepers).toBe(0);
});

test('waits at most waitSeconds, then a cluster that is still listing is a fault', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'north', 'web');
  graph.mirrors.join('south').discover(pods);
  let answered = false;
  const answer = graph.ask(asked).finally(() => {
    answered = true;
  });

  await graph.clock.advance(9_999);
  expect(answered).toBe(false);
  await graph.clock.advance(1);

  expect((await answer).at('pods.items.cluster.name')).toEqual(['north']);
  expect((await answer).at('pods.faults')).toEqual([{ code: 'SYNCING', cluster: { name: 'south' } }]);
});

test('waits for all clusters at the same time, as long as the slowest one needs', async () => {
  const graph = graphOverMirrors({ model });
  for (const name of ['a', 'b', 'c']) graph.mirrors.join(name);
  const answer = graph.ask(asked);
  await graph.clock.advance(10_000);
  expect((await answer).at('pods.faults.code')).toEqual(['SYNCING', 'SYNCING', 'SYNCING']);
});

test('never waits with waitSeconds: 0, nor for a cluster that has failed', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  const zero = await graph.ask('{ pods(waitSeconds: 0) { faults { code } } }');
  expect(zero.at('pods.faults.code')).toEqual(['SYNCING']);

  north.mirror(pods).fail(unreachable('north'));
  expect((await graph.ask(asked)).at('pods.faults.code')).toEqual(['UNREACHABLE']);
  north.mirror(pods).refuse({ ...unreachable('north'), code: 'FORBIDDEN' });
  const refused = await graph.ask(asked);
  expect(refused.at('pods.sync.phase')).toEqual(['MISSING']);
  expect(refused.at('pods.faults.code')).toEqual(['FORBIDDEN']);
});

test('an abort ends the wait and releases the mirrors', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  const gone = new AbortController();
  const context = readContext(graph, { signal: gone.signal });
  const kind = model.kinds.get('Pod');
  const list = kind && graph.reads.list(context, kind, {});
  await turns();
  expect(north.leases).toBe(1);
  gone.abort(new Error('the client has gone'));

  await expect(list).rejects.toThrow('the client has gone');
  expect(north.leases).toBe(0);
  expect(graph.clock.sleepers).toBe(0);
});

test('a cluster that leaves during the wait is reported as GONE', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'north', 'web');
  const south = graph.mirrors.join('south');
  const answer = graph.ask(asked);
  await turns();
  south.leave();

  expect((await answer).at('pods.items.cluster.name')).toEqual(['north']);
  expect((await answer).at('pods.faults')).toEqual([{ code: 'GONE', cluster: { name: 'south' } }]);
});

test('a kind that a cluster does not serve is a fault only if the cluster was named', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'north', 'web');
  graph.mirrors.join('south').discover(deployments);

  const all = await graph.ask(asked);
  expect(all.at('pods.sync.cluster.name')).toEqual(['north']);
  expect(all.at('pods.faults')).toEqual([]);

  const named = await graph.ask(
    '{ pods(clusters: ["south", "north"]) { sync { cluster { name } phase } faults { code cluster { name } } } }',
  );
  expect(named.at('pods.faults')).toEqual([{ code: 'NOT_SERVED', cluster: { name: 'south' } }]);
  const kinds = await graph.ask('{ resources(clusters: ["south"], waitSeconds: 0) { faults { code kind { kind } } } }');
  expect(kinds.at('resources.faults')).toEqual([{ code: 'SYNCING', kind: { kind: 'Deployment' } }]);
});

test('pages over all clusters without losing or repeating one, whatever happens between two pages', async () => {
  const graph = graphOverMirrors({ model });
  const north = withPods(graph, 'north', 'a', 'c', 'e');
  withPods(graph, 'south', 'b', 'c', 'd');
  const page =
    'query ($after: String) { pods(first: 2, after: $after) { totalCount items { cluster { name } metadata { name } } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } }';

  const seen: string[] = [];
  let after: unknown;
  for (let more: unknown = true; more === true && seen.length < 100; ) {
    const { at } = await graph.ask(page, { after });
    seen.push(...(at('pods.items.metadata.name') as string[]));
    expect(at('pods.pageInfo.hasPreviousPage')).toBe(after !== undefined);
    after = at('pods.pageInfo.endCursor');
    more = at('pods.pageInfo.hasNextPage');
    // An object that sorts before the cursor is on no later page. One that sorts after it is on one later page.
    north.mirror(pods).put(objectNamed('a0', { namespace: 'shop' }));
    north.mirror(pods).put(objectNamed('z', { namespace: 'shop' }));
  }
  expect(seen).toEqual(['a', 'b', 'c', 'c', 'd', 'e', 'z']);
});

test('filters and sorts before it cuts the page', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'north', 'a', 'b');
  withPods(graph, 'south', 'c', 'd');
  const { at } = await graph.ask(
    '{ pods(first: 1, where: { path: "cluster.name", eq: "south" }, orderBy: { path: "metadata.name", direction: DESC }) { totalCount items { metadata { name } } } }',
  );
  expect(at('pods.items.metadata.name')).toEqual(['d']);
  expect(at('pods.totalCount')).toBe(2);
});

test('lists several kinds in one order, by any of their names', async () => {
  const graph = graphOverMirrors({ model });
  const north = withPods(graph, 'north', 'web');
  north.mirror(deployments).list(objectNamed('web', { namespace: 'shop' }), objectNamed('api', { namespace: 'shop' }));
  const { at, errors } = await graph.ask(
    '{ resources(kinds: ["po", "apps.v1.deployments", "Pod"]) { items { __typename metadata { name } ... on Pod { spec { nodeName } } } } }',
  );
  expect(errors).toBeUndefined();
  expect(at('resources.items')).toEqual([
    { __typename: 'Deployment', metadata: { name: 'api' } },
    { __typename: 'Deployment', metadata: { name: 'web' } },
    { __typename: 'Pod', metadata: { name: 'web' }, spec: { nodeName: 'north-1' } },
  ]);
});

test('rights and rows are of one moment, despite changes during the answer', async () => {
  const graph = graphOverMirrors({ model });
  const north = withPods(graph, 'north', 'a');
  const kind = model.kinds.get('Pod');
  const listed = kind && (await graph.reads.list(readContext(graph), kind, {}));
  north.mirror(pods).list();
  expect(listed?.items.map(({ object }) => object.metadata.name)).toEqual(['a']);
  expect(listed?.totalCount).toBe(1);
});

test('the cursors of a page equal those of its edges', async () => {
  const graph = graphOverMirrors({ model });
  withPods(graph, 'north', 'a', 'b', 'c');
  const { at } = await graph.ask('{ pods { pageInfo { startCursor endCursor } edges { cursor again: cursor } } }');
  const cursors = at('pods.edges.cursor') as readonly string[];
  expect(at('pods.edges.again')).toEqual(cursors);
  expect(new Set(cursors).size).toBe(3);
  expect(at('pods.pageInfo')).toEqual({ startCursor: cursors[0], endCursor: cursors[2] });
});
