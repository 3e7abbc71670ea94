import { graphql } from 'graphql';
import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import { createBudget, maxAnswerObjects } from '../../../src/graph/context/budget.ts';
import type { GraphContext } from '../../../src/graph/context/context.ts';
import type { LogBatchView, LogLineView, Logs, PodLogView } from '../../../src/load/logs/logs.ts';
import { graphOfMessages, messageOf, named, nowMs, rowIn, viewOf } from '../../support/graph/graph-messages.ts';
import { unsliced } from '../../support/graph/unsliced.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';

const north = viewOf('north', { region: 'eu' });
const of = { cluster: north, namespace: 'shop', pod: 'web', container: 'main' };
const lines: readonly LogLineView[] = [{ time: '2026-01-01T00:00:00.123456789Z', text: 'one' }, { text: '' }, { text: 'three' }];
const fault: Fault = { code: 'NOT_FOUND', cluster: named('north'), message: 'no such container', retry: 'NEVER' };

function logOf(log: Partial<PodLogView> = {}): PodLogView {
  return { ...of, lines, truncated: false, ...log };
}

function batchOf(batch: Partial<LogBatchView> = {}): LogBatchView {
  return { ...of, type: 'LINES', lines, dropped: 0, ...batch };
}

const unused = () => Promise.reject(new Error('unused'));

async function ask(query: string, read: Logs['read']) {
  const { schema } = graphOfMessages();
  const contextValue = {
    logs: { read, readOfPod: unused },
    read: {
      caller: { key: 'me' },
      signal: new AbortController().signal,
      reportFault: () => undefined,
      look: () => undefined,
      timeSlices: unsliced,
    },
    clock: { now: () => nowMs },
    budget: createBudget(() => undefined),
  } as unknown as GraphContext;
  const { data, errors } = await graphql({ schema, source: query, contextValue });
  return {
    data: JSON.parse(JSON.stringify(data ?? null)),
    codes: errors?.map(({ originalError }) => (originalError as { readonly code?: string } | undefined)?.code),
  };
}

test('logs are returned as they were read, as lines and as one text', async () => {
  const read = async () => ({ items: [logOf({ truncated: true }), logOf({ lines: [], fault })], faults: [] });
  const query = `{ podLogs {
    cluster { name region } namespace pod container lines { time text } text truncated fault { code cluster { region } }
  } }`;
  const { data, codes } = await ask(query, read);
  expect(codes).toBeUndefined();
  const { cluster, ...names } = of;
  const where = { ...names, cluster: { name: cluster.name, region: 'eu' } };
  expect(data.podLogs).toEqual([
    {
      ...where,
      lines: [
        { time: '2026-01-01T00:00:00.123456789Z', text: 'one' },
        { time: null, text: '' },
        { time: null, text: 'three' },
      ],
      text: 'one\n\nthree\n',
      truncated: true,
      fault: null,
    },
    { ...where, lines: [], text: '', truncated: false, fault: { code: 'NOT_FOUND', cluster: { region: 'eu' } } },
  ]);
});

test('the arguments of logs reach load, with the defaults of the schema', async () => {
  const asked: unknown[] = [];
  const read: Logs['read'] = async (_context, selection, extent) => {
    asked.push(selection, extent);
    return { items: [], faults: [] };
  };
  await ask('{ podLogs { text } }', read);
  expect(asked).toMatchObject([{}, { previous: false, tailLines: 200, limitBytes: 1_048_576 }]);
  asked.length = 0;
  const query = `{ podLogs(
    clusters: "north" namespaces: "shop" labels: "job-name=x" names: "web" container: "main" previous: true
    sinceSeconds: 5 sinceTime: "2026-01-01T00:00:00Z" tailLines: 7 limitBytes: 9
  ) { text } }`;
  await ask(query, read);
  expect(asked[0]).toMatchObject({ clusters: ['north'], namespaces: ['shop'], labels: 'job-name=x', names: ['web'], container: 'main' });
  expect(asked[1]).toMatchObject({ previous: true, sinceSeconds: 5, sinceTime: '2026-01-01T00:00:00Z', tailLines: 7, limitBytes: 9 });
});

