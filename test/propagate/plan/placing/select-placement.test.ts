import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLabelSelector } from '../../../../src/core/selectors.ts';
import type { ClusterSelection, PlacementCandidate, RejectedCluster } from '../../../../src/propagate/model/placement.ts';
import type { AffinityGroup, ClusterSet, Placement } from '../../../../src/propagate/model/spec.ts';
import { divideReplicas } from '../../../../src/propagate/plan/placing/divide-replicas.ts';
import { firstWithoutProblem, type SelectionInput, selectionsOf } from '../../../../src/propagate/plan/placing/select-placement.ts';
import { candidate, division, member, placement, spreadBy } from './placing-fixtures.ts';

const blue = { key: 'team', value: 'blue', effect: 'NoSchedule' };
const divided = { count: 6, mode: 'Divided', strategy: 'Available' } as const;

const selectPlacement = (given: SelectionInput): ClusterSelection => firstWithoutProblem(selectionsOf(given));

describe('filters', () => {
  test.each<[string, Partial<Placement>, PlacementCandidate, Omit<RejectedCluster, 'cluster'> | undefined]>([
    ['nothing in the way', {}, candidate('a'), undefined],
    ['on its way out', {}, candidate('a', { leaving: true, holds: true }), { reason: 'DELETING', detail: 'a' }],
    [
      'kinds that are not served',
      {},
      candidate('a', { missingKinds: ['Job.batch/v1', 'X.y/v1'] }),
      { reason: 'API_MISSING', detail: 'Job.batch/v1, X.y/v1' },
    ],
    ['a taint', {}, candidate(member('a', { taints: [blue] })), { reason: 'TAINT', detail: 'team=blue:NoSchedule' }],
    [
      'a taint that is tolerated',
      { tolerations: [{ key: 'team', operator: 'Exists' }] },
      candidate(member('a', { taints: [blue] })),
      undefined,
    ],
    [
      'neither pushes out what is there',
      {},
      candidate(member('a', { taints: [blue] }), { holds: true, missingKinds: ['X.y/v1'] }),
      undefined,
    ],
    ['labels', { selector: parseLabelSelector('tier=gold') }, candidate('a'), { reason: 'LABELS', detail: 'tier in (gold)' }],
    [
      'labels push out what is there',
      { selector: parseLabelSelector('tier') },
      candidate('a', { holds: true }),
      { reason: 'LABELS', detail: 'tier' },
    ],
    [
      'fields',
      { fields: [{ field: 'region', operator: 'In', values: ['eu'] }] },
      candidate('a'),
      { reason: 'FIELDS', detail: 'region In (eu)' },
    ],
    ['names', { clusters: ['b'] }, candidate('a'), { reason: 'NOT_NAMED', detail: 'a' }],
    ['exclusion', { clusters: ['a'], exclude: ['a'] }, candidate('a'), { reason: 'EXCLUDED', detail: 'a' }],
    ['a region to be spread over', { spread: [spreadBy('region', 1)] }, candidate('a'), { reason: 'TOPOLOGY', detail: 'region' }],
    [
      'a label to be spread over',
      { spread: [{ by: 'label', label: 'rack', min: 1 }] },
      candidate('a'),
      { reason: 'TOPOLOGY', detail: 'rack' },
    ],
    ['spread over clusters', { spread: [spreadBy('cluster', 1)] }, candidate('a'), undefined],
  ])('%s', (_, parts, one, refusal) => {
    const { chosen, rejected } = selectPlacement(input([one, candidate('b', { holds: true })], parts));
    expect(rejected.find(({ cluster }) => cluster === 'a')).toEqual(refusal === undefined ? undefined : { cluster: 'a', ...refusal });
    expect(chosen.some(({ cluster }) => cluster === 'a')).toBe(refusal === undefined);
  });

  test('reports why each cluster was rejected, and why none was chosen', () => {
    const selection = selectPlacement(input([candidate('b'), candidate('a')], { clusters: [] }));
    expect(selection).toEqual({
      chosen: [],
      rejected: [
        { cluster: 'a', reason: 'NOT_NAMED', detail: 'a' },
        { cluster: 'b', reason: 'NOT_NAMED', detail: 'b' },
      ],
      problem: 'no cluster fits the placement',
      notes: [],
    });
    expect(selectPlacement(input([])).problem).toBe('no cluster fits the placement');
    const lacking = candidate('a', { missingKinds: ['PodSecurityPolicy policy/v1beta1'] });
    expect(selectPlacement(input([lacking, candidate('b')], { clusters: ['a'] })).problem).toBe(
      'no cluster fits the placement; 1 of 2 clusters do not serve PodSecurityPolicy policy/v1beta1 (API_MISSING)',
    );
  });
});

