import { describe, expect, test } from 'vitest';
import type { GroupView, ListPage } from '../../../src/load/reads/reads.ts';
import type { FakeCluster } from '../../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { readContext } from '../../support/graph/read-context.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const nodes = servedAs(model, 'Node');
const deployments = servedAs(model, 'Deployment.apps');
const secrets = servedAs(model, 'Secret');

function podOf(
  name: string,
  { node, cpu, namespace = 'shop' }: { readonly node?: string; readonly cpu?: string; readonly namespace?: string },
) {
  const containers = [{ name: 'main', image: 'web:1', resources: cpu === undefined ? {} : { requests: { cpu } } }];
  return objectNamed(
    name,
    { namespace, labels: { app: name } },
    { spec: { containers, ...(node === undefined ? {} : { nodeName: node }) } },
  );
}

function withPods(options: Parameters<typeof graphOverMirrors>[0] = {}): GraphOverMirrors & { readonly north: FakeCluster } {
  const graph = graphOverMirrors({ model, ...options });
  const [north, south] = [graph.mirrors.join('north'), graph.mirrors.join('south')];
  for (const cluster of [north, south]) cluster.discover(pods, nodes, deployments, secrets);
  north
    .mirror(pods)
    .list(
      podOf('a', { node: 'n1', cpu: '250m' }),
      podOf('b', { node: 'n1', cpu: '1' }),
      podOf('c', { node: 'n2', cpu: '64' }),
      podOf('d', {}),
    );
  south.mirror(pods).list(podOf('a', { node: 's1', cpu: '500m' }));
  north.mirror(nodes).list(objectNamed('n1'), objectNamed('n2'));
  south.mirror(nodes).list(objectNamed('s1'));
  for (const cluster of [north, south]) cluster.mirror(secrets).list();
  return { ...graph, north };
}

const cpu = 'spec.containers.resources.requests.cpu';

test('sums, extremes and groups are of all pages and clusters, whatever the page', async () => {
  const { data, errors } = await withPods().ask(`{
    pods(first: 1) {
      items { metadata { name } }
      sum(path: "${cpu}") { text value } none: sum(path: "spec.priority") { text }
      min(path: "spec.nodeName") max(path: "spec.nodeName") lacking: max(path: "spec.hostname")
      groups(by: "cluster.name") { keys count sum(path: "${cpu}") { text } max(path: "metadata.name") }
      sorted: groups(by: ["spec.nodeName"], orderBy: KEY_ASC, first: 3) { keys count }
      missing: groups(by: ["cluster.name", "spec.nodeName"], orderBy: KEY_ASC) { keys }
    }
  }`);
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    pods: {
      items: [{ metadata: { name: 'a' } }],
      sum: { text: '65750m', value: 65.75 },
      none: null,
      min: 'n1',
      max: 's1',
      lacking: null,
      groups: [
        { keys: ['north'], count: 4, sum: { text: '65250m' }, max: 'd' },
        { keys: ['south'], count: 1, sum: { text: '500m' }, max: 'a' },
      ],
      sorted: [
        { keys: ['n1'], count: 2 },
        { keys: ['n2'], count: 1 },
        { keys: ['s1'], count: 1 },
      ],
      missing: [
        ['north', 'n1'],
        ['north', 'n2'],
        ['north', null],
        ['south', 's1'],
      ].map((keys) => ({ keys })),
    },
  });
});

test('aggregates cover the objects that match the filter, and of several kinds those with the path', async () => {
  const { at, errors } = await withPods().ask(`{
    pods(clusters: "north", where: { path: "spec.nodeName", eq: "n1" }) { totalCount sum(path: "${cpu}") { text } }
    resources(kinds: ["Pod", "Node"], first: 1) { groups(by: ["kind"]) { keys count } sum(path: "${cpu}") { text } }
  }`);
  expect(errors).toBeUndefined();
  expect(at('pods')).toEqual({ totalCount: 2, sum: { text: '1250m' } });
  expect(at('resources.groups')).toEqual([
    { keys: ['Pod'], count: 5 },
    { keys: ['Node'], count: 3 },
  ]);
  expect(at('resources.sum.text')).toBe('65750m');
});

test.each([
  [
    'a fragment',
    '{ pods { ...sums } } fragment sums on PodConnection { ...deeper } fragment deeper on Connection { sum(path: "spec.priority") { text } }',
  ],
  ['an inline fragment', '{ pods { ... on PodConnection { ... { min(path: "spec.nodeName") } } } }'],
  ['the field once more', '{ pods { totalCount } pods { groups(by: "kind") { count } } }'],
  ['an alias', '{ pods { totals: groups(by: "kind") { count } } }'],
  ['a directive', 'query ($yes: Boolean = true) { pods { max(path: "spec.nodeName") @include(if: $yes) } }'],
  ['a relation', '{ nodes { items { pods { groups(by: "kind") { count } } } } }'],
  [
    'a relation through a fragment',
    '{ nodes { items { ...x } } } fragment x on Node { pods { ... on Connection { max(path: "metadata.name") } } }',
  ],
])('can be asked through %s', async (_, query) => {
  expect((await withPods().ask(query)).errors).toBeUndefined();
});

test('the connections of relations have aggregates too', async () => {
  const { at } = await withPods().ask(
    `{ nodes(clusters: "north") { items { pods(first: 1) { totalCount sum(path: "${cpu}") { text } } } } }`,
  );
  expect(at('nodes.items.pods')).toEqual([
    { totalCount: 2, sum: { text: '1250m' } },
    { totalCount: 1, sum: { text: '64' } },
  ]);
});

