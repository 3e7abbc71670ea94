import { expect, test } from 'vitest';
import { listAt, textAt } from '../../../../src/core/json-at.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from '../controller-world.ts';

const place = (name: string) => ({ namespace: 'default', name });

/** Returns the copy in a cluster, and the operations by which the gateway owns its fields. */
function standing({ world }: ControllerWorld, cluster: string) {
  const [map, web] = [
    world.cluster(cluster).get('ConfigMap', 'settings', 'default'),
    world.cluster(cluster).get('Deployment.apps', 'web', 'default'),
  ];
  return {
    data: map?.data,
    containers: listAt(web, 'spec', 'template', 'spec', 'containers').map((container) => textAt(container, 'name')),
  };
}

const first = intent('web', [configMap('settings', { a: '1' }), deployment('web', 1, 'web:1.0')]);
const sidecar = { op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'side', image: 'side:1.0' } };
const second = {
  ...intent('web', [configMap('settings', { a: '2', b: '2' }), deployment('web', 1, 'web:2.0')]),
  write: 'REPLACE',
  overrides: [{ objects: { kind: 'Deployment' }, jsonPatch: [sidecar] }],
};

test('a rollback from write mode Replace leaves no field of it in any cluster', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  fleet.startProcess();
  await fleet.propagate(first);
  await fleet.phase('web', 'Settled', 120_000);
  await fleet.propagate(second);
  await fleet.phase('web', 'Settled', 120_000);
  expect(standing(fleet, 'south')).toEqual({ data: { a: '2', b: '2' }, containers: ['web', 'side'] });
  await fleet.world.pumped(fleet.propagations.rollback(fleet.context, place('web'), undefined));
  await fleet.phase('web', 'Settled', 120_000);
  const expected = { data: { a: '1' }, containers: ['web'] };
  expect(['hub', 'south'].map((cluster) => standing(fleet, cluster))).toEqual([expected, expected]);
}, 60_000);

test('a rolled back breach in write mode Replace leaves no field of it, also after the next generation', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  fleet.startProcess();
  await fleet.propagate(first);
  await fleet.phase('web', 'Settled', 120_000);
  const nowhere = { op: 'add', path: '/spec/template/spec/nodeSelector', value: { none: 'such' } };
  await fleet.propagate({
    ...second,
    overrides: [{ objects: { kind: 'Deployment' }, jsonPatch: [sidecar, nowhere] }],
    rollout: { deadline: '20s', onFailure: 'ROLLBACK' },
  });
  await fleet.phase('web', 'Failed', 180_000);
  const expected = { data: { a: '1' }, containers: ['web'] };
  expect(['hub', 'south'].map((cluster) => standing(fleet, cluster))).toEqual([expected, expected]);
  await fleet.propagate({ ...first, template: [{ json: configMap('settings', { c: '3' }) }, { json: deployment('web', 1, 'web:3.0') }] });
  await fleet.phase('web', 'Settled', 120_000);
  expect(standing(fleet, 'south')).toEqual({ data: { c: '3' }, containers: ['web'] });
}, 60_000);
