import { expect, test } from 'vitest';
import { createActingClients } from '../../../../src/changes/acting-clients.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { accessBut } from '../../../support/restricting-access.ts';
import { firstIn, type PlannerWorld, type PlannerWorldOptions, shown, startPlannerWorld } from '../planner-world.ts';
import { configMap, deployment, shareOf } from '../snapshots.ts';

const ref = (kind: string, name: string, more: Readonly<Record<string, string>> = {}) => ({
  ref: { cluster: 'north', apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1', kind, name, ...more },
});

/** A Deployment whose Pod template is extended with these fields, which need other objects. */
function needy(name: string, of: Readonly<Record<string, unknown>>): KubernetesObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }], ...of } };
  return JSON.parse(JSON.stringify({ ...deployment(name), spec: { selector: { matchLabels: labels }, template } }));
}

const secret: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'token', namespace: 'default', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'hidden-value' } },
  type: 'Opaque',
  data: { token: 'aGlkZGVuLXZhbHVl' },
};

test('reads a referenced object, without the fields that servers, kubectl and Muster added', async () => {
  const source = configMap('settings', { a: '1' });
  const traces = {
    labels: { app: 'web', [marks.propagation]: 'uid' },
    annotations: {
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      [marks.source]: 'a/b',
      [marks.generation]: '1',
      [marks.intent]: 'x',
      mine: 'yes',
    },
  };
  await using planner = await startPlannerWorld({ north: [{ ...source, metadata: { ...source.metadata, ...traces } }], south: [] });
  const intent = { template: [ref('ConfigMap', 'settings')], placement: { clusters: ['south'] } };
  const plan = await planner.plan(intent);

  expect(firstIn(plan, 'south').manifest).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'default', labels: { app: 'web' }, annotations: { mine: 'yes' } },
    data: { a: '1' },
  });
  planner.world.cluster('north').put({ ...source, data: { a: '2' } });
  expect(firstIn(await planner.plan(intent), 'south').manifest).toMatchObject({ data: { a: '2' } });
});

const asked = { placement: { clusters: ['south'] } };

test.each([
  {
    what: 'an unknown cluster',
    template: { ref: { ...ref('ConfigMap', 'settings').ref, cluster: 'x' } },
    note: ['UNKNOWN_CLUSTER', 'template[0].ref.cluster', 'got "x"'],
  },
  {
    what: 'a missing object',
    template: ref('ConfigMap', 'other'),
    note: ['INVALID', 'template[0].ref', 'there is no ConfigMap other in cluster north'],
  },
  {
    what: 'another object with the same name',
    template: ref('ConfigMap', 'settings', { uid: 'other' }),
    note: ['INVALID', 'template[0].ref.uid', 'another object with its name'],
  },
  {
    what: 'a kind that is not served',
    template: ref('Widget', 'one'),
    note: ['INVALID', 'template[0].ref', 'cluster north does not serve Widget in v1'],
  },
])('refuses a reference to $what', async ({ template, note: [code, path, message] }) => {
  await using planner = await startPlannerWorld({ north: [configMap('settings')], south: [] });
  const plan = await planner.plan({ ...asked, template: [template] });

  expect(plan).toMatchObject({ ok: false, clusters: [], notes: [{ severity: 'ERROR', code, path }] });
  expect(plan.notes[0]?.message).toContain(message);
});

test('reads with the identity of the requester, so hidden objects enter no plan', async () => {
  await using planner = await startPlannerWorld({ north: [configMap('settings')], south: [] });
  using _forbidden = planner.world.cluster('north').forbid({ kind: 'ConfigMap', verbs: ['get'], users: ['alice'] });
  const request = planner.request({ ...asked, template: [ref('ConfigMap', 'settings')] });
  const requester = { user: 'alice', groups: ['dev'], extra: {}, at: '2026-01-01T00:00:00Z' };
  const plan = await planner.world.pumped(planner.planner.plan({ ...request, spec: { ...request.spec, requester } }));

  expect(plan).toMatchObject({
    ok: false,
    notes: [{ code: 'INVALID', path: 'template[0].ref' }],
    faults: [{ code: 'FORBIDDEN', cluster: 'north' }],
  });
  expect(planner.world.cluster('north').requests.filter(({ user }) => user === 'alice')).toHaveLength(1);
});

