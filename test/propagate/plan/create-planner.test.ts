import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/core/json/canonical-json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { keyOfManifest } from '../../../src/manifests/object-key.ts';
import { observedHashOf } from '../../../src/propagate/plan/copies/observed-hash.ts';
import { fingerprintOfPaths } from '../../../src/propagate/plan/copies/owned-fields.ts';
import { firstIn, shown, startPlannerWorld } from './planner-world.ts';
import { comparisonRules, configMap, deployment, entry, shareOf } from './snapshots.ts';

const settings = configMap('settings', { ours: '1' });
const json = (...manifests: readonly Manifest[]) => manifests.map((manifest) => ({ json: manifest }));
const theirs = (data: Readonly<Record<string, string>>): KubernetesObject => configMap('settings', data);

test('shows what would be created in each cluster, and writes nothing', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] });
  const plan = await planner.plan({
    template: json(deployment('web', 8)),
    placement: { clusters: ['south', 'east'] },
    overrides: [
      {
        name: 'registry',
        set: { clusters: ['south'] },
        image: [{ component: 'registry', operator: 'Replace', value: 'south.example.com' }],
      },
    ],
  });

  expect(plan).toMatchObject({ ok: true, desired: 16, placed: 16, unplaced: 0, waves: ['all'], notes: [], faults: [] });
  expect(plan.clusters.map(({ cluster, reason }) => [cluster, reason])).toEqual([
    ['east', undefined],
    ['hub', 'NOT_NAMED'],
    ['south', undefined],
  ]);
  const object = firstIn(plan, 'south');
  expect(object).toMatchObject({ action: 'CREATE', predicted: false, conflicts: [], key: { kind: 'Deployment', name: 'web' } });
  expect(object.diff).toContain('+        - image: south.example.com/web:1.0\n');
  for (const name of ['south', 'east']) {
    const cluster = planner.world.cluster(name);
    expect(cluster.get('Deployment', 'web', 'default')).toBeUndefined();
    const asked = cluster.requests.filter(({ method }) => method !== 'GET');
    expect(asked.map(({ method, query }) => [method, query])).toEqual([
      ['PATCH', { fieldManager: 'muster', force: 'false', fieldValidation: 'Strict', dryRun: 'All' }],
    ]);
  }
  const again = await planner.plan(
    JSON.parse(JSON.stringify({ template: json(deployment('web', 8)), placement: { clusters: ['south', 'east'] } })),
  );
  const rendered = await planner.world.pumped(
    planner.planner.render(planner.request({ template: json(deployment('web', 8)), placement: { clusters: ['south', 'east'] } })),
  );
  expect(rendered.digest).toBe(again.digest);
  expect(again.digest).not.toBe(plan.digest);
});

test('detects an outdated mirror and plans with the live object', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  const intent = { template: json(settings), placement: { clusters: ['south'] } };
  const before = await planner.plan(intent);
  const south = planner.world.cluster('south');
  using _stalled = south.stall({ verb: 'watch' });
  south.put(theirs({ a: 'theirs' }));
  const after = await planner.plan(intent);
  const adopted = await planner.plan({ ...intent, conflict: 'Adopt' });

  expect(firstIn(before, 'south').action).toBe('CREATE');
  expect(firstIn(after, 'south')).toMatchObject({ action: 'HOLD', fault: { code: 'CONFLICT' } });
  expect(after.digest).not.toBe(before.digest);
  expect(firstIn(adopted, 'south')).toMatchObject({ action: 'ADOPT', conflicts: [] });
  expect(firstIn(adopted, 'south').diff).toContain('+  ours: "1"\n');
  expect(south.get('ConfigMap', 'settings', 'default')?.data).toEqual({ a: 'theirs' });
});

test('plans a creation if the object is gone but still in the mirror', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [theirs({ a: '1' })] });
  const intent = { template: json(settings), placement: { clusters: ['south'] }, conflict: 'Adopt' };
  const before = await planner.plan(intent);
  using _stalled = planner.world.cluster('south').stall({ verb: 'watch' });
  planner.world.cluster('south').remove('ConfigMap', 'settings', 'default');
  const after = await planner.plan(intent);

  expect(firstIn(before, 'south').action).toBe('ADOPT');
  expect(firstIn(after, 'south').action).toBe('CREATE');
});

test('reports an object that every cluster refuses as an error, with the field and without values', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] });
  const wrong = { ...deployment('wrong'), spec: { replicaz: 'secret-value' } };
  const plan = await planner.plan({ template: json(wrong) });

  expect(plan.ok).toBe(false);
  expect(plan.notes).toMatchObject([{ severity: 'ERROR', code: 'REFUSED_EVERYWHERE', path: 'template[0]' }]);
  expect(plan.notes[0]?.message).toContain('.spec.replicaz');
  expect(firstIn(plan, 'east').fault).toMatchObject({ code: 'INVALID', cluster: 'east' });
  expect(firstIn(plan, 'east').fault?.message).toContain('.spec.replicaz');
  expect(JSON.stringify([plan.notes, plan.clusters.map(({ objects }) => objects.map(({ fault }) => fault?.message))])).not.toContain(
    'secret-value',
  );
});

