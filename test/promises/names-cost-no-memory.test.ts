import { expect, test } from 'vitest';
import { codesOf, LiveSocket, type LiveStream } from '../support/clients/live-socket.ts';
import { metricOf, metricsText } from '../support/gateway/metrics-of.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { liveHeapBytes } from '../support/heap.ts';
import { pod } from '../support/workloads.ts';

// C7: "names chosen by clients cost no memory": documents, operations, variables, clusters, ids. Each cache and each metric has its bound.

const seriesIn = async (gateway: TestGateway) =>
  (await metricsText(gateway)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** Excludes the metrics of the process itself, which change on their own. */
const ownSeries = (series: readonly string[]) =>
  series.filter((line) => line.startsWith('muster_')).map((line) => line.slice(0, line.lastIndexOf(' ')));

const begun = ({ seen, completed }: LiveStream) => seen.length > 0 || completed;

/** Opens this many subscriptions, 50 at a time, and completes them after they have begun. */
async function subscribeAll(
  gateway: TestGateway,
  socket: LiveSocket,
  operations: readonly (readonly [text: string, variables: Record<string, string>])[],
) {
  const codes = new Set<string>();
  for (let n = 0; n < operations.length; n += 50) {
    const streams = operations
      .slice(n, n + 50)
      .map(([text, variables], place) => socket.start(text, variables, `${text.length}-${n}-${place}`));
    await gateway.until(() => streams.every(begun));
    for (const stream of streams) stream.stop();
    for (const code of streams.flatMap(codesOf)) codes.add(code);
    await gateway.until(async () => (await metricOf(gateway, 'muster_streams')) === 0);
  }
  return codes;
}

test('C7: thousands of distinct documents and names leave no series and no memory', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  await gateway.query('{ pods { totalCount } }');
  let socket = await LiveSocket.open(gateway.url);
  const round = async (first: number, count: number) => {
    const places = Array.from({ length: count }, (_, n) => first + n);
    const some = places.slice(0, 300);
    const documents = await subscribeAll(
      gateway,
      socket,
      places.map((n) => [`subscription S${n} { pods { a${n}: type cursor added { b${n}: metadata { name } } } }`, {}]),
    );
    expect([...documents]).toEqual([]);
    const views = await subscribeAll(
      gateway,
      socket,
      some.map((n) => ['subscription ($labels: String) { pods(labels: $labels) { type } }', { labels: `app=x${n}` }]),
    );
    expect([...views]).toEqual([]);
    const clusters = await subscribeAll(
      gateway,
      socket,
      some.map((n) => ['subscription ($cluster: [String!]) { pods(clusters: $cluster) { type } }', { cluster: `cluster-${n}` }]),
    );
    expect([...clusters]).toEqual(['BAD_INPUT']);
    const broken = await subscribeAll(
      gateway,
      socket,
      some.map((n) => [`subscription { pods { type nothing${n} } }`, {}]),
    );
    expect([...broken]).toEqual(['BAD_INPUT']);
    for (const n of places.slice(0, 100)) {
      await gateway.ask(`query Q${n} { c${n}: pods { totalCount } }`);
      await gateway.ask(`{ cluster(name: "cluster-${n}") { name } }`);
    }
    socket.close();
    socket = await LiveSocket.open(gateway.url);
  };
  // The cache of documents is full. Further documents replace earlier ones.
  await round(0, 1_100);
  const before = { series: ownSeries(await seriesIn(gateway)), bytes: liveHeapBytes(), sleepers: gateway.clock.sleepers };
  await round(1_100, 1_100);
  const after = { series: ownSeries(await seriesIn(gateway)), bytes: liveHeapBytes(), sleepers: gateway.clock.sleepers };
  expect(after.series).toEqual(before.series);
  expect(after.bytes - before.bytes).toBeLessThan(6 << 20);
  expect(after.sleepers).toBeLessThanOrEqual(before.sleepers + 1);
  expect(after.series.length).toBeLessThan(200);
}, 60_000);

test('headers, user agents, addresses and operation names are no labels of metrics', async () => {
  await using gateway = await startGateway({ north: [pod('web')] });
  const canary = 'canary-7f3a';
  await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': canary, 'x-request-id': canary, 'x-forwarded-for': canary },
    body: JSON.stringify({
      query: `query ${canary.replaceAll('-', '_')} { pods(namespaces: "${canary}", labels: "app=${canary}") { totalCount } }`,
    }),
  });
  const socket = await LiveSocket.open(gateway.url, { user: canary });
  const stream = socket.start(`subscription ${canary.replaceAll('-', '_')} { pods(namespaces: "${canary}") { type } }`, {}, canary);
  await gateway.until(() => begun(stream));
  socket.destroy();
  await gateway.pass(200);
  expect(await metricsText(gateway)).not.toContain('canary');
});
