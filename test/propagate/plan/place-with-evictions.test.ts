import { describe, expect, test } from 'vitest';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import type { Eviction } from '../../../src/propagate/model/propagation.ts';
import { placeWithEvictions } from '../../../src/propagate/plan/place-with-evictions.ts';
import { type ClusterFacts, codesOf, configMap, deployment, entry, planOf, type SnapshotFacts, snapshotOf, specOf } from './snapshots.ts';

const away = { phase: 'UNREACHABLE' } as const;
const statefulSet = (name: string, replicas: number): Manifest => ({ ...deployment(name, replicas), kind: 'StatefulSet' });
const evicted = (cluster: string, more: Partial<Eviction> = {}): Eviction => ({
  cluster,
  cause: 'Unreachable',
  since: '2026-05-31T00:00:00Z',
  ...more,
});

interface Given {
  readonly template: readonly Manifest[];
  readonly spec?: Readonly<Record<string, unknown>>;
  /** The previous replicas of each chosen cluster. */
  readonly before: Readonly<Record<string, number>>;
  readonly evictions: readonly Eviction[];
  readonly clusters?: Readonly<Record<string, ClusterFacts>>;
  readonly group?: string;
}

function factsOf({ template, spec = {}, before, evictions, clusters = {}, group }: Given): SnapshotFacts {
  const names = ['a', 'b', 'c'];
  return {
    template,
    spec,
    purpose: 'keep',
    clusters: Object.fromEntries(
      names.map((name) => {
        const entries = Object.hasOwn(before, name) ? { entries: template.map((manifest) => entry(manifest, { uid: `u-${name}` })) } : {};
        return [name, { ...entries, ...clusters[name] }];
      }),
    ),
    previous: {
      replicas: new Map(Object.entries(before)),
      scheduledAt: '2026-05-30T00:00:00Z',
      spec: specOf(template, spec),
      ...(group === undefined ? {} : { affinityGroup: group }),
    },
    evictions,
  };
}

/** The counts of each workload in each cluster, and what leaves. */
function placed(given: Given) {
  const { clusters, rejected, moves, unplaced, notes } = placeWithEvictions(snapshotOf(factsOf(given)));
  return {
    counts: Object.fromEntries(
      clusters.map(({ chosen, counts }) => [chosen.cluster, [...counts.values()].map(({ count }) => count).join()]),
    ),
    moves: moves.map(({ cluster, to }) => `${cluster}>${to.join()}`),
    evicting: rejected.filter(({ reason }) => reason === 'EVICTING').map(({ cluster }) => cluster),
    ...(unplaced === 0 ? {} : { unplaced }),
    ...(notes.length === 0 ? {} : { notes: notes.map(({ code }) => code) }),
  };
}

const dividing = { replicas: { mode: 'Divided' } };

describe('divided replicas', () => {
  const template = [deployment('web', 6)];
  const before = { a: 2, b: 2, c: 2 };

  test('all move to the other clusters', () => {
    expect(placed({ template, spec: dividing, before, evictions: [evicted('c')] })).toEqual({
      counts: { a: '3', b: '3' },
      moves: ['c>a,b'],
      evicting: ['c'],
    });
  });

  test('stay if the other clusters take no more', () => {
    const spec = {
      replicas: {
        mode: 'Divided',
        rules: [{ max: 2, set: { clusters: ['a'] } }, { max: 3, set: { clusters: ['b'] } }, { set: { clusters: ['c'] } }],
      },
    };
    expect(placed({ template, spec, before, evictions: [evicted('c')] })).toEqual({
      counts: { a: '2', b: '3', c: '1' },
      moves: [],
      evicting: [],
    });
  });

  test('stay where no cluster is left', () => {
    expect(placed({ template, spec: dividing, before, evictions: ['a', 'b', 'c'].map((name) => evicted(name)) })).toEqual({
      counts: { a: '2', b: '2', c: '2' },
      moves: [],
      evicting: [],
    });
  });

  test('do not go back to a cluster that was left, also after its return', () => {
    const evictions = [evicted('c', { to: ['a', 'b'] })];
    expect(placed({ template, spec: dividing, before: { a: 3, b: 3 }, evictions })).toEqual({
      counts: { a: '3', b: '3' },
      moves: [],
      evicting: ['c'],
    });
  });

  test('of StatefulSets stay in a cluster that does not answer, and those of Deployments leave it', () => {
    const both = [deployment('web', 6), statefulSet('db', 3)];
    const given = { template: both, spec: dividing, before: { a: 3, b: 3, c: 3 }, evictions: [evicted('c')] };
    expect(placed({ ...given, clusters: { c: { facts: away } } })).toEqual({
      counts: { a: '3,1', b: '3,1', c: '0,1' },
      moves: [],
      evicting: [],
      notes: ['FATE_UNKNOWN'],
    });
    expect(placed(given)).toMatchObject({ counts: { a: expect.anything(), b: expect.anything() }, moves: ['c>a,b'] });
  });
});

