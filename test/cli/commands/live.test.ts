import { afterEach, beforeEach, expect, test } from 'vitest';
import { startCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway({ north: [configMap('old')], south: [] });
});
afterEach(() => gateway[Symbol.asyncDispose]());

function configMap(name: string, text = '1') {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop', labels: { watch: 'me' } }, data: { text } };
}

function job(name: string, condition?: 'Complete' | 'Failed') {
  const conditions = condition === undefined ? [] : [{ type: condition, status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'batch', labels: { batch: 'nightly' } },
    spec: { completions: 1, parallelism: 1, template: { metadata: {}, spec: { restartPolicy: 'Never', containers: [] } } },
    status: { startTime: '2026-01-01T00:00:00Z', conditions, ...(condition === 'Complete' ? { succeeded: 1 } : {}) },
  };
}

test('watch prints existing objects and changes of all clusters over a real socket', async () => {
  const { until, stop, ended, terminal } = startCli(gateway, ['watch', 'cm', '-l', 'watch=me']);
  await until(({ written }) => written.includes('old'));
  gateway.cluster('south').put(configMap('new'));
  await until(({ written }) => written.includes('new'));
  gateway.cluster('south').put(configMap('new', '2'));
  await until(({ written }) => written.includes('MODIFIED'));
  gateway.cluster('north').remove({ group: '', kind: 'ConfigMap' }, 'old', 'shop');
  await until(({ written }) => written.includes('DELETED'));
  const events = terminal.written.split('\n').map((line) => line.split(/ {2,}/).slice(0, 4).join(' '));
  expect(events).toEqual([
    'EVENT CLUSTER NAMESPACE NAME',
    'ADDED north shop old',
    'ADDED south shop new',
    'MODIFIED south shop new',
    'DELETED north shop old',
    '',
  ]);
  expect(terminal.told).toBe('');
  stop();
  await ended();
});

test('watch jobs --until all waits for the first Job, and until the last one is complete', async () => {
  const { until, ended, terminal } = startCli(gateway, ['watch', 'jobs', '-l', 'batch=nightly', '--until', 'all'], { isInteractive: true });
  await until(({ frames }) => frames.at(-1)?.at(-1)?.startsWith('all     0') === true);
  for (const name of ['north', 'south']) gateway.cluster(name).put(job('nightly'));
  await until(({ frames }) => frames.at(-1)?.at(-1)?.startsWith('all     2') === true);
  gateway.cluster('north').put(job('nightly', 'Complete'));
  await until(({ frames }) => frames.at(-1)?.at(-1)?.startsWith('all     2       1') === true);
  gateway.cluster('south').put(job('nightly', 'Complete'));
  expect(await ended()).toBe(0);
  expect(
    terminal.frames
      .at(-1)
      ?.slice(0, 3)
      .map((line) => line.split(/ {3,}/).slice(0, 6)),
  ).toEqual([
    ['CLUSTER', 'NAMESPACE', 'NAME', 'STATUS', 'COMPLETIONS', 'DURATION'],
    ['north', 'batch', 'nightly', 'Complete', '1/1', expect.any(String)],
    ['south', 'batch', 'nightly', 'Complete', '1/1', expect.any(String)],
  ]);
  expect(terminal.told).toBe('2 Jobs: 2 complete, 0 failed\n');
});

test('watch jobs --until all ends with 1 as soon as one has failed', async () => {
  const { until, ended } = startCli(gateway, ['watch', 'jobs', '--until', 'all', '--context', 'north']);
  gateway.cluster('north').put(job('nightly'));
  await until(({ written }) => written.includes('Running'));
  gateway.cluster('north').put(job('nightly', 'Failed'));
  expect(await ended()).toBe(1);
});

test('watch jobs shows a failing cluster in the table, with its last known Jobs', async () => {
  gateway.cluster('south').put(job('nightly'));
  const { until, stop, ended, terminal } = startCli(gateway, ['watch', 'jobs'], { isInteractive: true });
  await until(({ frames }) => frames.at(-1)?.some((line) => line.includes('Running')) === true);
  gateway.cluster('south').disconnect();
  await until(({ frames }) => frames.at(-1)?.at(-1)?.endsWith('1 stale') === true);
  expect(terminal.frames.at(-1)?.find((line) => /^south .*STALE/.test(line))).toContain('UNREACHABLE');
  expect(terminal.frames.at(-1)?.some((line) => line.includes('Running'))).toBe(true);
  stop();
  await ended();
});

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker' } };

function runningPod(name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels: { app: 'web' } },
    spec: { nodeName: 'worker', containers: [{ name: 'app', image: 'app' }] },
    status: { phase: 'Running', containerStatuses: [{ name: 'app', restartCount: 0, state: { running: {} } }] },
  };
}

test('logs reads and follows the containers of all clusters, including a Pod that appears later', async () => {
  const write = (cluster: string, pod: string, ...lines: readonly string[]) =>
    gateway.cluster(cluster).writeLog({ namespace: 'shop', pod, container: 'app' }, ...lines);
  for (const cluster of ['north', 'south']) gateway.cluster(cluster).put(node);
  gateway.cluster('north').put(runningPod('web-1'));
  write('north', 'web-1', 'one', 'two', 'three');
  const read = startCli(gateway, ['logs', '-l', 'app=web', '--tail', '2']);
  expect(await read.ended()).toBe(0);
  expect(read.terminal.written).toBe('north/shop/web-1/app two\nnorth/shop/web-1/app three\n');

  const { until, stop, ended, terminal } = startCli(gateway, ['logs', '-l', 'app=web', '-f']);
  await until(({ written }) => written.includes('three'));
  gateway.cluster('south').put(runningPod('web-2'));
  write('south', 'web-2', 'from the south');
  write('north', 'web-1', 'four');
  await until(({ written }) => written.includes('four') && written.includes('south/shop/web-2/app from the south'));
  expect(terminal.written.match(/web-1/g)).toHaveLength(4);
  stop();
  await ended();
});
