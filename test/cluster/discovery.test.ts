import { afterEach, expect, test } from 'vitest';
import type { ClusterApi } from '../../src/cluster/cluster-api.ts';
import { discover } from '../../src/cluster/discovery.ts';
import type { Json } from '../../src/core/json.ts';
import type { ServedResource } from '../../src/core/kinds.ts';
import { clusterName } from '../../src/core/names.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { connect, endpointFor, never } from '../support/cluster/transport.ts';
import type { SimCluster, SimClusterOptions } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const open: SimCluster[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sim) => sim.stop()));
});

async function start(options: Partial<SimClusterOptions> = {}): Promise<SimCluster> {
  const sim = await startSimCluster({ name: 'south', ...options });
  open.push(sim);
  return sim;
}

function definition(versions: readonly { name: string; served: boolean; storage: boolean }[]): KubernetesObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['w'] },
      versions: versions.map((version) => ({ ...version, schema })),
    },
  };
}

const kindNamed = (resources: readonly ServedResource[], kind: string) => resources.find((resource) => resource.kind === kind);

/** Makes a server that answers these paths with these documents, and all other paths with 503. */
function serverOf(documents: Readonly<Record<string, Json>>): ClusterApi & { readonly asked: string[] } {
  const asked: string[] = [];
  async function* none() {}
  return {
    cluster: clusterName('old'),
    connectionFaults: [],
    asked,
    list: none,
    watch: none,
    logs: none,
    async send({ path }) {
      const key = path.join('/');
      asked.push(key);
      const document = documents[key];
      if (document === undefined)
        return { type: 'failed', fault: { code: 'SERVER_ERROR', cluster: clusterName('old'), message: 'down', retry: 'LATER' } };
      return { type: 'answered', status: 200, body: Buffer.from(JSON.stringify(document)) };
    },
  };
}

const listable = { verbs: ['get', 'list', 'watch'] };

test('two clusters of one release share one list of kinds, and a cluster with another kind has its own', async () => {
  const [south, west, other] = await Promise.all([start(), start({ name: 'west' }), start({ name: 'other' })]);
  other.define(definition([{ name: 'v1', served: true, storage: true }]));
  const [of, same, different] = await Promise.all(
    [south, west, other].map(async (sim) => {
      using connected = connect(endpointFor(sim));
      const found = await discover(connected.api, {}, never);
      return found.type === 'discovered' ? found.resources : undefined;
    }),
  );
  expect(of).toBeDefined();
  expect(same).toBe(of);
  expect(kindNamed(of ?? [], 'Widget')).toBeUndefined();
  expect(kindNamed(different ?? [], 'Widget')).toBeDefined();
});

test('finds each kind once, at the preferred version that serves it, without subresources and kinds that cannot be listed', async () => {
  const sim = await start();
  sim.define(
    definition([
      { name: 'v1beta1', served: true, storage: false },
      { name: 'v1', served: true, storage: true },
    ]),
  );
  using south = connect(endpointFor(sim));
  const found = await discover(south.api, {}, never);
  if (found.type !== 'discovered') throw new Error('expected discovery to succeed');
  expect(kindNamed(found.resources, 'Pod')).toMatchObject({
    group: '',
    version: 'v1',
    versions: ['v1'],
    resource: 'pods',
    namespaced: true,
  });
  expect(kindNamed(found.resources, 'Namespace')).toMatchObject({ namespaced: false });
  expect(kindNamed(found.resources, 'Widget')).toMatchObject({
    group: 'example.com',
    version: 'v1',
    versions: ['v1', 'v1beta1'],
    resource: 'widgets',
    singular: 'widget',
    shortNames: ['w'],
  });
  expect(found.resources.some(({ resource, verbs }) => resource.includes('/') || !verbs.includes('list'))).toBe(false);
  expect(new Set(found.resources.map(({ group, kind }) => `${kind}.${group}`)).size).toBe(found.resources.length);
  expect(found.partial).toEqual([]);
  expect(sim.requests.map(({ path }) => path).toSorted()).toEqual(['/api', '/apis']);
});

test('reports that nothing changed, and requests both documents again after a change', async () => {
  const sim = await start();
  using south = connect(endpointFor(sim));
  const first = await discover(south.api, {}, never);
  if (first.type !== 'discovered' || first.etag === undefined) throw new Error('expected an etag');
  expect(await discover(south.api, { etag: first.etag, known: first.resources }, never)).toEqual({ type: 'unchanged' });
  sim.define(definition([{ name: 'v1', served: true, storage: true }]));
  const second = await discover(south.api, { etag: first.etag, known: first.resources }, never);
  if (second.type !== 'discovered') throw new Error('expected discovery to succeed');
  expect(kindNamed(second.resources, 'Widget')).toBeDefined();
  expect(kindNamed(second.resources, 'Pod')).toBeDefined();
});