describe('duplicated copies', () => {
  const template = [deployment('web', 2)];
  const spread = { placement: { spread: [{ max: 2 }] } };

  test('move to a cluster that was not chosen before', () => {
    expect(placed({ template, spec: spread, before: { a: 2, b: 2 }, evictions: [evicted('a')] })).toEqual({
      counts: { b: '2', c: '2' },
      moves: ['a>c'],
      evicting: ['a'],
    });
  });

  test('stay if every other chosen cluster has them already', () => {
    expect(placed({ template, before: { a: 2, b: 2, c: 2 }, evictions: [evicted('a')] })).toEqual({
      counts: { a: '2', b: '2', c: '2' },
      moves: [],
      evicting: [],
    });
  });

  test('leave the earliest cluster if there is one new cluster for two', () => {
    const evictions = [evicted('a', { since: '2026-05-31T00:00:09Z' }), evicted('b')];
    const spec = { placement: { spread: [{ max: 2 }] } };
    expect(placed({ template, spec, before: { a: 2, b: 2 }, evictions })).toEqual({
      counts: { a: '2', c: '2' },
      moves: ['b>c'],
      evicting: ['b'],
    });
  });

  test('without a workload move too', () => {
    const { counts, moves } = placed({ template: [configMap('x')], spec: spread, before: { a: 0, b: 0 }, evictions: [evicted('a')] });
    expect([Object.keys(counts), moves]).toEqual([['b', 'c'], ['a>c']]);
  });

  const groups = { placement: { affinityGroups: ['a', 'b'].map((name) => ({ name, set: { clusters: [name] } })) } };

  test('go on to the next group', () => {
    const given = { template, spec: groups, before: { a: 2 }, evictions: [evicted('a')], group: 'a' };
    expect(placed(given)).toEqual({ counts: { b: '2' }, moves: ['a>b'], evicting: ['a'] });
  });

  test('go back to a cluster that was left and has its old copies, if no other cluster is left', () => {
    const back = evicted('a', { to: ['b'] });
    const ownCopies = { entries: template.map((manifest) => entry(manifest, { uid: 'u-a' })) };
    const given = { template, spec: groups, before: { b: 2 }, evictions: [back, evicted('b')], group: 'b', clusters: { a: ownCopies } };
    const stays = { counts: { b: '2' }, moves: [], evicting: ['a'] };
    expect(placed(given)).toEqual({ counts: { a: '2' }, moves: ['b>a'], evicting: ['b'] });
    expect(placed({ ...given, evictions: [back] })).toEqual(stays);
    expect(placed({ ...given, clusters: {} })).toEqual(stays);
    expect(placed({ ...given, clusters: { a: { ...ownCopies, facts: away } } })).toEqual(stays);
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }];
    expect(placed({ ...given, clusters: { a: { ...ownCopies, facts: { taints } } } })).toEqual(stays);
    expect(placed({ ...given, evictions: [{ ...back, cause: 'Unhealthy' }, evicted('b')] })).toEqual(stays);
  });

  test('of a StatefulSet stay in a cluster that does not answer, unless purge lets them move', () => {
    const given = {
      template: [statefulSet('db', 2)],
      before: { a: 2 },
      evictions: [evicted('a')],
      group: 'a',
      clusters: { a: { facts: away } },
    };
    expect(placed({ ...given, spec: groups })).toEqual({ counts: { a: '2' }, moves: [], evicting: [], notes: ['FATE_UNKNOWN'] });
    expect(placed({ ...given, spec: { ...groups, failover: { purge: 'Never' } } })).toEqual({
      counts: { b: '2' },
      moves: ['a>b'],
      evicting: ['a'],
    });
  });
});

describe('the plan of an eviction', () => {
  const maps = Array.from({ length: 8 }, (_, index) => configMap(`map-${index}`));
  const given = {
    template: maps,
    spec: { placement: { spread: [{ max: 1 }] } },
    before: { a: 0 },
    evictions: [evicted('a', { cause: 'Taint' })],
  };

  test('needs no confirmation for copies that move', () => {
    const plan = planOf(factsOf(given));
    expect([plan.pruneHeld, codesOf(plan)]).toEqual([undefined, []]);
    expect(plan.leaving.map(({ cluster, isMove, objects }) => [cluster, isMove, objects[0]?.action])).toEqual([['a', true, 'DELETE']]);
  });

  test('releases the copies with purge Never', () => {
    const plan = planOf(factsOf({ ...given, spec: { ...given.spec, failover: { purge: 'Never' } } }));
    expect(plan.leaving.map(({ objects }) => objects[0]?.action)).toEqual(['RELEASE']);
  });

  test('gives preserved labels to the one cluster that takes over', () => {
    const preserved = [{ key: entry(configMap('map-0')).key, labels: { 'example.com/run': '7' } }];
    const evictions = [evicted('a', { cause: 'Taint', preserved, notPreserved: ['example.com/lost'] })];
    const spec = { ...given.spec, failover: { purge: 'Directly', preserve: [{ label: 'example.com/run', jsonPath: '{.run}' }] } };
    const plan = planOf(factsOf({ ...given, spec, evictions }));
    const labels = plan.clusters.flatMap(({ chosen, objects }) => objects.map(({ desired }) => [chosen.cluster, desired.metadata.labels]));
    expect(labels[0]).toEqual(['b', { 'example.com/run': '7' }]);
    expect(labels[1]).toEqual(['b', undefined]);
    expect(codesOf(plan)).toEqual(['WARNING NOT_PRESERVED']);
    expect(plan.preserved).toEqual([{ cluster: 'b', objects: preserved, notPreserved: ['example.com/lost'] }]);
  });
});
