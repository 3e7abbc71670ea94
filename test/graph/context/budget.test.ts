import { describe, expect, test } from 'vitest';
import { createBudget } from '../../../src/graph/context/budget.ts';
import { maxReads } from '../../../src/load/reads/reads.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const all = [...model.kinds.keys()].map((key) => servedAs(model, key));

function withClusters(count: number): GraphOverMirrors {
  const graph = graphOverMirrors({ model });
  for (let index = 0; index < count; index++) graph.mirrors.join(`c${index}`).discover(...all);
  return graph;
}

function withPods(count: number): GraphOverMirrors {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  north.mirror(pods).list(...Array.from({ length: count }, (_, index) => objectNamed(`pod-${index}`, { namespace: 'shop' })));
  return graph;
}

async function refusal(graph: GraphOverMirrors, query: string) {
  const { errors } = await graph.ask(query);
  return errors?.map(({ message, originalError }) => ({
    message,
    code: (originalError as { readonly code?: string } | undefined)?.code,
  }))[0];
}

const roots = (count: number, fields: string) =>
  `{ ${Array.from({ length: count }, (_, n) => `p${n}: pods(first: 500) ${fields}`).join(' ')} }`;

test('lists inside lists are refused before they are created, with the number and the next step', async () => {
  const graph = withClusters(3);
  const query = '{clusters{kinds{sync{cluster{kinds{sync{cluster{kinds{sync{cluster{kinds{count}}}}}}}}}}}}';
  let handedOut = 0;
  const { servedKinds } = graph.reads;
  Object.assign(graph.reads, {
    servedKinds: (...args: Parameters<typeof servedKinds>) => {
      const kinds = servedKinds(...args);
      handedOut += kinds.length;
      return kinds;
    },
  });
  const refused = await refusal(graph, query);
  expect(refused?.code).toBe('TOO_COSTLY');
  expect(refused?.message).toMatch(/expected at most 10000 objects in one answer.* got 100\d\d so far: narrow the request/);
  expect(handedOut).toBeLessThan(10_000 + 2 * all.length);
});

test('every kind of 100 clusters fits into one answer', async () => {
  const { data, errors } = await withClusters(100).ask('{ clusters { kinds { count sync { phase } } } }');
  expect(errors).toBeUndefined();
  expect((data as { clusters: readonly { kinds: readonly unknown[] }[] }).clusters.flatMap(({ kinds }) => kinds)).toHaveLength(
    100 * all.length,
  );
});

test('P2: ten pages of 500 fit into one answer, and items and edges count separately', async () => {
  const graph = withPods(500);
  expect(await refusal(graph, roots(10, '{ items { metadata { name } } faults { code } sync { phase } }'))).toBeUndefined();
  expect(await refusal(graph, roots(10, '{ items { id } edges { cursor } }'))).toBeUndefined();
  expect((await refusal(graph, roots(10, '{ items { id } edges { cursor } sync { phase } }')))?.code).toBe('TOO_COSTLY');
});

test('one page of 500 with yaml fits into an answer, ten do not', async () => {
  const graph = withPods(500);
  expect(await refusal(graph, roots(1, '{ items { yaml } faults { code } sync { phase } }'))).toBeUndefined();
  expect((await refusal(graph, roots(10, '{ items { yaml } }')))?.code).toBe('TOO_COSTLY');
  const aliases = Array.from({ length: 3 }, (_, index) => `y${index}: yaml`).join(' ');
  expect((await refusal(graph, roots(1, `{ items { ${aliases} } }`)))?.code).toBe('TOO_COSTLY');
});

test.each([
  '{ clusters { faults { cluster { kinds { sync { fault { cluster { kinds { count } } } } } } } } }',
  '{ clusters { kinds { sync { cluster { taints { key } kinds { versions } } } } } }',
  '{ resources { sync { cluster { kinds { count } } } } }',
  '{ resources { faults { cluster { kinds { kind { kind } } } } } }',
])('no way around it: %s', async (query) => {
  const graph = withClusters(0);
  for (let index = 0; index < 40; index++) {
    const cluster = graph.mirrors.join(`c${index}`);
    cluster.discover(...all);
    const fault = { code: 'UNREACHABLE', cluster: cluster.name, message: 'm', retry: 'LATER' } as const;
    for (const kind of all) cluster.mirror(kind).fail({ ...fault });
    cluster.fail(fault);
  }
  expect((await refusal(graph, query))?.code).toBe('TOO_COSTLY');
});

test('each operation has a budget of its own', async () => {
  const graph = withPods(500);
  for (let round = 0; round < 3; round++) expect(await refusal(graph, roots(10, '{ items { id } }'))).toBeUndefined();
});

describe('reads have a limit:', () => {
  const [nodes, services] = [servedAs(model, 'Node'), servedAs(model, 'Service')];

  /** Every Service selects every Pod. */
  function withServices(counts: { readonly pods: number; readonly services: number }): GraphOverMirrors {
    const graph = graphOverMirrors({ model });
    const north = graph.mirrors.join('north');
    north.discover(pods, nodes, services);
    const here = { namespace: 'shop' };
    const named = (name: string, length: number) => Array.from({ length }, (_, index) => `${name}-${index}`);
    north.mirror(nodes).list();
    north
      .mirror(services)
      .list(...named('service', counts.services).map((name) => objectNamed(name, here, { spec: { selector: { app: 'a' } } })));
    north
      .mirror(pods)
      .list(
        ...named('pod', counts.pods).map((name) =>
          objectNamed(name, { ...here, labels: { app: 'a' } }, { spec: { nodeName: name, containers: [{ name: 'c', image: name }] } }),
        ),
      );
    return graph;
  }

  test('pages of relations count their reads, even if they are empty', async () => {
    const graph = withServices({ pods: 500, services: 20 });
    const deep = (first: number) =>
      `{ services(first: ${first}) { items { pods(first: 20) { items { services(first: 20) { items { pods(first: 1) { totalCount } } } } } } } }`;
    const refused = await refusal(graph, deep(20));
    expect(refused?.code).toBe('TOO_COSTLY');
    expect(refused?.message).toMatch(/^expected to read at most 4000000 objects, .* got 4000\d\d\d so far: narrow the lists/);
    expect(await refusal(graph, deep(5))).toBeUndefined();
  });

  test('a million objects in groups by two paths with a sum are within the limit', () => {
    const { countReads: look } = createBudget(() => undefined);
    for (let path = 0; path < 3; path += 1) look(1_000_000);
    look(maxReads - 3_000_000);
    expect(() => look(1)).toThrow('expected to read at most');
    expect(() => look(1), 'and from then on').toThrow('expected to read at most');
  });

  test('reads stop when the client has gone', async () => {
    const gone = new AbortController();
    const budget = createBudget(() => gone.signal.throwIfAborted());
    budget.countReads(1);
    gone.abort(new Error('gone'));
    expect(() => budget.countReads(1)).toThrow('gone');
    expect(() => budget.charge(0)).toThrow('gone');
  });
});
