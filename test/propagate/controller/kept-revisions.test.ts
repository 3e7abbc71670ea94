import { expect, test } from 'vitest';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';
import { type ControllerWorld, configMap, deployment, intent, revisionsOf, startControllerWorld } from './controller-world.ts';

const place = { namespace: 'default', name: 'web' };
const unschedulable = {
  set: { clusters: ['south'] },
  objects: { kind: 'Deployment' },
  jsonPatch: [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { none: 'such' } }],
};

/** Version 1 rolls out. Any other version fails in the south. */
function version(number: number): PropagationInput {
  return intent('web', [deployment('web', 1, `web:${number}.0`), configMap('settings', { a: String(number) })], {
    overrides: number === 1 ? [] : [unschedulable],
    rollout: { deadline: '20s', onFailure: 'ROLLBACK' },
  });
}

const standing = (fleet: ControllerWorld) =>
  ['north', 'south'].map((cluster) => {
    const object = fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default');
    return JSON.stringify(object).match(/"image":"([^"]+)"/)?.[1];
  });

test('rolls a breach back to the last revision in effect, skips revisions that were rolled back, and restores the revision after a resume', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [] }, { living: true });
  fleet.startProcess();
  await fleet.propagate(version(1));
  await fleet.phase('web', 'Settled', 120_000);
  for (const number of [2, 3]) {
    await fleet.propagate(version(number));
    await fleet.phase('web', 'Failed', 180_000);
    expect(standing(fleet)).toEqual(['web:1.0', 'web:1.0']);
  }
  expect(await revisionsOf(fleet, 'web')).toEqual(['3 back', '2 back', '1']);

  await fleet.world.pumped(fleet.propagations.resume(fleet.context, place, { confirmPrune: false, abandon: [] }));
  await fleet.world.until(() => standing(fleet)[0] === 'web:3.0', 30_000);
  expect(await revisionsOf(fleet, 'web')).toEqual(['3', '2 back', '1']);
  await fleet.phase('web', 'Rolling');
  await fleet.phase('web', 'Failed', 180_000);
  expect(await revisionsOf(fleet, 'web')).toEqual(['3 back', '2 back', '1']);
  expect(standing(fleet)).toEqual(['web:1.0', 'web:1.0']);
}, 120_000);

test('does not roll back to a revision that was rolled back itself, but to the last different revision in effect', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const settled = async (a: string) => {
    await fleet.propagate(intent('web', [configMap('web', { a })]));
    await fleet.phase('web', 'Settled');
  };
  const back = async () => {
    const { result } = await fleet.world.pumped(fleet.propagations.rollback(fleet.context, place, undefined));
    await fleet.phase('web', 'Settled');
    const data = fleet.world.cluster('south').get('ConfigMap', 'web', 'default')?.data as { readonly a: string };
    return [result, data.a];
  };
  await settled('1');
  await settled('2');
  await settled('3');
  expect(await back()).toEqual(['ACCEPTED', '2']);
  expect(await revisionsOf(fleet, 'web')).toEqual(['4', '3 back', '2', '1']);
  // The restored state has the content of the second generation. The third is lost.
  expect(await back()).toEqual(['ACCEPTED', '1']);
  expect(await back()).toEqual(['REFUSED', '1']);
  await settled('3');
  expect(await back()).toEqual(['ACCEPTED', '1']);
}, 60_000);

test('keeps the last ten of thirteen revisions and drops the others under the version that was read', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  for (let number = 1; number <= 13; number += 1) {
    await fleet.propagate(intent('web', [configMap('web', { a: String(number) })], { placement: { clusters: ['south'] } }));
    await fleet.phase('web', 'Settled');
  }
  expect(await revisionsOf(fleet, 'web')).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4].map(String));
}, 60_000);
