import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { valueAt } from '../../../../src/core/json-at.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import type { RenderedPlan } from '../../../../src/propagate/model/plan.ts';
import type { PreviousDecision } from '../../../../src/propagate/plan/snapshot/snapshot.ts';
import { type ClusterFacts, codesOf, configMap, deployment, entry, planOf, type SnapshotFacts, specOf } from '../snapshots.ts';

/** Plans with the rules of Karmada. `uid` with an odd hash: `b`. */
function karmadaPlan({ spec, ...facts }: SnapshotFacts, uid = ''): RenderedPlan {
  return planOf({ ...facts, spec: { ...spec, exact: { system: 'Karmada', ...(uid === '' ? {} : { uid }) } } });
}

const countsIn = ({ clusters }: RenderedPlan) => Object.fromEntries(clusters.map(({ chosen, share }) => [chosen.cluster, share?.to]));
const chosenIn = ({ clusters }: RenderedPlan) => clusters.map(({ chosen }) => chosen.cluster);
const room = (capacity: number, more: ClusterFacts = {}): ClusterFacts => ({ ...more, more: { capacities: new Map([[0, capacity]]) } });
const inRegion = (region: string, more: ClusterFacts = {}): ClusterFacts => ({ ...more, facts: { region } });
const weights = (...pairs: readonly (readonly [string, number])[]) =>
  pairs.map(([name, weight]) => ({ set: { clusters: [name] }, weight }));

function previousOf(replicas: Readonly<Record<string, number>>, { spec, template = [] }: SnapshotFacts): PreviousDecision {
  return { replicas: new Map(Object.entries(replicas)), scheduledAt: '2026-05-01T00:00:00Z', spec: specOf(template, spec) };
}

