import { expect, test } from 'vitest';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import {
  clusterIn,
  codesOf,
  configMap,
  deployment,
  entry,
  existingObject,
  planOf,
  type SnapshotFacts,
  shareOf,
  specOf,
} from './snapshots.ts';

const failing = { jsonPatch: [{ op: 'replace', path: '/spec/nothing/here', value: 1 }] };
const registry = { image: [{ component: 'registry', operator: 'Replace', value: 'r.example.com' }] };
const autoscaler: Manifest = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 9 },
};
const web = deployment('web', 2);
const autoscaled = { more: { autoscaled: new Set(['apps/Deployment/default/web']) } };

const cases: readonly {
  readonly what: string;
  readonly facts: SnapshotFacts;
  readonly notes: readonly string[];
  readonly paths: readonly (string | undefined)[];
}[] = [
  { what: 'nothing', facts: {}, notes: [], paths: [] },
  {
    what: 'an unknown cluster',
    facts: { spec: { placement: { clusters: ['a', 'nowhere'] } } },
    notes: ['ERROR UNKNOWN_CLUSTER'],
    paths: ['placement.clusters[1]'],
  },
  {
    what: 'a cluster that left later',
    facts: { purpose: 'keep', spec: { placement: { clusters: ['a', 'nowhere'] } } },
    notes: ['WARNING UNKNOWN_CLUSTER'],
    paths: ['placement.clusters[1]'],
  },
  {
    what: 'an unknown cluster in a rule, a group and its overflow',
    facts: {
      template: [web],
      spec: {
        placement: { affinityGroups: [{ name: 'g', set: { clusters: ['a', 'x'] }, overflow: [{ name: 'o', set: { clusters: ['y'] } }] }] },
        replicas: { mode: 'Divided', strategy: 'Available', rules: [{ set: { clusters: ['z'] } }] },
      },
    },
    notes: Array(3).fill('ERROR UNKNOWN_CLUSTER'),
    paths: [
      'placement.affinityGroups[0].set.clusters[1]',
      'placement.affinityGroups[0].overflow[0].set.clusters[0]',
      'replicas.rules[0].set.clusters[0]',
    ],
  },
  {
    what: 'an unknown cluster in an override, a wave and a suspension',
    facts: {
      template: [web],
      spec: {
        overrides: [{ ...registry, set: { clusters: ['a', 'x'] } }],
        rollout: { waves: [{ name: 'first', set: { clusters: ['y'] } }] },
        suspend: { clusters: ['z'] },
      },
    },
    notes: Array(3).fill('WARNING UNKNOWN_CLUSTER'),
    paths: ['overrides[0].set.clusters[1]', 'rollout.waves[0].set.clusters[0]', 'suspend.clusters[0]'],
  },
  { what: 'no matching cluster', facts: { spec: { placement: { clusters: [] } } }, notes: ['ERROR NOTHING_CHOSEN'], paths: ['placement'] },
  {
    what: 'no cluster with capacity',
    facts: {
      template: [web],
      spec: { replicas: { mode: 'Divided', strategy: 'Available' } },
      clusters: { a: { more: { capacities: new Map([[0, 0]]) } } },
    },
    notes: ['ERROR NOTHING_CHOSEN', 'WARNING UNPLACED'],
    paths: ['placement', 'replicas'],
  },
  {
    what: 'an override that fails',
    facts: { spec: { overrides: [failing] } },
    notes: ['ERROR OVERRIDE_FAILED'],
    paths: ['overrides[0].jsonPatch[0]'],
  },
  {
    what: 'an override that fails later',
    facts: { purpose: 'keep', spec: { overrides: [failing] } },
    notes: ['INFO OVERRIDE_FAILED'],
    paths: ['overrides[0].jsonPatch[0]'],
  },
  {
    what: 'an override for no cluster',
    facts: { template: [web], spec: { overrides: [{ ...registry, set: { exclude: ['a', 'b'] } }] } },
    notes: ['WARNING UNMATCHED_OVERRIDE'],
    paths: ['overrides[0]'],
  },
  {
    what: 'an override for no object',
    facts: { template: [web], spec: { overrides: [{ ...registry, objects: { name: 'other' } }] } },
    notes: ['WARNING UNMATCHED_OVERRIDE'],
    paths: ['overrides[0]'],
  },
  {
    what: 'an override of one object of two',
    facts: { template: [web, configMap('settings')], spec: { overrides: [registry] } },
    notes: [],
    paths: [],
  },
  {
    what: 'an override of the count',
    facts: { template: [web], spec: { overrides: [{ merge: { spec: { replicas: 5 } } }] } },
    notes: ['WARNING COUNT_OVERRIDDEN'],
    paths: ['overrides'],
  },
  {
    what: 'an autoscaler in the template',
    facts: { template: [web, autoscaler] },
    notes: ['WARNING AUTOSCALED'],
    paths: ['replicas.mode'],
  },
  {
    what: 'an autoscaler in a cluster',
    facts: { template: [web], clusters: { a: {}, b: autoscaled } },
    notes: ['WARNING AUTOSCALED'],
    paths: ['replicas.mode'],
  },
  {
    what: 'an autoscaler in mode External',
    facts: { template: [web, autoscaler], spec: { replicas: { mode: 'External' } }, clusters: { a: autoscaled } },
    notes: [],
    paths: [],
  },
  {
    what: 'an autoscaler of a cluster that is not chosen',
    facts: { template: [web], spec: { placement: { clusters: ['a'] } }, clusters: { a: {}, b: autoscaled } },
    notes: [],
    paths: [],
  },
];