describe('order', () => {
  test('clusters with copies first, then by room including existing replicas, then by name', () => {
    const { chosen } = selectPlacement(
      input([
        candidate('e', { capacity: 1 }),
        candidate('d', { capacity: 9 }),
        candidate('c', { capacity: 2, previous: 7 }),
        candidate('b', { holds: true, previous: 1, capacity: 0 }),
        candidate('a'),
      ]),
    );
    expect(chosen).toEqual([
      { cluster: 'b', tier: 0, score: 100, available: 1 },
      { cluster: 'a', tier: 0, score: 0 },
      { cluster: 'c', tier: 0, score: 0, available: 9 },
      { cluster: 'd', tier: 0, score: 0, available: 9 },
      { cluster: 'e', tier: 0, score: 0, available: 1 },
    ]);
  });
});

describe('affinity groups', () => {
  const groups = [
    group('near', { clusters: ['a', 'b'] }, [{ clusters: ['c'] }, { clusters: ['c', 'd'] }]),
    group('far', { clusters: ['d', 'e'] }),
  ];
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => candidate(name));

  test('the first group that succeeds is used, with its overflow tiers', () => {
    const selection = selectPlacement(input(all, { affinityGroups: groups }, { workload: divided }));
    expect(selection.group).toBe('near');
    expect(selection.chosen.map(({ cluster, tier, group: name }) => [cluster, tier, name])).toEqual([
      ['a', 0, 'near'],
      ['b', 0, 'near'],
      ['c', 1, 'near'],
      ['d', 2, 'near'],
    ]);
    expect(selection.rejected).toEqual([{ cluster: 'e', reason: 'LATER_GROUP', detail: 'far' }]);
  });

  test('a template without replicas uses no overflow', () => {
    const { chosen, rejected } = selectPlacement(input(all, { affinityGroups: groups }));
    expect(chosen.map(({ cluster }) => cluster)).toEqual(['a', 'b']);
    expect(rejected.map(({ cluster, reason }) => [cluster, reason])).toEqual([
      ['c', 'NOT_NAMED'],
      ['d', 'LATER_GROUP'],
      ['e', 'LATER_GROUP'],
    ]);
  });

  test('the next group is tried after any error', () => {
    const tainted = all.map((entry) =>
      ['a', 'b'].includes(entry.cluster.name) ? { ...entry, cluster: member(entry.cluster.name, { taints: [blue] }) } : entry,
    );
    const selection = selectPlacement(input(tainted, { affinityGroups: groups }));
    expect(selection.group).toBe('far');
    expect(selection.chosen.map(({ cluster }) => cluster)).toEqual(['d', 'e']);
    expect(selection.problem).toBeUndefined();
  });

  test('groups before the last used one are tried only on a requested reschedule', () => {
    expect(selectPlacement(input(all, { affinityGroups: groups }, { previousGroup: 'far' })).group).toBe('far');
    expect(selectPlacement(input(all, { affinityGroups: groups }, { previousGroup: 'far', fresh: true })).group).toBe('near');
    expect(selectPlacement(input(all, { affinityGroups: groups }, { previousGroup: 'gone' })).group).toBe('near');
  });

  test('if all groups fail, the problem of the first one is reported', () => {
    const spread = [spreadBy('cluster', 3)];
    const selection = selectPlacement(input(all, { affinityGroups: groups, spread }));
    expect(selection.problem).toBe('expected at least 3 clusters to spread over, 2 fit');
    expect(selection.group).toBeUndefined();
    expect(selection.rejected.map(({ cluster, reason }) => [cluster, reason])).toEqual([
      ['a', 'SPREAD'],
      ['b', 'SPREAD'],
      ['c', 'NOT_NAMED'],
      ['d', 'LATER_GROUP'],
      ['e', 'LATER_GROUP'],
    ]);
  });
});

