import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { marks, musterGroup, musterVersion } from '../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from './controller-world.ts';

/** Creates a resource as `kubectl apply` would. */
function resource(name: string, spec: JsonObject, annotations: Readonly<Record<string, string>> = {}): KubernetesObject {
  return {
    apiVersion: `${musterGroup}/${musterVersion}`,
    kind: 'Propagation',
    metadata: { namespace: 'default', name, annotations },
    spec,
  };
}

const template = (name: string, data = '1') => [{ json: configMap(name, { a: data }) }];
const copyIn = ({ world }: ControllerWorld, name: string) => world.cluster('south').get('ConfigMap', name, 'default');
const conditionOf = (fleet: ControllerWorld, name: string, type: string) =>
  fleet.mirrored(name)?.status.conditions?.find((condition) => condition.type === type);

test('does not accept an invalid spec, reports why, writes nothing, and keeps existing copies', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const hub = fleet.world.cluster('hub');
  hub.put(resource('wrong', { template: template('wrong'), placement: { clusters: ['south'] } }));
  await fleet.phase('wrong', 'Settled');
  hub.put(resource('wrong', { template: template('wrong', '2'), placement: { clusters: ['south'] }, rollout: { maxFailures: 'many' } }));
  await fleet.phase('wrong', 'Failed');
  expect(conditionOf(fleet, 'wrong', 'Accepted')).toMatchObject({ status: 'False', observedGeneration: 2 });
  expect(conditionOf(fleet, 'wrong', 'Accepted')?.message).toContain('maxFailures');
  await fleet.world.pass(20_000);
  expect(copyIn(fleet, 'wrong')?.data).toEqual({ a: '1' });

  hub.put(resource('wrong', { template: template('wrong', '3'), placement: { clusters: ['south'] } }));
  await fleet.phase('wrong', 'Settled');
  expect(copyIn(fleet, 'wrong')?.data).toEqual({ a: '3' });
}, 60_000);

test('carries out a resource that kubectl created like a mutation', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('plain', { template: template('plain'), placement: {} }));
  const settled = await fleet.phase('plain', 'Settled');
  expect([settled.metadata.finalizers, copyIn(fleet, 'plain')?.data]).toEqual([[marks.finalizer], { a: '1' }]);
});

test('holds a request whose digest is no longer the plan, until another digest is requested', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const hub = fleet.world.cluster('hub');
  const spec = { template: template('digest'), placement: { clusters: ['south'] } };
  fleet.startProcess();
  hub.put(resource('digest', spec, { [marks.planDigest]: 'of something else' }));
  await fleet.phase('digest', 'Held');
  expect(conditionOf(fleet, 'digest', 'Planned')).toMatchObject({ status: 'False', reason: 'PlanStale' });
  await fleet.world.pass(20_000);
  expect([copyIn(fleet, 'digest'), hub.objects('ClusterShare.muster.dev'), hub.objects('ControllerRevision.apps')]).toEqual([
    undefined,
    [],
    [],
  ]);

  const input = intent('digest', [configMap('digest', { a: '1' })], { placement: { clusters: ['south'] } });
  const { digest } = await fleet.world.pumped(fleet.propagations.plan(fleet.context, input));
  expect((await fleet.propagate(input, digest)).result).toBe('ACCEPTED');
  await fleet.phase('digest', 'Settled');
  expect(copyIn(fleet, 'digest')?.data).toEqual({ a: '1' });
}, 60_000);

test('writes nothing while everything is suspended, and everything afterwards', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const input = intent('later', [configMap('later', { a: '1' })], { placement: { clusters: ['south'] } });
  await fleet.propagate({ ...input, suspend: { all: true } });
  await fleet.phase('later', 'Suspended');
  await fleet.world.pass(10_000);
  expect(copyIn(fleet, 'later')).toBeUndefined();
  await fleet.propagate(input);
  await fleet.phase('later', 'Settled');
  await fleet.propagate({
    ...intent('later', [configMap('later', { a: '2' })], { placement: { clusters: ['south'] } }),
    suspend: { scheduling: true },
  });
  await fleet.phase('later', 'Suspended');
  await fleet.world.pass(10_000);
  expect(copyIn(fleet, 'later')?.data).toEqual({ a: '1' });
}, 60_000);

test('follows the sources of its template, and clusters that join or change their labels', async () => {
  await using fleet = await startControllerWorld(
    { hub: [configMap('source', { a: '1' }) as unknown as KubernetesObject], south: [], east: [] },
    { traits: { south: { labels: { tier: 'gold' } } } },
  );
  fleet.startProcess();
  const ref = { cluster: 'hub', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'source' };
  await fleet.propagate({ namespace: 'default', name: 'followed', template: [{ ref }], placement: { selector: 'tier=gold' } });
  const south = fleet.world.cluster('south');
  const east = fleet.world.cluster('east');
  await fleet.world.until(() => south.get('ConfigMap', 'source', 'default') !== undefined);
  fleet.world.cluster('hub').put(configMap('source', { a: '2' }) as unknown as KubernetesObject);
  await fleet.world.until(() => JSON.stringify(south.get('ConfigMap', 'source', 'default')?.data) === '{"a":"2"}');
  expect(east.get('ConfigMap', 'source', 'default')).toBeUndefined();
  await fleet.phase('followed', 'Settled');
  fleet.world.leave('east');
  fleet.world.setTraits('east', { labels: { tier: 'gold' } });
  fleet.world.join('east');
  await fleet.world.until(() => east.get('ConfigMap', 'source', 'default') !== undefined);
  await fleet.phase('followed', 'Settled');
}, 60_000);