test('a group that does not answer keeps its known kinds, its fault names it, and the result counts as changed', async () => {
  const sim = await start();
  sim.aggregate({
    group: 'metrics.k8s.io',
    version: 'v1beta1',
    kinds: [{ kind: 'PodMetrics', resource: 'pods', namespaced: true, verbs: ['get', 'list'] }],
  });
  using south = connect(endpointFor(sim));
  const before = await discover(south.api, {}, never);
  if (before.type !== 'discovered') throw new Error('expected discovery to succeed');
  expect(kindNamed(before.resources, 'PodMetrics')).toBeDefined();
  using _ = sim.breakGroup('metrics.k8s.io');
  const after = await discover(south.api, { known: before.resources }, never);
  if (after.type !== 'discovered') throw new Error('expected discovery to succeed');
  expect(after.partial).toMatchObject([
    { code: 'SERVER_ERROR', cluster: 'south', message: expect.stringContaining('metrics.k8s.io/v1beta1') },
  ]);
  expect(after.resources.map(({ kind }) => kind).toSorted()).toEqual(before.resources.map(({ kind }) => kind).toSorted());
  expect(after.etag).toBeUndefined();
});

test('requests each group version of an old server, and reports those that failed', async () => {
  const old = serverOf({
    api: { kind: 'APIVersions', versions: ['v1'] },
    apis: {
      kind: 'APIGroupList',
      groups: [
        {
          name: 'apps',
          versions: [
            { groupVersion: 'apps/v1beta1', version: 'v1beta1' },
            { groupVersion: 'apps/v1', version: 'v1' },
          ],
          preferredVersion: { version: 'v1' },
        },
        { name: 'broken.io', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      ],
    },
    'api/v1': {
      kind: 'APIResourceList',
      resources: [
        { name: 'pods', singularName: '', kind: 'Pod', namespaced: true, shortNames: ['po'], ...listable },
        { name: 'pods/log', kind: 'Pod', namespaced: true, verbs: ['get'] },
        { name: 'bindings', kind: 'Binding', namespaced: true, verbs: ['create'] },
      ],
    },
    'apis/apps/v1': { kind: 'APIResourceList', resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, ...listable }] },
    'apis/apps/v1beta1': {
      kind: 'APIResourceList',
      resources: [
        { name: 'deployments', kind: 'Deployment', namespaced: true, ...listable },
        { name: 'oldsets', kind: 'OldSet', namespaced: true, ...listable },
      ],
    },
  });
  const known = [
    {
      group: 'broken.io',
      kind: 'Broken',
      resource: 'brokens',
      version: 'v1',
      versions: ['v1'],
      singular: 'broken',
      namespaced: true,
      shortNames: [],
      categories: [],
      ...listable,
    },
  ];
  const found = await discover(old, { known }, never);
  if (found.type !== 'discovered') throw new Error('expected discovery to succeed');
  expect(found.resources.map(({ kind, version, versions }) => `${kind} ${version} ${versions.join()}`)).toEqual([
    'Pod v1 v1',
    'Deployment v1 v1,v1beta1',
    'OldSet v1beta1 v1beta1',
    'Broken v1 v1',
  ]);
  expect(found.partial).toMatchObject([{ message: expect.stringContaining('broken.io/v1') }]);
  expect(old.asked.toSorted()).toEqual(['api', 'api/v1', 'apis', 'apis/apps/v1', 'apis/apps/v1beta1', 'apis/broken.io/v1']);
});

test('a server that does not answer at all is a fault', async () => {
  expect(await discover(serverOf({ api: { kind: 'APIVersions', versions: [] } }), {}, never)).toMatchObject({
    type: 'failed',
    fault: { code: 'SERVER_ERROR' },
  });
});

test('invalid parts of a document are skipped', async () => {
  const strange = serverOf({
    api: {
      kind: 'APIGroupDiscoveryList',
      items: [
        null,
        7,
        {
          metadata: {},
          versions: [
            { version: 'v1', resources: [null, {}, { resource: 'x' }, { resource: 'pods', responseKind: { kind: 'Pod' }, ...listable }] },
          ],
        },
      ],
    },
    apis: ['no list'],
  });
  const found = await discover(strange, {}, never);
  expect(found).toMatchObject({ type: 'discovered', resources: [{ kind: 'Pod', resource: 'pods', namespaced: false }] });
});

test('clusters that send equal documents share the parsed result, and others do not', async () => {
  const document = (plural: string) => ({
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'example.com' },
        versions: [
          {
            version: 'v1',
            resources: [
              { resource: plural, responseKind: { group: 'example.com', version: 'v1', kind: 'Widget' }, scope: 'Namespaced', ...listable },
            ],
          },
        ],
      },
    ],
  });
  const none = { kind: 'APIGroupDiscoveryList', items: [] };
  const find = async (plural: string) => {
    const found = await discover(serverOf({ api: none, apis: document(plural) }), {}, never);
    if (found.type !== 'discovered') throw new Error('expected discovery to succeed');
    return found.resources[0];
  };
  const [one, same, other] = [await find('widgets'), await find('widgets'), await find('gadgets')];
  expect(same).toEqual(one);
  expect(same?.verbs).toBe(one?.verbs);
  expect(other).toMatchObject({ resource: 'gadgets' });
  expect(other?.verbs).not.toBe(one?.verbs);
});
