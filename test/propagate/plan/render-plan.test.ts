import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/core/json/canonical-json.ts';
import { objectAt } from '../../../src/core/json-at.ts';
import { clusterName } from '../../../src/core/names.ts';
import { keyOfManifest } from '../../../src/manifests/object-key.ts';
import { observedHashOf } from '../../../src/propagate/plan/copies/observed-hash.ts';
import {
  actionsOf,
  clusterIn,
  comparisonRules,
  configMap,
  deployment,
  entry,
  existingObject,
  planOf,
  type SnapshotFacts,
  shareOf,
  specOf,
} from './snapshots.ts';

const weights = (...pairs: readonly (readonly [string, number])[]) =>
  pairs.map(([name, weight]) => ({ set: { clusters: [name] }, weight }));

test('reports for each cluster whether it is chosen, why not, its replicas and its writes', () => {
  const plan = planOf({
    template: [deployment('web', 8)],
    spec: {
      placement: { clusters: ['north', 'south', 'east'] },
      replicas: { mode: 'Divided', rules: weights(['north', 2], ['south', 1], ['east', 1]) },
      overrides: [
        {
          name: 'registry',
          set: { clusters: ['south'] },
          image: [{ component: 'registry', operator: 'Replace', value: 'south.example.com' }],
        },
        { labels: [{ operator: 'Add', values: { fleet: 'shop' } }] },
      ],
    },
    clusters: { north: {}, south: {}, east: {}, west: {} },
  });

  expect(plan).toMatchObject({ ok: true, desired: 8, placed: 8, unplaced: 0, waves: ['all'], notes: [], leaving: [] });
  expect(plan.clusters.map(({ chosen, share }) => [chosen.cluster, share?.to])).toEqual([
    ['east', 2],
    ['north', 4],
    ['south', 2],
  ]);
  expect(plan.rejected).toEqual([{ cluster: 'west', reason: 'NOT_NAMED', detail: 'west' }]);
  const south = clusterIn(plan, 'south');
  expect(south.overrides).toEqual(['registry', 'overrides[1]']);
  expect(south.objects).toMatchObject([
    {
      action: 'CREATE',
      predicted: false,
      desired: {
        metadata: { labels: { fleet: 'shop' } },
        spec: { replicas: 2, template: { spec: { containers: [{ image: 'south.example.com/web:1.0' }] } } },
      },
    },
  ]);
  expect(clusterIn(plan, 'north').overrides).toEqual(['overrides[1]']);
});

test.each([
  { mode: 'Duplicated', template: 3, total: undefined, sent: 3, desired: 6 },
  { mode: 'Duplicated', template: undefined, total: undefined, sent: undefined, desired: 2 },
  { mode: 'Duplicated', template: 3, total: 5, sent: 5, desired: 10 },
  { mode: 'External', template: 3, total: undefined, sent: undefined, desired: undefined },
  { mode: 'Divided', template: 3, total: undefined, sent: 2, desired: 3 },
  { mode: 'Divided', template: 3, total: 7, sent: 4, desired: 7 },
])(
  'sends $sent replicas to the first of two clusters with $mode, $template in the template, $total in all',
  ({ mode, template, total, sent, desired }) => {
    const manifest = template === undefined ? { ...deployment('web'), spec: {} } : deployment('web', template);
    const plan = planOf({
      template: [manifest],
      spec: { replicas: { mode, ...(total === undefined ? {} : { total }) } },
      clusters: { a: {}, b: {} },
    });

    expect(objectAt(clusterIn(plan, 'a').objects[0]?.desired, 'spec').replicas).toBe(sent);
    expect(plan.desired).toBe(desired);
  },
);

test('finds the copies that drifted among equal copies of several clusters', () => {
  const manifest = configMap('settings');
  const liveWith = (data: Readonly<Record<string, string>>, theirs = 'x') =>
    existingObject({ ...manifest, data, metadata: { ...manifest.metadata, labels: { theirs } } }, 'u');
  const observedHash = observedHashOf({ key: keyOfManifest(manifest), desired: manifest }, liveWith({ a: '1' }), comparisonRules);
  const entries = [entry(manifest, { uid: 'u', appliedHash: sha256Of(manifest), observedHash })];
  const clusters = { a: liveWith({ a: '1' }), b: liveWith({ a: '2' }), c: liveWith({ a: '1' }, 'y'), d: liveWith({}) };
  const plan = planOf({ clusters: Object.fromEntries(Object.entries(clusters).map(([name, live]) => [name, { live: [live], entries }])) });
  expect(plan.clusters.map(({ chosen, objects }) => [chosen.cluster, ...objects.map(({ action }) => action)])).toEqual([
    ['a', 'UNCHANGED'],
    ['b', 'UPDATE'],
    ['c', 'UNCHANGED'],
    ['d', 'UPDATE'],
  ]);
});