test.each([
  { clusters: ['hub', 'south'], code: 'REFUSED_EVERYWHERE', severity: 'ERROR', ok: false },
  { clusters: ['south', 'east'], code: 'REFUSED_SOMEWHERE', severity: 'WARNING', ok: true },
])('a missing namespace that the plan does not create is $code in $clusters', async ({ clusters, code, severity, ok }) => {
  const place = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [place('shop')] });
  const elsewhere = { ...settings, metadata: { name: 'settings', namespace: 'shop' } };
  const plan = await planner.plan({ template: json(elsewhere), placement: { clusters } });
  const made = await planner.plan({ template: [{ json: place('shop') }, ...json(elsewhere)], placement: { clusters } });

  expect(plan).toMatchObject({
    ok,
    notes: [{ severity, code, path: 'template[0]', message: expect.stringContaining('"shop" not found') }],
  });
  expect(made).toMatchObject({ ok: true, notes: [] });
});

test('a quota that is exhausted in every cluster is an error of the plan', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  using _full = planner.world.cluster('south').refuseWrites({ type: 'quota', quota: 'small' });
  const plan = await planner.plan({ template: json(settings), placement: { clusters: ['south'] } });

  expect(plan).toMatchObject({
    ok: false,
    notes: [{ code: 'REFUSED_EVERYWHERE', message: expect.stringContaining('exceeded quota: small') }],
  });
});

test.each([
  { more: {}, severity: 'WARNING', ok: true },
  { more: { strict: true }, severity: 'ERROR', ok: false },
])('reports an object that some clusters refuse as a $severity with $more', async ({ more, severity, ok }) => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] });
  using _refused = planner.world.cluster('east').refuseWrites({ type: 'invalid', field: 'data.ours' });
  const plan = await planner.plan({ template: json(settings), ...more });

  expect(plan.ok).toBe(ok);
  expect(plan.notes).toMatchObject([{ severity, code: 'REFUSED_SOMEWHERE', path: 'template[0]' }]);
  expect(plan.notes[0]?.message).toMatch(/^1 of 3 clusters \(east\) refuse ConfigMap default\/settings: .*data\.ours/);
  expect(firstIn(plan, 'south').fault).toBeUndefined();
});

test('shows fields of other managers with manager and path, and the diff of taking them over', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  planner.world
    .cluster('south')
    .put({ ...theirs({ ours: 'theirs' }), metadata: { ...settings.metadata, managedFields: managed('kubectl') } });
  const intent = { template: json(settings), placement: { clusters: ['south'] } };
  const adopted = await planner.plan({ ...intent, conflict: 'Adopt' });
  const overwritten = await planner.plan({ ...intent, conflict: 'Overwrite' });

  expect(firstIn(adopted, 'south')).toMatchObject({
    action: 'ADOPT',
    conflicts: [{ manager: 'kubectl', path: '.data.ours' }],
    fault: { code: 'CONFLICT' },
  });
  expect(firstIn(adopted, 'south').fault?.message).toContain('.data.ours (kubectl)');
  expect(firstIn(overwritten, 'south')).toMatchObject({ action: 'ADOPT', conflicts: [{ manager: 'kubectl', path: '.data.ours' }] });
  expect(firstIn(overwritten, 'south').fault).toBeUndefined();
  expect(firstIn(overwritten, 'south').diff).toContain('-  ours: theirs\n+  ours: "1"\n');
});

test.each([
  { conflict: 'Adopt', uid: 'other', source: 'shop/web', message: 'it belongs to another Propagation: shop/web' },
  { conflict: 'ServerSideApply', uid: 'other', source: 'shop/web', message: 'it belongs to another Propagation: shop/web' },
  { conflict: 'Overwrite', uid: 'other', source: 'shop/web', message: undefined },
  // The marks come from a lost hub, or others have copied them.
  { conflict: 'Adopt', uid: 'other', source: 'default/web', message: undefined },
  { conflict: 'Adopt', uid: 'other', source: 'shop/web', manager: 'kubectl', message: undefined },
])('a copy of another Propagation is a conflict that names it: $conflict, $source', async ({ message, manager = 'muster', ...marked }) => {
  await using planner = await startPlannerWorld({ hub: [], south: [] });
  const fields = { 'f:metadata': { 'f:labels': { 'f:muster.dev/propagation': {} }, 'f:annotations': { 'f:muster.dev/source': {} } } };
  const marks = { labels: { 'muster.dev/propagation': marked.uid }, annotations: { 'muster.dev/source': marked.source } };
  const managedFields = managed(manager).map((one) => ({ ...one, fieldsV1: { ...one.fieldsV1, ...fields } }));
  planner.world.cluster('south').put({ ...settings, metadata: { ...settings.metadata, ...marks, managedFields } });
  const plan = await planner.plan({ template: json(settings), placement: { clusters: ['south'] }, conflict: marked.conflict });

  const { action, fault } = firstIn(plan, 'south');
  expect([action, fault?.code, fault?.message]).toEqual(['ADOPT', message === undefined ? undefined : 'CONFLICT', message]);
});