describe('division', () => {
  const template = [deployment('web', 6)];
  const byWeight = { replicas: { mode: 'Divided', rules: weights(['a', 1], ['b', 1], ['c', 0]) } };
  const clusters = { a: {}, b: {}, c: {} };

  test('divides by fixed weights anew when the count changes, and keeps the counts otherwise', () => {
    const exact = { system: 'Karmada' };
    const facts = { template, spec: { ...byWeight, exact }, clusters };
    const previous = previousOf({ a: 4, b: 1 }, facts);
    expect(countsIn(karmadaPlan({ ...facts, previous }))).toEqual({ a: 3, b: 3 });
    expect(countsIn(planOf({ ...facts, spec: byWeight, previous: { ...previous, spec: specOf(template, byWeight) } }))).toEqual({
      a: 4,
      b: 2,
    });
    const same = karmadaPlan({ ...facts, previous: previousOf({ a: 5, b: 1 }, facts) });
    expect([countsIn(same), same.fromZero]).toEqual([{ a: 5, b: 1 }, false]);
  });

  test('treats a weight of 0 as no rule, and rules without a match as equal weights', () => {
    expect(countsIn(karmadaPlan({ template, spec: byWeight, clusters }))).toEqual({ a: 3, b: 3 });
    const onlyZero = { replicas: { mode: 'Divided', rules: weights(['c', 0]) } };
    expect(countsIn(karmadaPlan({ template, spec: onlyZero, clusters }))).toEqual({ a: 2, b: 2, c: 2 });
  });

  test('decides ties by the uid of the resource, also for the completions of a Job', () => {
    const odd = [deployment('web', 5)];
    expect(countsIn(karmadaPlan({ template: odd, spec: byWeight, clusters }, 'a'))).toEqual({ a: 3, b: 2 });
    expect(countsIn(karmadaPlan({ template: odd, spec: byWeight, clusters }, 'b'))).toEqual({ a: 2, b: 3 });
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'load', namespace: 'default' },
      spec: { parallelism: 2, completions: 5, template: { spec: { containers: [{ name: 'load', image: 'load' }] } } },
    };
    const plan = karmadaPlan({ template: [job], spec: byWeight, clusters }, 'b');
    expect(plan.clusters.map(({ share }) => [share?.to, share?.completions])).toEqual([
      [1, 2],
      [1, 3],
    ]);
  });

  test.each(['Available', 'Aggregated'])('places nothing with strategy %s if not all replicas fit', (strategy) => {
    const spec = { replicas: { mode: 'Divided', strategy } };
    const rooms = { a: room(2), b: room(1) };
    const plan = karmadaPlan({ template, spec, clusters: rooms });
    expect([plan.ok, plan.clusters, plan.desired, plan.placed, plan.unplaced]).toEqual([false, [], 6, 0, 6]);
    expect(plan.notes).toEqual([
      {
        severity: 'ERROR',
        code: 'UNPLACED',
        message: 'Clusters available replicas 3 are not enough to schedule.',
        path: 'replicas',
      },
    ]);
    expect(countsIn(planOf({ template, spec, clusters: rooms }))).toEqual({ a: 2, b: 1 });
  });

  test('names only the room for additional replicas if some are placed already', () => {
    const facts = { template, spec: { replicas: { mode: 'Divided', strategy: 'Available' } }, clusters: { a: room(2), b: room(1) } };
    const plan = karmadaPlan({
      ...facts,
      previous: previousOf({ a: 1 }, { ...facts, spec: { ...facts.spec, exact: { system: 'Karmada' } } }),
    });
    expect(plan.notes.map(({ message }) => message)).toEqual(['Clusters available replicas 3 are not enough to schedule.']);
  });

  describe('of a workload with 0 replicas', () => {
    const withPod = (pod: JsonObject, container: JsonObject = {}): Manifest => {
      const object = deployment('web', 0);
      const spec = { template: { spec: { ...pod, containers: [{ name: 'web', image: 'web', ...container }] } } };
      return { ...object, spec: { ...(object.spec as JsonObject), ...spec } };
    };
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] };
    test.each<[string, Manifest, readonly string[]]>([
      ['goes to every cluster without requirements', withPod({}), ['a', 'b', 'c']],
      ['places nothing with a request', withPod({}, { resources: { requests: { cpu: '10m' } } }), []],
      ['places nothing with a limit', withPod({}, { resources: { limits: { cpu: '10m' } } }), []],
      ['goes to every cluster with a request of 0', withPod({}, { resources: { requests: { cpu: 0 } } }), ['a', 'b', 'c']],
      ['places nothing with a node selector', withPod({ nodeSelector: { disk: 'ssd' } }), []],
      ['places nothing with tolerations', withPod({ tolerations: [{ operator: 'Exists' }] }), []],
      ['goes to every cluster with an empty list of tolerations', withPod({ tolerations: [] }), ['a', 'b', 'c']],
      [
        'places nothing with a required node affinity',
        withPod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }),
        [],
      ],
    ])('%s', (_, object, expected) => {
      const facts = { template: [object], spec: { replicas: { mode: 'Divided' } }, clusters };
      const plan = karmadaPlan(facts);
      expect([plan.ok, chosenIn(plan), plan.desired, plan.placed, plan.unplaced]).toEqual([true, expected, 0, 0, 0]);
      expect(chosenIn(planOf(facts))).toEqual(['a', 'b', 'c']);
      expect(chosenIn(karmadaPlan({ ...facts, spec: {} }))).toEqual(['a', 'b', 'c']);
    });

    test('removes the copies of an earlier division', () => {
      const object = withPod({ nodeSelector: { disk: 'ssd' } });
      const plan = karmadaPlan({
        template: [object],
        spec: { replicas: { mode: 'Divided' } },
        clusters: { a: { entries: [entry(object)] } },
      });
      expect([plan.ok, plan.leaving.length]).toEqual([true, 1]);
    });
  });

  test.each(['Deployment', 'ReplicaSet', 'StatefulSet'])('divides a %s', (kind) => {
    const object = { ...deployment('web', 6), kind };
    expect(countsIn(karmadaPlan({ template: [object], spec: byWeight, clusters }))).toEqual({ a: 3, b: 3 });
  });

  test('copies a ReplicationController to every cluster, unchanged', () => {
    const object: Manifest = { ...deployment('web', 6), apiVersion: 'v1', kind: 'ReplicationController' };
    const plan = karmadaPlan({ template: [object], spec: byWeight, clusters });
    expect(countsIn(plan)).toEqual({ a: undefined, b: undefined, c: undefined });
    expect(plan.clusters.map(({ objects }) => objects.map(({ desired }) => valueAt(desired, 'spec', 'replicas')))).toEqual([[6], [6], [6]]);
    expect(countsIn(planOf({ template: [object], spec: byWeight, clusters }))).toEqual({ a: 3, b: 3 });
  });

  test('removes no copy if not all replicas fit', () => {
    const [workload] = template;
    if (workload === undefined) throw new Error('expected a template');
    const spec = { replicas: { mode: 'Divided', strategy: 'Available' } };
    const plan = karmadaPlan({ template, spec, clusters: { a: room(2, { entries: [entry(workload)] }), b: room(1) } });
    expect([plan.ok, plan.leaving, plan.pruneHeld, codesOf(plan)]).toEqual([false, [], undefined, ['ERROR UNPLACED']]);
  });

  test('tries the next affinity group if the replicas do not fit into the first', () => {
    const affinityGroups = [
      { name: 'near', set: { clusters: ['a'] } },
      { name: 'far', set: { clusters: ['b'] } },
    ];
    const spec = { placement: { affinityGroups }, replicas: { mode: 'Divided', strategy: 'Available' } };
    const plan = karmadaPlan({ template, spec, clusters: { a: room(2), b: room(9) } });
    expect([plan.affinityGroup, countsIn(plan), plan.ok]).toEqual(['far', { b: 6 }, true]);
    expect(planOf({ template, spec, clusters: { a: room(2), b: room(9) } }).affinityGroup).toBe('near');
    const full = karmadaPlan({ template, spec, clusters: { a: room(2), b: room(3) } });
    expect(full.notes.map(({ message }) => message)).toEqual(['Clusters available replicas 2 are not enough to schedule.']);
  });

  test('does not count the room if the affinity group overflows', () => {
    const affinityGroups = [{ name: 'near', set: { clusters: ['a'] }, overflow: [{ name: 'more', set: { clusters: ['b'] } }] }];
    const spec = { placement: { affinityGroups }, replicas: { mode: 'Divided', strategy: 'Available' } };
    expect(countsIn(karmadaPlan({ template, spec, clusters: { a: room(4), b: room(3) } }))).toEqual({ a: 4, b: 2 });
    const full = karmadaPlan({ template, spec, clusters: { a: room(2), b: room(3) } });
    expect(full.notes.map(({ message }) => message)).toEqual(['Clusters available replicas are not enough to schedule.']);
  });

  test('takes the number of replicas as the room of a cluster without an estimate', () => {
    const spec = { replicas: { mode: 'Divided', strategy: 'Available' } };
    const clusters = { a: room(18), b: {} };
    expect(countsIn(karmadaPlan({ template: [deployment('web', 8)], spec, clusters }))).toEqual({ a: 6, b: 2 });
    // Muster takes the largest room of all clusters.
    expect(countsIn(planOf({ template: [deployment('web', 8)], spec, clusters }))).toEqual({ a: 4, b: 4 });
  });

  test('keeps the division if only affinity groups change that are not in use', () => {
    const group = (name: string, ...clusters: readonly string[]) => ({ name, set: { clusters } });
    const facts = (...affinityGroups: readonly object[]): SnapshotFacts => ({
      template,
      spec: { placement: { affinityGroups }, replicas: { mode: 'Divided', strategy: 'Available' }, exact: { system: 'Karmada' } },
      clusters: { a: room(9), b: room(9), c: room(9) },
    });
    const previous = { ...previousOf({ a: 6, b: 0 }, facts(group('near', 'a', 'b'), group('far', 'c'))), affinityGroup: 'near' };
    const kept = planOf({ ...facts(group('near', 'a', 'b'), group('far', 'b')), previous });
    expect(kept.rejected.map(({ detail }) => detail)).toContain('0 of 6 replicas');
    const again = planOf({ ...facts(group('near', 'a'), group('far', 'c')), previous });
    expect([countsIn(kept), countsIn(again)]).toEqual([{ a: 6 }, { a: 6 }]);
  });

  test('stays in the affinity group of the copies while nothing requires a new division', () => {
    const affinityGroups = [
      { name: 'near', set: { clusters: ['a'] } },
      { name: 'far', set: { clusters: ['b'] } },
    ];
    const spec = { placement: { affinityGroups }, replicas: { mode: 'Divided', strategy: 'Available' }, exact: { system: 'Karmada' } };
    const previous = { ...previousOf({ a: 6 }, { template, spec }), affinityGroup: 'near' };
    const left = { facts: { taints: [{ key: 'gone', effect: 'NoSchedule' }] } };
    const plan = planOf({ template, spec, clusters: { a: room(0, left), b: room(9) }, previous });
    expect([plan.affinityGroup, countsIn(plan)]).toEqual(['near', { a: 6 }]);
  });
});

