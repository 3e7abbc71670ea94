import { describe, expect, test } from 'vitest';
import { startControllers } from '../../src/sim/start-controllers.ts';
import { createWireClient, type WireClient, type WireProtocol } from '../support/clients/wire-client.ts';
import { until } from '../support/cluster/transport.ts';
import { createManualClock, turns } from '../support/manual-clock.ts';
import type { SimCluster, SimClusterOptions } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';
import { speakingNode, speakingPod } from '../support/speaking-pods.ts';

const main = { pod: 'web', container: 'main' };
const path = '/api/v1/namespaces/default/pods/web/log';

async function start(options: Partial<SimClusterOptions> = {}): Promise<SimCluster> {
  const cluster = await startSimCluster({ name: 'south', ...options });
  cluster.put(speakingNode);
  cluster.put(speakingPod());
  return cluster;
}

const linesOf = async (client: WireClient, query = '') => (await client.ask(`${path}?${query}`)).text.split('\n').slice(0, -1);

describe.each<WireProtocol>(['h2', 'http1'])('over %s', (protocol) => {
  test('sends the written lines that the query selects', async () => {
    const clock = createManualClock();
    await using south = await start({ clock });
    await using client = createWireClient(south, protocol);
    for (const text of ['a', 'b', 'c']) {
      south.writeLog(main, text);
      await clock.advance(1_500);
    }
    expect(await linesOf(client)).toEqual(['a', 'b', 'c']);
    expect(await linesOf(client, 'tailLines=2')).toEqual(['b', 'c']);
    expect(await linesOf(client, 'sinceTime=2026-01-01T00:00:01.9Z')).toEqual(['b', 'c']);
    expect(await linesOf(client, 'sinceSeconds=2')).toEqual(['c']);
    expect(await linesOf(client, 'timestamps=true&tailLines=1')).toEqual(['2026-01-01T00:00:03.000000003Z c']);
    const cut = await client.ask(`${path}?limitBytes=3`);
    expect([cut.text, cut.headers['content-type']]).toEqual(['a\nb', 'text/plain']);
  });

  test('follows until the container has ended or its Pod is gone', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    const followed = client.ask(`${path}?follow=true`);
    await until(() => south.requests[0]?.status === 200);
    south.writeLog(main, 'a');
    await turns();
    south.put(speakingPod({ states: { main: 'ended' } }));
    expect(await followed).toMatchObject({ text: 'a\n', end: 'clean' });
    south.put(speakingPod({ name: 'other' }));
    const other = client.ask('/api/v1/namespaces/default/pods/other/log?follow=true');
    await until(() => south.requests[1]?.status === 200);
    south.remove('Pod', 'other', 'default');
    expect(await other).toMatchObject({ text: '', end: 'clean' });
  });

  test('keeps the logs of two runs apart', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    const refused = await client.read(`${path}?previous=true`);
    expect([refused.code, refused.message]).toEqual([400, 'previous terminated container "main" in pod "web" not found']);
    south.writeLog(main, 'first');
    south.put(speakingPod({ states: { main: { restarts: 1 } } }));
    south.writeLog(main, 'second');
    expect(await linesOf(client)).toEqual(['second']);
    expect(await linesOf(client, 'previous=true')).toEqual(['first']);
  });

  test('explains why there is no log, as a kubelet does', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    const messageFor = async (pod: Parameters<typeof speakingPod>[0]) => {
      south.put(speakingPod(pod));
      return (await client.read(path)).message;
    };
    const which = 'container "main" in pod "web"';
    expect(await messageFor({ states: { main: 'waiting' } })).toBe(`${which} is waiting to start: ContainerCreating`);
    expect(await messageFor({ states: { main: { waiting: 'ImagePullBackOff' } } })).toBe(
      `${which} is waiting to start: trying and failing to pull image`,
    );
    const { status: _, ...unknown } = speakingPod();
    south.put(unknown);
    expect((await client.read(path)).message).toBe(`${which} is not available`);
  });

  test('needs its own permission', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    using _forbidden = south.forbid({ resource: 'pods/log' });
    const { code, message } = await client.read(path);
    expect([code, message]).toEqual([
      403,
      'pods "web" is forbidden: User "admin" cannot get resource "pods/log" in API group "" in the namespace "default"',
    ]);
    expect((await client.ask('/api/v1/namespaces/default/pods/web')).status).toBe(200);
  });
});

test('keeps the last 10,000 lines of a run', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  for (let n = 0; n < 3; n++) south.writeLog(main, ...Array.from({ length: 4_000 }, (_, index) => String(n * 4_000 + index)));
  const lines = await linesOf(client);
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([10_000, '2000', '11999']);
});

test('generates the same lines for every reader, and continues them', async () => {
  const clock = createManualClock({ startMs: Date.UTC(2026, 0, 1, 0, 1) });
  await using south = await start({ clock, generatesLogs: true });
  await using client = createWireClient(south, 'h2');
  const lines = await linesOf(client, 'timestamps=true');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines[0]).toMatch(/^2026-01-01T00:00:00\.\d{9}Z level=info msg=starting$/);
  expect(lines).toEqual(lines.toSorted());
  await using other = createWireClient(south, 'http1');
  const followed = other.ask(`${path}?timestamps=true&follow=true`);
  await until(() => south.requests[1]?.status === 200);
  await clock.advance(30_000);
  south.put(speakingPod({ states: { main: 'ended' } }));
  const told = (await followed).text.split('\n').slice(0, -1);
  expect(told.slice(0, lines.length)).toEqual(lines);
  expect(told.length).toBeGreaterThan(lines.length + 5);
  expect(new Set(told).size).toBe(told.length);
  expect(told.some((line) => line >= '2026-01-01T00:01:20')).toBe(true);
});

test('a crashing pod counts a restart when it restarts, and has the log of the previous run', async () => {
  const clock = createManualClock();
  const end = new AbortController();
  await using south = await startSimCluster({ name: 'south', clock, generatesLogs: true });
  await using client = createWireClient(south, 'h2');
  const crashing = speakingPod({ annotations: { 'sim/outcome': 'crash' } });
  const living = startControllers(south, { clock, objects: [] }, end.signal);
  south.put(speakingNode);
  south.put(crashing);
  const statusNow = () =>
    JSON.stringify((south.get('Pod', 'web', 'default')?.status as { containerStatuses?: unknown })?.containerStatuses);
  await clock.advance(6_000);
  expect(statusNow()).toContain('CrashLoopBackOff');
  expect(statusNow()).toContain('"restartCount":0');
  expect((await linesOf(client)).length).toBeGreaterThan(0);
  await clock.advance(12_000);
  expect(statusNow()).toContain('"restartCount":1');
  expect((await linesOf(client, 'previous=true')).length).toBeGreaterThan(0);
  end.abort();
  await living;
});
