import { expect, test } from 'vitest';
import { graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { readContext } from '../support/graph/read-context.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { createRestrictingAccess } from '../support/restricting-access.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const nodes = servedAs(model, 'Node');
const asAlice = { caller: 'alice' };

function graphFor(rights: Parameters<typeof createRestrictingAccess>[0]) {
  const graph = graphOverMirrors({ model, access: createRestrictingAccess(rights) });
  const north = graph.mirrors.join('north');
  north.discover(pods, nodes);
  north.mirror(pods).list(...['a', 'b', 'c'].map((name) => objectNamed(name, { namespace: 'shop', labels: { app: name } })));
  north.mirror(nodes).list(objectNamed('node-1'));
  return { ...graph, north };
}

const everything = `query ($after: String) {
  pods(first: 2, after: $after, search: "", orderBy: { path: "metadata.labels.app", direction: DESC }) {
    totalCount items { id metadata { name } } pageInfo { hasNextPage hasPreviousPage } faults { code } sync { phase }
  }
  all: resources(kinds: ["Pod", "Node"]) { totalCount items { id } }
  clusters { kinds { kind { kind } count } }
}`;

test('1,000 more hidden objects leave every answer byte-equal', async () => {
  const { ask, north } = graphFor({ alice: { north: ['shop'] } });
  const before = JSON.stringify((await ask(everything, {}, asAlice)).data);
  for (let index = 0; index < 1_000; index++) {
    north.mirror(pods).put(objectNamed(`hidden-${index}`, { namespace: index % 2 === 0 ? 'aaa' : 'zzz', labels: { app: 'zzz' } }));
  }
  expect(JSON.stringify((await ask(everything, {}, asAlice)).data)).toBe(before);
  expect(before).toContain('"totalCount":3');
});

test('a caller limited to some namespaces gets those rows, and no fault', async () => {
  const { ask, north } = graphFor({ alice: { north: ['shop'] } });
  north.mirror(pods).put(objectNamed('hidden', { namespace: 'other' }));
  const { at } = await ask('{ pods { items { metadata { name } } faults { code } } nodes { totalCount faults { code } } }', {}, asAlice);
  expect(at('pods.items.metadata.name')).toEqual(['a', 'b', 'c']);
  expect(at('pods.faults')).toEqual([]);
  // Cluster-scoped objects are hidden from callers who may only see some namespaces.
  expect(at('nodes')).toEqual({ totalCount: 0, faults: [] });
});

test('a kind that may not be listed is a fault, decided before any lookup', async () => {
  const graph = graphOverMirrors({ model, access: createRestrictingAccess({ alice: { north: [] } }) });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  const { at } = await graph.ask('{ pods { totalCount sync { phase fault { code } } faults { code message } } }', {}, asAlice);
  expect(at('pods')).toEqual({
    totalCount: 0,
    sync: [{ phase: 'MISSING', fault: { code: 'FORBIDDEN' } }],
    faults: [{ code: 'FORBIDDEN', message: 'not for you' }],
  });
  expect(graph.mirrors.peek(north.name, pods)).toBeUndefined();
});

test('a hidden object and an absent one give the same bytes', async () => {
  const { ask, north } = graphFor({ alice: { north: ['shop'] } });
  north.mirror(pods).put(objectNamed('there', { namespace: 'other' }));
  const get = (namespace: string, name: string) =>
    ask(
      'query ($namespace: String!, $name: String!) { pod(cluster: "north", namespace: $namespace, name: $name) { id } }',
      { namespace, name },
      asAlice,
    );

  const hidden = await get('other', 'there');
  const absent = await get('shop', 'there');
  expect(hidden.data).toEqual({ pod: null });
  expect(JSON.stringify([hidden.data, hidden.errors, hidden.faults])).toBe(JSON.stringify([absent.data, absent.errors, absent.faults]));
  expect(hidden.faults).toEqual([]);
});

test('an id of a hidden, unknown or absent object is null', async () => {
  const { ask, north } = graphFor({ alice: { north: ['shop'] }, bob: { north: 'all' } });
  north.mirror(pods).put(objectNamed('there', { namespace: 'other' }));
  const { at } = await ask('{ pods(namespaces: "other") { items { id } } }', {}, { caller: 'bob' });
  const [id] = at('pods.items.id') as string[];
  const byId = (text: string | undefined, caller: string) =>
    ask('query ($id: ID!) { resource(id: $id) { metadata { name } } }', { id: text }, { caller });
  const elsewhere = Buffer.from(JSON.stringify(['south', '', 'Pod', 'other', 'there'])).toString('base64url');
  const unknownKind = Buffer.from(JSON.stringify(['north', 'x.y', 'Pod', 'other', 'there'])).toString('base64url');

  expect((await byId(id, 'bob')).data).toEqual({ resource: { metadata: { name: 'there' } } });
  expect((await byId(id, 'alice')).data).toEqual({ resource: null });
  expect((await byId(elsewhere, 'bob')).data).toEqual({ resource: null });
  expect((await byId(unknownKind, 'bob')).data).toEqual({ resource: null });
});

test('a hidden cluster shows no kinds, even if a row names it', () => {
  const { reads, mirrors, clock } = graphFor({ alice: { north: ['shop'] }, bob: {} });
  const context = (key: string) => readContext({ mirrors, clock }, { caller: { key } });
  const [north] = reads.clusters(context('alice'), {});
  const kindsFor = (caller: string) => north && reads.servedKinds(context(caller), north).length;
  expect([kindsFor('alice'), kindsFor('bob')]).toEqual([2, 0]);
});