describe('selection', () => {
  const four = { a: inRegion('eu'), b: inRegion('eu'), c: inRegion('us'), d: {} };
  const spreadBy = (...spread: readonly object[]) => ({ placement: { spread } });

  test('takes a missing maximum as 0', () => {
    const spec = spreadBy({ by: 'cluster', min: 2 });
    const plan = karmadaPlan({ spec, clusters: four });
    expect([chosenIn(plan), codesOf(plan)]).toEqual([[], ['ERROR NOTHING_CHOSEN']]);
    expect(chosenIn(planOf({ spec, clusters: four }))).toEqual(['a', 'b', 'c', 'd']);
    expect(chosenIn(karmadaPlan({ spec: spreadBy({ by: 'cluster', min: 2, max: 2 }), clusters: four }))).toEqual(['a', 'b']);
  });

  test('takes one cluster of each region if only the number of regions is limited', () => {
    const spec = spreadBy({ by: 'region', min: 2, max: 2 });
    expect(chosenIn(karmadaPlan({ spec, clusters: four }))).toEqual(['a', 'c']);
    expect(chosenIn(planOf({ spec, clusters: four }))).toEqual(['a', 'b', 'c']);
  });

  test('only filters by zone and provider, and ignores labels, next to a spread by cluster', () => {
    const clusters = { a: { facts: { zones: ['z1'] } }, b: { facts: { zones: ['z1'] } }, c: { facts: { labels: { rack: '1' } } } };
    const byCluster = { by: 'cluster', min: 1, max: 3 };
    const byZone = spreadBy({ by: 'zone', min: 1, max: 1 }, byCluster);
    expect(chosenIn(karmadaPlan({ spec: byZone, clusters }))).toEqual(['a', 'b']);
    const byLabel = spreadBy({ by: 'label', label: 'rack', min: 1, max: 1 }, byCluster);
    expect(chosenIn(karmadaPlan({ spec: byLabel, clusters }))).toEqual(['a', 'b', 'c']);
    expect(chosenIn(planOf({ spec: byLabel, clusters }))).toEqual(['c']);
  });

  test.each(['zone', 'provider'])('chooses nothing by a spread over a %s alone', (by) => {
    const clusters = { a: { facts: { zones: ['z1'], provider: 'p' } } };
    const plan = karmadaPlan({ spec: spreadBy({ by, min: 1, max: 1 }), clusters });
    expect(plan.notes.map(({ message }) => message)).toEqual(['just support cluster and region spread constraint']);
    expect(plan.ok).toBe(false);
  });

  test('with fixed weights, ignores the spread but not its requirements on clusters', () => {
    const spec = { ...spreadBy({ by: 'region', min: 1, max: 1 }), replicas: { mode: 'Divided' } };
    const template = [deployment('web', 6)];
    expect(countsIn(karmadaPlan({ template, spec, clusters: four }))).toEqual({ a: 2, b: 2, c: 2 });
    const notIgnored = { ...spec, exact: { system: 'Karmada', policies: { replicaScheduling: { weightPreference: {} } } } };
    expect(countsIn(planOf({ template, spec: notIgnored, clusters: four }))).toEqual({ a: 6 });
  });

  test('ignores the names of unknown clusters, with a warning', () => {
    const spec = { placement: { clusters: ['a', 'x'] } };
    const plan = karmadaPlan({ template: [configMap('settings')], spec, clusters: four });
    expect([plan.ok, chosenIn(plan), codesOf(plan)]).toEqual([true, ['a'], ['WARNING UNKNOWN_CLUSTER']]);
    expect(codesOf(planOf({ spec, clusters: four }))).toEqual(['ERROR UNKNOWN_CLUSTER']);
  });
});
