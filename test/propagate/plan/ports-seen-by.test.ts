import { expect, test } from 'vitest';
import type { IdentityVisibility } from '../../../src/changes/acting-clients.ts';
import { fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { startPlannerWorld } from './planner-world.ts';
import { configMap, entry, shareOf } from './snapshots.ts';

const settings = configMap('settings', { ours: '1' });
const intent = { template: [{ json: settings }], placement: {} };

/** A requester who may see these clusters, and no objects in them. */
const seeing = (
  clusters: readonly string[],
  objects: IdentityVisibility['objects'] = async () => ({ has: () => false }),
): IdentityVisibility => ({
  clusters: async () => (cluster) => clusters.includes(cluster),
  objects,
  refusalOf: async () => undefined,
});

test('a cluster that the requester may not see is unknown, like one that does not exist', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] }, { visibility: seeing(['hub', 'south']) });
  const plan = await planner.plan(intent);
  expect(plan.clusters.map(({ cluster }) => cluster)).toEqual(['hub', 'south']);
  const notesOf = async (cluster: string) => (await planner.plan({ ...intent, placement: { clusters: [cluster] } })).notes;
  expect(JSON.stringify(await notesOf('east')).replaceAll('east', 'moon')).toBe(JSON.stringify(await notesOf('moon')));
  expect(await notesOf('east')).toMatchObject([{ code: 'UNKNOWN_CLUSTER' }, { code: 'NOTHING_CHOSEN' }]);
});

test('a cluster with copies stays in the plan after the requester may see it no longer', async () => {
  const shares = [shareOf('east', [entry(settings)])];
  const options = { visibility: seeing(['hub', 'south']), shares };
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] }, options);
  const rendered = await planner.world.pumped(planner.planner.render(planner.request(intent, { shares })));
  expect(rendered.clusters.map(({ chosen }) => chosen.cluster)).toContain('east');
});

test('an object that the requester may not get counts as absent, and one with unknown rights as unread', async () => {
  const fleet = { hub: [], south: [configMap('settings', { theirs: '1' })] };
  const placed = { ...intent, placement: { clusters: ['south'] } };
  const actionWith = async (visibility: IdentityVisibility) => {
    await using planner = await startPlannerWorld(fleet, { visibility });
    const rendered = await planner.world.pumped(planner.planner.render(planner.request(placed)));
    return rendered.clusters[0]?.objects[0];
  };
  expect(await actionWith(seeing(['hub', 'south'], async () => ({ has: () => true })))).toMatchObject({ action: 'HOLD', held: 'Conflict' });
  const hidden = await actionWith(seeing(['hub', 'south']));
  expect([hidden?.action, hidden?.live, hidden?.held]).toEqual(['CREATE', undefined, undefined]);
  const unanswered = fault('TIMED_OUT', 'no answer', { cluster: clusterName('south'), retry: 'LATER' });
  const unread = await actionWith(seeing(['hub', 'south'], async () => ({ has: () => false, fault: unanswered })));
  expect(unread?.held).not.toBe('Conflict');
});
