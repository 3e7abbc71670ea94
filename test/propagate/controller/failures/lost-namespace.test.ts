import { expect, test } from 'vitest';
import { configMap, intent, startControllerWorld } from '../controller-world.ts';

test('restores a deleted Namespace and the copies in it', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
  const settings = { ...configMap('settings', { a: '1' }), metadata: { name: 'settings', namespace: 'team' } };
  await fleet.propagate(intent('team', [team, settings], { placement: { clusters: ['south'] } }));
  await fleet.phase('team', 'Settled');
  // Objects in the Namespace are deleted first, and cannot be created again while the Namespace is being deleted.
  const south = fleet.world.cluster('south');
  const refusal = south.refuseWrites({ type: 'webhookTimeout' }, { kind: 'ConfigMap' });
  south.remove('ConfigMap', 'settings', 'team');
  await fleet.phase('team', 'Degraded');
  south.remove('Namespace', 'team');
  refusal[Symbol.dispose]();

  await fleet.phase('team', 'Settled', 120_000);
  expect(south.get('ConfigMap', 'settings', 'team')).toMatchObject({ data: { a: '1' } });
}, 60_000);