test('lines count as objects, text by its length: 20 logs of the default size are an answer, three times the same lines are none', async () => {
  const line = (text: string): LogLineView => ({ text });
  const byDefault = logOf({ lines: Array.from({ length: 200 }, () => line('x'.repeat(100))) });
  const read = (log: PodLogView, count: number) => async () => ({ items: Array.from({ length: count }, () => log), faults: [] });
  expect((await ask('{ podLogs { lines { text } text } }', read(byDefault, 20))).codes).toBeUndefined();
  expect((await ask('{ podLogs { a: lines { text } b: lines { text } c: lines { text } } }', read(byDefault, 20))).codes).toEqual([
    'TOO_COSTLY',
  ]);
  const large = logOf({ lines: [line('x'.repeat(2 ** 20))] });
  expect((await ask('{ podLogs { text } }', read(large, 20))).codes).toBeUndefined();
  const aliases = Array.from({ length: 3 }, (_, index) => `t${index}: text`).join(' ');
  expect((await ask(`{ podLogs { ${aliases} } }`, read(large, 20))).codes).toEqual(['TOO_COSTLY']);
  const short = logOf({ lines: Array.from({ length: maxAnswerObjects }, () => line('')) });
  expect((await ask('{ podLogs { text } }', read(short, 1))).codes).toBeUndefined();
  expect((await ask('{ podLogs { lines { text } } }', read(short, 1))).codes).toEqual(['TOO_COSTLY']);
});

test.each<Partial<LogBatchView>>([{ dropped: 3 }, { type: 'ENDED', lines: [] }, { type: 'FAILED', lines: [], fault }])(
  'a batch of a followed log: %j',
  async (batch) => {
    const graph = graphOfMessages();
    const query =
      'subscription { podLogs { type cluster { name } namespace pod container lines { time text } dropped fault { code cluster { region } } } }';
    const { result } = await graph.render(query, batchOf(batch));
    expect(result).not.toBeInstanceOf(Promise);
    const { data, errors } = await result;
    expect(errors).toBeUndefined();
    const { cluster, ...names } = of;
    expect(JSON.parse(JSON.stringify(data))).toEqual({
      podLogs: {
        ...names,
        cluster: { name: cluster.name },
        type: batch.type ?? 'LINES',
        lines: (batch.lines ?? lines).map(({ time, text }) => ({ time: time ?? null, text })),
        dropped: batch.dropped ?? 0,
        fault: batch.fault === undefined ? null : { code: 'NOT_FOUND', cluster: { region: 'eu' } },
      },
    });
  },
);

test('followed logs start with ten lines each by default', async () => {
  const { subscribe, asked } = graphOfMessages();
  await subscribe('subscription { podLogs(labels: "job-name=x", container: "main") { type } }');
  await subscribe('subscription { podLogs(tailLines: 0, sinceTime: "2026-01-01T00:00:00Z") { type } }');
  expect(asked.map(({ method, args }) => [method, args[1]])).toMatchObject([
    ['follow', { labels: 'job-name=x', container: 'main', tailLines: 10 }],
    ['follow', { tailLines: 0, sinceTime: '2026-01-01T00:00:00Z' }],
  ]);
});

test('the logs of a Pod are read for its row, in a message too', async () => {
  const asked: unknown[] = [];
  const readOfPod: Logs['readOfPod'] = async (_context, row, extent) => {
    asked.push([row.object.metadata.name, extent]);
    return logOf({ pod: row.object.metadata.name });
  };
  const graph = graphOfMessages({ logs: { readOfPod } });
  const added = ['a', 'b'].map((name) => rowIn(graph.model, north, { key: 'Pod', object: objectNamed(name, { namespace: 'shop' }) }));
  const query = 'subscription { pods { added { logs(container: "main", tailLines: 3) { pod text } } } }';
  const { result } = await graph.render(query, messageOf(graph.model, { added }));
  expect(result).toBeInstanceOf(Promise);
  expect(JSON.parse(JSON.stringify((await result).data))).toEqual({
    pods: { added: ['a', 'b'].map((pod) => ({ logs: { pod, text: 'one\n\nthree\n' } })) },
  });
  expect(asked).toEqual(['a', 'b'].map((name) => [name, { container: 'main', previous: false, tailLines: 3 }]));
});