test.each(cases)('notes $notes about $what', ({ facts, notes, paths }) => {
  const plan = planOf({ clusters: { a: {}, b: {} }, ...facts });

  expect(codesOf(plan)).toEqual(notes);
  expect(plan.notes.map(({ path }) => path)).toEqual(paths);
  expect(plan.ok).toBe(!notes.some((note) => note.startsWith('ERROR')));
});

test.each(cases.filter(({ facts }) => facts.purpose !== 'keep'))(
  'takes every warning for an error with strict: $what',
  ({ facts, notes }) => {
    const plan = planOf({ clusters: { a: {}, b: {} }, ...facts, spec: { ...facts.spec, strict: true } });

    expect(codesOf(plan)).toEqual(notes.map((note) => note.replace('WARNING', 'ERROR')));
    expect(plan.ok).toBe(notes.length === 0);
  },
);

test('continues a strict generation after later changes in the fleet', () => {
  const plan = planOf({ purpose: 'keep', spec: { strict: true, placement: { clusters: ['a', 'left'] } }, clusters: { a: {} } });

  expect([plan.ok, codesOf(plan)]).toEqual([true, ['WARNING UNKNOWN_CLUSTER']]);
});

test('a failed override is a fault of the clusters that it matches only', () => {
  const plan = planOf({ purpose: 'keep', spec: { overrides: [{ ...failing, set: { clusters: ['b'] } }] }, clusters: { a: {}, b: {} } });

  expect(clusterIn(plan, 'a').objects).toHaveLength(1);
  expect(clusterIn(plan, 'b')).toMatchObject({ objects: [], fault: { code: 'INVALID', cluster: 'b' } });
  expect(clusterIn(plan, 'b').fault?.message).toContain('/spec/nothing/here');
});

const many = Array.from({ length: 20 }, (_, index) => configMap(`m${index}`));
const owned = (count: number, more: Parameters<typeof entry>[1] = {}) =>
  many.slice(0, count).map((manifest, index) => entry(manifest, { uid: `u${index}`, ...more }));
const live = many.map((manifest, index) => existingObject(manifest, `u${index}`));

