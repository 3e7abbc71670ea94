import { expect, test } from 'vitest';
import { configMap, intent, startControllerWorld } from './controller-world.ts';

test('brings an intent to every cluster, says so, and rests', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [], east: [] });
  const process = fleet.startProcess();
  const outcome = await fleet.propagate(intent('web', [configMap('web', { a: '1' })]));
  expect(outcome.result).toBe('ACCEPTED');
  const settled = await fleet.phase('web', 'Settled');
  expect(settled.status.clusters?.map(({ cluster, phase }) => [cluster, phase])).toEqual([
    ['east', 'Settled'],
    ['hub', 'Settled'],
    ['south', 'Settled'],
  ]);
  for (const name of ['hub', 'south', 'east'])
    expect(fleet.world.cluster(name).get('ConfigMap', 'web', 'default')?.data).toEqual({ a: '1' });
  const { writes } = process;
  await fleet.world.pass(30_000);
  expect(process.writes).toBe(writes);
  await process.stop();
});
