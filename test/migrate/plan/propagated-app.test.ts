import { expect, test } from 'vitest';
import type { MigrationPlanRequest } from '../../../src/migrate/plan/migration-planner.ts';
import { movedPlacement, planPropagatedApp, returnedPlacement } from '../../../src/migrate/plan/propagated-app.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';
import { parseSpec, printSpec } from '../../../src/propagate/model/spec.ts';
import { startPlannerWorld } from '../../propagate/plan/planner-world.ts';
import { configMap, specOf } from '../../propagate/plan/snapshots.ts';

const template = [configMap('web')];
const group = (set: object, more: object = {}) => ({ affinityGroups: [{ name: 'first', set, ...more }] });

test.each([
  { name: 'takes the place of the old one in a list', before: { clusters: ['north', 'south'] }, after: { clusters: ['north', 'east'] } },
  { name: 'is named once', before: { clusters: ['east', 'south'] }, after: { clusters: ['east'] } },
  { name: 'is not added to a list without the old one', before: { clusters: ['north'] }, after: { clusters: ['north'] } },
  { name: 'is left to the rules without a list', before: {}, after: { exclude: ['south'] } },
  { name: 'is left to a selector', before: { exclude: ['north'] }, after: { exclude: ['north', 'south'] } },
  { name: 'takes the place in a group', before: group({ clusters: ['south'] }), after: group({ clusters: ['east'] }) },
  { name: 'is left to the rules of a group', before: group({}), after: group({ exclude: ['south'] }) },
])('the new cluster $name', ({ before, after }) => {
  const moved = movedPlacement(specOf(template, { placement: before }).placement, 'south', 'east');
  expect(moved).toEqual(specOf(template, { placement: after }).placement);
  expect(movedPlacement(moved, 'south', 'east')).toEqual(moved);
});

test.each([
  { name: 'gives the placement of before', before: { clusters: ['south', 'north'] }, present: { clusters: ['east', 'north'] } },
  { name: 'gives a list with both', before: { clusters: ['east', 'south'] }, present: { clusters: ['east'] } },
  {
    name: 'keeps a cluster that was added',
    before: { clusters: ['south', 'north'] },
    present: { clusters: ['east', 'north', 'west'] },
    after: { clusters: ['south', 'north', 'west'] },
  },
  {
    name: 'keeps the target in a list that had both',
    before: { clusters: ['south', 'east'] },
    present: { clusters: ['east', 'west'] },
    after: { clusters: ['south', 'east', 'west'] },
  },
  {
    name: 'keeps an exclusion that was added',
    before: {},
    present: { exclude: ['south', 'west'] },
    after: { exclude: ['west'] },
  },
  {
    name: 'keeps a group that was added',
    before: group({ clusters: ['south'] }),
    present: {
      affinityGroups: [
        { name: 'new', set: { clusters: ['east'] } },
        { name: 'first', set: { clusters: ['east'] } },
      ],
    },
    after: {
      affinityGroups: [
        { name: 'new', set: { clusters: ['east'] } },
        { name: 'first', set: { clusters: ['south'] } },
      ],
    },
  },
  { name: 'changes nothing that allows the source', before: { clusters: ['south'] }, present: { clusters: ['south', 'west'] } },
  { name: 'refuses a placement without the target', before: { clusters: ['south'] }, present: { clusters: ['west'] }, after: undefined },
])('the undo of a move $name', ({ before, present, ...rest }) => {
  const placementOf = (placement: object) => specOf(template, { placement }).placement;
  const returned = returnedPlacement(placementOf(present), { before: placementOf(before), from: 'south', to: 'east' });
  const isAllowed = present.clusters?.includes('south') === true;
  const after = 'after' in rest ? rest.after : isAllowed ? present : before;
  expect(returned).toEqual(after === undefined ? undefined : placementOf(after));
  if (returned !== undefined)
    expect(returnedPlacement(returned, { before: placementOf(before), from: 'south', to: 'east' })).toEqual(returned);
});

test.each([
  { placement: { clusters: ['south'] }, expected: { placement: { clusters: ['east'] } } },
  { placement: {}, expected: { placement: { exclude: ['south'] } } },
  {
    placement: { clusters: ['north', 'south'], exclude: ['east'] },
    expected: { skipped: { reason: 'Invalid', message: expect.stringContaining('Propagation default/web would not choose east') } },
  },
  {
    placement: { clusters: ['north'] },
    expected: { skipped: { reason: 'Invalid', message: expect.stringContaining('would not choose east') } },
  },
])('a Propagation placed in $placement moves to east as $expected', async ({ placement, expected }) => {
  await using world = await startPlannerWorld({ north: [], south: [], east: [] });
  const spec = specOf(template, { placement });
  const propagation = {
    metadata: { namespace: 'default', name: 'web', uid: 'u' },
    spec,
    status: {},
    document: printSpec(spec),
  } as unknown as Propagation;
  const request = { spec: { from: 'south', to: 'east' }, signal: new AbortController().signal } as MigrationPlanRequest;
  const planned = await world.world.pumped(planPropagatedApp({ planner: world.planner }, request, propagation));
  expect(planned).toMatchObject(expected);
});

test('a Propagation with an invalid spec is skipped', async () => {
  const spec = parseSpec({ template: 1 });
  const propagation = {
    metadata: { namespace: 'default', name: 'web', uid: 'u' },
    spec,
    status: {},
    document: {},
  } as unknown as Propagation;
  const request = { spec: { from: 'south', to: 'east' }, signal: new AbortController().signal } as MigrationPlanRequest;
  const planner = { render: () => Promise.reject(new Error('expected no plan')) };
  const planned = await planPropagatedApp({ planner }, request, propagation);
  expect(planned).toEqual({ skipped: { reason: 'Invalid', message: 'Propagation default/web has an invalid spec' } });
});