test('rejects clusters without replicas, and writes no other object of the template there', () => {
  const plan = planOf({
    template: [deployment('web', 1), configMap('settings')],
    spec: { replicas: { mode: 'Divided', rules: weights(['a', 1], ['b', 1]) } },
    clusters: { a: {}, b: {} },
  });

  expect(plan.clusters.map(({ chosen }) => chosen.cluster)).toEqual(['a']);
  expect(actionsOf(clusterIn(plan, 'a').objects)).toEqual(['CREATE settings', 'CREATE web']);
  expect(plan.rejected).toEqual([{ cluster: 'b', reason: 'CAPACITY', detail: '0 of 1 replicas' }]);
});

test('keeps the copies of a workload that was set to zero', () => {
  const plan = planOf({ template: [deployment('web', 0)], spec: { replicas: { mode: 'Divided' } }, clusters: { a: {}, b: {} } });

  expect(plan.clusters).toHaveLength(2);
  expect(plan.ok).toBe(true);
});

test('divides each of several workloads, and omits one without replicas only where another one has some', () => {
  const plan = planOf({
    template: [deployment('web', 4), deployment('worker', 1)],
    spec: { replicas: { mode: 'Divided', rules: weights(['a', 1], ['b', 1]) } },
    clusters: { a: {}, b: {} },
  });

  expect(plan.clusters.map(({ share, objects }) => [share?.to, actionsOf(objects)])).toEqual([
    [3, ['CREATE web', 'CREATE worker']],
    [2, ['CREATE web']],
  ]);
  expect([plan.desired, plan.placed]).toEqual([5, 5]);
});

test('keeps replicas in place when only labels change, and moves them on a reschedule', () => {
  const replicas = { mode: 'Divided' };
  const placement = { selector: { matchLabels: { tier: 'front' } } };
  const labelled = { facts: { labels: { tier: 'front' } } };
  const before = planOf({ template: [deployment('web', 4)], spec: { replicas, placement }, clusters: { a: labelled, b: labelled } });
  const previous = {
    replicas: new Map(before.clusters.map(({ chosen, share }) => [chosen.cluster, share?.to ?? 0])),
    scheduledAt: '2026-01-01T00:00:00Z',
  };
  const later = (spec: Readonly<Record<string, unknown>>, clusters: SnapshotFacts['clusters'] = { a: labelled, b: {}, c: labelled }) => {
    return planOf({
      template: [deployment('web', 4)],
      clusters,
      spec,
      previous: { ...previous, spec: specOf([deployment('web', 4)], { replicas, placement }) },
    });
  };

  const kept = later({ replicas, placement });
  expect(kept.clusters.map(({ chosen, share }) => [chosen.cluster, share])).toMatchObject([
    ['a', { from: 2, to: 2, kept: 2 }],
    ['b', { from: 2, to: 2, kept: 2 }],
  ]);
  expect(kept.rejected).toEqual([{ cluster: 'c', reason: 'CAPACITY', detail: 'all replicas are placed already' }]);

  const nowhere = later({ replicas, placement }, { a: {}, b: {} });
  expect([nowhere.ok, nowhere.placed, nowhere.notes]).toEqual([true, 4, []]);

  const moved = later({ replicas: { ...replicas, rescheduleAt: '2026-01-02T00:00:00Z' }, placement });
  expect(moved.clusters.map(({ chosen, share }) => [chosen.cluster, share?.to])).toEqual([
    ['a', 2],
    ['c', 2],
  ]);
  expect(later({ replicas: { ...replicas, total: 6 }, placement }).clusters.map(({ chosen }) => chosen.cluster)).toEqual(['a', 'c']);
});

test('reports the count that an override sets, and divides the next time as if there were no override', () => {
  const replicas = { mode: 'Divided', rules: weights(['a', 1], ['b', 1]) };
  const overrides = [{ set: { clusters: ['a'] }, merge: { spec: { replicas: 7 } } }];
  const template = [deployment('web', 6)];
  const plan = planOf({ template, spec: { replicas, overrides }, clusters: { a: {}, b: {} } });
  expect(plan.clusters.map(({ share }) => [share?.from, share?.to, share?.divided])).toEqual([
    [0, 7, 3],
    [0, 3, undefined],
  ]);
  expect([plan.desired, plan.placed, plan.unplaced]).toEqual([10, 10, 0]);
  const previous = {
    replicas: new Map([
      ['a', 3],
      ['b', 3],
    ]),
    overridden: new Map([['a', 7]]),
    scheduledAt: '2026-01-01T00:00:00Z',
    spec: specOf(template, { replicas, overrides }),
  };
  const again = planOf({ template, spec: { replicas, overrides }, previous, clusters: { a: {}, b: {} } });
  expect(again.clusters.map(({ share }) => share)).toMatchObject([
    { from: 7, to: 7, kept: 7, divided: 3 },
    { from: 3, to: 3, kept: 3 },
  ]);
  const without = planOf({ template, spec: { replicas }, previous, clusters: { a: {}, b: {} } });
  expect(without.clusters.map(({ share }) => share)).toMatchObject([
    { from: 7, to: 3, kept: 3 },
    { from: 3, to: 3, kept: 3 },
  ]);
  expect([without.desired, without.placed]).toEqual([6, 6]);
});

