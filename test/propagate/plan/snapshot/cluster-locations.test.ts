import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { membersWithLocations } from '../../../../src/propagate/plan/snapshot/cluster-locations.ts';
import { shown, startPlannerWorld } from '../planner-world.ts';
import { configMap, entry, shareOf } from '../snapshots.ts';

const node: KubernetesObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
const template = [{ json: configMap('settings') }];
const placement = { fields: [{ field: 'region', operator: 'In', values: ['eu'] }] };
const existing = { uid: 'uid-of-web', status: {} };
const share = shareOf('south', [entry(configMap('settings'), { uid: 'u' })]);

test('waits at most 10 s for Nodes and other mirrors together, and only if the intent depends on Nodes', async () => {
  await using planner = await startPlannerWorld(
    { hub: [node], south: [node] },
    { traits: { hub: { region: 'eu' } }, beforeJoining: (cluster) => void cluster('south').stall({ resource: 'nodes' }) },
  );
  const { world } = planner;
  using _maps = world.cluster('hub').stall({ resource: 'configmaps' });
  const startMs = world.clock.monotonic();
  const plan = await planner.plan({ template, placement });
  const tookMs = world.clock.monotonic() - startMs;

  expect(tookMs).toBeGreaterThanOrEqual(10_000);
  expect(tookMs).toBeLessThan(12_000);
  expect(shown(plan, 'south')).toMatchObject({ reason: 'SYNCING', fault: { code: 'SYNCING', cluster: 'south' } });
  expect(shown(plan, 'south').detail).toContain('region unknown: Nodes are unread');
  expect(plan.faults.map(({ cluster, code }) => [cluster, code])).toContainEqual(['south', 'SYNCING']);
});

test('does not wait for Nodes if the intent uses no location or the config has it', async () => {
  await using planner = await startPlannerWorld(
    { hub: [], south: [] },
    { traits: { hub: { region: 'eu' }, south: { region: 'us', zones: ['us-1'], provider: 'aws' } } },
  );
  const { world } = planner;
  using _hub = world.cluster('hub').stall({ resource: 'nodes' });
  using _south = world.cluster('south').stall({ resource: 'nodes' });
  const startMs = world.clock.monotonic();
  const anywhere = await planner.plan({ template });
  const inEu = await planner.plan({ template, placement });

  expect(world.clock.monotonic() - startMs).toBeLessThan(5_000);
  expect(
    [anywhere, inEu].map(({ clusters }) => clusters.flatMap(({ cluster, rendered }) => (rendered === undefined ? [] : [cluster]))),
  ).toEqual([['hub', 'south'], ['hub']]);
});

test.each<[string, readonly KubernetesObject[], 'nothing' | 'forbidden', boolean, string | undefined]>([
  ['a Node without the label', [node], 'nothing', true, undefined],
  ['no Nodes in a cluster without copies', [], 'nothing', false, undefined],
  ['no Nodes in a cluster with copies', [], 'nothing', true, 'may come: region unknown: the cluster has no Nodes'],
  ['unreadable Nodes in a cluster without copies', [node], 'forbidden', false, undefined],
  ['unreadable Nodes in a cluster with copies', [node], 'forbidden', true, 'will not come'],
])('unknown location with %s', async (_, nodes, sickness, isHolding, expected) => {
  await using planner = await startPlannerWorld({ hub: [], south: nodes }, { shares: isHolding ? [share] : [] });
  const { world } = planner;
  using _forbidden = sickness === 'forbidden' ? world.cluster('south').forbid({ resource: 'nodes' }) : undefined;
  await planner.plan({ template, placement }, { existing });
  const members = membersWithLocations(world.members, { fields: ['region'], shares: isHolding ? [share] : [] });
  const unknownLocation = members.find(({ name }) => name === 'south')?.unknownLocation;

  if (expected === undefined) expect(unknownLocation).toBeUndefined();
  else
    expect(`${unknownLocation?.mayBecomeKnown === true ? 'may come' : 'will not come'}: ${unknownLocation?.message}`).toContain(expected);
});
