import { expect, test } from 'vitest';
import { openStream } from '../support/clients/live-socket.ts';
import { attributesOf, collectorOf, type SentSpan } from '../support/collector.ts';
import { podChanges } from '../support/gateway/pod-reader.ts';
import { startGateway } from '../support/gateway/start-gateway.ts';
import { pod } from '../support/workloads.ts';

const startTraced = (collector: string, sampler = 'always_on') =>
  startGateway(
    { north: [pod('web')] },
    {
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_TRACES_SAMPLER: sampler,
        OTEL_BSP_SCHEDULE_DELAY: '10',
      },
    },
  );

const live = '{ pod(cluster: "north", namespace: "default", name: "web", live: true) { metadata { name } } }';
const described = (span: SentSpan) => [span.name, attributesOf(span)['muster.transport'] ?? attributesOf(span)['k8s.cluster.name']];

test('each query has a span, and its request to a cluster is a child of it', async () => {
  using collector = await collectorOf(200);
  await using gateway = await startTraced(collector.url);
  await gateway.query('{ pods { totalCount } }');
  await gateway.query(live);
  await gateway[Symbol.asyncDispose]();
  const roots = collector.spans.filter(({ parentSpanId }) => !parentSpanId);
  expect(roots.map(described)).toEqual([
    ['query', 'http'],
    ['query', 'http'],
  ]);
  const children = collector.spans.filter(({ parentSpanId }) => parentSpanId);
  expect(children.map(described)).toEqual([['get', 'north']]);
  expect(children[0]?.parentSpanId).toBe(roots[1]?.spanId);
});

test.each(['websocket', 'sse'] as const)('the span of a stream over %s ends when its client has gone', async (transport) => {
  using collector = await collectorOf(200);
  await using gateway = await startTraced(collector.url);
  const stream = await openStream(transport, gateway.url, { query: podChanges });
  await gateway.until(() => stream.seen.length > 0);
  expect(collector.spans).toEqual([]);
  stream.destroy();
  await gateway.until(() => collector.spans.length > 0);
  expect(collector.spans.map(described)).toEqual([['subscription', transport]]);
});

test('without a sampled trace, queries are answered and nothing is sent', async () => {
  using collector = await collectorOf(200);
  await using gateway = await startTraced(collector.url, 'always_off');
  expect(await gateway.query(live)).toEqual({ pod: { metadata: { name: 'web' } } });
  await gateway[Symbol.asyncDispose]();
  expect(collector.spans).toEqual([]);
});
