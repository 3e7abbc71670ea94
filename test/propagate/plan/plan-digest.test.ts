import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/core/json/canonical-json.ts';
import type { Json } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { keyOfManifest } from '../../../src/manifests/object-key.ts';
import { observedHashOf } from '../../../src/propagate/plan/copies/observed-hash.ts';
import { renderPlan } from '../../../src/propagate/plan/render-plan.ts';
import type { PlanSnapshot } from '../../../src/propagate/plan/snapshot/snapshot.ts';
import {
  clusterIn,
  comparisonRules,
  configMap,
  deployment,
  entry,
  existingObject,
  planOf,
  type SnapshotFacts,
  snapshotOf,
} from './snapshots.ts';

const manifest = configMap('settings');
const base: SnapshotFacts = {
  template: [manifest, deployment('web', 4)],
  spec: { replicas: { mode: 'Divided' } },
  clusters: { a: { live: [existingObject(manifest, 'u')] }, b: {}, c: { entries: [entry(configMap('old'), { uid: 'v' })] } },
};
const digestOf = (facts: SnapshotFacts): string => planOf(facts).digest;

const a = (live: Parameters<typeof existingObject>[0], uid: string, more = {}): SnapshotFacts => ({
  ...base,
  clusters: { ...base.clusters, a: { live: [existingObject(live, uid, more)] } },
});

test.each<{ readonly what: string; readonly facts: SnapshotFacts }>([
  { what: 'the spec', facts: { ...base, spec: { ...base.spec, strict: true } } },
  { what: 'the exact system', facts: { ...base, spec: { ...base.spec, exact: { system: 'Karmada' } } } },
  { what: 'a manifest', facts: { ...base, template: [configMap('settings', { a: '2' }), deployment('web', 4)] } },
  { what: 'the content of the existing object', facts: a(configMap('settings', { a: 'theirs' }), 'u') },
  { what: 'the uid of the existing object', facts: a(manifest, 'another') },
  { what: 'a count', facts: { ...base, clusters: { ...base.clusters, b: { more: { missingKinds: ['Deployment.apps/v1'] } } } } },
  { what: 'a removal', facts: { ...base, clusters: { ...base.clusters, c: {} } } },
  { what: 'whether a cluster can be rendered', facts: { ...base, clusters: { ...base.clusters, b: { unread: [entry(manifest).key] } } } },
])('changes with $what', ({ facts }) => {
  expect(digestOf(facts)).not.toBe(digestOf(base));
});

/** The facts in which `a` holds this object as an unchanged copy. */
function withCopy(live: KubernetesObject): SnapshotFacts {
  const key = keyOfManifest(manifest);
  const written = observedHashOf({ key, desired: manifest }, existingObject(manifest, 'u'), comparisonRules);
  const copy = entry(manifest, { uid: 'u', appliedHash: sha256Of(manifest), observedHash: written });
  return { ...base, clusters: { ...base.clusters, a: { live: [live], entries: [copy] } } };
}

test('changes with a sent field of a copy that was unchanged, which is then written again', () => {
  const drifted = withCopy(existingObject(configMap('settings', { a: 'theirs' }), 'u'));
  expect(clusterIn(planOf(withCopy(existingObject(manifest, 'u'))), 'a').objects[0]).toMatchObject({ action: 'UNCHANGED' });
  expect(clusterIn(planOf(drifted), 'a').objects[0]).toMatchObject({ action: 'UPDATE' });
  expect(digestOf(drifted)).not.toBe(digestOf(withCopy(existingObject(manifest, 'u'))));
});

test.each<{ readonly what: string; readonly facts: SnapshotFacts; readonly before?: SnapshotFacts }>([
  { what: 'the version and generation of the existing object', facts: a(manifest, 'u', { resourceVersion: '99', generation: '3' }) },
  {
    what: 'a field that Muster did not send, in a copy that stays unchanged',
    facts: withCopy({ ...existingObject(manifest, 'u'), immutable: true }),
    before: withCopy(existingObject(manifest, 'u')),
  },
  { what: 'the source of the Propagation', facts: { ...base, spec: { ...base.spec, source: { system: 'Karmada' } } } },
  {
    what: 'status',
    facts: { ...base, clusters: { ...base.clusters, a: { live: [{ ...existingObject(manifest, 'u'), status: { phase: 'x' } }] } } },
  },
  {
    what: 'the owners of fields',
    facts: {
      ...base,
      clusters: {
        ...base.clusters,
        a: { live: [{ ...existingObject(manifest, 'u'), metadata: { ...existingObject(manifest, 'u').metadata, managedFields: [{}] } }] },
      },
    },
  },
  {
    what: 'the kind and apiVersion of an item',
    facts: {
      ...base,
      clusters: {
        ...base.clusters,
        a: {
          live: [existingObject(manifest, 'u')],
          more: {
            live: new Map(
              [...(snapshotOf(base).clusters[0]?.live ?? [])].map(([key, value]) => [
                key,
                value.result === 'held' ? { ...value, object: { metadata: value.object.metadata, data: { a: '1' } } } : value,
              ]),
            ),
          },
        },
      },
    },
  },
  { what: 'capacities', facts: { ...base, clusters: { ...base.clusters, b: { more: { capacities: new Map([[1, 100]]) } } } } },
  { what: 'when mirrors were read', facts: { ...base, asOfMs: 5_000 } },
  { what: 'the purpose of the plan', facts: { ...base, purpose: 'keep' } },
  {
    what: 'the order of keys in the template',
    facts: {
      ...base,
      template: [
        { data: { a: '1' }, metadata: { namespace: 'default', name: 'settings' }, kind: 'ConfigMap', apiVersion: 'v1' },
        deployment('web', 4),
      ],
    },
  },
])('does not change with $what', ({ facts, before = base }) => {
  expect(digestOf(facts)).toBe(digestOf(before));
});