describe('spread', () => {
  const clusters = [
    candidate(member('a', { region: 'eu' }), { capacity: 3 }),
    candidate(member('b', { region: 'eu' }), { capacity: 2 }),
    candidate(member('c', { region: 'us' }), { capacity: 1 }),
    candidate(member('d', { region: 'ap' }), { capacity: 1 }),
  ];

  test('a cluster that is not chosen is reported with the bounds', () => {
    const { chosen, rejected } = selectPlacement(input(clusters, { spread: [spreadBy('cluster', 1, 2)] }));
    expect(chosen.map(({ cluster }) => cluster)).toEqual(['a', 'b']);
    expect(rejected).toEqual([
      { cluster: 'c', reason: 'SPREAD', detail: 'cluster 1 to 2' },
      { cluster: 'd', reason: 'SPREAD', detail: 'cluster 1 to 2' },
    ]);
  });

  test('a cluster that was replaced by one with more room is reported with its own room', () => {
    const held = [...clusters, candidate(member('e'), { capacity: 0, holds: true })];
    const { chosen, rejected } = selectPlacement(
      input(held, { spread: [spreadBy('cluster', 1, 1)] }, { workload: { ...divided, count: 3 } }),
    );
    expect(chosen.map(({ cluster }) => cluster)).toEqual(['a']);
    expect(rejected.find(({ cluster }) => cluster === 'e')).toEqual({ cluster: 'e', reason: 'CAPACITY', detail: 'room for 0' });
  });

  test('too little room is an error only for divided replicas', () => {
    const spread = [spreadBy('cluster', 1, 2)];
    const short = selectPlacement(input(clusters, { spread }, { workload: divided }));
    expect(short.problem).toBe('expected room for 6 replicas in 2 of the clusters, there is room for 5');
    expect(new Set(short.rejected.map(({ reason }) => reason))).toEqual(new Set(['CAPACITY']));
    for (const mode of ['Duplicated', 'External'] as const) {
      expect(selectPlacement(input(clusters, { spread }, { workload: { ...divided, mode } })).chosen).toHaveLength(2);
    }
  });

  test('chooses one cluster of each region, regions of equal score by name', () => {
    const spread = [spreadBy('region', 2), spreadBy('cluster', 1, 2)];
    const { chosen } = selectPlacement(input(clusters, { spread }, { workload: { ...divided, count: 2 } }));
    expect(chosen.map(({ cluster }) => cluster)).toEqual(['d', 'a']);
  });

  test('never chooses more groups than the maximum of clusters', () => {
    const spread = [spreadBy('region', 1, 3), spreadBy('cluster', 1, 1)];
    expect(selectPlacement(input(clusters, { spread })).chosen).toHaveLength(1);
    expect(selectPlacement(input(clusters, { spread: [spreadBy('region', 2), spreadBy('cluster', 1, 1)] })).problem).toBeDefined();
  });

  test('a minimum of 0 still chooses a cluster', () => {
    expect(selectPlacement(input(clusters, { spread: [spreadBy('region', 0), spreadBy('cluster', 0)] })).chosen.length).toBeGreaterThan(0);
    expect(selectPlacement(input([], { spread: [spreadBy('cluster', 0)] })).problem).toBeDefined();
  });
});

