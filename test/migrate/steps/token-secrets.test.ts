import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigrationWorld, startMigrationWorld, workload } from './migration-world.ts';

const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', namespace: 'default' } } as KubernetesObject;
const token = Buffer.from('token of south').toString('base64');

const tokenSecret = (more: object = {}, annotations: object = {}): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: { name: 'token', namespace: 'default', annotations: { 'kubernetes.io/service-account.name': 'web', ...annotations } },
    ...more,
  }) as KubernetesObject;

/** A Deployment that mounts the token Secret of a ServiceAccount. */
function webWithToken(): KubernetesObject {
  const web = workload('web') as KubernetesObject & { spec: { template: { spec: object } } };
  const spec = { ...web.spec.template.spec, volumes: [{ name: 'token', secret: { secretName: 'token' } }] };
  return { ...web, spec: { ...web.spec, template: { ...web.spec.template, spec } } } as KubernetesObject;
}

const filled = tokenSecret({ data: { token } }, { 'kubernetes.io/service-account.uid': 'account-of-south' });

async function startWeb(east: readonly KubernetesObject[] = []): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [account, filled, webWithToken()], others: { east } });
  moving.controller.startProcess();
  await moving.controller.world.until(
    () => (moving.live('south', 'Deployment.apps', 'web') as { status?: { availableReplicas?: number } })?.status?.availableReplicas === 2,
  );
  return moving;
}

const contentOf = (moving: MigrationWorld, cluster: string) => {
  const secret = moving.live(cluster, 'Secret', 'token') as
    | (KubernetesObject & { readonly data?: unknown; readonly type?: string })
    | undefined;
  const { 'muster.dev/intent': _intent, ...annotations } = secret?.metadata.annotations ?? {};
  return { type: secret?.type, data: secret?.data, annotations };
};

test('M6: sends no token to another cluster, neither in the move nor in its undo', async () => {
  await using moving = await startWeb();
  await moving.migrate('move', { labels: { matchLabels: { app: 'web' } } });
  await moving.ended('move', 'Settled', { web: 'Done' });
  const empty = { type: 'kubernetes.io/service-account-token', data: undefined, annotations: tokenSecret().metadata.annotations };
  expect(contentOf(moving, 'east')).toEqual(empty);
  expect(moving.live('east', 'ServiceAccount', 'web')).toBeDefined();
  expect([moving.live('south', 'Secret', 'token'), moving.live('south', 'ServiceAccount', 'web')]).toEqual([undefined, undefined]);
  // The token controller of the target fills in its own token.
  moving.controller.world
    .cluster('east')
    .put({ ...(moving.live('east', 'Secret', 'token') as KubernetesObject), data: { token: 'ZWFzdA==' } } as KubernetesObject);
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(contentOf(moving, 'south')).toEqual(empty);
});

test.each<readonly [string, string, string, Readonly<Record<string, string>>]>([
  ['that mounts a token Secret uses the equal one', 'web', 'Settled', { web: 'Done' }],
  ['that mounts a token Secret is skipped for one with another ServiceAccount', 'other', 'Failed', {}],
])('an application %s of the target', async (_title, name, phase, steps) => {
  const present = tokenSecret({ data: { token: 'ZWFzdA==' } }, { 'kubernetes.io/service-account.name': name });
  await using moving = await startWeb([account, present]);
  await moving.migrate('move', { labels: { matchLabels: { app: 'web' } } });
  await moving.ended('move', phase, steps);
});
