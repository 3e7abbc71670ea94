import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { previousRevisionOf } from '../../../src/propagate/controller/roll-back.ts';
import type { Propagation, PropagationRevision } from '../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, deployment, intent, revisionsOf, startControllerWorld } from './controller-world.ts';

const document = { template: [{ json: configMap('web', { a: '1' }) }], placement: {} };

/** Revisions as text: `3`, `2 back` (rolled back), `1 first` (no copies existed before), `1 bad` (invalid spec), from newest to oldest. */
function kept(...said: readonly string[]): readonly PropagationRevision[] {
  return said.map((text) => {
    const [number, what] = text.split(' ');
    return {
      ...{ revision: Number(number), createdAt: '2026-11-22T10:00:00Z', digest: 'd', isRolledBack: what === 'back' },
      document: what === 'bad' ? { ...document, conflict: 'Often' } : document,
      ...(what === 'first' ? { hadNoCopies: true } : {}),
    };
  });
}

const backs = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => `${from - index} back`);

describe('the state before a breach', () => {
  test.each([
    { revision: 2, said: ['2', '1 first'], goesTo: 1 },
    { revision: 4, said: ['4', '3 back', '2', '1'], goesTo: 2 },
    { revision: 4, said: ['4 first', '3 back', '2 back', '1'], goesTo: 1 },
    // The last ten, and the newest one before them that was not rolled back.
    { revision: 14, said: ['14', ...backs(13, 5), '1'], goesTo: 1 },
    { revision: 3, said: ['2', '1'], goesTo: 2 },
  ])('of $revision of $said is revision $goesTo', ({ revision, said, goesTo }) => {
    expect(previousRevisionOf(kept(...said), revision)).toMatchObject({ result: 'spec', revision: goesTo, spec: { conflict: 'Abort' } });
  });

  test.each([
    { revision: 1, said: ['1 first'] },
    { revision: 2, said: ['2 first', '1 back'] },
  ])('of $revision of $said is nothing', ({ revision, said }) => {
    expect(previousRevisionOf(kept(...said), revision)).toEqual({ result: 'nothing' });
  });

  test.each([
    { revision: 1, said: ['1'], why: 'no revision before 1' },
    { revision: 3, said: [], why: 'no revision before 3' },
    { revision: 3, said: ['3', '2 back', '1 back'], why: 'no revision before 3' },
    { revision: 3, said: ['3', '1'], why: 'not all revisions from 1 to 3' },
    { revision: 14, said: ['14', ...backs(13, 6), '1'], why: 'not all revisions from 1 to 14' },
    { revision: 2, said: ['2', '1 bad'], why: 'revision 1 has an invalid spec: conflict' },
  ])('of $revision of $said is not known', ({ revision, said, why }) => {
    expect(previousRevisionOf(kept(...said), revision)).toEqual({ result: 'unknown', why: expect.stringContaining(why) });
  });
});

/** Its Deployment has no node to run on, so it is in breach after 20 s. */
const nowhere = {
  objects: { kind: 'Deployment' },
  jsonPatch: [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { no: 'node' } }],
};
const bad = { overrides: [nowhere] };
const web = (image: string, more: JsonObject = {}) =>
  intent('web', [deployment('web', 1, image), configMap('keep', { a: '1' })], {
    placement: { clusters: ['south'] },
    rollout: { deadline: '20s', onFailure: 'ROLLBACK' },
    ...more,
  });
const standing = ({ world }: ControllerWorld) =>
  [world.cluster('south').get('Deployment.apps', 'web', 'default'), world.cluster('south').get('ConfigMap', 'keep', 'default')].map(
    (object) => object?.metadata.uid,
  );
const breachOf = ({ status }: Propagation) => status.conditions?.find(({ type }) => type === 'Progressing')?.message;

test('a breach without an earlier state deletes all copies, also a second time', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  fleet.startProcess();
  for (const image of ['web:1', 'web:2']) {
    await fleet.propagate(web(image, bad));
    await fleet.world.until(() => standing(fleet)[0] !== undefined);
    expect(breachOf(await fleet.phase('web', 'Failed', 180_000))).toBe('1 cluster failed');
    expect(standing(fleet)).toEqual([undefined, undefined]);
  }
  expect(await revisionsOf(fleet, 'web')).toEqual(['2 back', '1 back']);
}, 120_000);

