import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { manifestFile, settings, standing } from '../../support/cli/intent-files.ts';
import { runCli, startCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

const job = (name: string, conditions: readonly { type: string; status: string }[] = []) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'default' },
  spec: { template: { spec: { containers: [] } } },
  status: { conditions },
});
const complete = [{ type: 'Complete', status: 'True' }];

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway({
    north: [job('sum', complete), standing('same', { a: '1' })],
    south: [job('sum'), standing('same', { a: '2' })],
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const run = (args: readonly string[], input = '') => runCli(gateway, args, { input });

describe('wait', () => {
  test('ends when the condition holds in each cluster', async () => {
    const running = startCli(gateway, ['wait', 'job/sum', '--for=condition=complete', '--timeout', '60s']);
    await running.until(({ written }) => written === 'job.batch/sum condition met (north)\n');
    gateway.cluster('south').put(job('sum', complete));
    expect(await running.ended()).toBe(0);
    expect(running.terminal.written).toBe('job.batch/sum condition met (north)\njob.batch/sum condition met (south)\n');
  });

  test('fails when the timeout has passed', async () => {
    const { code, err } = await run(['wait', 'job/sum', '--for=condition=Complete', '--timeout', '2s']);
    expect([code, err]).toEqual([1, 'muster: south: job.batch/sum: time is up\n']);
  });

  test.each([
    [['job/sum', '--for=jsonpath={.status.conditions[0].type}=Complete', '--context', 'north'], 0],
    [['job', '-l', 'a=b', '--for=delete'], 0],
    [['job', 'nosuch', '--for=delete'], 0],
    [['job', 'nosuch', '--for=condition=Complete'], 1],
    [['job', '--for=delete'], 2],
    [['job/sum', '--for=nothing'], 2],
    [['job/sum', '--for=jsonpath={.a', '--timeout', '1s'], 2],
  ])('%j exits with %i', async (args, code) => {
    expect((await run(['wait', ...args])).code).toBe(code);
  });

  test('does not treat an object as absent if its cluster does not answer', async () => {
    gateway.cluster('south').disconnect();
    await gateway.until(async () => (await run(['list', 'job'])).err.includes('UNREACHABLE'));
    expect((await run(['wait', 'job/nosuch', '--for=delete', '--timeout', '1s'])).code).toBe(3);
    expect((await run(['wait', 'job/nosuch', '--for=condition=Complete', '--timeout', '1s'])).code).toBe(3);
  });
});

test('rollout status of a workload shows on a terminal what is missing, and fails when the timeout has passed', async () => {
  const web = (availableReplicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: {} },
    status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas },
  });
  gateway.cluster('north').put(web(2));
  gateway.cluster('south').put(web(1));
  const { ended, terminal } = startCli(gateway, ['rollout', 'status', 'deploy/web', '--timeout', '2s'], { isWatched: true });
  expect(await ended()).toBe(1);
  expect(terminal.written).toMatch(/^deployment\.apps\/web .* \(north\)\n$/);
  expect(terminal.told).toBe('muster: south: deployment.apps/web: time is up\n');
  expect(terminal.statuses).toContain('south: Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are available...');
});

describe('diff', () => {
  test('shows what differs in each cluster, and writes nothing', async () => {
    const { code, out } = await run(['diff', '-f', '-'], manifestFile(settings('same', { a: '1' })));
    expect([code, out]).toEqual([1, expect.stringMatching(/^south\/default\/configmap\/same differs\n.*\n- {2}a: "2"\n\+ {2}a: "1"\n/s)]);
    expect(gateway.cluster('south').get({ group: '', kind: 'ConfigMap' }, 'same', 'default')?.data).toEqual({ a: '2' });
  });

  test('prints nothing if nothing differs', async () => {
    const same = manifestFile(settings('same', { a: '1' }));
    await run(['apply', '-f', '-', '--context', 'north', '--force'], same);
    expect(await run(['diff', '-f', '-', '--context', 'north'], same)).toEqual({ code: 0, out: '', err: '' });
  });

  test.each([[[]], [['deploy', 'web']], [['propagation', 'web', '-f', '-']]])('refuses %j', async (args) => {
    expect((await run(['diff', ...args])).code).toBe(2);
  });
});
