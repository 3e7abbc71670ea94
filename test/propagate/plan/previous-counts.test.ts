import fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectAt } from '../../../src/core/json-at.ts';
import { keyOfManifest } from '../../../src/manifests/object-key.ts';
import type { RenderedPlan } from '../../../src/propagate/model/plan.ts';
import { previousCounts } from '../../../src/propagate/plan/previous-counts.ts';
import { deployment, existingObject, planOf, type SnapshotFacts, snapshotOf, specOf } from './snapshots.ts';

const [web, worker] = [deployment('web', 6), deployment('worker', 4)];
const workloads = [web, worker].map((manifest, index) => ({ index, key: keyOfManifest(manifest), count: index === 0 ? 6 : 4 }));
const counted = (name: string, replicas: number) => existingObject(deployment(name, replicas), `uid-${name}`);
const spec = specOf([web, worker]);

test.each<[string, SnapshotFacts['clusters'], Readonly<Record<string, number>>, Readonly<Record<string, readonly number[]>>]>([
  [
    'the counts of the copies',
    { a: { live: [counted('web', 4), counted('worker', 1)] }, b: { live: [counted('web', 2), counted('worker', 3)] } },
    { a: 5, b: 5 },
    { a: [4, 1], b: [2, 3] },
  ],
  [
    'the rest of the other clusters, if a mirror is unread',
    { a: { live: [counted('web', 4), counted('worker', 1)] }, b: { unread: workloads.map(({ key }) => key) } },
    { a: 5, b: 5 },
    { a: [4, 1], b: [2, 3] },
  ],
  [
    'the rest of the other clusters, if someone scaled a copy',
    { a: { live: [counted('web', 9), counted('worker', 1)] }, b: { live: [counted('web', 2), counted('worker', 3)] } },
    { a: 5, b: 5 },
    { a: [4, 1], b: [2, 3] },
  ],
  [
    '0 in a cluster without a previous count',
    { a: {}, b: { live: [counted('web', 6), counted('worker', 4)] } },
    { b: 10 },
    { a: [0, 0], b: [6, 4] },
  ],
  ['a share in proportion to the sums, if all counts are unknown', { a: {}, b: {} }, { a: 6, b: 4 }, { a: [4, 2], b: [2, 2] }],
])('each of several workloads had %s', (_, clusters, sums, expected) => {
  const previous = { replicas: new Map(Object.entries(sums)), spec };
  const countOf = previousCounts(
    previous,
    workloads,
    snapshotOf({ template: [web, worker], ...(clusters === undefined ? {} : { clusters }) }).clusters,
  );
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, [countOf(name, 0), countOf(name, 1)]]))).toEqual(expected);
});

test('a single workload had the decided count, whatever its copies have; before a decision it had 0', () => {
  const { clusters } = snapshotOf({ template: [web], clusters: { a: { live: [counted('web', 9)] } } });
  const [one] = workloads;
  expect(previousCounts({ replicas: new Map([['a', 6]]), spec }, one === undefined ? [] : [one], clusters)('a', 0)).toBe(6);
  expect(previousCounts(undefined, workloads, clusters)('a', 0)).toBe(0);
});

const replicasIn = (plan: RenderedPlan) =>
  plan.clusters.map(({ chosen, objects }) => [
    chosen.cluster,
    objects.map(({ key, desired }) => [key.name, objectAt(desired, 'spec').replicas]),
  ]);

test('a new plan keeps several workloads in place, whatever the capacity is now', () => {
  const names = ['a', 'b', 'c'];
  const rooms = fc.record({ a: fc.nat(12), b: fc.nat(12), c: fc.nat(12) });
  const counts = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }));
  const strategy = fc.constantFrom('Weighted', 'Available', 'Aggregated');
  fc.assert(
    fc.property(counts, rooms, rooms, strategy, ([first, second], before, after, by) => {
      const template = [deployment('web', first), deployment('worker', second)];
      const asked = { replicas: { mode: 'Divided', strategy: by } };
      const facts = (room: Readonly<Record<string, number>>, live: (name: string) => ReturnType<typeof counted>[]) =>
        Object.fromEntries(
          names.map((name) => [
            name,
            { live: live(name), more: { capacities: new Map([0, 1].map((index) => [index, 20 + (room[name] ?? 0)])) } },
          ]),
        );
      const decided = planOf({ template, spec: asked, clusters: facts(before, () => []) });
      const standingIn = (name: string) =>
        (decided.clusters.find(({ chosen }) => chosen.cluster === name)?.objects ?? []).map(({ key, desired }) =>
          counted(key.name, Number(objectAt(desired, 'spec').replicas)),
        );
      const previous = {
        replicas: new Map(decided.clusters.map(({ chosen, share }) => [chosen.cluster, share?.to ?? 0])),
        scheduledAt: '2026-01-01T00:00:00Z',
        spec: specOf(template, asked),
      };
      const again = planOf({ template, spec: asked, purpose: 'keep', previous, clusters: facts(after, standingIn) });
      expect(replicasIn(again)).toEqual(replicasIn(decided));
      for (const { share } of again.clusters) expect([share?.from, share?.kept]).toEqual([share?.to, share?.to]);
    }),
    { numRuns: 60 },
  );
});
