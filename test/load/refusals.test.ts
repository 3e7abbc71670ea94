import { expect, test } from 'vitest';
import { createFakeMirrors } from '../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createRestrictingAccess } from '../support/restricting-access.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');

function graphWithPods(options: Parameters<typeof graphOverMirrors>[0] = {}): GraphOverMirrors {
  const graph = graphOverMirrors({ model, ...options });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  north.mirror(pods).list(...['a', 'b', 'c'].map((name) => objectNamed(name, { namespace: 'shop' })));
  return graph;
}

async function refusal(graph: GraphOverMirrors, query: string, variables: Record<string, unknown> = {}, caller = 'me'): Promise<unknown> {
  const { errors } = await graph.ask(query, variables, { caller });
  expect(errors).toHaveLength(1);
  const error = errors?.[0]?.originalError;
  expect(error).toMatchObject({ name: 'MusterError', code: 'BAD_INPUT' });
  return error?.message;
}

test.each([
  ['{ pods(first: 0) { totalCount } }', 'expected first from 1 to 500, got 0'],
  ['{ pods(first: -1) { totalCount } }', 'expected first from 1 to 500, got -1'],
  ['{ pods(first: 501) { totalCount } }', 'expected first from 1 to 500, got 501'],
  ['{ pods(first: 2147483647) { totalCount } }', 'expected first from 1 to 500, got 2147483647'],
  ['{ pods(waitSeconds: -0.5) { totalCount } }', 'expected waitSeconds from 0 to 60, got -0.5'],
  ['{ pods(waitSeconds: 61) { totalCount } }', 'expected waitSeconds from 0 to 60, got 61'],
  ['{ pods(clusters: ["nroth"]) { totalCount } }', 'no cluster named "nroth"; did you mean north?'],
  ['{ clusters(names: ["nroth"]) { name } }', 'no cluster named "nroth"; did you mean north?'],
  ['{ pod(cluster: "elsewhere", namespace: "shop", name: "a") { id } }', 'no cluster named "elsewhere"'],
  ['{ pods(clusters: ["*"]) { totalCount } }', 'no cluster named "*"'],
  ['{ pods(clusters: ["__proto__"]) { totalCount } }', 'no cluster named "__proto__"'],
  ['{ resource(id: "bm9wZQ") { id } }', 'expected the id of an object, as its field id gives it, got "bm9wZQ"'],
])('refuses %s', async (query, message) => {
  expect(await refusal(graphWithPods(), query)).toBe(message);
});

test.each([
  ['{ pods(labels: "a in (") { totalCount } }', /./],
  ['{ clusters(labels: "a in (") { name } }', /./],
  ['{ resources(kinds: ["Deploymnet"]) { totalCount } }', /Deployment/],
  ['{ deployments(where: { path: "spec.replcas", eq: 1 }) { totalCount } }', /spec\.replicas/],
  ['{ pods(orderBy: { path: "spec.node" }) { totalCount } }', /spec\.node/],
  ['{ secrets(where: { path: "data.token", eq: "x" }) { totalCount } }', /only the metadata of Secret is mirrored/],
  ['{ secrets(where: { and: { not: { path: "data.token", exists: true } } }) { totalCount } }', /only the metadata of Secret is mirrored/],
  ['{ secrets(orderBy: { path: "type" }) { totalCount } }', /only the metadata of Secret is mirrored/],
  ['{ secret(cluster: "north", namespace: "shop", name: "a") { id } }', /live: true/],
  [
    '{ resources(kinds: ["Secret", "ConfigMap"], where: { path: "data.password", exists: true }) { totalCount } }',
    /only the metadata of Secret is mirrored, got data\.password; or kinds without Secret/,
  ],
  [
    '{ resources(where: { or: { path: "[\\"data\\"].password", exists: true } }) { totalCount } }',
    /only the metadata of Secret is mirrored/,
  ],
  ['{ resources(kinds: ["ConfigMap", "Secret"], orderBy: { path: "data.a" }) { totalCount } }', /only the metadata of Secret is mirrored/],
])('refuses %s with the reason', async (query, message) => {
  expect(await refusal(graphWithPods(), query)).toMatch(message);
});

