import { expect, test } from 'vitest';
import { numberAt } from '../../../src/core/json-at.ts';
import { type ControllerWorld, deployment, intent, startControllerWorld } from './controller-world.ts';

const exact = { system: 'KUBEFED', key: 'default/web' };

function replicasIn({ world }: ControllerWorld, clusters: readonly string[]): readonly (number | undefined)[] {
  return clusters.map((cluster) => numberAt(world.cluster(cluster).get('Deployment.apps', 'web', 'default'), 'spec', 'replicas'));
}

test('gives the unplaced replicas to a cluster that joins within the generation, and moves no running ones', async () => {
  const names = ['cluster-1', 'cluster-2', 'cluster-3'];
  await using fleet = await startControllerWorld({ 'cluster-1': [], 'cluster-2': [], 'cluster-3': [] }, { living: true });
  fleet.world.leave('cluster-3');
  fleet.startProcess();
  const rules = [
    { set: { exclude: ['cluster-1'] }, weight: 1, max: 15 },
    { set: { clusters: ['cluster-1'] }, weight: 0, min: 3, max: 10 },
  ];
  const replicas = { mode: 'DIVIDED', total: 20, rules };
  await fleet.propagate(intent('web', [deployment('web', 3)], { replicas, exact, write: 'REPLACE', conflict: 'ADOPT' }));
  const { status } = await fleet.phase('web', 'Degraded', 120_000);
  expect([status.placed, status.unplaced, replicasIn(fleet, names)]).toEqual([18, 2, [3, 15, undefined]]);
  await fleet.world.until(() => fleet.mirrored('web')?.status.ready === 18, 120_000);

  fleet.world.join('cluster-3');
  const joined = await fleet.phase('web', 'Settled', 120_000);
  expect([joined.metadata.generation, joined.status.unplaced, replicasIn(fleet, names)]).toEqual([1, 0, [3, 15, 2]]);
}, 60_000);

test('moves replicas out of a cluster in which they find no room', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [] }, { living: true });
  fleet.startProcess();
  const overrides = [
    { set: { clusters: ['south'] }, jsonPatch: [{ op: 'replace', path: '/spec/template/spec/nodeSelector', value: { none: 'such' } }] },
  ];
  const input = intent('web', [deployment('web', 6)], { replicas: { mode: 'DIVIDED' }, exact, overrides });
  await fleet.propagate(input);
  await fleet.world.until(() => replicasIn(fleet, ['south'])[0] === 3, 60_000);
  await fleet.phase('web', 'Settled', 300_000);
  expect(replicasIn(fleet, ['north', 'south'])).toEqual([6, 0]);
  await fleet.world.pass(65_000);
  expect(replicasIn(fleet, ['north', 'south'])).toEqual([6, 0]);
}, 60_000);