test('never holds keys or values of a Secret', async () => {
  await using planner = await startPlannerWorld({ north: [secret], south: [] });
  const plan = await planner.plan({ ...asked, template: [ref('Secret', 'token')] });
  const rendered = await planner.world.pumped(planner.planner.render(planner.request({ ...asked, template: [ref('Secret', 'token')] })));

  expect(firstIn(plan, 'south')).toMatchObject({ action: 'CREATE', predicted: false, manifest: { metadata: { name: 'token' } } });
  expect(rendered.clusters[0]?.objects[0]).toMatchObject({
    secretOf: { cluster: 'north', namespace: 'default', name: 'token' },
    desired: { type: 'Opaque' },
  });
  expect(JSON.stringify([plan, rendered])).not.toMatch(/aGlkZGVu|hidden-value/);
  expect(firstIn(plan, 'south').diff).toMatch(/\+data:\n\+ {2}token: "\(not shown, changed\)"/);
  const written = planner.world.cluster('south').requests.filter(({ method }) => method === 'PATCH');
  expect(written.map(({ query }) => query.dryRun)).toEqual(['All']);
});

test('gives objects without a namespace that of the Propagation, and cluster-scoped objects none', async () => {
  await using planner = await startPlannerWorld({ north: [] });
  const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bare' } };
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'reader', namespace: 'shop' } };
  const plan = await planner.plan({ template: [{ json: bare }, { json: role }] }, { namespace: 'shop' });

  expect(shown(plan, 'north').objects.map(({ key }) => [key.kind, key.namespace])).toEqual([
    ['ClusterRole', undefined],
    ['ConfigMap', 'shop'],
  ]);
});

test('refuses a repeated object, also in two versions', async () => {
  await using planner = await startPlannerWorld({ north: [] });
  const scaler = (version: string) => ({
    json: { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } },
  });
  const plan = await planner.plan({ template: [scaler('v1'), { json: configMap('settings') }, scaler('v2')] });

  expect(plan.notes).toMatchObject([
    { severity: 'ERROR', code: 'INVALID', path: 'template[2]', message: 'expected each object once, got the object of template[0] again' },
  ]);
});

const needs = { imagePullSecrets: [{ name: 'token' }], volumes: [{ name: 'v', configMap: { name: 'files' } }] };

async function planNeedy(planner: PlannerWorld, template: readonly unknown[]) {
  const plan = await planner.plan({ ...asked, template, dependencies: true });
  const names = plan.clusters.flatMap(({ cluster, objects }) =>
    cluster === 'south' ? objects.map(({ key }) => `${key.kind} ${key.name}`) : [],
  );
  return { plan, names };
}

test('adds the dependencies of a reference from its cluster, and those of a manifest from the hub', async () => {
  await using planner = await startPlannerWorld({
    hub: [configMap('files')],
    north: [needy('web', needs), configMap('files', { a: 'north' }), secret],
    south: [],
  });
  const referred = await planNeedy(planner, [ref('Deployment', 'web')]);
  const written = await planNeedy(planner, [{ json: needy('web', needs) }]);

  expect(referred.names).toEqual(['ConfigMap files', 'Secret token', 'Deployment web']);
  expect(firstIn(referred.plan, 'south').manifest).toMatchObject({ data: { a: 'north' } });
  expect(written.names).toEqual(['ConfigMap files', 'Deployment web']);
  expect(firstIn(written.plan, 'south').manifest).toMatchObject({ data: { a: '1' } });
  expect(written.plan.notes).toMatchObject([
    {
      severity: 'WARNING',
      code: 'DEPENDENCY_MISSING',
      path: 'dependencies',
      message: expect.stringContaining('there is no Secret token in cluster hub'),
    },
  ]);
});

