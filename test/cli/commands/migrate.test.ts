import { beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { deployment } from '../../support/workloads.ts';

const namespace: KubernetesObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
const config: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web-settings', namespace: 'default' } };
const users = { containers: [{ name: 'web', image: 'web', envFrom: [{ configMapRef: { name: 'web-settings' } }] }] };
const node: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node' },
  spec: {},
  status: { allocatable: { cpu: '16', memory: '64Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
};

const specWith = (app: string) => ({ selector: { matchLabels: { app } }, template: { metadata: { labels: { app } }, spec: users } });

describe('muster migrate', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const own = await startGateway(
      {
        hub: [],
        east: [
          namespace,
          deployment('web'),
          deployment('taken'),
          deployment('back'),
          deployment('parts', specWith('parts')),
          deployment('user', specWith('user')),
          config,
        ],
        west: [namespace, node, deployment('taken')],
      },
      { hub: 'hub' },
    );
    gateway = own;
    return () => own[Symbol.asyncDispose]();
  });
  const move = ['migrate', '--from', 'east', '--to', 'west'];

  test('--plan shows the applications with their figures, and the digest', async () => {
    const { code, out } = await runCli(gateway, [...move, '-l', 'app in (web,taken)', '--plan']);
    expect(out.split('\n').map((line) => line.trimEnd())).toEqual([
      expect.stringMatching(/^APP +FITS +REPLICAS +NEEDS +FREE +WHY$/),
      expect.stringMatching(
        /^default\/deployment\/taken +no +1→1 +1 Pod +\d+ Pods 16 CPU 64Gi +CONFLICT Deployment default\/taken exists in west already$/,
      ),
      expect.stringMatching(/^default\/deployment\/web +yes +1→1 +1 Pod +110 Pods 16 CPU 64Gi$/),
      '',
      'needs 2 Pods of 110 Pods 16 CPU 64Gi free',
      '',
      expect.stringMatching(/^digest: [0-9a-f]{64}$/),
      '',
    ]);
    expect(code).toBe(0);
  });

  test('--plan exits with 1 if nothing can be moved, and says why', async () => {
    const { code, out } = await runCli(gateway, [...move, '--app', 'deploy/taken', '--plan']);
    expect([code, out]).toEqual([1, expect.stringContaining('error: NOTHING_FITS: no application can be moved')]);
  });

  test('refuses flags that do not fit together', async () => {
    const refused = async (...args: readonly string[]) => runCli(gateway, [...move, ...args]);
    expect(await refused()).toMatchObject({ code: 2, err: 'muster: expected either -l or --app\n' });
    expect(await refused('-l', 'app=web', '--copies', '2')).toMatchObject({
      code: 2,
      err: expect.stringContaining('greater than 0 and at most 1'),
    });
    expect(await refused('-l', 'app=web', '--run-as', 'shop')).toMatchObject({ code: 2, err: expect.stringContaining('NAMESPACE/NAME') });
    expect(await runCli(gateway, ['migrate', 'undo'])).toMatchObject({
      code: 2,
      err: 'muster: expected the name of a migration after undo\n',
    });
  });

  test('another digest records nothing, and a name is made and printed', async () => {
    const held = await runCli(gateway, [...move, '-l', 'app=web', '--digest', '0'.repeat(64)]);
    expect([held.code, held.out]).toEqual([1, expect.stringMatching(/HELD[\s\S]*error: PLAN_STALE/)]);
    const { code, out } = await runCli(gateway, [...move, '-l', 'app=web', '-o', 'name']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^migration\.muster\.dev\/east-to-west-[a-z0-9]{5}\n$/)]);
    const name = out.trim().split('/').at(-1) ?? '';
    expect((await runCli(gateway, ['migrate', 'status', name])).out).toContain(`default/${name}: `);
    expect(await runCli(gateway, ['migrate', 'status', 'none'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no Migration none'),
    });
  });

  test('--plan names the objects that move, and those that other workloads of the source need too', async () => {
    const both = await runCli(gateway, [...move, '-l', 'app in (parts,user)', '--plan']);
    expect(both.out).toContain('default/deployment/parts: moves configmap/web-settings\n');
    const { out } = await runCli(gateway, [...move, '-l', 'app=parts', '--plan']);
    expect(out).toContain('default/deployment/parts: copies configmap/web-settings\n');
  });

  test('a migration that was undone is not repeated under its name', async () => {
    const again = [...move, '-l', 'app=back', '--name', 'undone'];
    expect(await runCli(gateway, again)).toMatchObject({ code: 0, out: 'migration.muster.dev/undone recorded\n' });
    expect((await runCli(gateway, ['migrate', 'undo', 'undone', '--wait'])).out).toMatch(/default\/undone: SETTLED[\s\S]*UNDONE/);
    expect(await runCli(gateway, ['migrate', 'undo', 'undone'])).toMatchObject({
      code: 0,
      out: 'migration.muster.dev/undone was undone already\n',
    });
    expect(await runCli(gateway, again)).toMatchObject({
      code: 1,
      out: 'migration.muster.dev/undone exists already\n',
      err: 'muster: default/undone was undone: choose another --name to migrate again\n',
    });
  });

  test('the output for a paused migration names the commands that continue or undo it', async () => {
    const { code, out } = await runCli(gateway, [...move, '-l', 'app=parts', '--name', 'stuck', '--deadline', '1s', '--wait']);
    expect([code, out]).toEqual([1, expect.stringContaining('or undo it with: muster migrate undo stuck -n default')]);
  });
});