describe('for random inputs', () => {
  const regions = ['eu', 'us', undefined];
  const candidates = fc
    .array(
      fc.record({
        region: fc.constantFrom(...regions),
        tainted: fc.boolean(),
        holds: fc.boolean(),
        previous: fc.integer({ min: 0, max: 4 }),
        capacity: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
      }),
      { maxLength: 8 },
    )
    .map((list) =>
      list.map(({ region, tainted, holds, previous, capacity }, index) =>
        candidate(member(`c${index}`, { ...(region === undefined ? {} : { region }), taints: tainted ? [blue] : [] }), {
          holds,
          previous,
          ...(capacity === undefined ? {} : { capacity }),
        }),
      ),
    );
  const spread = fc.constantFrom(
    [],
    [spreadBy('cluster', 1, 3)],
    [spreadBy('region', 1, 2)],
    [spreadBy('region', 2), spreadBy('cluster', 2, 4)],
  );
  const names = ['c0', 'c1', 'c2', 'c3', 'c4'];
  const affinityGroups = fc.constantFrom<AffinityGroup[][]>(
    [],
    [group('one', { clusters: names.slice(0, 2) }, [{ clusters: names }]), group('two', {})],
  );
  const inputs = fc
    .record({ candidates, spread, affinityGroups, count: fc.integer({ min: 0, max: 20 }) })
    .map((given) =>
      input(
        given.candidates,
        { spread: given.spread, affinityGroups: given.affinityGroups },
        { workload: { ...divided, count: given.count } },
      ),
    );

  test('every candidate is either chosen or rejected, and none is chosen if there is a problem', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const { chosen, rejected, problem } = selectPlacement(given);
        const told = [...chosen, ...rejected].map(({ cluster }) => cluster).sort();
        expect(told).toEqual(given.candidates.map(({ cluster }) => cluster.name).sort());
        expect(chosen.length === 0).toBe(problem !== undefined);
      }),
    );
  });

  test('the order of the candidates makes no difference, also not for the division', () => {
    fc.assert(
      fc.property(inputs, fc.constantFrom('Weighted' as const, 'Available' as const, 'Aggregated' as const), (given, strategy) => {
        const [one, other] = [selectPlacement(given), selectPlacement({ ...given, candidates: given.candidates.toReversed() })];
        expect(JSON.stringify(other)).toBe(JSON.stringify(one));
        expect(dividedAmong(other, given.candidates.toReversed(), strategy)).toBe(dividedAmong(one, given.candidates, strategy));
      }),
    );
  });

  function dividedAmong(
    { chosen }: ClusterSelection,
    among: readonly PlacementCandidate[],
    strategy: 'Weighted' | 'Available' | 'Aggregated',
  ): string {
    const targets = chosen.flatMap((one) => {
      const found = among.find(({ cluster }) => cluster.name === one.cluster);
      return found === undefined
        ? []
        : [
            {
              chosen: one,
              cluster: found.cluster,
              previous: found.previous,
              ...(found.capacity === undefined ? {} : { capacity: found.capacity }),
            },
          ];
    });
    return JSON.stringify(divideReplicas(division(7, targets, { replicas: { strategy } })));
  }
});

function input(
  candidates: readonly PlacementCandidate[],
  parts: Partial<Placement> = {},
  more: Partial<Pick<SelectionInput, 'workload' | 'previousGroup' | 'fresh'>> = {},
): SelectionInput {
  return { placement: placement(parts), candidates, fresh: false, ...more };
}

function group(name: string, set: ClusterSet, overflow: readonly ClusterSet[] = []): AffinityGroup {
  return { name, set, overflow: overflow.map((entry, index) => ({ name: `${name}-${index}`, set: entry })) };
}

