import { describe, expect, test } from 'vitest';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import type { RenderedPlan } from '../../../../src/propagate/model/plan.ts';
import type { PreviousDecision } from '../../../../src/propagate/plan/snapshot/snapshot.ts';
import { type ClusterFacts, codesOf, deployment, entry, planOf, type SnapshotFacts, specOf } from '../snapshots.ts';

/** The preference of the acceptance test: 20 replicas, `*` weight 1 and at most 15, cluster-1 weight 0 and 3 to 10. */
const preference = {
  mode: 'Divided',
  total: 20,
  rules: [
    { set: { exclude: ['cluster-1'] }, weight: 1, max: 15 },
    { set: { clusters: ['cluster-1'] }, weight: 0, min: 3, max: 10 },
  ],
};
const exact = { system: 'Kubefed', key: 'fed-ns/fed-deploy' };
const template = [deployment('fed-deploy')];

function clusters(counts: Readonly<Record<string, number | undefined>>): Readonly<Record<string, ClusterFacts>> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, current]): [string, ClusterFacts] => [
      name,
      current === undefined ? {} : { more: { running: new Map([[0, { current }]]) } },
    ]),
  );
}

function job(parallelism: number, completions = 100): Manifest {
  const template = { spec: { containers: [{ name: 'pi', image: 'perl' }] } };
  const metadata = { name: 'pi', namespace: 'default' };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { parallelism, completions, template } };
}

function countsIn(plan: RenderedPlan): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(plan.clusters.map(({ chosen, share }) => [chosen.cluster, share?.to]));
}

function previousOf(spec: SnapshotFacts['spec'], counts: Readonly<Record<string, number>>): PreviousDecision {
  return { replicas: new Map(Object.entries(counts)), scheduledAt: '2026-05-01T00:00:00Z', spec: specOf(template, spec) };
}