test('writes dependencies first, and removes unwanted copies in reverse order', () => {
  const gone = [configMap('old'), deployment('old')];
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const plan = planOf({
    template: [deployment('web', 1), configMap('settings'), namespace],
    clusters: {
      a: { entries: gone.map((manifest) => entry(manifest, { uid: 'u' })) },
      b: { facts: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
    },
  });

  expect(actionsOf(clusterIn(plan, 'a').objects)).toEqual(['CREATE shop', 'CREATE settings', 'CREATE web', 'DELETE old', 'DELETE old']);
  expect(
    clusterIn(plan, 'a')
      .objects.slice(3)
      .map(({ key }) => key.kind),
  ).toEqual(['Deployment', 'ConfigMap']);
  expect(plan.rejected).toEqual([{ cluster: 'b', reason: 'TAINT', detail: 'k:NoSchedule' }]);
});

test('predicts objects in a namespace or of a kind that the plan itself creates', () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names: { kind: 'Widget' }, versions: [{ name: 'v1', served: true }] },
  };
  const inside = { ...configMap('inside'), metadata: { name: 'inside', namespace: 'shop' } };
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' } };
  const other = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'two' } };
  const plan = planOf({
    template: [namespace, definition, inside, widget, other, configMap('beside')],
    clusters: { a: {}, b: { live: [existingObject(namespace, 'u1'), existingObject(definition, 'u2')] } },
  });
  const predicted = (name: string) => clusterIn(plan, name).objects.flatMap((object) => (object.predicted ? [object.key.name] : []));

  expect(predicted('a')).toEqual(['inside', 'one']);
  expect(predicted('b')).toEqual([]);
});

test('places dependencies with the objects that use them', () => {
  const templates = [
    { manifest: deployment('web', 4), path: 'template[0]' },
    { manifest: deployment('worker', 1), path: 'template[1]' },
    { manifest: configMap('of-web'), path: 'dependencies', usedBy: [0] },
    { manifest: configMap('of-worker'), path: 'dependencies', usedBy: [1] },
  ];
  const plan = planOf({
    templates,
    template: templates.slice(0, 2).map(({ manifest }) => manifest),
    spec: { replicas: { mode: 'Divided' } },
    clusters: { a: {}, b: {} },
  });

  expect(plan.clusters.map(({ objects }) => actionsOf(objects))).toEqual([
    ['CREATE of-web', 'CREATE of-worker', 'CREATE web', 'CREATE worker'],
    ['CREATE of-web', 'CREATE web'],
  ]);
});

test('keeps copies of a dependency that is gone at its source while an object there needs it', () => {
  const used = (name: string) => entry(configMap(name), { appliedHash: `hash of ${name}`, uid: name });
  const templates = [
    { manifest: deployment('web', 4), path: 'template[0]' },
    { manifest: deployment('worker', 1), path: 'template[1]' },
  ];
  const plan = planOf({
    templates,
    template: templates.map(({ manifest }) => manifest),
    missing: [
      { key: keyOfManifest(configMap('of-web')), usedBy: [0] },
      { key: keyOfManifest(configMap('of-worker')), usedBy: [1] },
    ],
    spec: { replicas: { mode: 'Divided' } },
    clusters: { a: { entries: [used('of-web'), used('of-worker')] }, b: { entries: ['of-web', 'of-worker', 'unused'].map(used) } },
  });

  expect(clusterIn(plan, 'a').objects.filter(({ action }) => action === 'HOLD')).toMatchObject([
    { held: 'SourceMissing', desiredHash: 'hash of of-worker' },
    { held: 'SourceMissing', desiredHash: 'hash of of-web' },
  ]);
  expect(actionsOf(clusterIn(plan, 'b').objects).slice(1).toSorted()).toEqual([
    'DELETE of-worker',
    'DELETE unused',
    'HOLD (SourceMissing) of-web',
  ]);
});