describe('a cluster with an unknown location', () => {
  const eu = { fields: [{ field: 'region', operator: 'In', values: ['eu'] }] } as const;
  const notUs = { fields: [{ field: 'region', operator: 'NotIn', values: ['us'] }] } as const;
  const unread = (name: string, { holds, mayBecomeKnown = true }: { readonly holds: boolean; readonly mayBecomeKnown?: boolean }) =>
    candidate(member(name, { unknownLocation: { fields: ['region'], mayBecomeKnown, message: 'Nodes are unread' } }), { holds });
  const known = (name: string, region: string, holds = false) => candidate(member(name, { region }), { holds });
  const chosenIn = ({ chosen, rejected }: ClusterSelection) => [
    chosen.map(({ cluster, isLocationUnknown }) => `${cluster}${isLocationUnknown === true ? ' (kept)' : ''}`),
    rejected.map(({ cluster, reason }) => `${cluster} ${reason}`),
  ];
  const selected = (parts: Partial<Placement>, candidates: readonly PlacementCandidate[]) =>
    selectPlacement({ placement: placement(parts), candidates, fresh: false });

  test.each<[string, Partial<Placement>, readonly PlacementCandidate[], readonly (readonly string[])[]]>([
    ['is kept if it has copies', eu, [unread('a', { holds: true }), known('b', 'eu')], [['a (kept)', 'b'], []]],
    ['is not chosen before the location is known', eu, [unread('a', { holds: false }), known('b', 'eu')], [['b'], ['a SYNCING']]],
    [
      'is chosen if the placement does not use the location',
      {},
      [unread('a', { holds: false }), unread('b', { holds: true })],
      [['b', 'a'], []],
    ],
    [
      'is out where something else says so',
      { ...eu, exclude: ['a'], tolerations: [] },
      [unread('a', { holds: true }), known('b', 'eu')],
      [['b'], ['a EXCLUDED']],
    ],
    [
      'that will never be known is kept',
      eu,
      [unread('a', { holds: true, mayBecomeKnown: false }), known('b', 'us')],
      [['a (kept)'], ['b FIELDS']],
    ],
    [
      'counts as in no region if the location will never be known',
      notUs,
      [unread('a', { holds: true, mayBecomeKnown: false })],
      [['a'], []],
    ],
    ['is not rejected while the location may become known', notUs, [unread('a', { holds: true })], [['a (kept)'], []]],
    [
      'keeps its place among groups of clusters, and nobody new is taken for one',
      { spread: [spreadBy('region', 2)] },
      [unread('a', { holds: true }), known('b', 'us', true), known('c', 'eu')],
      [['a (kept)', 'b'], ['c SYNCING']],
    ],
    [
      'does not stand in any group yet',
      { spread: [spreadBy('region', 1, 1)] },
      [unread('a', { holds: false }), known('b', 'us')],
      [['b'], ['a SYNCING']],
    ],
  ])('%s', (_, parts, candidates, expected) => {
    expect(chosenIn(selected(parts, candidates))).toEqual(expected);
  });

  test('is mentioned if no cluster fits', () => {
    expect(selected(eu, [unread('a', { holds: false }), known('b', 'us')]).problem).toBe(
      'no cluster fits the placement; the location of some clusters is not known yet',
    );
  });

  test('is checked in the overflow of workloads too', () => {
    const groups = [{ name: 'main', set: { clusters: ['b'] }, overflow: [{ name: 'more', set: eu }] }];
    const workload = { ...divided, count: 1 };
    const candidates = [unread('a', { holds: true }), known('b', 'eu')];
    const asked = { placement: placement({ affinityGroups: groups }), candidates, fresh: false };
    expect(chosenIn(selectPlacement({ ...asked, workload }))).toEqual([['a (kept)', 'b'], []]);
    expect(chosenIn(selectPlacement(asked))).toEqual([['b'], ['a NOT_NAMED']]);
  });

  test('never loses its copies, for random other clusters', () => {
    const others = fc.array(fc.record({ region: fc.constantFrom('eu', 'us', undefined), holds: fc.boolean() }), { maxLength: 6 });
    const parts = fc.constantFrom<Partial<Placement>>(eu, notUs, { spread: [spreadBy('region', 1, 1), spreadBy('cluster', 1, 1)] });
    fc.assert(
      fc.property(others, parts, (rest, asked) => {
        const candidates = rest.map(({ region, holds }, index) =>
          region === undefined ? unread(`c${index}`, { holds }) : known(`c${index}`, region, holds),
        );
        const { chosen } = selected(asked, [unread('mine', { holds: true }), ...candidates]);
        const names = new Set<string>(chosen.map(({ cluster }) => cluster));
        const holders = candidates.filter(({ cluster, holds }) => holds && cluster.unknownLocation !== undefined);
        expect(['mine', ...holders.map(({ cluster }) => cluster.name)].filter((name) => !names.has(name))).toEqual([]);
      }),
    );
  });
});
