import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Spread } from '../../../../src/propagate/model/spec.ts';
import { chooseBySpread, printSpread, spreadGroupOf, spreadGroupsOf } from '../../../../src/propagate/plan/placing/choose-by-spread.ts';
import {
  type CountRange,
  chooseClusters,
  chooseFromGroups,
  compareEligible,
  type EligibleCluster,
} from '../../../../src/propagate/plan/placing/choose-clusters.ts';
import { member, spreadBy } from './placing-fixtures.ts';

const infinity = Number.POSITIVE_INFINITY;

test('clusters are ordered by tier, then score, then room, then name', () => {
  const clusters = [
    eligible('e', { tier: 1, score: 100, available: 99 }),
    eligible('d', { available: 1 }),
    eligible('b', { available: infinity }),
    eligible('a', { available: infinity }),
    eligible('c', { available: 5 }),
    eligible('f', { score: 100 }),
  ];
  expect(clusters.sort(compareEligible).map(({ name }) => name)).toEqual(['f', 'a', 'b', 'c', 'd', 'e']);
});

describe('by cluster', () => {
  const clusters = [
    eligible('a', { available: 5 }),
    eligible('b', { available: 3 }),
    eligible('c', { available: 9 }),
    eligible('d', { available: 4 }),
  ];

  test.each<[string, CountRange, number | undefined, readonly string[] | string]>([
    ['the first ones are chosen', { min: 1, max: 2 }, undefined, ['a', 'b']],
    ['all, without a maximum', { min: 1, max: infinity }, undefined, ['a', 'b', 'c', 'd']],
    ['the last ones give way to those of most room', { min: 1, max: 2 }, 14, ['a', 'c']],
    ['as far as it is needed', { min: 1, max: 2 }, 8, ['a', 'b']],
    ['from the last one backwards', { min: 1, max: 3 }, 18, ['a', 'd', 'c']],
    ['too few clusters', { min: 5, max: 9 }, undefined, 'expected at least 5 clusters to spread over, 4 fit'],
    ['too little room', { min: 1, max: 2 }, 15, 'expected room for 15 replicas in 2 of the clusters, there is room for 14'],
    ['a maximum of 0', { min: 0, max: 0 }, 0, 'expected room for 0 replicas in 0 of the clusters, there is room for 0'],
  ])('%s', (_, range, replicas, expected) => {
    const chosen = chooseClusters(clusters, range, replicas);
    expect(chosen.result === 'chosen' ? chosen.clusters.map(({ name }) => name) : chosen.problem).toEqual(expected);
    expect(clusters.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('never exchanges a cluster for one with less room, and finds enough room if there is any', () => {
    const list = fc
      .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 7 })
      .map((rooms) => rooms.map((available, index) => eligible(`c${index}`, { available })));
    fc.assert(
      fc.property(list, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 0, max: 40 }), (ordered, max, replicas) => {
        const chosen = chooseClusters(ordered, { min: 1, max }, replicas);
        const rooms = ordered.map(({ available }) => available).sort((a, b) => b - a);
        const most = rooms.slice(0, max).reduce((sum, room) => sum + room, 0);
        const begun = ordered.slice(0, max).reduce((sum, { available }) => sum + available, 0);
        if (begun >= replicas) expect(chosen).toEqual({ result: 'chosen', clusters: ordered.slice(0, max) });
        if (most < replicas) expect(chosen.result).toBe('refused');
        if (chosen.result === 'refused') return;
        expect(chosen.clusters.reduce((sum, { available }) => sum + available, 0)).toBeGreaterThanOrEqual(Math.min(replicas, most));
      }),
    );
  });
});

