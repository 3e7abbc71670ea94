import { expect, test } from 'vitest';
import { textAt } from '../../../src/core/json-at.ts';
import { marks, type Propagation } from '../../../src/propagate/model/propagation.ts';
import { configMap, deployment, intent, job, startControllerWorld } from './controller-world.ts';

const linesOf = ({ status }: Propagation) => status.clusters?.map(({ cluster, phase, reason }) => [cluster, phase, reason ?? '']);

test('brings an intent to every cluster, reports it, and sends no further requests', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [], east: [] });
  const process = fleet.startProcess();
  const outcome = await fleet.propagate(intent('web', [configMap('web', { a: '1' })]));
  expect(outcome.result).toBe('ACCEPTED');
  const settled = await fleet.phase('web', 'Settled');
  expect(linesOf(settled)).toEqual([
    ['east', 'Settled', ''],
    ['hub', 'Settled', ''],
    ['south', 'Settled', ''],
  ]);
  for (const name of ['hub', 'south', 'east'])
    expect(fleet.world.cluster(name).get('ConfigMap', 'web', 'default')?.data).toEqual({ a: '1' });
  expect((await fleet.propagate(intent('web', [configMap('web', { a: '1' })]))).result).toBe('UNCHANGED');
  const { writes } = process;
  await fleet.world.pass(30_000);
  expect(process.writes).toBe(writes);
  await process.stop();
});

test('sends two requests per new copy and none for an unchanged copy', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const process = fleet.startProcess();
  const south = fleet.world.cluster('south');
  const asked = () => south.requests.filter(({ resource }) => resource?.name === 'web').length;
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] } }));
  await fleet.phase('web', 'Settled');
  await fleet.world.pass(60_000);
  expect(asked()).toBeLessThanOrEqual(2);
  const before = asked();
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south', 'hub'] } }));
  await fleet.world.until(() => fleet.world.cluster('hub').get('ConfigMap', 'web', 'default') !== undefined);
  await fleet.phase('web', 'Settled');
  expect(asked()).toBe(before);
  await process.stop();
});

test('corrects changes of copies, restores deleted copies, and follows changes of the placement', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [], east: [] });
  const process = fleet.startProcess();
  const copy = (cluster: string) => fleet.world.cluster(cluster).get('ConfigMap', 'move', 'default');
  const input = (clusters: readonly string[]) => intent('move', [configMap('move', { a: '1' })], { placement: { clusters } });
  await fleet.propagate(input(['hub', 'south']));
  await fleet.phase('move', 'Settled');

  const south = fleet.world.cluster('south');
  const held = copy('south');
  if (held === undefined) throw new Error('expected a copy');
  south.put({ ...held, data: { a: 'theirs', b: 'theirs too' } });
  await fleet.world.until(() => textAt(copy('south'), 'data', 'a') === '1');
  expect(copy('south')?.data).toEqual({ a: '1', b: 'theirs too' });

  south.remove('ConfigMap', 'move', 'default');
  await fleet.world.until(() => copy('south') !== undefined);

  await fleet.propagate(input(['hub', 'east']));
  await fleet.world.until(() => copy('south') === undefined && copy('east') !== undefined);
  const moved = await fleet.phase('move', 'Settled');
  expect(linesOf(moved)).toEqual([
    ['east', 'Settled', ''],
    ['hub', 'Settled', ''],
  ]);

  await fleet.propagations.delete(fleet.context, { namespace: 'default', name: 'move' }, undefined);
  await fleet.gone('move');
  for (const name of ['hub', 'south', 'east']) expect(copy(name)).toBeUndefined();
  expect(fleet.world.cluster('hub').objects('ClusterShare.muster.dev')).toEqual([]);
  await process.stop();
});

test('leaves an object of another owner unchanged until the intent adopts it', async () => {
  await using fleet = await startControllerWorld({ hub: [], east: [configMap('owned', { theirs: '1' }) as never] });
  const process = fleet.startProcess();
  const input = intent('owned', [configMap('owned', { ours: '1' })]);
  await fleet.propagate(input);
  const refused = await fleet.phase('owned', 'Degraded');
  expect(linesOf(refused)).toEqual([
    ['east', 'Failed', 'Conflict'],
    ['hub', 'Settled', ''],
  ]);
  expect(fleet.world.cluster('east').get('ConfigMap', 'owned', 'default')?.data).toEqual({ theirs: '1' });
  await fleet.propagate({ ...input, conflict: 'ADOPT' });
  await fleet.phase('owned', 'Settled');
  expect(fleet.world.cluster('east').get('ConfigMap', 'owned', 'default')?.data).toEqual({ theirs: '1', ours: '1' });
  await process.stop();
});

test('runs a Job once, and not again when it is deleted after its end', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  const process = fleet.startProcess();
  await fleet.propagate(intent('once', [job('once')], { completion: { mode: 'ALL' } }));
  await fleet.world.until(() => fleet.mirrored('once')?.status.completion?.done === true, 300_000);
  const south = fleet.world.cluster('south');
  await fleet.world.pass(5_000);
  south.remove('Job.batch', 'once', 'default');
  await fleet.world.pass(60_000);
  expect(south.get('Job.batch', 'once', 'default')).toBeUndefined();
  const now = await fleet.stored('once');
  expect([now?.status.completion?.done, now?.status.phase]).toEqual([true, 'Settled']);
  await process.stop();
});

test('rolls out in waves, stops at the first failure, and rolls back on request', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [], east: [] }, { living: true });
  const process = fleet.startProcess();
  const waves = ['north', 'south', 'east'].map((name) => ({ name, set: { clusters: [name] } }));
  const bad = {
    set: { clusters: ['south'] },
    jsonPatch: [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { none: 'such' } }],
  };
  const input = (image: string) =>
    intent('waves', [deployment('waves', 1, image)], {
      overrides: image.endsWith('2.0') ? [bad] : [],
      rollout: { waves, deadline: '20s', onFailure: 'PAUSE' },
    });
  await fleet.propagate(input('web:1.0'));
  await fleet.phase('waves', 'Settled', 120_000);
  await fleet.propagate(input('web:2.0'));
  const paused = await fleet.phase('waves', 'Paused', 120_000);
  expect(paused.status.clusters?.map(({ cluster, phase }) => [cluster, phase])).toEqual([
    ['east', 'Waiting'],
    ['north', 'Settled'],
    ['south', 'Failed'],
  ]);
  const image = (name: string) => {
    const [container] = (fleet.world.cluster(name).get('Deployment.apps', 'waves', 'default') as never as Spec).spec.template.spec
      .containers;
    return container?.image;
  };
  expect(['north', 'south', 'east'].map(image)).toEqual(['web:2.0', 'web:2.0', 'web:1.0']);
  const back = await fleet.world.pumped(fleet.propagations.rollback(fleet.context, { namespace: 'default', name: 'waves' }, undefined));
  expect(back.result).toBe('ACCEPTED');
  await fleet.phase('waves', 'Settled', 120_000);
  expect(['north', 'south', 'east'].map(image)).toEqual(['web:1.0', 'web:1.0', 'web:1.0']);
  expect(textAt(fleet.world.cluster('north').get('Deployment.apps', 'waves', 'default'), 'metadata', 'annotations', marks.generation)).toBe(
    '3',
  );
  await process.stop();
});

interface Spec {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } };
}