test('does not include the requester and the time of the request', () => {
  const snapshot = snapshotOf(base);
  const asked = (user: string, at: string): PlanSnapshot => ({
    ...snapshot,
    spec: { ...snapshot.spec, requester: { user, at, groups: [], extra: {} } },
  });
  const digests = [snapshot, asked('alice', '2026-01-01T00:00:00Z'), asked('bob', '2026-02-01T00:00:00Z')].map(
    (one) => renderPlan(one, comparisonRules).digest,
  );

  expect(new Set(digests).size).toBe(1);
});

const clusterNames = ['a', 'b', 'c', 'd', 'e'];
const uids = fc.option(fc.constantFrom('u1', 'u2'), { nil: undefined });
const states = fc.constantFrom('Owned', 'Shared', 'Intended', 'Deleting' as const);
const arbitraryFacts = fc.record({
  spec: fc.record({
    placement: fc.record({ exclude: fc.subarray(clusterNames, { maxLength: 4 }) }),
    replicas: fc.record({ mode: fc.constantFrom('Duplicated', 'Divided', 'External'), total: fc.integer({ min: 0, max: 9 }) }),
    conflict: fc.constantFrom('Abort', 'Adopt', 'CreateOnly'),
    overrides: fc.array(
      fc.record({
        set: fc.record({ clusters: fc.subarray(clusterNames) }),
        labels: fc.constant([{ operator: 'Add', values: { x: 'y' } }]),
        annotations: fc.array(fc.record({ operator: fc.constantFrom('Add', 'Replace', 'Remove'), values: fc.constant({ z: '1' }) }), {
          maxLength: 2,
        }),
      }),
      { maxLength: 3 },
    ),
    rollout: fc.record({ waves: fc.constantFrom([], [{ name: 'first', set: { clusters: ['c', 'a'] } }]) }),
  }),
  standing: fc.record(Object.fromEntries(clusterNames.map((name) => [name, fc.record({ live: uids, entry: uids, state: states })]))),
});

/** Copies the value, with every map in another order. */
function shuffled(snapshot: PlanSnapshot): PlanSnapshot {
  const reversed = <K, V>(map: ReadonlyMap<K, V>): ReadonlyMap<K, V> => new Map([...map].reverse());
  return {
    ...snapshot,
    clusters: snapshot.clusters.map((one) => ({ ...one, live: reversed(one.live), capacities: reversed(one.capacities) })),
  };
}

test('equal snapshots give equal bytes, and every cluster appears once', () => {
  fc.assert(
    fc.property(arbitraryFacts, ({ spec, standing: there }) => {
      const facts = (): SnapshotFacts => ({
        template: [configMap('settings'), deployment('web', 3)],
        spec,
        clusters: Object.fromEntries(
          clusterNames.map((name) => {
            const { live, entry: uid, state } = there[name] ?? {};
            return [
              name,
              {
                ...(live === undefined ? {} : { live: [existingObject(configMap('settings'), live)] }),
                ...(uid === undefined || state === undefined ? {} : { entries: [entry(configMap('settings'), { uid, state })] }),
              },
            ];
          }),
        ),
      });
      const plan = planOf(facts());

      expect(JSON.stringify(renderPlan(shuffled(snapshotOf(facts())), comparisonRules))).toBe(JSON.stringify(plan));
      const places = [...plan.clusters.map(({ chosen }) => chosen.cluster), ...plan.rejected.map(({ cluster }) => cluster)];
      expect(places.toSorted()).toEqual(clusterNames);
      expect(plan.waves.every((_, index) => plan.clusters.some(({ wave }) => wave === index))).toBe(true);
      for (const { chosen, objects } of plan.clusters) {
        const written = objects.filter(({ action }) => action === 'UPDATE' || action === 'UNCHANGED');
        const known = there[chosen.cluster];
        // Only an object whose uid is in the inventory counts as a copy.
        expect(written.length === 0 || known?.live === known?.entry).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});

test('is a hash of the plan: 64 hexadecimal digits', () => {
  expect(digestOf(base)).toMatch(/^[0-9a-f]{64}$/);
  const [object]: readonly Json[] = clusterIn(planOf(base), 'a').objects.map(({ desiredHash }) => desiredHash);
  expect(object).toMatch(/^[0-9a-f]{64}$/);
});

test('the wanted hash of an object changes when another system replaces it, as its record must then be written', () => {
  const hashesOf = (spec: SnapshotFacts['spec']) =>
    clusterIn(planOf({ ...base, spec: { ...base.spec, ...spec } }), 'a').objects.map(({ desiredHash }) => desiredHash);
  const ours = hashesOf({});
  const theirs = hashesOf({ exact: { system: 'Karmada' }, write: 'Replace' });
  expect(theirs.filter((hash) => ours.includes(hash))).toEqual([]);
  expect(hashesOf({ write: 'Replace' })).toEqual(ours);
});
