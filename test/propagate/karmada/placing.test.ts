import { describe, expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import type { ClusterAffinity } from '../../../src/propagate/karmada/cluster-affinity.ts';
import type { ReplicaScheduling } from '../../../src/propagate/karmada/replica-scheduling.ts';
import { tieBreakOf } from '../../../src/propagate/plan/exact/divide-as-karmada.ts';
import { divideReplicas } from '../../../src/propagate/plan/placing/divide-replicas.ts';
import { division, rule, target } from '../plan/placing/placing-fixtures.ts';
import { apportionSeats, dispense } from '../vectors/karmada/apportionment.ts';
import { assignReplicas, type KarmadaCandidate } from '../vectors/karmada/assign-replicas.ts';
import { matchesCluster } from '../vectors/karmada/cluster-affinity.ts';
import { maxAvailableReplicas, replicasFromModels } from '../vectors/karmada/estimator.ts';
import { filterAPIEnablement, filterClusterAffinity, filterTaintToleration } from '../vectors/karmada/scheduler-filters.ts';
import { selectBest } from '../vectors/karmada/select-clusters.ts';
import { attachZeroReplicaClusters, divideJobCompletions, reviseReplicas } from '../vectors/karmada/target-clusters.ts';

// Rules of Karmada that differ from Muster's rules on purpose. docs/internals/propagation.md describes each difference.

describe('apportionment', () => {
  test('breaks ties by name, in reverse order for every second UID', () => {
    const seatsOf = (uid: string) => dispense({ newReplicas: 3, weights: { a: 1, b: 1 }, initial: {}, uid }).assignment;
    expect([seatsOf(''), seatsOf('a'), seatsOf('b')]).toEqual([
      { a: 2, b: 1 },
      { a: 2, b: 1 },
      { a: 1, b: 2 },
    ]);
    expect(tieBreakOf('b')(seated('a', 1), seated('b', 2))).toBeLessThan(0);
  });

  test('keeps the initial replicas if all weights are 0, and distributes evenly if all votes are 0', () => {
    expect(dispense({ newReplicas: 3, weights: { a: 0 }, initial: { b: 1 } }).assignment).toEqual({ b: 1 });
    expect(apportionSeats({ newSeats: 3, votes: { a: 0, b: 0 }, initial: {} })).toEqual({ seats: { a: 2, b: 1 } });
    expect(apportionSeats({ newSeats: 3, votes: { a: 0, b: 1 }, initial: {} })).toEqual({ seats: { a: 0, b: 3 } });
    expect(apportionSeats({ newSeats: 3 })).toEqual({ seats: null });
  });

  test('changes nothing if there are no new replicas', () => {
    expect(dispense({ newReplicas: 0, weights: { a: 1 }, initial: { b: 2 } }).assignment).toEqual({ b: 2 });
    expect(dispense({ newReplicas: 0, weights: { a: 1 }, initial: {} }).assignment).toEqual({ a: 0 });
  });
});

describe('division', () => {
  const rooms: readonly KarmadaCandidate[] = [candidate('a', 2), candidate('b', 3)];
  const weighted = (weights: readonly (readonly [string, number])[]): ReplicaScheduling => ({
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { staticWeightList: weights.map(([name, weight]) => ({ targetCluster: { clusterNames: [name] }, weight })) },
  });
  const aggregated = { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' };

  test('assigns no replicas if not all fit, while Muster assigns those that fit', () => {
    expect(assignReplicas({ candidates: rooms, replicas: 6, replicaScheduling: aggregated })).toMatchObject({
      error: true,
      unschedulable: true,
    });
    const ours = divideReplicas(
      division(6, [target('a', { capacity: 2 }), target('b', { capacity: 3 })], { replicas: { strategy: 'Aggregated' } }),
    );
    expect(ours.shares.map(({ to }) => to)).toEqual([2, 3]);
  });

  test('divides by fixed weights from zero every time, while Muster moves the difference', () => {
    const previous = [
      { name: 'a', replicas: 5 },
      { name: 'b', replicas: 1 },
    ];
    const replicaScheduling = weighted([
      ['a', 1],
      ['b', 1],
    ]);
    expect(assignReplicas({ candidates: rooms, replicas: 6, previous, replicaScheduling })).toEqual({
      clusters: [
        { name: 'a', replicas: 3 },
        { name: 'b', replicas: 3 },
      ],
    });
    const ours = divideReplicas(
      division(6, [target('a', { previous: 5 }), target('b', { previous: 1 })], { replicas: { rules: [rule(['a', 'b'])] } }),
    );
    expect(ours.shares.map(({ to }) => to)).toEqual([5, 1]);
  });

  test('treats a weight of 0 as no rule, and only such weights as equal weights', () => {
    expect(
      assignReplicas({
        candidates: rooms,
        replicas: 4,
        replicaScheduling: weighted([
          ['a', 0],
          ['b', 2],
        ]),
      }),
    ).toEqual({
      clusters: [
        { name: 'a', replicas: 0 },
        { name: 'b', replicas: 4 },
      ],
    });
    expect(
      assignReplicas({
        candidates: rooms,
        replicas: 4,
        replicaScheduling: weighted([
          ['a', 0],
          ['b', 0],
        ]),
      }),
    ).toEqual({
      clusters: [
        { name: 'a', replicas: 2 },
        { name: 'b', replicas: 2 },
      ],
    });
  });

  test.each([{ replicaSchedulingType: 'Divided' }, { replicaSchedulingType: 'Cloned' }, {}])(
    'knows no strategy %j',
    (replicaScheduling) => {
      expect(assignReplicas({ candidates: rooms, replicas: 4, replicaScheduling })).toMatchObject({ error: true });
    },
  );

  test('fails without a cluster', () => {
    expect(assignReplicas({ candidates: [], replicas: 4 })).toMatchObject({ error: true });
    expect(assignReplicas({ candidates: rooms, replicas: 4 })).toEqual({
      clusters: [
        { name: 'a', replicas: 4 },
        { name: 'b', replicas: 4 },
      ],
    });
  });

  test('overflows only from the affinity in use', () => {
    const placement = {
      clusterAffinities: [
        { affinityName: 'near', clusterNames: ['a'], overflowAffinities: [{ affinityName: 'far', clusterNames: ['b'] }] },
      ],
      replicaScheduling: { ...aggregated, weightPreference: null },
    };
    const candidates = [candidate('a', 2), { ...candidate('b', 9), overflowOrder: 1 }];
    const assign = (observedAffinityName: string) => assignReplicas({ candidates, replicas: 5, placement, observedAffinityName });
    expect(assign('near')).toEqual({
      clusters: [
        { name: 'a', replicas: 2 },
        { name: 'b', replicas: 3 },
      ],
    });
    expect(assign('')).toEqual({
      clusters: [
        { name: 'a', replicas: 0 },
        { name: 'b', replicas: 5 },
      ],
    });
  });

  test('names clusters without replicas if requested', () => {
    expect(attachZeroReplicaClusters({ clusters: [{ name: 'a' }, { name: 'b' }], targetClusters: [{ name: 'b', replicas: 2 }] })).toEqual({
      clusters: [
        { name: 'b', replicas: 2 },
        { name: 'a', replicas: 0 },
      ],
    });
  });

  test('divides the completions of a Job if they are a number', () => {
    const clusters = [
      { name: 'a', replicas: 3 },
      { name: 'b', replicas: 1 },
    ];
    expect(divideJobCompletions({ job: { spec: { completions: 8 } }, clusters })).toEqual({
      completions: [
        { name: 'a', replicas: 6 },
        { name: 'b', replicas: 2 },
      ],
    });
    expect(divideJobCompletions({ job: {}, clusters })).toEqual({ completions: [] });
    expect(() => divideJobCompletions({ job: { spec: { completions: '8' } }, clusters })).toThrow(MusterError);
  });

  test('writes a count only if the object has one', () => {
    const deployment = (spec: Record<string, string | number>) => ({ apiVersion: 'apps/v1', kind: 'Deployment', spec });
    expect(reviseReplicas({ object: deployment({ replicas: 1 }), replicas: 3 })).toEqual({ object: deployment({ replicas: 3 }) });
    expect(reviseReplicas({ object: deployment({}), replicas: 3 })).toEqual({ object: deployment({}) });
    expect(() => reviseReplicas({ object: deployment({ replicas: '1' }), replicas: 3 })).toThrow(MusterError);
    expect(() => reviseReplicas({ object: { apiVersion: 'v1', kind: 'Pod', spec: {} }, replicas: 3 })).toThrow(MusterError);
  });
});

describe('affinities', () => {
  const cluster = { name: 'a', region: 'eu', labels: { tier: 'gold' } };
  const fields = (...matchExpressions: readonly { key?: string; operator?: string; values?: string[] }[]): ClusterAffinity => ({
    fieldSelector: { matchExpressions },
  });

  test.each<[string, ClusterAffinity, boolean]>([
    ['an empty list of names matches every cluster', { clusterNames: [] }, true],
    ['an invalid selector matches no cluster', { labelSelector: { matchLabels: { '-': 'x' } } }, false],
    ['an invalid operator matches no cluster', { labelSelector: { matchExpressions: [{ key: 'tier', operator: 'Near' }] } }, false],
    ['an empty selector matches every cluster', { labelSelector: {} }, true],
    ['an empty key matches no cluster', fields({ key: '', operator: 'NotIn', values: ['x'] }), false],
    ['a missing operator matches no cluster', fields({ key: 'region', values: ['eu'] }), false],
    ['NotIn without values matches no cluster', fields({ key: 'region', operator: 'NotIn' }), false],
    ['Exists with values matches no cluster', fields({ key: 'region', operator: 'Exists', values: ['eu'] }), false],
    ['an invalid value matches no cluster', fields({ key: 'region', operator: 'NotIn', values: ['-'] }), false],
    ['a requirement on zones is not validated', fields({ key: 'zone', operator: 'NotIn' }), true],
    ['an unknown field fails In', fields({ key: 'rack', operator: 'In', values: ['x'] }), false],
    [
      'a field that nobody has passes NotIn',
      fields({ key: 'rack', operator: 'NotIn', values: ['x'] }, { key: 'region', operator: 'Exists' }),
      true,
    ],
  ])('%s', (_, affinity, matches) => {
    expect(matchesCluster({ affinity, cluster })).toEqual({ matches });
  });
});

describe('filters', () => {
  test('of kinds and taints pass clusters that have the workload already', () => {
    const binding = { resource: { apiVersion: 'apps/v1', kind: 'Deployment' }, previous: [{ name: 'a' }] };
    const tainted = { taints: [{ key: 'k', effect: 'NoExecute' }] };
    const serving = { apiEnablements: [{ groupVersion: 'apps/v1', resources: [{ kind: 'Deployment' }] }] };
    expect(filterAPIEnablement({ cluster: { name: 'a' }, binding }).result).toBe('Success');
    expect(filterAPIEnablement({ cluster: { name: 'b' }, binding }).result).toBe('Unschedulable');
    expect(filterAPIEnablement({ cluster: { name: 'b', ...serving }, binding }).result).toBe('Success');
    expect(filterTaintToleration({ cluster: { name: 'a', ...tainted }, binding }).result).toBe('Success');
    expect(filterTaintToleration({ cluster: { name: 'b', ...tainted }, binding }).result).toBe('Unschedulable');
  });

  test('of affinities allow overflow for workloads with replicas', () => {
    const placement = { clusterAffinities: [{ affinityName: 'near', clusterNames: ['a'], overflowAffinities: [{ clusterNames: ['b'] }] }] };
    const filter = (replicas: number) =>
      filterClusterAffinity({ cluster: { name: 'b' }, binding: { placement, replicas }, observedAffinityName: 'near' }).result;
    expect([filter(1), filter(0)]).toEqual(['Success', 'Unschedulable']);
  });
});

describe('spread', () => {
  const clusters = ['a', 'b', 'c'].map((name, index) => ({ name, region: index === 0 ? 'eu' : 'us', availableReplicas: 5 }));
  const divided = { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' };

  test.each([
    ['without a maximum of clusters none is selected', [{ spreadByField: 'cluster', minGroups: 1 }], undefined, []],
    ['without a maximum of clusters divided replicas give an error', [{ spreadByField: 'cluster', minGroups: 1 }], divided, undefined],
    [
      'without a maximum of regions none is found',
      [
        { spreadByField: 'region', minGroups: 1 },
        { spreadByField: 'cluster', minGroups: 1, maxGroups: 9 },
      ],
      undefined,
      undefined,
    ],
    [
      'without a constraint on clusters one per region is selected',
      [{ spreadByField: 'region', minGroups: 2, maxGroups: 2 }],
      undefined,
      ['b', 'a'],
    ],
    ['zones do not select', [{ spreadByField: 'zone', minGroups: 1, maxGroups: 1 }], undefined, undefined],
    [
      'zones in addition to clusters change nothing',
      [
        { spreadByField: 'zone', minGroups: 1, maxGroups: 1 },
        { spreadByField: 'cluster', minGroups: 1, maxGroups: 2 },
      ],
      undefined,
      ['a', 'b'],
    ],
    [
      'an empty weight preference keeps the spread constraints',
      [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 2 }],
      { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted', weightPreference: {} },
      ['a', 'b'],
    ],
    [
      'without a weight preference the spread constraints are ignored',
      [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 2 }],
      { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' },
      ['a', 'b', 'c'],
    ],
  ])('%s', (_, spreadConstraints, replicaScheduling, expected) => {
    const placement = { spreadConstraints, ...(replicaScheduling === undefined ? {} : { replicaScheduling }) };
    const selected = selectBest({ clusters, placement, replicas: 4 });
    expect('clusters' in selected ? selected.clusters : undefined).toEqual(expected);
  });
});

describe('the estimator', () => {
  const resourceModels = [{ grade: 1, ranges: [{ name: 'cpu', min: '4' }] }];
  const resourceSummary = { allocatable: { cpu: '12', pods: '100' }, allocatableModelings: [{ grade: 1, count: 3 }] };
  const replicaRequirements = { resourceRequest: { cpu: '2' } };

  test('estimates by models after placing assumed workloads', () => {
    const estimate = (...replicas: readonly number[]) =>
      replicasFromModels({
        cluster: { resourceModels, resourceSummary },
        replicaRequirements,
        assumedWorkloads: [
          { components: replicas.map((count) => ({ replicas: count, replicaRequirements: { resourceRequest: { cpu: '3' } } })) },
        ],
      });
    expect([estimate(), estimate(1), estimate(2), estimate(3), estimate(1, 0, 1)]).toEqual(
      [6, 4, 2, 0, 2].map((replicas) => ({ replicas })),
    );
    expect(estimate(9, 1)).toEqual({ replicas: 0 });
  });

  test('uses the sums if the models are unusable', () => {
    const broken = { ...resourceSummary, allocatableModelings: [{ grade: 1, count: -1 }] };
    expect(replicasFromModels({ cluster: { resourceModels, resourceSummary: broken }, replicaRequirements })).toMatchObject({
      error: true,
    });
    expect(maxAvailableReplicas({ cluster: { resourceModels, resourceSummary: broken }, replicaRequirements })).toEqual({ replicas: 6 });
    expect(maxAvailableReplicas({ cluster: { resourceModels, resourceSummary } })).toEqual({ replicas: 100 });
    expect(maxAvailableReplicas({ cluster: { resourceModels } })).toEqual({ replicas: 0 });
  });
});

function candidate(name: string, allocatableReplicas: number): KarmadaCandidate {
  return { name, allocatableReplicas };
}

function seated(name: string, seats: number) {
  return { name, seats, weight: 1, cap: Number.POSITIVE_INFINITY };
}