test('makes no dry run for an unchanged copy, and forces fields that Muster sent before', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] });
  const put = (name: string, data: Readonly<Record<string, string>>) => {
    const metadata = { ...settings.metadata, managedFields: managed('kubectl') };
    return planner.world.cluster(name).put({ ...settings, metadata, data });
  };
  const [same, drifted] = [put('south', { ours: '1' }), put('east', { ours: 'changed' })];
  const share = (name: string, { metadata: { uid } }: KubernetesObject) => {
    const facts = {
      appliedHash: sha256Of(settings),
      observedHash: observedHashOf({ key: keyOfManifest(settings), desired: settings }, same, comparisonRules),
    };
    return shareOf(name, [entry(settings, { ...facts, ...(uid === undefined ? {} : { uid }), sent: fingerprintOfPaths(['.data.ours']) })]);
  };
  const shares = [share('south', same), share('east', drifted)];
  const plan = await planner.plan({ template: json(settings), placement: { clusters: ['south', 'east'] } }, { shares });

  expect(firstIn(plan, 'south')).toMatchObject({ action: 'UNCHANGED' });
  expect(firstIn(plan, 'south').diff).toBeUndefined();
  expect(planner.world.cluster('south').requests.some(({ method }) => method === 'PATCH')).toBe(false);
  expect(firstIn(plan, 'east')).toMatchObject({ action: 'UPDATE', conflicts: [{ manager: 'kubectl', path: '.data.ours' }] });
  expect(firstIn(plan, 'east').fault).toBeUndefined();
  expect(firstIn(plan, 'east').diff).toContain('-  ours: changed\n+  ours: "1"\n');
});

test('replaces the whole object in mode Replace and keeps the fields of the member cluster', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [theirs({ a: 'theirs' })] });
  const plan = await planner.plan({ template: json(settings), placement: { clusters: ['south'] }, write: 'Replace', conflict: 'Adopt' });

  expect(firstIn(plan, 'south').action).toBe('ADOPT');
  expect(firstIn(plan, 'south').diff).toContain('-  a: theirs\n+  ours: "1"\n');
  const [asked] = planner.world.cluster('south').requests.filter(({ method }) => method !== 'GET');
  expect(asked).toMatchObject({ method: 'PUT', query: { dryRun: 'All', fieldValidation: 'Strict' } });
});

test('waits at most 10 s for a silent cluster, and reports the fault for this cluster only', async () => {
  await using planner = await startPlannerWorld({ hub: [], south: [], east: [] });
  const intent = { template: json(settings) };
  await planner.plan(intent);
  using _silent = planner.world.cluster('east').silence();
  const startMs = planner.world.clock.monotonic();
  const plan = await planner.plan(intent);

  expect(planner.world.clock.monotonic() - startMs).toBeLessThan(15_000);
  expect(shown(plan, 'east').fault?.code).toMatch(/^(TIMED_OUT|UNREACHABLE)$/);
  expect(shown(plan, 'south').fault).toBeUndefined();
  expect(firstIn(plan, 'south').action).toBe('CREATE');
  expect(plan.faults.map(({ cluster }) => cluster)).toEqual(['east']);
  expect(plan.notes).toEqual([]);
});

test('predicts objects for which no dry run is possible yet', async () => {
  await using planner = await startPlannerWorld({ hub: [] });
  const inside = { ...configMap('inside'), metadata: { name: 'inside', namespace: 'shop' } };
  const plan = await planner.plan({ template: json({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, inside) });

  expect(plan.ok).toBe(true);
  expect(shown(plan, 'hub').objects.map(({ key, predicted, fault }) => [key.name, predicted, fault])).toEqual([
    ['shop', false, undefined],
    ['inside', true, undefined],
  ]);
});

test('stops when the request is aborted', async () => {
  await using planner = await startPlannerWorld({ hub: [] });
  using _slow = planner.world.cluster('hub').delay(5_000, { verb: 'patch' });
  const life = new AbortController();
  const planned = planner.planner.plan(planner.request({ template: json(settings) }, { signal: life.signal }));
  await planner.world.pass(1_000);
  life.abort(new Error('enough'));

  await expect(planner.world.pumped(planned)).rejects.toThrow('enough');
});

/** Returns `managedFields` in which this manager applied a field of the ConfigMap. */
function managed(manager: string) {
  const fieldsV1 = { 'f:data': { 'f:ours': {} } };
  return [{ manager, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', time: '2026-01-01T00:00:00Z', fieldsV1 }];
}