describe('by group', () => {
  const groups = [
    { name: 'eu', score: 100, clusters: [eligible('eu1', { score: 100 }), eligible('eu2', { score: 80 })] },
    { name: 'us', score: 80, clusters: [eligible('us1', { score: 80 }), eligible('us2', { score: 90 }), eligible('us3', { score: 60 })] },
  ];

  test.each<[string, CountRange, CountRange, readonly string[] | string]>([
    ['of one group', { min: 1, max: 1 }, { min: 2, max: 2 }, ['eu1', 'eu2']],
    ['of the group with clusters enough', { min: 1, max: 1 }, { min: 3, max: 3 }, ['us1', 'us2', 'us3']],
    ['the first of each group, then the rest in order', { min: 2, max: 2 }, { min: 3, max: 4 }, ['eu1', 'us1', 'us2', 'eu2']],
    ['one for each group in any case', { min: 2, max: 2 }, { min: 1, max: 1 }, ['eu1', 'us1']],
    ['too few groups', { min: 3, max: 3 }, { min: 1, max: 9 }, 'expected at least 3 groups to spread over, there are 2'],
    ['there are too few clusters', { min: 1, max: 1 }, { min: 4, max: 4 }, 'expected 4 clusters in 1 to 1 groups, there are not that many'],
  ])('%s', (_, group, cluster, expected) => {
    const chosen = chooseFromGroups(groups, { group, cluster });
    expect(chosen.result === 'chosen' ? chosen.clusters.map(({ name }) => name) : chosen.problem).toEqual(expected);
  });
});

describe('a spread', () => {
  const located = [
    {
      ...eligible('a', { available: 9 }),
      cluster: member('a', { region: 'eu', zones: ['z2', 'z1'], provider: 'aws', labels: { rack: 'r1' } }),
    },
    { ...eligible('b', { available: 8 }), cluster: member('b', { region: 'eu' }) },
    { ...eligible('c', { available: 7 }), cluster: member('c', { region: 'us', provider: 'gce' }) },
  ];

  test.each<[Spread, readonly (string | undefined)[]]>([
    [spreadBy('region', 1), ['eu', 'eu', 'us']],
    [spreadBy('zone', 1), ['z1', undefined, undefined]],
    [spreadBy('provider', 1), ['aws', undefined, 'gce']],
    [{ by: 'label', label: 'rack', min: 1 }, ['r1', undefined, undefined]],
    [{ by: 'label', label: 'constructor', min: 1 }, [undefined, undefined, undefined]],
    [spreadBy('cluster', 1), ['a', 'b', 'c']],
  ])('%j finds the groups %j', (spread, names) => {
    expect(located.map(({ cluster }) => spreadGroupOf(cluster, spread))).toEqual(names);
    const sizes = spreadGroupsOf(located, spread).map(({ clusters }) => clusters.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(names.filter((name) => name !== undefined).length);
  });

  test.each<[string, readonly Spread[], { replicas?: number; duplicated?: boolean }, readonly string[] | undefined]>([
    ['none takes all', [], {}, ['a', 'b', 'c']],
    ['by cluster', [spreadBy('cluster', 1, 2)], {}, ['a', 'b']],
    ['by cluster looks at room if replicas are divided', [spreadBy('cluster', 1, 1)], { replicas: 10 }, undefined],
    ['by cluster does not if they are duplicated', [spreadBy('cluster', 1, 1)], { replicas: 10, duplicated: true }, ['a']],
    ['by region with a maximum by cluster', [spreadBy('region', 2), spreadBy('cluster', 1, 2)], { replicas: 4 }, ['a', 'c']],
    ['by region alone takes all of the best', [spreadBy('region', 1, 1)], { replicas: 17 }, ['a', 'b']],
    ['by label', [{ by: 'label', label: 'rack', min: 1 }], {}, ['a']],
    ['by zone, of which there is one', [spreadBy('zone', 2)], {}, undefined],
  ])('%s', (_, spread, { replicas = 0, duplicated = false }, expected) => {
    const chosen = chooseBySpread(located, { spread, replicas, duplicated });
    expect(chosen.result === 'chosen' ? chosen.clusters.map(({ name }) => name) : undefined).toEqual(expected);
  });

  test('is printed for users', () => {
    expect(printSpread([spreadBy('region', 2, 3), { by: 'label', label: 'rack', min: 1 }])).toBe('region 2 to 3, rack 1 or more');
  });
});

function eligible(name: string, facts: Partial<EligibleCluster> = {}): EligibleCluster {
  return { name, tier: 0, score: 0, available: 0, ...facts };
}
