import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { textAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from './controller-world.ts';

const waves = ['north', 'south'].map((name) => ({ name, set: { clusters: [name] } }));
const placement = { clusters: ['north', 'south'] };
const inWaves = (value: string, more: readonly JsonObject[] = [], rollout: JsonObject = {}): PropagationInput =>
  intent('web', [configMap('web', { a: value }), ...more], { placement, rollout: { waves, ...rollout } });

const copyIn = (fleet: ControllerWorld, cluster: string, name = 'web') => fleet.world.cluster(cluster).get('ConfigMap', name, 'default');
const shown = (copy: KubernetesObject | undefined) => [copy?.data, copy?.metadata.annotations?.[marks.generation]];
const valueIn = (fleet: ControllerWorld, cluster: string) => textAt(copyIn(fleet, cluster), 'data', 'a');
const lineOf = (fleet: ControllerWorld, cluster: string) =>
  fleet.mirrored('web')?.status.clusters?.find((line) => line.cluster === cluster);

/** Deletes the copy, then changes it. Expects each time that it is written again as that generation wrote it. */
async function expectKept(fleet: ControllerWorld, cluster: string, name = 'web'): Promise<void> {
  const before = copyIn(fleet, cluster, name);
  if (before === undefined) throw new Error(`expected ${name} in ${cluster}`);
  await fleet.world.pass(5_000);
  fleet.world.cluster(cluster).remove('ConfigMap', name, 'default');
  await fleet.world.until(() => copyIn(fleet, cluster, name) !== undefined, 30_000);
  expect(shown(copyIn(fleet, cluster, name))).toEqual(shown(before));
  await fleet.world.pass(25_000);
  fleet.world.cluster(cluster).put({ ...(copyIn(fleet, cluster, name) ?? before), data: { a: 'edited' } });
  await fleet.world.until(() => JSON.stringify(shown(copyIn(fleet, cluster, name))) === JSON.stringify(shown(before)), 30_000);
}

describe('a copy of the generation before is restored', () => {
  test('while its cluster waits for its wave', async () => {
    await using fleet = await startControllerWorld({ hub: [], north: [], south: [] });
    fleet.startProcess();
    await fleet.propagate(inWaves('1'));
    await fleet.phase('web', 'Settled');
    await fleet.propagate(inWaves('2', [deployment('web', 1)]));
    await fleet.world.until(() => lineOf(fleet, 'north')?.phase === 'Progressing');
    await expectKept(fleet, 'south');
    expect(shown(copyIn(fleet, 'south'))).toEqual([{ a: '1' }, '1']);
    expect(lineOf(fleet, 'south')).toMatchObject({ phase: 'Waiting', reason: 'Wave' });
  }, 60_000);

  test('after a breach, while the rollout is paused, and the restored copy is no breach', async () => {
    await using fleet = await startControllerWorld({ hub: [], north: [], south: [] });
    fleet.startProcess();
    await fleet.propagate(inWaves('1'));
    await fleet.phase('web', 'Settled');
    const refusal = fleet.world.cluster('north').refuseWrites({ type: 'denied' }, { kind: 'ConfigMap' });
    await fleet.propagate(inWaves('2'));
    await fleet.phase('web', 'Paused');
    await expectKept(fleet, 'south');
    const denied = fleet.world.cluster('south').refuseWrites({ type: 'denied' }, { kind: 'ConfigMap' });
    fleet.world.cluster('south').remove('ConfigMap', 'web', 'default');
    await fleet.world.until(() => lineOf(fleet, 'south')?.phase === 'Denied');
    denied[Symbol.dispose]();
    refusal[Symbol.dispose]();
    await fleet.world.pumped(
      fleet.propagations.resume(fleet.context, { namespace: 'default', name: 'web' }, { confirmPrune: false, abandon: [] }),
    );
    await fleet.phase('web', 'Settled', 120_000);
    expect(shown(copyIn(fleet, 'south'))).toEqual([{ a: '2' }, '2']);
  }, 60_000);

  test('after a breach that was rolled back', async () => {
    await using fleet = await startControllerWorld({ hub: [], north: [], south: [] });
    fleet.startProcess();
    await fleet.propagate(inWaves('1'));
    await fleet.phase('web', 'Settled');
    await fleet.propagate(inWaves('2', [deployment('web', 1)], { onFailure: 'ROLLBACK', deadline: '20s' }));
    await fleet.phase('web', 'Failed', 120_000);
    await fleet.world.until(() => valueIn(fleet, 'north') === '1');
    await expectKept(fleet, 'north');
  }, 60_000);

  test('while its prune waits for a confirmation', async () => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    const names = ['a', 'b', 'c', 'd', 'web'];
    const input = (kept: readonly string[]) =>
      intent(
        'web',
        kept.map((name) => configMap(name, { a: '1' })),
        { placement: { clusters: ['south'] } },
      );
    await fleet.propagate(input(names));
    await fleet.phase('web', 'Settled');
    await fleet.propagate(input(['web']));
    await fleet.phase('web', 'Held');
    await expectKept(fleet, 'south', 'b');
    expect(fleet.mirrored('web')?.status.phase).toBe('Held');
  }, 60_000);

  test('while the plan is not the requested one', async () => {
    await using fleet = await startControllerWorld({ hub: [], north: [], south: [] });
    const first = fleet.startProcess();
    await fleet.propagate(inWaves('1'));
    await fleet.phase('web', 'Settled');
    await first.stop();
    const planned = await fleet.world.pumped(fleet.propagations.plan(fleet.context, inWaves('2')));
    await fleet.propagate(inWaves('2'), planned.digest);
    // The copy changes after it was planned.
    fleet.world.cluster('north').put({ ...(copyIn(fleet, 'north') as KubernetesObject), data: { a: 'other' } });
    fleet.startProcess();
    const held = await fleet.phase('web', 'Held', 120_000);
    expect(held.status.conditions?.find(({ type }) => type === 'Planned')?.reason).toBe('PlanStale');
    await fleet.world.until(() => valueIn(fleet, 'north') === '1');
  }, 60_000);

  test('while the copy differs from the requested plan; then the plan continues', async () => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    const first = fleet.startProcess();
    const input = (value: string) => intent('web', [configMap('web', { a: value })], { placement: { clusters: ['south'] } });
    await fleet.propagate(input('1'));
    await fleet.phase('web', 'Settled');
    const planned = await fleet.world.pumped(fleet.propagations.plan(fleet.context, input('2')));
    await first.stop();
    await fleet.propagate(input('2'), planned.digest);
    const refusal = fleet.world.cluster('south').refuseWrites({ type: 'denied' }, { kind: 'ConfigMap' });
    fleet.startProcess();
    await fleet.world.until(() => lineOf(fleet, 'south')?.phase === 'Denied');
    // The copy changes between the plan and the write.
    const copy = copyIn(fleet, 'south') as KubernetesObject;
    const labels = { ...copy.metadata.labels, [marks.propagation]: 'x' };
    fleet.world.cluster('south').put({ ...copy, data: { a: 'edited' }, metadata: { ...copy.metadata, labels } });
    refusal[Symbol.dispose]();
    const place = { namespace: 'default', name: 'web' };
    await fleet.world.pumped(fleet.propagations.resume(fleet.context, place, { confirmPrune: false, abandon: [] }));
    await fleet.phase('web', 'Settled', 120_000);
    expect(shown(copyIn(fleet, 'south'))).toEqual([{ a: '2' }, '2']);
  }, 60_000);

  test('with the replicas that were assigned to the cluster', async () => {
    await using fleet = await startControllerWorld({ hub: [], north: [], south: [] });
    fleet.startProcess();
    const divided = (image: string) =>
      intent('web', [deployment('web', 5, image)], { placement, replicas: { mode: 'DIVIDED' }, rollout: { waves } });
    const countIn = (cluster: string) =>
      (fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default')?.spec as JsonObject)?.replicas;
    const both = intent('web', [deployment('web', 5, 'one')], { placement, replicas: { mode: 'DIVIDED' } });
    await fleet.propagate(both);
    await fleet.world.until(() => countIn('north') !== undefined && countIn('south') !== undefined);
    const before = countIn('south');
    await fleet.world.pass(5_000);
    await fleet.propagate(divided('two'));
    await fleet.world.until(() => lineOf(fleet, 'south')?.phase === 'Waiting');
    await fleet.world.pass(5_000);
    fleet.world.cluster('south').remove('Deployment.apps', 'web', 'default');
    await fleet.world.until(() => countIn('south') !== undefined, 30_000);
    expect(countIn('south')).toBe(before);
    expect(JSON.stringify(fleet.world.cluster('south').get('Deployment.apps', 'web', 'default'))).toContain('"image":"one"');
  }, 60_000);
});

test('a waiting cluster names missing copies that no kept revision has', async () => {
  const source = (a: string): KubernetesObject => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default' } },
    data: { a },
  });
  await using fleet = await startControllerWorld({ origin: [source('1')], north: [], south: [] });
  fleet.startProcess();
  const ref = { cluster: 'origin', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'web' };
  const input = (more: readonly JsonObject[] = []) => ({
    ...intent('web', more, { placement, rollout: { waves } }),
    template: [{ ref }, ...more.map((json) => ({ json }))],
  });
  await fleet.propagate(input());
  await fleet.phase('web', 'Settled');
  fleet.world.cluster('origin').put(source('2'));
  await fleet.propagate(input([deployment('web', 1)]));
  await fleet.world.until(() => lineOf(fleet, 'south')?.phase === 'Waiting');
  await fleet.world.pass(5_000);
  fleet.world.cluster('south').remove('ConfigMap', 'web', 'default');
  await fleet.world.until(() => lineOf(fleet, 'south')?.message?.includes('ConfigMap web') === true, 30_000);
  expect(lineOf(fleet, 'south')).toMatchObject({
    phase: 'Waiting',
    message: 'deleted, and no kept revision has it: ConfigMap web',
  });
}, 60_000);
