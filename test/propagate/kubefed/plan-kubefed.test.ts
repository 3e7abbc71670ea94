import { array, assert, boolean, dictionary, integer, option, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clusterHash, type KubeFedPlanRequest, planKubeFed } from '../../../src/propagate/kubefed/plan-kubefed.ts';

const halves: KubeFedPlanRequest = { totalReplicas: 10, preferences: { '*': { weight: 1 } }, clusters: ['a', 'b'] };

describe('planKubeFed', () => {
  test.each<[string, Partial<KubeFedPlanRequest>, Readonly<Record<string, number>>]>([
    ['gives every cluster 0 without preferences', { preferences: {} }, { a: 0, b: 0 }],
    ['reads a preference of null as one without fields', { preferences: { a: null, '*': { weight: 1 } } }, { a: 0, b: 10 }],
    ['plans nothing without clusters', { clusters: [] }, {}],
    ['places nothing of a total of 0', { totalReplicas: 0 }, { a: 0, b: 0 }],
    ['does not take names of object members for preferences', { preferences: {}, clusters: ['constructor'] }, { constructor: 0 }],
    [
      'gives back what a minimum placed above a maximum',
      { preferences: { a: { minReplicas: 4, maxReplicas: 1, weight: 1 } } },
      { a: 1, b: 0 },
    ],
    [
      'keeps a minimum above a maximum where nothing remains',
      { preferences: { a: { minReplicas: 10, maxReplicas: 1, weight: 1 } } },
      { a: 10, b: 0 },
    ],
    [
      'reserves what runs within the maximum',
      { currentReplicas: { a: 9 }, preferences: { '*': { weight: 1, maxReplicas: 6 } } },
      { a: 6, b: 4 },
    ],
    ['reserves what runs within the capacity', { currentReplicas: { a: 9 }, estimatedCapacity: { a: 7 } }, { a: 7, b: 3 }],
    ['takes 0 for a capacity', { estimatedCapacity: { a: 0 } }, { a: 0, b: 10 }],
    [
      'lets null be absent',
      { preferences: { '*': { weight: 1, minReplicas: null, maxReplicas: null } }, key: null, rebalance: null },
      { a: 5, b: 5 },
    ],
  ])('%s', (_, part, plan) => expect(planKubeFed({ ...halves, ...part }).plan).toEqual(plan));

  test('asks a full cluster for its share if nothing else has room, without rebalance too', () => {
    expect(planKubeFed({ ...halves, estimatedCapacity: { a: 2, b: 3 } })).toEqual({ plan: { a: 2, b: 3 }, overflow: { a: 3, b: 2 } });
  });

  test('has one answer for any order of clusters', () => {
    const clusters = ['c1', 'c2', 'c3', 'c4', 'c5'];
    const request = { totalReplicas: 7, preferences: { '*': { weight: 2 }, c3: { weight: 1, minReplicas: 1 } }, key: 'ns/web' };
    expect(planKubeFed({ ...request, clusters })).toEqual(planKubeFed({ ...request, clusters: clusters.toReversed() }));
  });
});

test('random requests stay within totals, maximums and capacities', () => {
  const counts = integer({ min: 0, max: 12 });
  const names = ['a', 'b', 'c', 'd'];
  const preferences = array(record({ minReplicas: counts, above: option(counts), weight: integer({ min: 0, max: 3 }) }), { maxLength: 5 });
  const byCluster = dictionary(
    integer({ min: 0, max: 3 }).map((at) => names[at] ?? ''),
    counts,
  );
  assert(
    property(preferences, byCluster, byCluster, integer({ min: 0, max: 40 }), boolean(), (written, current, capacity, total, rebalance) => {
      const entries = written.map(({ minReplicas, above, weight }, at) => {
        const maxReplicas = above === null ? undefined : minReplicas + above;
        return [['*', ...names][at] ?? '', { minReplicas, maxReplicas, weight }] as const;
      });
      const known = Object.fromEntries(entries);
      const request = {
        totalReplicas: total,
        preferences: known,
        clusters: names,
        currentReplicas: current,
        estimatedCapacity: capacity,
        rebalance,
      };
      const { plan, overflow } = planKubeFed(request);
      const placed = Object.values(plan).reduce((sum, count) => sum + count, 0);
      expect(placed).toBeLessThanOrEqual(total);
      for (const name of names) {
        const preference = known[name] ?? known['*'];
        const max = preference === undefined ? 0 : (preference.maxReplicas ?? total);
        expect(plan[name]).toBeLessThanOrEqual(Math.min(max, capacity[name] ?? total));
        expect(plan[name]).toBeGreaterThanOrEqual(0);
        expect((plan[name] ?? 0) + (overflow[name] ?? 0)).toBeLessThanOrEqual(max);
        if (!rebalance) expect(overflow[name] ?? 0).toBeLessThanOrEqual(total - placed);
        if (capacity[name] === undefined) expect(overflow[name]).toBeUndefined();
      }
    }),
  );
});

test.each<[string, string, number]>([
  ['', '', 0x811c9dc5],
  ['a', '', 0x050c5d7e],
  ['foo', 'bar', 0x31f0b262],
])('hashes %j and %j with FNV-1', (cluster, key, hash) => expect(clusterHash(cluster, key)).toBe(hash));
