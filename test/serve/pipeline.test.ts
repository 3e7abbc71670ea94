import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { podChanges } from '../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { rawRequest } from '../support/serving/start-serving.ts';
import { deployment, pod } from '../support/workloads.ts';

// The chosen packages do the work. This file counts what ran inside of them. Add the counts of another package here.

/** Calls of Yoga's hooks since the last test began. */
const counts = vi.hoisted(() => new Map<string, number>());

vi.mock('graphql-yoga', async (load) => {
  const yoga = await load<typeof import('graphql-yoga')>();
  const count = (hook: string) => () => void counts.set(hook, (counts.get(hook) ?? 0) + 1);
  const hooks = [
    ...['onRequest', 'onRequestParse', 'onParams', 'onEnveloped', 'onParse', 'onValidate', 'onContextBuilding'],
    ...['onExecute', 'onSubscribe', 'onExecutionResult', 'onResultProcess', 'onResponse'],
  ];
  const counting = Object.fromEntries(hooks.map((hook) => [hook, count(hook)]));
  return {
    ...yoga,
    createYoga: (options: Parameters<typeof yoga.createYoga>[0]) =>
      yoga.createYoga({ ...options, plugins: [...(options.plugins ?? []), counting] }),
  };
});

const once = (...hooks: readonly string[]) => Object.fromEntries(hooks.map((hook) => [hook, 1]));
const engine = ['onEnveloped', 'onParse', 'onValidate', 'onContextBuilding'];
const http = ['onRequest', 'onRequestParse', 'onParams', 'onExecutionResult', 'onResultProcess', 'onResponse'];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [deployment('web'), pod('web-1')] });
});
beforeEach(() => counts.clear());
afterAll(() => gateway[Symbol.asyncDispose]());

test('a query with relations runs through all hooks', async () => {
  const { deployments } = await gateway.query<{ deployments: { items: readonly object[] } }>(
    '{ deployments { items { metadata { name } pods { items { metadata { name } } } } } }',
  );
  expect(deployments.items).toHaveLength(1);
  expect(Object.fromEntries(counts)).toEqual(once(...http, ...engine, 'onExecute'));
});

test('a mutation runs through all hooks', async () => {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace: 'default' }, data: { color: 'blue' } };
  const { apply } = await gateway.query<{ apply: { __typename: string } }>(
    'mutation ($manifest: Manifest!) { apply(clusters: ["north"], manifests: [$manifest]) { __typename } }',
    { manifest: { json: manifest } },
  );
  expect(apply).toEqual({ __typename: 'Outcome' });
  expect(Object.fromEntries(counts)).toEqual(once(...http, ...engine, 'onExecute'));
});

test('a query by GET runs through all hooks', async () => {
  const { status, text } = await rawRequest(gateway.url, { path: '/graphql?query={__typename}' });
  expect([status, text]).toEqual([200, '{"data":{"__typename":"Query"}}']);
  expect(Object.fromEntries(counts)).toEqual(once(...http, ...engine, 'onExecute'));
});

test('GraphiQL and OPTIONS are answered by Yoga', async () => {
  const page = await rawRequest(gateway.url, { headers: { accept: 'text/html', 'accept-encoding': 'br' } });
  expect([page.status, Object.fromEntries(counts)]).toEqual([200, once('onResponse')]);
  counts.clear();
  expect((await rawRequest(gateway.url, { method: 'OPTIONS' })).status).toBe(204);
  expect(Object.fromEntries(counts)).toEqual(once('onResponse'));
});

// Messages are executed and encoded once for all streams of a group, and sent by our own transports. So no hook runs for them.
test.each([
  ['sse', [...http, ...engine, 'onSubscribe']],
  ['websocket', [...engine, 'onSubscribe']],
] as const)(
  'a subscription over %s is parsed, validated and subscribed by Yoga; its messages are sent by our code',
  async (transport, hooks) => {
    const stream = await gateway.subscribe(podChanges, {}, transport);
    await gateway.until(() => stream.seen.length > 0);
    gateway.cluster('north').put(pod(`one-more-${transport}`));
    const before = stream.seen.length;
    await gateway.until(() => stream.seen.length > before);
    expect(Object.fromEntries(counts)).toEqual(once(...hooks));
    stream.stop();
  },
);

test('a query over a WebSocket runs through the engine', async () => {
  const stream = await gateway.subscribe('{ pods { totalCount } }', {}, 'websocket');
  await gateway.until(() => stream.completed);
  expect(Object.fromEntries(counts)).toEqual(once(...engine, 'onExecute'));
});