test.each([
  { what: '3 of 3 of the copies in a cluster that stays', template: many.slice(3, 4), entries: owned(3), held: undefined },
  { what: '4 of 10', template: many.slice(0, 6), entries: owned(10), held: '4 of 10 objects would be deleted' },
  { what: '3 of 10', template: many.slice(0, 7), entries: owned(10), held: undefined },
  {
    what: '4 of 10 that are being deleted',
    template: many.slice(0, 6),
    entries: [...owned(6), ...owned(10, { state: 'Deleting' }).slice(6)],
    held: undefined,
  },
  {
    what: '4 of 10 that are only released',
    template: many.slice(0, 6),
    entries: [...owned(6), ...owned(10, { state: 'Shared' }).slice(6)],
    held: undefined,
  },
  { what: '6 of 20', template: many.slice(0, 14), entries: owned(20), held: undefined },
  { what: '7 of 20', template: many.slice(0, 13), entries: owned(20), held: '7 of 20 objects would be deleted' },
  { what: '9 of 10', template: many.slice(0, 1), entries: owned(10), held: '9 of 10 objects would be deleted' },
])('holds a prune of $what: $held', ({ template, entries, held }) => {
  const plan = planOf({ template, clusters: { a: { entries, live } } });

  expect(plan.pruneHeld).toBe(held);
  expect(codesOf(plan)).toEqual(held === undefined ? [] : ['WARNING PRUNE_HELD']);
  expect(plan.ok).toBe(true);
});

test.each([
  {
    what: 'the fourth deletion of 10',
    standing: 7,
    kept: 6,
    most: 10,
    held: '1 of 7 objects would be deleted, 4 of 10 in total since this was decided',
  },
  { what: 'the third deletion of 10', standing: 8, kept: 7, most: 10, held: undefined },
  { what: 'the fourth deletion of 20', standing: 17, kept: 16, most: 20, held: undefined },
  { what: 'no further deletion', standing: 3, kept: 3, most: 10, held: undefined },
  { what: 'more objects than before', standing: 10, kept: 7, most: 4, held: undefined },
])('deletions one by one are held like deletions at once: $what', ({ standing, kept, most, held }) => {
  const facts = { purpose: 'keep', template: many.slice(0, kept), clusters: { a: { entries: owned(standing), live } } } as const;
  const plan = planOf({
    ...facts,
    previous: { replicas: new Map(), spec: specOf([configMap('a')]), scheduledAt: '2026-01-01T00:00:00Z', mostObjects: most },
  });

  expect(plan.pruneHeld).toBe(held);
});

test('holds a prune if the intent suddenly wants no object in any cluster', () => {
  const plan = planOf({ purpose: 'keep', spec: { strict: true, placement: { clusters: [] } }, clusters: { a: { entries: owned(1) } } });

  expect(plan.pruneHeld).toBe('the intent wants no object in any cluster, but 1 objects exist');
  expect(codesOf(plan)).toEqual(['ERROR NOTHING_CHOSEN', 'WARNING PRUNE_HELD']);
});

test('a removal in a cluster that left the fleet needs a confirmation too, because it happens when the cluster is back', () => {
  const facts = { clusters: { a: {} }, sharesOutsideFleet: [shareOf('gone', owned(10))] };
  const dropped = planOf({ spec: { placement: { exclude: ['gone'] } }, ...facts });
  const pending = planOf({
    spec: { placement: { exclude: ['gone'] } },
    clusters: { a: {} },
    sharesOutsideFleet: [shareOf('gone', owned(10, { state: 'PendingDeletion' }))],
  });

  expect([dropped.leaving[0]?.objects.length, dropped.pruneHeld]).toEqual([10, '10 of 10 objects would be deleted']);
  expect([pending.leaving[0]?.objects.length, pending.pruneHeld]).toEqual([10, undefined]);
  expect([planOf(facts).leaving, planOf(facts).pruneHeld]).toEqual([[], undefined]);
});
