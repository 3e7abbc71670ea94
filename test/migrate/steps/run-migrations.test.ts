import { expect, test } from 'vitest';
import { service, startMigrationWorld, workload } from './migration-world.ts';

test('M2: moves a Deployment with its Service: healthy in the target before anything leaves the source', async () => {
  await using moving = await startMigrationWorld({ objects: [workload('web'), service('web')] });
  moving.controller.startProcess();
  await moving.controller.world.until(() => moving.live('south', 'Deployment.apps', 'web')?.status !== undefined);
  await moving.migrate('move', { labels: { matchLabels: { app: 'web' } } });
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(moving.live('south', 'Deployment.apps', 'web')).toBeUndefined();
  expect(moving.live('south', 'Service', 'web')).toBeUndefined();
  expect(moving.live('east', 'Deployment.apps', 'web')).toMatchObject({ spec: { replicas: 2 }, status: { availableReplicas: 2 } });
  expect(moving.live('east', 'Service', 'web')).toBeDefined();
});

test('takes a finished move back', async () => {
  await using moving = await startMigrationWorld({ objects: [workload('web'), service('web')] });
  moving.controller.startProcess();
  await moving.migrate('move', { labels: { matchLabels: { app: 'web' } } });
  await moving.ended('move', 'Settled', { web: 'Done' });
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('east', 'Deployment.apps', 'web')).toBeUndefined();
  expect(moving.live('east', 'Service', 'web')).toBeUndefined();
  expect(moving.live('south', 'Deployment.apps', 'web')).toMatchObject({ spec: { replicas: 2 }, status: { availableReplicas: 2 } });
  expect(moving.live('south', 'Service', 'web')).toBeDefined();
});
