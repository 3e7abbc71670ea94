import { expect, test } from 'vitest';
import { locationFieldsIn, otherSetsIn, placementSetsIn } from '../../../../src/propagate/plan/placing/sets-in.ts';
import { configMap, specOf } from '../snapshots.ts';

const field = (name: string) => ({ fields: [{ field: name, operator: 'Exists' }] });
const spec = (more: Readonly<Record<string, unknown>>) => specOf([configMap('settings')], more);

test.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['nothing', { placement: { clusters: ['a'], spread: [{ by: 'cluster' }, { by: 'label', label: 'tier' }] } }, []],
  ['by the placement', { placement: field('region') }, ['region']],
  ['by a spread', { placement: { spread: [{ by: 'zone' }] } }, ['zone']],
  [
    'by groups and their overflow',
    {
      replicas: { mode: 'Divided', strategy: 'Available' },
      placement: { affinityGroups: [{ name: 'a', set: field('provider'), overflow: [{ name: 'b', set: field('zone') }] }] },
    },
    ['provider', 'zone'],
  ],
  ['by rules', { replicas: { mode: 'Divided', rules: [{ set: field('region') }] } }, ['region']],
  ['by overrides', { overrides: [{ set: field('provider'), labels: [{ operator: 'Add', values: { a: 'b' } }] }] }, ['provider']],
  ['by waves', { rollout: { waves: [{ name: 'first', set: field('zone') }] } }, ['zone']],
])('the location fields that sets use: %s', (_, more, fields) => {
  expect(locationFieldsIn(spec(more))).toEqual(fields);
});

test('each set either chooses clusters or divides between chosen ones', () => {
  const asked = spec({
    placement: { selector: { matchLabels: { tier: 'gold' } } },
    overrides: [{ set: { clusters: ['o'] }, labels: [{ operator: 'Add', values: { a: 'b' } }] }],
    rollout: { waves: [{ name: 'w', set: { clusters: ['w'] } }] },
    replicas: { mode: 'Divided', rules: [{ set: { clusters: ['r'] } }] },
  });
  expect(placementSetsIn(asked.placement)).toEqual([asked.placement]);
  expect(otherSetsIn(asked).map(({ clusters }) => clusters)).toEqual([['r'], ['o'], ['w']]);
});