test('puts each cluster into the first matching wave, and names only waves with clusters', () => {
  const waves = [
    { name: 'canary', set: { clusters: ['b'] } },
    { name: 'nobody', set: { clusters: ['a'], exclude: ['a'] } },
    { name: 'again', set: { clusters: ['a', 'b'] } },
  ];
  const plan = planOf({ spec: { rollout: { waves } }, clusters: { a: {}, b: {}, c: {} } });

  expect(plan.waves).toEqual(['canary', 'again', 'rest']);
  expect(plan.clusters.map(({ chosen, wave }) => [chosen.cluster, wave])).toEqual([
    ['a', 1],
    ['b', 0],
    ['c', 2],
  ]);
});

test('renders nothing while a mirror is unread, because an existing object may belong to another owner', () => {
  const manifest = configMap('settings');
  const plan = planOf({
    template: [manifest],
    clusters: { a: {}, b: { unread: [entry(manifest).key], entries: [entry(configMap('old'))] } },
  });

  expect(clusterIn(plan, 'b')).toMatchObject({ objects: [], fault: { code: 'SYNCING', cluster: 'b' } });
  expect(actionsOf(clusterIn(plan, 'a').objects)).toEqual(['CREATE settings']);
  expect(plan.ok).toBe(true);
});

test('renders nothing and removes nothing if the template could not be read', () => {
  const note = {
    severity: 'ERROR',
    code: 'INVALID',
    message: 'there is no ConfigMap settings in cluster north',
    path: 'template[0].ref',
  } as const;
  const plan = planOf({ templates: [], notes: [note], clusters: { a: { entries: [entry(configMap('settings'), { uid: 'u' })] } } });

  expect(plan).toMatchObject({ ok: false, clusters: [], leaving: [], rejected: [], waves: [], notes: [note] });
  expect(plan.pruneHeld).toBe('the template could not be read, but 1 objects exist');
});

test('removes the copies in clusters that are no longer chosen or left the fleet', () => {
  const ours = [entry(configMap('settings'), { uid: 'u' }), entry(configMap('shared'), { uid: 'v', state: 'Shared' })];
  const plan = planOf({
    spec: { placement: { clusters: ['a'] } },
    clusters: { a: {}, b: { entries: ours, live: [existingObject(configMap('settings'), 'u')] }, c: { entries: [] } },
    sharesOutsideFleet: [shareOf('gone', ours.slice(0, 1))],
  });

  expect(plan.leaving.map(({ cluster, objects }) => [cluster, actionsOf(objects)])).toEqual([
    ['b', ['RELEASE shared', 'DELETE settings']],
    ['gone', ['DELETE settings']],
  ]);
  expect(plan.leaving[0]?.objects[1]).toMatchObject({ liveUid: 'u', desired: { metadata: { name: 'settings', namespace: 'default' } } });
  const orphaned = planOf({
    spec: { placement: { clusters: ['a'] }, deletion: { policy: 'Orphan' } },
    clusters: { a: {}, b: { entries: ours } },
  });
  expect(orphaned.leaving.map(({ objects }) => actionsOf(objects))).toEqual([['RELEASE shared', 'RELEASE settings']]);
});

test('holds every action in a suspended cluster', () => {
  const ours = [entry(configMap('settings'), { uid: 'u' })];
  const facts = { clusters: { a: {}, b: {}, c: { entries: ours } } };
  const one = planOf({ spec: { placement: { clusters: ['a', 'b'] }, suspend: { clusters: ['b', 'c'] } }, ...facts });
  const all = planOf({ spec: { suspend: { all: true } }, ...facts });

  expect(one.clusters.map(({ objects }) => actionsOf(objects))).toEqual([['CREATE settings'], ['HOLD (Suspended) settings']]);
  expect(one.leaving.map(({ objects }) => actionsOf(objects))).toEqual([['HOLD (Suspended) settings']]);
  expect(all.clusters.flatMap(({ objects }) => actionsOf(objects))).toEqual(Array(3).fill('HOLD (Suspended) settings'));
});

test('hashes a Secret by the version of its source, and holds none of its data', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'token', namespace: 'default' }, type: 'Opaque' };
  const secretOf = { cluster: clusterName('north'), namespace: 'default', name: 'token' };
  const planned = (sourceVersion: string) =>
    planOf({ templates: [{ manifest: secret, path: 'template[0]', secretOf, sourceVersion }], clusters: { a: {} } });
  const [first, same, other] = ['1', '1', '2'].map(planned);

  expect(first && clusterIn(first, 'a').objects[0]).toMatchObject({ action: 'CREATE', secretOf, desired: secret });
  expect(first?.digest).toBe(same?.digest);
  expect(first?.digest).not.toBe(other?.digest);
});