test('a dependency that is gone at its source removes no copy and gives a warning', async () => {
  const token = { apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'token' };
  const shares = [shareOf('south', [{ key: token, state: 'Owned', health: 'Healthy', uid: 'uid-of-token', appliedHash: 'as it was' }])];
  await using planner = await startPlannerWorld({ hub: [configMap('files')], south: [secret] }, { shares });
  const template = [{ json: needy('web', needs) }];
  const existing = { uid: 'uid-of-web', status: {} };
  const held = await planner.plan({ ...asked, template, dependencies: true }, { existing });
  const unneeded = await planner.plan({ ...asked, template: [{ json: needy('web', {}) }], dependencies: true }, { existing });

  expect(shown(held, 'south').objects.find(({ key }) => key.name === 'token')).toMatchObject({ action: 'HOLD' });
  expect(held.notes).toMatchObject([
    { code: 'DEPENDENCY_MISSING', message: 'there is no Secret token in cluster hub: its existing copies stay unchanged' },
  ]);
  expect(shown(unneeded, 'south').objects.find(({ key }) => key.name === 'token')).toMatchObject({ action: 'DELETE' });
});

test('adds a shared dependency once, and none that the template contains', async () => {
  await using planner = await startPlannerWorld({ hub: [configMap('files', { a: 'hub' }), secret], south: [] });
  const shared = await planNeedy(planner, [{ json: needy('web', needs) }, { json: needy('worker', needs) }]);
  const own = await planNeedy(planner, [{ json: needy('web', needs) }, { json: configMap('files', { a: 'own' }) }]);

  expect(shared.names).toEqual(['ConfigMap files', 'Secret token', 'Deployment web', 'Deployment worker']);
  expect(own.names).toEqual(['ConfigMap files', 'Secret token', 'Deployment web']);
  expect(firstIn(own.plan, 'south').manifest).toMatchObject({ data: { a: 'own' } });
});

const requester = { user: 'alice', groups: [], at: '2026-01-01T00:00:00Z' };
const withoutSlices = accessBut(({ kind, verb }) => kind.kind === 'EndpointSlice' && verb === 'list');
const listless = createActingClients({ member: () => undefined, access: withoutSlices, accounts: 'many' }).visibility;

test.each<[string, PlannerWorldOptions, readonly string[]]>([
  ['finds dependencies by label', {}, ['one']],
  ['finds no dependency by label that the requester may get but not list', { visibility: listless }, []],
])('%s', async (_what, options, expected) => {
  const slice = (name: string, service: string): KubernetesObject => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: [],
  });
  const service: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'derived-shop', namespace: 'default' },
    spec: {},
  };
  await using planner = await startPlannerWorld(
    { hub: [slice('one', 'derived-shop'), slice('two', 'other'), service], south: [] },
    options,
  );
  const imported = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceImport',
    metadata: { name: 'shop', namespace: 'default' },
    spec: {},
  };
  const rendered = await planner.world.pumped(
    planner.planner.render(planner.request({ requester, template: [{ json: imported }, { json: configMap('a') }], dependencies: true })),
  );

  // No cluster serves ServiceImports here, so no cluster is chosen. The reason names the dependencies that were found.
  expect(rendered.rejected).toEqual([
    { cluster: 'hub', reason: 'API_MISSING', detail: 'ServiceImport.multicluster.x-k8s.io/v1alpha1' },
    { cluster: 'south', reason: 'API_MISSING', detail: 'ServiceImport.multicluster.x-k8s.io/v1alpha1' },
  ]);
  const hub = planner.world.cluster('hub').requests.filter(({ method, path }) => method === 'GET' && path.includes('/endpointslices/'));
  expect(hub.map(({ path }) => path.split('/').at(-1))).toEqual(expected);
});

test('refuses dependencies of a manifest without a hub', async () => {
  await using planner = await startPlannerWorld({ north: [] }, { hubless: true });
  const plan = await planner.plan({ template: [{ json: needy('web', needs) }], dependencies: true });

  expect(plan.ok).toBe(false);
  expect(plan.notes.map(({ code, message }) => [code, message])).toEqual([
    ['INVALID', 'ConfigMap files is a dependency of a manifest and must be read from the hub, but there is no hub'],
    ['INVALID', 'Secret token is a dependency of a manifest and must be read from the hub, but there is no hub'],
  ]);
});