describe('a division by the rules of KubeFed', () => {
  const spec = { replicas: preference, exact };

  test('gives each cluster the plan of the ReplicaSchedulingPreference', () => {
    const plan = planOf({ template, spec, clusters: clusters({ 'cluster-1': undefined, 'cluster-2': undefined, 'cluster-3': undefined }) });
    expect(countsIn(plan)).toEqual({ 'cluster-1': 3, 'cluster-2': 8, 'cluster-3': 9 });
    expect([plan.desired, plan.placed, plan.unplaced, plan.ok]).toEqual([20, 20, 0, true]);
    expect(plan.clusters[0]?.share).toMatchObject({ from: 0, to: 3, weight: 0, min: 3, max: 10 });
  });

  test('breaks ties by the key, and by the name of the workload without one', () => {
    const facts = { template, clusters: clusters({ a: undefined, b: undefined, c: undefined, d: undefined }) };
    const replicas = { mode: 'Divided', total: 2 };
    const first = (key?: string) => {
      const plan = planOf({ ...facts, spec: { replicas, exact: key === undefined ? { system: 'Kubefed' } : { system: 'Kubefed', key } } });
      return countsIn(plan);
    };
    expect(first('default/fed-deploy')).toEqual(first());
    const others = ['x/y', 'shop/web', 'shop/api', 'a/b'].map((key) => JSON.stringify(first(key)));
    expect(new Set(others).size).toBeGreaterThan(1);
  });

  test('reports the replicas above the maximums as a number and a warning', () => {
    const plan = planOf({ template, spec, clusters: clusters({ 'cluster-1': undefined, 'cluster-2': undefined }) });
    expect(countsIn(plan)).toEqual({ 'cluster-1': 3, 'cluster-2': 15 });
    expect([plan.placed, plan.unplaced, plan.ok, codesOf(plan)]).toEqual([18, 2, true, ['WARNING UNPLACED']]);
  });

  test('keeps running replicas in their clusters if a cluster joins within the generation, unless it rebalances', () => {
    const joined = (more: object) => {
      const now = { replicas: { ...preference, ...more }, exact };
      const previous = previousOf(now, { 'cluster-1': 3, 'cluster-2': 15 });
      return planOf({
        template,
        spec: now,
        purpose: 'keep',
        previous,
        clusters: clusters({ 'cluster-1': 3, 'cluster-2': 15, 'cluster-3': undefined }),
      });
    };
    expect(countsIn(joined({}))).toEqual({ 'cluster-1': 3, 'cluster-2': 15, 'cluster-3': 2 });
    expect(countsIn(joined({ rebalance: true }))).toEqual({ 'cluster-1': 3, 'cluster-2': 8, 'cluster-3': 9 });
  });

  test('moves nothing while replicas are not ready, as long as nothing else changes', () => {
    const previous = previousOf(spec, { 'cluster-1': 3, 'cluster-2': 15 });
    const plan = planOf({ template, spec, purpose: 'keep', previous, clusters: clusters({ 'cluster-1': 0, 'cluster-2': 4 }) });
    expect([countsIn(plan), plan.unplaced]).toEqual([{ 'cluster-1': 3, 'cluster-2': 15 }, 2]);
  });

  test('does not take replicas from a cluster that cannot be read', () => {
    const previous = previousOf(spec, { 'cluster-1': 3, 'cluster-2': 15 });
    const unread = { unread: [entry(deployment('fed-deploy')).key] };
    const plan = planOf({
      template,
      spec,
      previous,
      clusters: { ...clusters({ 'cluster-1': 3, 'cluster-3': undefined }), 'cluster-2': unread },
    });
    expect(countsIn(plan)).toEqual({ 'cluster-1': 3, 'cluster-2': 15, 'cluster-3': 2 });
  });

  test('gives the replicas of a full cluster to others', () => {
    const replicas = { mode: 'Divided', total: 10 };
    const now = { replicas, exact };
    const facts = (rebalance: boolean): SnapshotFacts => ({
      template,
      spec: { ...now, replicas: { ...replicas, rebalance } },
      purpose: 'keep',
      previous: previousOf({ ...now, replicas: { ...replicas, rebalance } }, { a: 5, b: 5 }),
      clusters: {
        a: { more: { running: new Map([[0, { current: 2, capacity: 2 }]]) } },
        b: { more: { running: new Map([[0, { current: 5 }]]) } },
      },
    });
    expect(countsIn(planOf(facts(false)))).toEqual({ a: 2, b: 8 });
    // With `rebalance`, KubeFed goes on asking the full cluster for its share.
    expect(countsIn(planOf(facts(true)))).toEqual({ a: 5, b: 8 });
  });

  test('divides again when a cluster is not full any more', () => {
    const now = { replicas: { mode: 'Divided', total: 10, rebalance: true }, exact };
    const plan = planOf({
      template,
      spec: now,
      purpose: 'keep',
      previous: previousOf(now, { a: 5, b: 8 }),
      clusters: clusters({ a: 5, b: 8 }),
    });
    expect(countsIn(plan)).toEqual({ a: 5, b: 5 });
  });

  test('divides again when the wanted number changes, and keeps running replicas in their clusters', () => {
    const plan = planOf({
      template: [deployment('fed-deploy', 12)],
      spec: { replicas: { mode: 'Divided' }, exact },
      previous: previousOf({ replicas: { mode: 'Divided' }, exact }, { a: 7, b: 1 }),
      clusters: clusters({ a: 7, b: 1 }),
    });
    expect(countsIn(plan)).toEqual({ a: 7, b: 5 });
  });

  test('divides from zero when a reschedule is due', () => {
    const now = { replicas: { mode: 'Divided', total: 8, rescheduleAt: '2026-05-02T00:00:00Z' }, exact };
    const plan = planOf({ template, spec: now, previous: previousOf(now, { a: 7, b: 1 }), clusters: clusters({ a: 7, b: 1 }) });
    expect([countsIn(plan), plan.fromZero]).toEqual([{ a: 4, b: 4 }, true]);
  });

  test('creates copies with 0 replicas where a cluster gets none', () => {
    const replicas = { mode: 'Divided', total: 4, rules: [{ set: { clusters: ['a'] } }] };
    const plan = planOf({ template, spec: { replicas, exact }, clusters: clusters({ a: undefined, b: undefined }) });
    expect(countsIn(plan)).toEqual({ a: 4, b: 0 });
    expect(plan.clusters[1]?.objects.map(({ action, desired }) => [action, (desired.spec as { replicas: number }).replicas])).toEqual([
      ['CREATE', 0],
    ]);
  });

  test('keeps a minimum above its maximum as the preference has it', () => {
    const policies = { preferences: { eu: { minReplicas: 5, maxReplicas: 2, weight: 1 }, '*': { weight: 1 } } };
    const rules = [{ set: { clusters: ['eu'] }, weight: 1, min: 2, max: 2 }, { set: { exclude: ['eu'] } }];
    const plan = planOf({
      template,
      spec: { replicas: { mode: 'Divided', total: 5, rules }, exact: { ...exact, policies } },
      clusters: clusters({ eu: undefined, us: undefined }),
    });
    expect(countsIn(plan)).toEqual({ eu: 5, us: 0 });
  });

  test.each([false, true])('loses the replicas of clusters in which the namespace is not federated (rebalance %s)', (rebalance) => {
    const now = {
      replicas: { mode: 'Divided', total: 9, rebalance },
      exact: { ...exact, policies: { namespaceClusters: { clusters: ['a', 'b'] } } },
    };
    const facts = { template, spec: now, clusters: clusters({ a: undefined, b: undefined, c: undefined }) };
    const first = planOf(facts);
    expect([countsIn(first), first.unplaced, first.ok]).toEqual([{ a: 3, b: 3 }, 3, true]);
    const previous = previousOf(now, { a: 3, b: 3 });
    const again = planOf({ ...facts, purpose: 'keep', previous, clusters: clusters({ a: 1, b: 3, c: undefined }) });
    expect(countsIn(again)).toEqual({ a: 3, b: 3 });
    const none = planOf({ ...facts, spec: { ...now, replicas: { mode: 'Divided', total: 0 } } });
    expect(countsIn(none)).toEqual({ a: 0, b: 0 });
  });

  test('does not look at the free room of clusters', () => {
    const plan = planOf({
      template,
      spec: { replicas: { mode: 'Divided', total: 10 }, exact },
      clusters: { a: { more: { capacities: new Map([[0, 0]]) } }, b: {} },
    });
    expect([countsIn(plan), codesOf(plan)]).toEqual([{ a: 5, b: 5 }, []]);
  });
});

