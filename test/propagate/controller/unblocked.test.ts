import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from './controller-world.ts';

/** After this time, retries by backoff are at least 25 s apart. */
const longMs = 65_000;
/** The blocker is gone, so the retry must come before the backoff ends. */
const soonMs = 3_000;

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const inTeam = (name: string) => ({ ...configMap(name, { a: '1' }), metadata: { name, namespace: 'team' } });
const quota = (pods: string) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'compute', namespace: 'default' },
  spec: { hard: { pods } },
});
const attemptsIn = (fleet: ControllerWorld) =>
  fleet.world.cluster('south').requests.filter(({ method, path }) => method === 'PATCH' && path.includes('/configmaps/web')).length;

async function startTerminating(fleet: ControllerWorld): Promise<void> {
  const { world } = fleet;
  world.cluster('south').put({ ...inTeam('stuck'), metadata: { ...inTeam('stuck').metadata, finalizers: ['example.com/slow'] } });
  const resource = world.members.objects.served(clusterName('south'), { group: '', kind: 'Namespace' });
  if (typeof resource !== 'object') throw new Error(`expected Namespaces to be served, got ${resource}`);
  const client = world.clientOf('south');
  const { uid, resourceVersion } = world.cluster('south').get('Namespace', 'team')?.metadata ?? {};
  const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const asked = { resource, name: 'team', preconditions, cascade: 'Background', run: 'real' } as const;
  await world.pumped(client?.delete(asked, fleet.context.signal) ?? Promise.reject(new Error('expected south')));
}

test('creates copies that a Namespace in deletion blocked as soon as the Namespace is back', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [namespace('team')] });
  const south = fleet.world.cluster('south');
  await startTerminating(fleet);
  fleet.startProcess();
  await fleet.propagate(intent('web', [inTeam('web')], { placement: { clusters: ['south'] } }));
  await fleet.world.pass(longMs);
  expect(fleet.mirrored('web')?.status.clusters).toMatchObject([{ reason: 'Terminating' }]);

  south.remove('ConfigMap', 'stuck', 'team');
  south.remove('Namespace', 'team');
  await fleet.world.pass(soonMs);
  south.put(namespace('team'));
  await fleet.world.until(() => south.get('ConfigMap', 'web', 'team') !== undefined, soonMs);
}, 120_000);

test('creates its own Namespace again as soon as its long deletion has ended, with the copies in it', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const south = fleet.world.cluster('south');
  fleet.startProcess();
  await fleet.propagate(intent('web', [namespace('team'), inTeam('web')], { placement: { clusters: ['south'] } }));
  await fleet.phase('web', 'Settled');
  await startTerminating(fleet);
  await fleet.world.until(() => south.get('ConfigMap', 'web', 'team') === undefined);
  await fleet.world.pass(longMs);

  south.remove('ConfigMap', 'stuck', 'team');
  south.remove('Namespace', 'team');
  await fleet.world.until(() => south.get('ConfigMap', 'web', 'team') !== undefined, soonMs);
}, 120_000);

test('creates copies that a quota blocked as soon as it changes; retries at most every ten seconds if it changes all the time', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [quota('1')] });
  const south = fleet.world.cluster('south');
  const refused = south.refuseWrites({ type: 'quota', quota: 'compute' }, { kind: 'ConfigMap' });
  fleet.startProcess();
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] } }));
  await fleet.world.pass(longMs);
  const before = attemptsIn(fleet);
  for (let step = 0; step < 60; step += 1) {
    south.put(quota(String(step + 2)));
    await fleet.world.pass(1_000);
  }
  // One at once, one every 10 s, and possibly one by backoff.
  expect(attemptsIn(fleet) - before).toBeGreaterThanOrEqual(5);
  expect(attemptsIn(fleet) - before).toBeLessThanOrEqual(8);

  await fleet.world.pass(longMs);
  refused[Symbol.dispose]();
  south.put(quota('100'));
  await fleet.world.until(() => south.get('ConfigMap', 'web', 'default') !== undefined, soonMs);
}, 180_000);

test('notices at once that an object in the place of a copy is gone', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const south = fleet.world.cluster('south');
  south.put({ ...configMap('web', { a: 'theirs' }), metadata: { name: 'web', namespace: 'default', labels: { app: 'theirs' } } });
  fleet.startProcess();
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] } }));
  await fleet.world.pass(longMs);
  expect(fleet.mirrored('web')?.status.clusters).toMatchObject([{ reason: 'Conflict' }]);
  south.remove('ConfigMap', 'web', 'default');
  await fleet.world.until(() => south.get('ConfigMap', 'web', 'default') !== undefined, soonMs);
}, 120_000);
