import { expect, test } from 'vitest';
import { listAt } from '../../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { marks, type Propagation } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from '../controller-world.ts';

const place = (name: string) => ({ namespace: 'default', name });
const web = (a: string) => intent('web', [configMap('web', { a })], { placement: { clusters: ['south'] } });
const remove = (fleet: ControllerWorld) => fleet.world.pumped(fleet.propagations.delete(fleet.context, place('web'), undefined));
const copy = (fleet: ControllerWorld) => fleet.world.cluster('south').get('ConfigMap', 'web', 'default');
const conditionOf = (found: Propagation | undefined, type: string) =>
  found?.status.conditions?.find((condition) => condition.type === type);

function shareOf(fleet: ControllerWorld): KubernetesObject {
  const [share] = fleet.world.cluster('hub').objects('ClusterShare.muster.dev');
  if (share === undefined) throw new Error('expected a share');
  return share;
}

test('deletes an empty share with its Propagation, and requests it at most once', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const process = fleet.startProcess();
  await fleet.propagate(web('1'));
  await fleet.phase('web', 'Settled');
  fleet.world.cluster('hub').put({ ...shareOf(fleet), objects: [] });
  const { writes } = process;
  await remove(fleet);
  await fleet.gone('web');
  expect(fleet.world.cluster('hub').objects('ClusterShare.muster.dev')).toEqual([]);
  expect(process.writes - writes).toBeLessThan(8);
}, 60_000);

test('reports a share without its label, retries with a backoff, and keeps the Propagation until then', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const process = fleet.startProcess();
  await fleet.propagate(web('1'));
  await fleet.phase('web', 'Settled');
  const share = shareOf(fleet);
  fleet.world.cluster('hub').put({ ...share, metadata: { ...share.metadata, labels: {} } });
  const { writes } = process;
  await fleet.propagate(web('2'));
  await fleet.world.pass(60_000);
  // Backoffs of 0.8, 1.6, 3.2 … s, not a retry in every event-loop turn.
  expect(process.writes - writes).toBeLessThan(30);
  const stuck = fleet.mirrored('web');
  expect(stuck?.status.phase).not.toBe('Settled');
  expect(conditionOf(stuck, 'Applied')).toMatchObject({ status: 'False', reason: 'InventoryUnreadable' });
  expect(conditionOf(stuck, 'Applied')?.message).toContain(share.metadata.name);

  await remove(fleet);
  await fleet.world.pass(60_000);
  const going = await fleet.stored('web');
  expect([going?.metadata.finalizers, going?.status.phase, copy(fleet)?.data]).toEqual([[marks.finalizer], 'Deleting', { a: '1' }]);
  expect(conditionOf(going, 'Applied')?.reason).toBe('InventoryUnreadable');
  fleet.world.cluster('hub').put({ ...shareOf(fleet), metadata: { ...shareOf(fleet).metadata, labels: share.metadata.labels ?? {} } });
  await fleet.gone('web', 330_000);
  expect(copy(fleet)).toBeUndefined();
}, 60_000);

test('a share with invalid content keeps the Propagation until a user deletes the share', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  await fleet.propagate(web('1'));
  await fleet.phase('web', 'Settled');
  const share = shareOf(fleet);
  const objects = listAt(share, 'objects').map((entry) => ({ ...(entry as object), state: 'Whatever' }));
  fleet.world.cluster('hub').put({ ...share, objects });
  fleet.freeLease();
  await remove(fleet);
  await fleet.world.pass(30_000);
  const going = await fleet.stored('web');
  expect(going?.metadata.finalizers).toEqual([marks.finalizer]);
  fleet.world.cluster('hub').remove('ClusterShare.muster.dev', share.metadata.name, 'default');
}, 60_000);

test('reports Deleting while other finalizers keep the Propagation', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  await fleet.propagate(web('1'));
  const settled = await fleet.phase('web', 'Settled');
  const hub = fleet.world.cluster('hub');
  const object = hub.get('Propagation.muster.dev', 'web', 'default');
  if (object === undefined) throw new Error('expected web');
  const finalizers = [...settled.metadata.finalizers, 'example.com/theirs'];
  hub.put({ ...object, metadata: { ...object.metadata, finalizers } });
  await remove(fleet);
  await fleet.world.until(() => copy(fleet) === undefined);
  await fleet.world.pass(5_000);
  const found = await fleet.stored('web');
  expect([found?.metadata.finalizers, found?.status.phase]).toEqual([['example.com/theirs'], 'Deleting']);
}, 60_000);

test('counts the notes that a status cannot hold, and continues', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const names = Array.from({ length: 400 }, (_, index) => `gone-${index}`);
  const overrides = [1, 2, 3].map(() => ({
    set: { clusters: ['south', ...names] },
    labels: [{ operator: 'ADD', values: { a: 'b' } }],
  }));
  const outcome = await fleet.propagate({ ...web('1'), overrides });
  expect(outcome.notes.length).toBeGreaterThan(1_000);
  const { status } = await fleet.phase('web', 'Settled');
  expect([status.notes?.length, status.notes?.at(-1)?.code]).toEqual([101, 'MORE']);
  expect(copy(fleet)?.data).toEqual({ a: '1' });
}, 60_000);

test('reports what was expected for an invalid spec, without the wrong value', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const template = [{ json: configMap('web', { a: '1' }) }];
  const spec = { template, placement: { clusters: ['south'] }, rollout: { soak: 'correct-horse, got battery' } };
  fleet.world.cluster('hub').put({ apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: place('web'), spec });
  const failed = await fleet.phase('web', 'Failed');
  const message = conditionOf(failed, 'Accepted')?.message ?? '';
  expect(message).toContain('rollout.soak: expected');
  expect(JSON.stringify(failed.status)).not.toMatch(/horse|battery/);
}, 60_000);