describe('a division by the rules of Federation v1', () => {
  const bounds = { weight: 1, min: 2, max: 4 };
  const rules = [{ set: { clusters: ['us-east1-b', 'us-central1-b'] }, ...bounds }];
  const names = { 'us-east1-b': undefined, 'us-central1-b': undefined, 'europe-west1-b': undefined };

  test.each([
    [1, { 'europe-west1-b': 0, 'us-central1-b': 1, 'us-east1-b': 0 }, 0],
    [5, { 'europe-west1-b': 0, 'us-central1-b': 3, 'us-east1-b': 2 }, 0],
    [9, { 'europe-west1-b': 0, 'us-central1-b': 4, 'us-east1-b': 4 }, 1],
  ])('of %i replicas is that of its planner, with empty copies', (total, counts, unplaced) => {
    const plan = planOf({
      template: [deployment('nginx-us', total)],
      spec: { replicas: { mode: 'Divided', rules, rebalance: true }, exact: { system: 'FederationV1', key: 'default/nginx-us' } },
      clusters: clusters(names),
    });
    expect([countsIn(plan), plan.unplaced]).toEqual([counts, unplaced]);
  });

  test.each([
    ['creates no empty copy of a Job', {}, { 'us-central1-b': 2, 'us-east1-b': 2 }],
    [
      'keeps an empty copy of a Job',
      { entries: [entry(job(4), { uid: 'u' })] },
      { 'europe-west1-b': 0, 'us-central1-b': 2, 'us-east1-b': 2 },
    ],
  ])('%s', (_, europe, expected) => {
    const plan = planOf({
      template: [job(4)],
      spec: { replicas: { mode: 'Divided', rules }, exact: { system: 'FederationV1' } },
      clusters: { ...clusters(names), 'europe-west1-b': europe },
    });
    expect(countsIn(plan)).toEqual(expected);
  });

  test('divides the parallelism and the completions of a Job by the same preferences', () => {
    const plan = planOf({
      template: [job(6, 4)],
      spec: {
        replicas: {
          mode: 'Divided',
          rules: [
            { set: { clusters: ['a'] }, weight: 2 },
            { set: { clusters: ['b'] }, weight: 1 },
          ],
        },
        exact: { system: 'FederationV1', key: 'default/pi' },
      },
      clusters: clusters({ a: undefined, b: undefined }),
    });
    expect(plan.clusters.map(({ share }) => [share?.to, share?.completions])).toEqual([
      [4, 3],
      [2, 1],
    ]);
    expect(plan.clusters[0]?.objects[0]?.desired.spec).toMatchObject({ parallelism: 4, completions: 3 });
  });
});
