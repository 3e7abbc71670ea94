import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import type { ChangeType } from '../../../src/streams/messages/changes-message.ts';
import { graphOfMessages, kindOf, messageOf, named, nowMs, rowIn, viewOf } from '../../support/graph/graph-messages.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';

const graph = graphOfMessages();
const { model } = graph;
const north = viewOf('north', { region: 'eu', asOfMs: nowMs - 1_500 });
const pod = (name: string) => rowIn(model, north, { key: 'Pod', object: objectNamed(name, { namespace: 'shop' }) });
const gone: Fault = { code: 'GONE', cluster: named('north'), kind: { group: '', kind: 'Pod' }, message: 'left', retry: 'NEVER' };

async function dataOf(query: string, message: object): Promise<unknown> {
  const { result } = await graph.render(query, message);
  expect(result).not.toBeInstanceOf(Promise);
  const { data, errors } = await result;
  expect(errors).toBeUndefined();
  return JSON.parse(JSON.stringify(data));
}

test('a message is returned with its objects and its cluster', async () => {
  const message = messageOf(model, { cluster: north, added: [pod('a')], modified: [pod('b'), pod('c')], deleted: [pod('d')] });
  const query = `subscription { pods {
    __typename type cursor fault { code } cluster { name region phase asOf ageSeconds }
    added { id kind apiVersion metadata { name namespace } cluster { name } sync { phase } } modified { metadata { name } } deleted { metadata { name } object }
  } }`;
  expect(await dataOf(query, message)).toMatchObject({
    pods: {
      __typename: 'PodChanges',
      type: 'LIVE',
      cursor: 'cursor',
      fault: null,
      cluster: { name: 'north', region: 'eu', phase: 'SYNCED', asOf: '2025-12-31T23:59:58.500Z', ageSeconds: 1.5 },
      added: [
        {
          kind: 'Pod',
          apiVersion: 'v1',
          metadata: { name: 'a', namespace: 'shop' },
          cluster: { name: 'north' },
          sync: { phase: 'SYNCED' },
        },
      ],
      modified: [{ metadata: { name: 'b' } }, { metadata: { name: 'c' } }],
      deleted: [{ metadata: { name: 'd' }, object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'd' } } }],
    },
  });
});

test.each<ChangeType>(['INITIAL', 'SYNCED', 'LIVE', 'RESET', 'BOOKMARK', 'FAILED'])('%s is a message of its own', async (type) => {
  expect(await dataOf('subscription { pods { type added { id } modified { id } deleted { id } } }', messageOf(model, { type }))).toEqual({
    pods: { type, added: [], modified: [], deleted: [] },
  });
});

test('a fault has the cluster of its message, also after the cluster has left', async () => {
  const cluster = viewOf('north', { region: 'eu', faults: [{ ...gone, code: 'INSECURE' }] });
  const query =
    'subscription { pods { fault { code retry cluster { name region faults { code cluster { name region } } } kind { kind } } } }';
  expect(await dataOf(query, messageOf(model, { type: 'FAILED', cluster, fault: gone }))).toEqual({
    pods: {
      fault: {
        code: 'GONE',
        retry: 'NEVER',
        cluster: { name: 'north', region: 'eu', faults: [{ code: 'INSECURE', cluster: { name: 'north', region: 'eu' } }] },
        kind: { kind: 'Pod' },
      },
    },
  });
});

test('a message of a stream of several kinds names its kind and types its objects', async () => {
  const row = rowIn(model, north, { key: 'ConfigMap', object: objectNamed('settings', { namespace: 'shop' }, { data: { a: '1' } }) });
  const query = 'subscription { resources(kinds: ["po", "cm"]) { kind { kind many } added { __typename ... on ConfigMap { data } } } }';
  expect(await dataOf(query, messageOf(model, { kind: kindOf(model, 'ConfigMap'), added: [row] }))).toEqual({
    resources: { kind: { kind: 'ConfigMap', many: 'configMaps' }, added: [{ __typename: 'ConfigMap', data: { a: '1' } }] },
  });
});

test('fragments on Changes work for every kind', async () => {
  const query = 'subscription { nodes { ...C } } fragment C on Changes { __typename type cluster { name } cursor }';
  expect(await dataOf(query, messageOf(model, { kind: kindOf(model, 'Node') }))).toEqual({
    nodes: { __typename: 'NodeChanges', type: 'LIVE', cluster: { name: 'north' }, cursor: 'cursor' },
  });
});

test('the cursor is sealed only if it is selected', async () => {
  const message = Object.defineProperty({ ...messageOf(model) }, 'cursor', {
    get: () => {
      throw new Error('expected no cursor');
    },
  });
  expect(await dataOf('subscription { pods { type } }', message)).toEqual({ pods: { type: 'LIVE' } });
});

test('each message has a budget of its own, and a larger one is refused', async () => {
  const added = Array.from({ length: 500 }, (_, index) => pod(`pod-${index}`));
  const selected = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: added { id }`).join(' ');
  const message = messageOf(model, { added });
  for (let round = 0; round < 2; round++) await dataOf(`subscription { pods { ${selected(20)} } }`, message);
  const { result } = await graph.render(`subscription { pods { ${selected(21)} } }`, message);
  const { errors } = await result;
  expect(errors?.map(({ originalError }) => originalError)).toMatchObject([{ code: 'TOO_COSTLY' }]);
});

test('the arguments reach load unchanged', async () => {
  const { subscribe, asked } = graphOfMessages();
  const filter = { clusters: ['north'], namespaces: ['shop'], labels: 'a=b', where: { path: 'spec.nodeName', eq: 'n' }, search: 'x' };
  const query = `subscription ($clusters: [String!], $namespaces: [String!], $labels: String, $where: Where, $search: String, $after: String) {
    pods(clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, search: $search, after: $after) { type }
  }`;
  await subscribe(query, { ...filter, after: 'cursor' });
  await subscribe('subscription { resources(kinds: "po", namespaces: "shop") { type } }');
  await subscribe('subscription { jobStatus(labels: "batch=nightly", after: null) { type } }');
  expect(JSON.parse(JSON.stringify(asked.map(({ method, args }) => [method, args.at(-1)])))).toEqual([
    ['changes', { ...filter, after: 'cursor' }],
    ['changesOfKinds', { namespaces: ['shop'] }],
    ['jobStatus', { labels: 'batch=nightly', after: null }],
  ]);
  expect(asked.map(({ args }) => args[0])).toEqual([
    kindOf(model, 'Pod'),
    { model: expect.anything(), kinds: ['po'] },
    kindOf(model, 'Job.batch'),
  ]);
});