test('aggregates are of the same moment as the page, despite later changes', async () => {
  const graph = withPods();
  const { reads, north } = graph;
  const kind = model.kinds.get('Pod');
  const context = readContext(graph);
  const listed = kind && (await reads.list(context, kind, { aggregated: [] }));
  north.mirror(pods).list();
  const [all] = (await listed?.groups({ by: ['kind'] })) ?? [];
  expect([all?.count, listed?.totalCount]).toEqual([5, 5]);
});

/** Without time slices, groups are values and not promises. */
function groupsOf(groups: ReturnType<ListPage['groups']> | undefined): readonly GroupView[] {
  return groups === undefined || groups instanceof Promise ? [] : groups;
}

test('aggregates count their reads, and a repeated aggregate reads nothing', async () => {
  const graph = withPods();
  const { reads } = graph;
  const kind = model.kinds.get('Pod');
  let looks = 0;
  const look = (some: number) => {
    looks += some;
  };
  const context = readContext(graph, { countReads: look });
  const listed = kind && (await reads.list(context, kind, { where: { path: 'kind', eq: 'Pod' }, aggregated: [] }));
  const sources = 2;
  expect(looks, 'the page itself, which is filtered').toBe(sources + 5);
  const works: readonly [() => unknown, number][] = [
    [() => listed?.sum(cpu), 5],
    [() => listed?.min(cpu), 5],
    [() => listed?.max(cpu), 5],
    [() => listed?.min('spec.priority'), 5],
    [() => listed?.groups({ by: ['kind'] }), 5],
    [() => listed?.groups({ by: ['kind'], first: 1 }), 5],
    [() => listed?.groups({ by: ['kind', 'spec.nodeName'] }), 10],
    [() => groupsOf(listed?.groups({ by: ['kind'] }))[0]?.sum(cpu), 5],
  ];
  for (const [work, expected] of works) {
    looks = 0;
    const first = work();
    expect(looks).toBe(expected);
    expect(work()).toBe(first);
    expect(looks).toBe(expected);
  }
});

describe('is refused:', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'a path that is wrong',
      '{ pods { sum(path: "spec.prioritty") { text } } }',
      'no field spec.prioritty in Pod; did you mean spec.priority?',
    ],
    [
      'a sum of text',
      '{ pods { sum(path: "spec.nodeName") { text } } }',
      'sum: expected a path to numbers or quantities, got spec.nodeName, which is a String',
    ],
    ['the least of objects', '{ pods { min(path: "spec") } }', 'min: expected a path to a single value, got spec, which is a PodSpec'],
    ['more groups than may be asked for', '{ pods { groups(by: "kind", first: 501) { count } } }', 'expected first from 1 to 500, got 501'],
    ['no path', '{ pods { groups(by: []) { count } } }', 'groups: expected 1 to 4 paths to group by, got 0'],
    [
      'the values of a Secret',
      '{ secrets { groups(by: ["data.password"]) { keys } } }',
      'expected a path in metadata or cluster, because only the metadata of Secret is mirrored, got data.password',
    ],
    [
      'the largest value of a Secret among other kinds',
      '{ resources(kinds: ["Pod", "Secret"]) { max(path: "data.password") } }',
      'expected a path in metadata or cluster, because only the metadata of Secret is mirrored, got data.password; or kinds without Secret',
    ],
    [
      'a sum of what a Secret holds',
      '{ secrets { sum(path: "data.x") { text } } }',
      'sum: expected a path to numbers or quantities, got data.x',
    ],
  ];
  test.each(cases)('%s', async (_, query, message) => {
    const { errors } = await withPods().ask(query);
    expect(errors?.map((error) => error.message)).toEqual([expect.stringContaining(message)]);
    expect((errors?.[0]?.originalError as { readonly code?: string } | undefined)?.code).toBe('BAD_INPUT');
  });
});

test('groups count as objects of the answer', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  north.mirror(pods).list(...Array.from({ length: 500 }, (_, index) => podOf(`pod-${index}`, {})));
  const groups = (count: number) =>
    `{ pods(first: 1) { ${Array.from({ length: count }, (_, n) => `g${n}: groups(by: "metadata.name", first: 500) { count }`).join(' ')} } }`;
  expect((await graph.ask(groups(20))).errors).toBeUndefined();
  expect((await graph.ask(groups(21))).errors?.[0]?.message).toContain('expected at most 10000 objects in one answer');
});

const everything = `{ pods(first: 2) {
  totalCount sum(path: "${cpu}") { text value } min(path: "metadata.name") max(path: "metadata.name")
  groups(by: ["metadata.namespace", "metadata.labels.app"]) { keys count sum(path: "${cpu}") { text } max(path: "spec.nodeName") }
} }`;

test('1,000 more hidden objects change no byte of the answer', async () => {
  const { ask, north } = withPods({ access: createRestrictingAccess({ alice: { north: ['shop'] } }) });
  const asAlice = async () => (await ask(everything, {}, { caller: 'alice' })).json;
  const before = await asAlice();
  for (let index = 0; index < 1_000; index++) {
    const hidden = podOf(`hidden-${index}`, { node: 'zzz', cpu: '1Gi', namespace: index % 2 === 0 ? 'aaa' : 'zzz' });
    north.mirror(pods).put(hidden);
  }
  expect(await asAlice()).toBe(before);
  expect(before).toContain('"totalCount":4');
  expect((await ask(everything, {}, { caller: 'nobody' })).at('pods.totalCount')).toBe(0);
});
