import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { textAt } from '../../../../src/core/json-at.ts';
import { printAbandoned } from '../../../../src/propagate/hub/abandoned.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from '../controller-world.ts';

const selected = { placement: { selector: 'tier=web' } };
const traits = Object.fromEntries(['hub', 'south', 'east'].map((name) => [name, { labels: { tier: 'web' } }]));
const copyIn = ({ world }: ControllerWorld, cluster: string) => world.cluster(cluster).get('ConfigMap', 'web', 'default');
const linesIn = (fleet: ControllerWorld) => fleet.mirrored('web')?.status.clusters?.map(({ cluster, phase }) => [cluster, phase]);
const shareIn = ({ world }: ControllerWorld, cluster: string) =>
  world
    .cluster('hub')
    .objects('ClusterShare.muster.dev')
    .find((share) => textAt(share, 'cluster') === cluster);

/** Records what `muster leave --abandon` records. */
async function abandon(fleet: ControllerWorld, cluster: string): Promise<void> {
  const share = shareIn(fleet, cluster)?.metadata.uid ?? '';
  const found = await fleet.stored('web');
  if (found === undefined) throw new Error('expected the Propagation');
  const annotations = { [marks.abandon]: printAbandoned([{ cluster, share }]) };
  const { signal } = new AbortController();
  const written = await fleet.world.pumped(fleet.stores.propagations.annotateUnchanged(found, annotations, signal));
  expect(written.result).toBe('written');
}

async function startWithCopies(): Promise<ControllerWorld> {
  const fleet = await startControllerWorld({ hub: [], south: [], east: [] }, { traits });
  fleet.startProcess();
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], selected));
  await fleet.phase('web', 'Settled');
  return fleet;
}

const gone = (fleet: ControllerWorld, cluster: string) => fleet.world.until(() => shareIn(fleet, cluster) === undefined);

test('a cluster that left without being abandoned stays in the list of a selector, as unknown', async () => {
  await using fleet = await startWithCopies();
  fleet.world.leave('south');
  await fleet.world.pass(60_000);
  expect(linesIn(fleet)).toEqual([
    ['east', 'Settled'],
    ['hub', 'Settled'],
    ['south', 'Unknown'],
  ]);
  expect(shareIn(fleet, 'south')).toBeDefined();
});

test.each(['the leader', 'the command'] as const)(
  'an abandoned cluster leaves the list of a selector if %s deletes its share',
  async (who) => {
    await using fleet = await startWithCopies();
    fleet.world.leave('south');
    await fleet.world.pass(5_000);
    const share = shareIn(fleet, 'south');
    await abandon(fleet, 'south');
    if (who === 'the command') {
      await fleet.world.pass(0);
      fleet.world.cluster('hub').remove('ClusterShare.muster.dev', share?.metadata.name ?? '', 'default');
    }
    await gone(fleet, 'south');
    await fleet.phase('web', 'Settled');
    expect(linesIn(fleet)).toEqual([
      ['east', 'Settled'],
      ['hub', 'Settled'],
    ]);
    await fleet.world.until(() => fleet.mirrored('web')?.metadata.annotations[marks.abandon] === undefined);
    await fleet.world.pass(60_000);
    expect(fleet.mirrored('web')?.status.phase).toBe('Settled');
    expect(copyIn(fleet, 'south')?.data).toEqual({ a: '1' });
  },
);

test('the copies of an abandoned cluster that joins again are refused until the intent adopts them', async () => {
  await using fleet = await startWithCopies();
  const uid = copyIn(fleet, 'south')?.metadata.uid;
  fleet.world.leave('south');
  await fleet.world.pass(5_000);
  await abandon(fleet, 'south');
  await gone(fleet, 'south');
  await fleet.phase('web', 'Settled');

  fleet.world.join('south');
  const lineIn = () => fleet.mirrored('web')?.status.clusters?.find(({ cluster }) => cluster === 'south');
  await fleet.world.until(() => lineIn()?.fault?.code === 'CONFLICT');
  expect(lineIn()?.message).toContain('conflict Adopt takes it over again');
  await fleet.propagate(intent('web', [configMap('web', { a: '2' })], { ...selected, conflict: 'ADOPT' }));
  await fleet.phase('web', 'Settled');
  expect(linesIn(fleet)).toContainEqual(['south', 'Settled']);
  expect(copyIn(fleet, 'south')?.metadata.uid).toBe(uid);
  expect(copyIn(fleet, 'south')?.data).toEqual({ a: '2' });
});

test('the replicas of an abandoned cluster are divided among the others', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [], east: [] }, { traits, living: true });
  fleet.startProcess();
  const divided = { ...selected, replicas: { mode: 'DIVIDED' } };
  await fleet.propagate(intent('web', [deployment('web', 6, 'web:1.0')], divided as never));
  await fleet.phase('web', 'Settled', 120_000);
  fleet.world.leave('south');
  await fleet.world.pass(5_000);
  await abandon(fleet, 'south');
  await gone(fleet, 'south');
  await fleet.phase('web', 'Settled', 120_000);
  expect(fleet.mirrored('web')?.status.clusters?.map(({ cluster, replicas }) => [cluster, replicas])).toEqual([
    ['east', 3],
    ['hub', 3],
  ]);
});

/** Edits of the intent that leave it without a plan that may be carried out. */
const blocked = [
  { why: 'its plan is stale', phase: 'Held', spec: {}, annotations: { [marks.planDigest]: 'of another plan' } },
  { why: 'its plan is refused', phase: 'Failed', spec: { placement: { ...selected.placement, spread: [{ by: 'region', min: 9 }] } } },
  { why: 'its spec is invalid', phase: 'Failed', spec: { rollout: { maxFailures: 'many' } } },
  { why: 'its scheduling is suspended', phase: 'Suspended', spec: { suspend: { scheduling: true } } },
];

test.each(blocked)('the share of an abandoned cluster is deleted while $why', async ({ phase, spec, annotations = {} }) => {
  await using fleet = await startWithCopies();
  const hub = fleet.world.cluster('hub');
  const stored = hub.get('Propagation.muster.dev', 'web', 'default');
  if (stored === undefined) throw new Error('expected the Propagation');
  const { metadata } = stored;
  hub.put({
    ...stored,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    spec: { ...(stored.spec as JsonObject), template: [{ json: configMap('web', { a: '2' }) }], ...spec },
  });
  await fleet.world.pass(30_000);
  expect(fleet.mirrored('web')?.status.phase).toBe(phase);
  fleet.world.leave('south');
  await fleet.world.pass(5_000);
  await abandon(fleet, 'south');
  await gone(fleet, 'south');
  await fleet.world.until(() => fleet.mirrored('web')?.metadata.annotations[marks.abandon] === undefined);
  await fleet.world.until(() => linesIn(fleet)?.length === 2);
  expect(linesIn(fleet)?.map(([cluster]) => cluster)).toEqual(['east', 'hub']);
  expect(fleet.mirrored('web')?.status.phase).toBe(phase);
  expect(copyIn(fleet, 'south')?.data).toEqual({ a: '1' });
});
