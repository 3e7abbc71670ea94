import { expect, test } from 'vitest';
import type { ClusterApi } from '../../src/cluster/cluster-api.ts';
import { readTraceSettings } from '../../src/config/trace-settings.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Log } from '../../src/core/log.ts';
import { clusterName } from '../../src/core/names.ts';
import { openTraces } from '../../src/traces/open-traces.ts';
import { attributesOf, collectorOf } from '../support/collector.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

async function tracesTo(url: string) {
  const warnings: string[] = [];
  const ignore = () => undefined;
  const log: Log = { debug: ignore, info: ignore, warn: (_fields, message) => void warnings.push(message), error: ignore };
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '10' };
  const settings = readTraceSettings(undefined, variables);
  if (settings === undefined) throw new Error('expected settings');
  const traces = await openTraces({ settings, version: '0.0.0', clock: systemClock, log });
  traces.nameKinds(loadBaseline);
  return { traces, warnings };
}

const api: ClusterApi = {
  cluster: clusterName('north'),
  connectionFaults: [],
  async *list() {},
  async *watch() {},
  async *logs() {
    yield { type: 'opened' };
    yield { type: 'closed' };
  },
  send: async ({ method }) =>
    method === 'GET'
      ? { type: 'answered', status: 200, body: new Uint8Array() }
      : { type: 'failed', fault: { code: 'FORBIDDEN', cluster: clusterName('north'), message: 'no', retry: 'NEVER' } },
};

const signal = new AbortController().signal;
const noHeader = () => undefined;
const path = ['api', 'v1', 'namespaces', 'shop', 'pods', 'web'];

test('F8: an operation has a span with one child for each call that it makes before its end', async () => {
  using collector = await collectorOf(200);
  const { traces } = await tracesTo(collector.url);
  const traced = traces.traced(api);
  const operation = traces.begin({ type: 'query', name: 'Web', requestId: 'r1', transport: 'http', header: noHeader });
  await operation?.run(async () => {
    await traced.send({ method: 'GET', path }, signal);
    await traced.send({ method: 'DELETE', path }, signal);
    for await (const _ of traced.logs({} as never, signal));
    for await (const _ of traced.list({} as never, signal));
    operation?.end({ isFailed: false, faults: 2 });
    await traced.send({ method: 'GET', path }, signal);
  });
  await traced.send({ method: 'GET', path }, signal);
  await traces[Symbol.asyncDispose]();
  const [root, ...others] = collector.spans.filter(({ parentSpanId }) => !parentSpanId);
  expect(others).toEqual([]);
  expect([root?.name, root && attributesOf(root)]).toEqual([
    'query',
    { 'graphql.operation.name': 'Web', 'muster.request_id': 'r1', 'muster.transport': 'http', 'muster.faults': 2 },
  ]);
  const calls = collector.spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
  expect(calls.map((span) => [span.name, span.status.code ?? 0, attributesOf(span)])).toEqual([
    ['get', 0, { 'k8s.cluster.name': 'north', 'muster.kind': 'Pod', 'http.response.status_code': 200 }],
    ['delete', 2, { 'k8s.cluster.name': 'north', 'muster.kind': 'Pod' }],
    ['get', 0, { 'k8s.cluster.name': 'north', 'muster.kind': 'Pod', 'http.response.status_code': 200 }],
  ]);
});

test('an operation whose caller does not record its trace has no spans', async () => {
  using collector = await collectorOf(200);
  const { traces } = await tracesTo(collector.url);
  const begun: boolean[] = [];
  for (const flags of ['00', '01']) {
    const parent = `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`;
    const header = (name: string) => (name === 'traceparent' ? parent : undefined);
    const operation = traces.begin({ type: 'query', name: flags, requestId: flags, transport: 'http', header });
    begun.push(operation !== undefined);
    operation?.end({ isFailed: true, faults: 0 });
  }
  await traces[Symbol.asyncDispose]();
  expect(begun).toEqual([false, true]);
  expect(collector.spans.map((span) => [span.parentSpanId, span.status.code])).toEqual([['00f067aa0ba902b7', 2]]);
});

test('F8: a collector that refuses spans costs one warning', async () => {
  using collector = await collectorOf(400);
  const { traces, warnings } = await tracesTo(collector.url);
  for (const requestId of ['r1', 'r2', 'r3']) {
    traces.begin({ type: 'query', name: undefined, requestId, transport: 'sse', header: noHeader })?.end({ isFailed: false, faults: 0 });
    await systemClock.sleep(50, signal);
  }
  await traces[Symbol.asyncDispose]();
  expect(warnings).toEqual(['the collector of traces takes no spans: they are lost']);
});
