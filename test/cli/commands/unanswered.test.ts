import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

// Absence is only known if every requested cluster has answered.

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image: 'a' }] },
  status: { phase: 'Pending' },
};
const absences = /no resources found|there is no|in no cluster|no containers found|no cluster serves/i;

describe('F1: while no cluster answers', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(
      { north: [pod], south: [pod] },
      { before: (cluster) => void ['north', 'south'].map((name) => cluster(name).refuse()), waitFor: 'listening' },
    );
    await gateway.until(async () => {
      const { clusters } = await gateway.query<{ clusters: { phase: string }[] }>('{ clusters { phase } }');
      return clusters.every(({ phase }) => phase === 'UNREACHABLE');
    });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each([
    ['list pods', 'pods: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['list pods,deploy', 'pods,deploy: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['list pods -o json', 'pods: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['list pods -o name --context south', 'pods: unknown, as clusters did not answer. Answered (0 of 1)'],
    ['get pod web', 'pod web: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['get deploy/web -o json', 'deploy web: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['describe pod web', 'pod web: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['describe pod/web -n shop', 'pod web in shop: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['tree deploy web', 'deploy web: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['logs web', 'Pod web: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['logs -l app=web', 'containers with app=web: unknown, as clusters did not answer. Answered (0 of 2)'],
    ['logs -l app=web -c app', 'containers with app=web: unknown, as clusters did not answer. Answered (0 of 2)'],
  ])('%s does not report objects as absent, and exits with 3', async (command, line) => {
    const { code, err } = await runCli(gateway, command.split(' '));
    expect(err).toContain(`muster: ${line}; did not answer: `);
    expect(err).toMatch(/south \(UNREACHABLE\)\n/);
    expect(err).not.toMatch(absences);
    expect(code).toBe(3);
  });

  test.each(['list gizmos', 'describe gizmo web', 'get gizmo web'])('%s does not claim that there is no such kind', async (command) => {
    const { code, err } = await runCli(gateway, command.split(' '));
    const line = 'muster: unknown whether a cluster serves gizmos?\\. Did not answer: north \\(UNREACHABLE\\), south \\(UNREACHABLE\\)\\n';
    expect(err).toMatch(new RegExp(`^${line}$`));
    expect(code).toBe(3);
  });

  test('a write exits with 1', async () => {
    const { code, err } = await runCli(gateway, ['delete', 'pod', 'web', '-n', 'shop']);
    expect(code).toBe(1);
    expect(err).not.toMatch(absences);
  });
});

describe('F1: while one of two clusters does not answer', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ north: [pod], south: [] });
    await gateway.query('{ pods { totalCount } jobs { totalCount } }');
    gateway.cluster('south').disconnect();
    const phase = async () =>
      (await gateway.query<{ pods: { sync: { phase: string }[] } }>('{ pods { sync { phase } } }')).pods.sync[1]?.phase;
    await gateway.until(async () => (await phase()) === 'STALE');
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each([
    ['list pods -l app=nosuch', 'pods'],
    ['describe pod nosuch', 'pod nosuch'],
    ['tree pod nosuch', 'pod nosuch'],
    ['logs nosuch', 'Pod nosuch'],
  ])('%s names the clusters that have answered and those that have not', async (command, what) => {
    const { code, err } = await runCli(gateway, command.split(' '));
    const line = `muster: ${what}: unknown, as clusters did not answer. Answered (1 of 2): north; did not answer: south (UNREACHABLE)\n`;
    expect([code, err]).toEqual([3, expect.stringContaining(line)]);
  });

  test('shows found objects as usual, with a warning', async () => {
    const { code, out, err } = await runCli(gateway, ['list', 'pods', '-o', 'name']);
    expect([code, out]).toEqual([0, 'north/shop/pod/web\n']);
    expect(err).toMatch(/^warning: south: pods: UNREACHABLE .+\n$/);
  });

  test('objects are reported as absent if all named clusters have answered', async () => {
    expect(await runCli(gateway, ['list', 'pods', '-l', 'app=nosuch', '--context', 'north'])).toEqual({
      code: 0,
      out: '',
      err: 'No resources found\n',
    });
    expect((await runCli(gateway, ['describe', 'pod', 'nosuch', '--context', 'north'])).code).toBe(1);
  });
});