test('a breach deletes nothing if the earlier revisions are lost, and the next breach rolls back to the existing state', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  fleet.startProcess();
  for (const image of ['web:1', 'web:2']) {
    await fleet.propagate(web(image));
    await fleet.phase('web', 'Settled', 120_000);
  }
  const before = standing(fleet);
  const hub = fleet.world.cluster('hub');
  for (const { metadata } of hub.objects('ControllerRevision.apps')) hub.remove('ControllerRevision.apps', metadata.name, 'default');
  await fleet.propagate(web('web:3', bad));
  expect(breachOf(await fleet.phase('web', 'Failed', 180_000))).toBe(
    '1 cluster failed; nothing is rolled back: no revision before 3 is kept that was not rolled back',
  );
  await fleet.world.pass(60_000);
  expect(standing(fleet)).toEqual(before);
  expect(await revisionsOf(fleet, 'web')).toEqual(['3']);
  await fleet.propagate(web('web:4'));
  await fleet.phase('web', 'Settled', 120_000);
  expect(standing(fleet)).toEqual(before);
}, 120_000);

test('a breach waits while the earlier revision cannot be planned, and rolls back once it can', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  fleet.startProcess();
  const { world } = fleet;
  const hub = world.cluster('hub');
  const source = deployment('source', 1, 'web:1') as KubernetesObject;
  hub.put(source);
  const ref = { cluster: 'hub', apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'source' };
  const south = { placement: { clusters: ['south'] }, rollout: { deadline: '20s', onFailure: 'ROLLBACK' } };
  await fleet.propagate({ ...intent('web', [], south), template: [{ ref }] });
  await fleet.phase('web', 'Settled', 120_000);
  const copy = () => world.cluster('south').get('Deployment.apps', 'source', 'default');
  const uid = copy()?.metadata.uid;
  await fleet.propagate(intent('web', [deployment('source', 1, 'web:2')], { ...south, ...bad }));
  await world.until(() => JSON.stringify(copy()).includes('web:2'));
  hub.remove('Deployment.apps', 'source', 'default');
  expect(breachOf(await fleet.phase('web', 'Failed', 180_000))).toContain('nothing is rolled back: revision 1 cannot be planned now');
  expect([copy()?.metadata.uid, await revisionsOf(fleet, 'web')]).toEqual([uid, ['2', '1']]);
  hub.put(source);
  await world.until(() => JSON.stringify(copy()).includes('web:1'), 12 * 60_000);
  expect([copy()?.metadata.uid, await revisionsOf(fleet, 'web')]).toEqual([uid, ['2 back', '1']]);
}, 120_000);

test('a cluster with an unknown earlier state waits while the others roll back', async () => {
  await using fleet = await startControllerWorld({ hub: [], north: [], south: [] }, { living: true });
  fleet.startProcess();
  const { world } = fleet;
  const hub = world.cluster('hub');
  const both = { placement: { clusters: ['north', 'south'] }, rollout: { deadline: '20s', onFailure: 'ROLLBACK' } };
  const ref = { cluster: 'hub', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'settings' };
  const greeting = { set: { clusters: ['south'] }, jsonPatch: [{ op: 'replace', path: '/data/a', value: 'south' }] };
  const settings = () => ['north', 'south'].map((name) => world.cluster(name).get('ConfigMap', 'settings', 'default')?.data);
  hub.put(configMap('settings', { a: '1' }) as KubernetesObject);
  await fleet.propagate({ ...intent('web', [], { ...both, overrides: [greeting] }), template: [{ ref }] });
  await fleet.phase('web', 'Settled');
  expect(settings()).toEqual([{ a: '1' }, { a: 'south' }]);
  await fleet.propagate(intent('web', [deployment('web', 1), configMap('settings', { a: '2' })], { ...both, ...bad }));
  await world.until(() => settings().every((data) => JSON.stringify(data) === '{"a":"2"}'));
  // The field that the override for the south replaces does not exist any more.
  hub.put(configMap('settings', { b: '1' }) as KubernetesObject);
  await world.until(() => JSON.stringify(settings()[0]) === '{"b":"1"}', 180_000);
  await world.pass(30_000);
  expect([settings(), standing(fleet)[0]]).toEqual([[{ b: '1' }, { a: '2' }], expect.any(String)]);
  const south = fleet.mirrored('web')?.status.clusters?.find(({ cluster }) => cluster === 'south');
  expect(south).toMatchObject({ phase: 'RollingBack', message: expect.stringContaining('its previous state is unknown') });
  hub.put(configMap('settings', { a: '3' }) as KubernetesObject);
  await fleet.phase('web', 'Failed', 12 * 60_000);
  expect([settings(), standing(fleet)[0]]).toEqual([[{ b: '1' }, { a: 'south' }], undefined]);
}, 120_000);
