import { describe, expect, test } from 'vitest';
import { type LiveStream, transports } from '../support/clients/live-socket.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { speakingNode, speakingPod } from '../support/speaking-pods.ts';

// "Logs of all clusters in one answer, or one stream": each line once and in order, a fault for each container without a log, and nothing
// left behind by clients that have gone.

interface Batch {
  readonly type: 'LINES' | 'ENDED' | 'FAILED';
  readonly cluster: { readonly name: string };
  readonly pod: string;
  readonly container: string;
  readonly lines: readonly { readonly time: string; readonly text: string }[];
  readonly dropped: number;
  readonly fault: { readonly code: string } | null;
}

const followed = `subscription($labels: String) {
  podLogs(labels: $labels, tailLines: 1000) { type cluster { name } pod container lines { time text } dropped fault { code } }
}`;

const batchesIn = ({ seen }: LiveStream) => seen.map(({ data }) => data?.podLogs as Batch);
const linesIn = (stream: LiveStream, cluster: string, pod = 'web') =>
  batchesIn(stream)
    .filter((batch) => batch.cluster.name === cluster && batch.pod === pod)
    .flatMap(({ lines }) => lines.map(({ text }) => text));
const codesIn = (stream: LiveStream) => batchesIn(stream).flatMap(({ fault }) => (fault === null ? [] : [fault.code]));

const main = { pod: 'web', container: 'main' };
const here = { labels: { app: 'web' } };

const startTwo = () => startGateway({ north: [speakingNode, speakingPod(here)], south: [speakingNode, speakingPod(here)] });

const openLogs = (gateway: TestGateway, name: string) =>
  gateway.cluster(name).requests.filter(({ resource, endedMs }) => resource?.subresource === 'log' && endedMs === undefined).length;

test('one query reads the logs of all clusters, and reports those that it could not read', async () => {
  await using gateway = await startTwo();
  gateway.cluster('north').writeLog(main, 'north one', 'north two');
  gateway.cluster('south').writeLog(main, 'south one');
  gateway.cluster('south').put(speakingPod({ ...here, name: 'waits', states: { main: 'waiting' } }));
  await gateway.pass(1_000);
  const query = `{ podLogs(labels: "app=web", tailLines: 1) {
    cluster { name } namespace pod container text lines { time text } truncated fault { code retry }
  } }`;
  const { podLogs } = await gateway.query<{ readonly podLogs: readonly (Batch & { readonly text: string })[] }>(query);
  expect(podLogs.map(({ cluster, pod, text, fault }) => [cluster.name, pod, text, fault])).toEqual([
    ['north', 'web', 'north two\n', null],
    ['south', 'waits', '', { code: 'NOT_FOUND', retry: 'LATER' }],
    ['south', 'web', 'south one\n', null],
  ]);
  expect(podLogs[0]?.lines[0]?.time).toMatch(/^2026-01-01T00:00:\d\d\.\d+Z$/);
});

test('a cluster with unknown Pods is a fault next to the answer', async () => {
  await using gateway = await startGateway(
    { north: [speakingNode, speakingPod(here)], south: [] },
    { before: (cluster) => void cluster('south').forbid({ kind: 'Pod' }) },
  );
  gateway.cluster('north').writeLog(main, 'one');
  const { data, extensions } = await gateway.ask<{ readonly podLogs: readonly { readonly text: string }[] }>('{ podLogs { text } }');
  expect(data?.podLogs).toEqual([{ text: 'one\n' }]);
  expect(JSON.stringify(extensions?.faults)).toContain('FORBIDDEN');
});

test('the logs of Pods come with the Pods', async () => {
  await using gateway = await startTwo();
  gateway.cluster('south').writeLog(main, 'south one');
  const { pods } = await gateway.query<{ readonly pods: { readonly items: readonly unknown[] } }>(
    '{ pods(clusters: "south") { items { logs { container text fault { code } } } } }',
  );
  expect(pods.items).toEqual([{ logs: { container: 'main', text: 'south one\n', fault: null } }]);
});

