import { afterEach, expect, test, vi } from 'vitest';
import * as ids from '../../../src/core/object-ids.ts';
import { testExecutor } from '../../support/graph/executor.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';

vi.mock('../../../src/core/object-ids.ts', { spy: true });

afterEach(() => vi.restoreAllMocks());

const model = loadBaseline();
const pods = servedAs(model, 'Pod');

const podOf = (index: number, app = 'web') => objectNamed(`p${index}`, { namespace: 'shop', labels: { app } });

test.each([
  ['edges', '{ pods { edges { node { id metadata { name labels } } } } }'],
  [
    'edges with a cursor that is skipped',
    '{ pods { edges { __typename node { id metadata { name labels } } here: cursor @skip(if: true) } } }',
  ],
  ['items', '{ pods { items { id metadata { name labels } } } }'],
])('%s are answered from kept texts, also after a change of one object', async (_, query) => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  const mirror = north.mirror(pods);
  mirror.list(...Array.from({ length: 20 }, (_, index) => podOf(index)));
  const executor = testExecutor();
  /** Asks compiled code and graphql-js. Returns how many ids compiled code had to encode. */
  const encodedIds = async () => {
    vi.mocked(ids.idOfObject).mockClear();
    const { json } = await graph.ask(query, {}, { executor });
    const encoded = vi.mocked(ids.idOfObject).mock.calls.length;
    expect(json).toBe((await graph.ask(query)).json);
    return encoded;
  };
  // The first use is that of graphql-js, the second one projects.
  expect([await encodedIds(), await encodedIds(), await encodedIds()]).toEqual([20, 20, 0]);
  mirror.put(podOf(7, 'other'));
  expect([await encodedIds(), await encodedIds()]).toEqual([1, 0]);
  mirror.remove(podOf(3));
  expect(await encodedIds()).toBe(0);
});

test('the cursor of an edge is sealed for each page, next to the kept text of its node', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  north.mirror(pods).list(...Array.from({ length: 10 }, (_, index) => podOf(index)));
  const executor = testExecutor();
  const query = '{ pods { edges { cursor node { id metadata { name } } } pageInfo { endCursor } } }';
  for (const encoded of [10, 10, 0, 0]) {
    vi.mocked(ids.idOfObject).mockClear();
    const { at } = await graph.ask(query, {}, { executor });
    expect(vi.mocked(ids.idOfObject)).toHaveBeenCalledTimes(encoded);
    const cursors = at('pods.edges.cursor') as readonly string[];
    expect(new Set(cursors).size).toBe(10);
    expect(at('pods.pageInfo.endCursor')).toBe(cursors.at(-1));
    const next = await graph.ask('query ($after: String) { pods(first: 1, after: $after) { items { metadata { name } } } }', {
      after: cursors[3],
    });
    expect(next.at('pods.items.metadata.name')).toEqual(['p4']);
  }
});