test('limits hold for variables too', async () => {
  const graph = graphWithPods();
  const query = 'query ($first: Int, $wait: Float) { pods(first: $first, waitSeconds: $wait) { totalCount } }';
  expect(await refusal(graph, query, { first: 501 })).toBe('expected first from 1 to 500, got 501');
  expect(await refusal(graph, query, { wait: 1e9 })).toBe('expected waitSeconds from 0 to 60, got 1000000000');
  expect((await graph.ask(query, { first: 2 ** 31 })).errors?.[0]?.message).toMatch(/Int/);
  expect((await graph.ask(query, { first: null, wait: null })).at('pods.totalCount')).toBe(3);
});

test('A16: refuses a selector of 10,000 terms, and a long one, at once', async () => {
  const graph = graphWithPods();
  const query = 'query ($labels: String) { pods(labels: $labels) { totalCount } }';
  const labels = Array.from({ length: 10_000 }, (_, index) => `k${index}=v`).join(',');
  await refusal(graph, query, { labels });
  await refusal(graph, query, { labels: `a in (${'x,'.repeat(100_000)}x)` });
  await refusal(graph, 'query ($text: String) { pods(search: $text) { totalCount } }', { text: 'x'.repeat(257) });
});

test('A17: one error for every invalid cursor', async () => {
  const graph = graphWithPods();
  const query = 'query ($after: String, $labels: String) { pods(first: 1, after: $after, labels: $labels) { pageInfo { endCursor } } }';
  const cursor = String((await graph.ask(query)).at('pods.pageInfo.endCursor'));
  expect((await graph.ask(query, { after: cursor })).errors).toBeUndefined();

  const flipped = Buffer.from(cursor, 'base64url');
  flipped[20] = (flipped[20] ?? 0) ^ 1;
  const rotated = graphWithPods({ sealKey: new Uint8Array(32).fill(1) });
  const answers = [
    await refusal(graph, query, { after: 'nope' }),
    await refusal(graph, query, { after: '' }),
    await refusal(graph, query, { after: flipped.toString('base64url') }),
    await refusal(graph, query, { after: cursor.slice(0, -4) }),
    await refusal(graph, query, { after: 'A'.repeat(1_000_000) }),
    await refusal(graph, query, { after: cursor }, 'somebody else'),
    await refusal(graph, query, { after: cursor, labels: 'a=b' }),
    await refusal(graph, 'query ($after: String) { nodes(after: $after) { totalCount } }', { after: cursor }),
    await refusal(rotated, query, { after: cursor }),
  ];
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).not.toMatch(/shop|north/);
});

test('a cursor reveals nothing, and each one is different', async () => {
  const graph = graphWithPods();
  const query = '{ pods(first: 1) { edges { cursor } } }';
  const [[one], [two]] = [(await graph.ask(query)).at('pods.edges.cursor'), (await graph.ask(query)).at('pods.edges.cursor')] as [
    [string],
    [string],
  ];
  expect(one).not.toBe(two);
  expect(Buffer.from(one, 'base64url').toString('latin1')).not.toMatch(/shop|north/);
});

test('a hidden cluster looks unknown, with the same bytes, and gets no request', async () => {
  const mirrors = createFakeMirrors(createManualClock());
  const access = createRestrictingAccess({ alice: { north: 'all' } });
  const graph = graphWithPods({ mirrors, access });
  const query = '{ pods(clusters: ["south"]) { totalCount } }';
  const ofUnknown = await refusal(graph, query, {}, 'alice');
  const hidden = mirrors.join('south');
  hidden.discover(pods);

  expect(await refusal(graph, query, {}, 'alice')).toBe(ofUnknown);
  expect((await graph.ask('{ cluster(name: "south") { name } }', {}, { caller: 'alice' })).data).toEqual({ cluster: null });
  expect((await graph.ask('{ clusters { name } pods { sync { cluster { name } } } }', {}, { caller: 'alice' })).data).toEqual({
    clusters: [{ name: 'north' }],
    pods: { sync: [{ cluster: { name: 'north' } }] },
  });
  expect(mirrors.peek(hidden.name, pods)).toBeUndefined();
});

test('next to other kinds, a path that Secrets do not have is allowed', async () => {
  const { ask } = graphWithPods();
  const answer = await ask(
    '{ resources(kinds: ["Secret", "Pod"], where: { path: "spec.nodeName", exists: false }, waitSeconds: 0) { totalCount } }',
  );
  expect(answer.errors).toBeUndefined();
  expect(answer.at('resources.totalCount')).toBe(3);
});