describe.each(transports)('over %s', (transport) => {
  test('one stream follows all clusters, later Pods and further runs', async () => {
    await using gateway = await startTwo();
    gateway.cluster('north').writeLog(main, 'one');
    const stream = await gateway.subscribe(followed, { labels: 'app=web' }, transport);
    await gateway.until(() => linesIn(stream, 'north').length === 1);
    gateway.cluster('south').writeLog(main, 'other');
    gateway.cluster('south').put(speakingPod({ ...here, name: 'late' }));
    gateway.cluster('south').writeLog({ pod: 'late', container: 'main' }, 'late');
    await gateway.until(() => linesIn(stream, 'south').length === 1 && linesIn(stream, 'south', 'late').length === 1);
    gateway.cluster('north').writeLog(main, 'two');
    gateway.cluster('north').put(speakingPod({ ...here, states: { main: { restarts: 1 } } }));
    gateway.cluster('north').writeLog(main, 'three');
    await gateway.until(() => linesIn(stream, 'north').length === 3);
    const north = batchesIn(stream).filter(({ cluster }) => cluster.name === 'north');
    expect(north.flatMap(({ type, lines }) => (type === 'LINES' ? lines.map(({ text }) => text) : [type]))).toEqual([
      'one',
      'two',
      'ENDED',
      'three',
    ]);
    stream.stop();
    await gateway.until(() => openLogs(gateway, 'north') + openLogs(gateway, 'south') === 0);
  });

  test('a cluster that is cut off again and again: each line once, in order; the others never wait', async () => {
    await using gateway = await startTwo();
    const stream = await gateway.subscribe(followed, { labels: 'app=web' }, transport);
    await gateway.until(() => openLogs(gateway, 'north') === 1 && openLogs(gateway, 'south') === 1);
    const written: string[] = [];
    for (let round = 0; round < 6; round++) {
      for (const cluster of ['north', 'south']) gateway.cluster(cluster).writeLog(main, `${round} a`, `${round} b`);
      written.push(`${round} a`, `${round} b`);
      gateway.cluster('north').disconnect();
      gateway.cluster('north').writeLog(main, `${round} c`);
      gateway.cluster('south').writeLog(main, `${round} c`);
      written.push(`${round} c`);
      await gateway.until(() => linesIn(stream, 'south').length === written.length, 1_000);
      await gateway.until(() => linesIn(stream, 'north').length === written.length);
    }
    expect(linesIn(stream, 'north')).toEqual(written);
    expect(linesIn(stream, 'south')).toEqual(written);
    expect(new Set(codesIn(stream))).toEqual(new Set(['UNREACHABLE']));
    expect(stream.completed).toBe(false);
  });

  test('a reader that takes nothing loses the oldest lines, and learns how many', async () => {
    await using gateway = await startTwo();
    const stream = await gateway.subscribe(followed, { labels: 'app=web' }, transport);
    await gateway.until(() => openLogs(gateway, 'north') === 1);
    const paused = stream.pauseReading();
    let count = 0;
    for (let round = 0; round < 60; round++) {
      gateway.cluster('north').writeLog(main, ...Array.from({ length: 500 }, () => `${count++}`.padEnd(1_000, '.')));
      await gateway.pass(200);
    }
    paused[Symbol.dispose]();
    const told = () => batchesIn(stream).reduce((sum, { lines, dropped }) => sum + lines.length + dropped, 0);
    await gateway.until(() => told() === count);
    let next = 0;
    for (const { dropped, lines } of batchesIn(stream)) {
      next += dropped;
      for (const { text } of lines) expect(Number.parseInt(text, 10)).toBe(next++);
    }
    expect(batchesIn(stream).some(({ dropped }) => dropped > 1_000)).toBe(true);
  });

  test('a client that disconnects leaves no request, no lease and no timer', async () => {
    await using gateway = await startTwo();
    const open = async () => {
      const stream = await gateway.subscribe(followed, {}, transport);
      await gateway.until(() => openLogs(gateway, 'north') > 0 && openLogs(gateway, 'south') > 0);
      return stream;
    };
    (await open()).destroy();
    await gateway.until(() => openLogs(gateway, 'north') + openLogs(gateway, 'south') === 0);
    await gateway.pass(1_000);
    const before = gateway.clock.sleepers;
    for (let round = 0; round < 10; round++) (await open()).destroy();
    await gateway.until(() => openLogs(gateway, 'north') + openLogs(gateway, 'south') === 0);
    await gateway.pass(1_000);
    // The connections themselves have one or two more or fewer timers. Ten streams would have left ten.
    expect(Math.abs(gateway.clock.sleepers - before)).toBeLessThan(5);
  });
});
