import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { createWireClient } from '../support/clients/wire-client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const start = () => startSimCluster({ name: 'south', clock: createManualClock() });
const configMap = (name: string, more: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

/** Collects every later change: `ADDED ConfigMap web`. */
function followed(cluster: SimCluster): string[] {
  const told: string[] = [];
  cluster.observe(({ type, kind, object }) => told.push(`${type} ${kind.kind} ${object.metadata.name}`));
  return told;
}

test('sets the metadata that only a cluster can set, and keeps the values of the object', async () => {
  await using south = await start();
  const made = south.put(configMap('a', { data: { k: 'v' } }));
  expect(made).toMatchObject({
    metadata: { name: 'a', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
    data: { k: 'v' },
  });
  expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(south.get('ConfigMap', 'a')).toEqual(made);
  const given = { name: 'b', uid: 'mine', creationTimestamp: '2020-01-01T00:00:00Z', generation: 7, resourceVersion: '3' };
  const own = south.put({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: given, spec: {} });
  expect(own.metadata).toMatchObject({ ...given, resourceVersion: String(Number(made.metadata.resourceVersion) + 1) });
});

test('counts revisions over all kinds and generations of specs, and nothing for an unchanged object', async () => {
  await using south = await start();
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 1 } };
  const first = south.put(deployment);
  south.put(configMap('a'));
  const told = followed(south);
  expect(south.put(deployment)).toEqual(first);
  expect(told).toEqual([]);
  const status = south.put({ ...deployment, status: { replicas: 1 } });
  expect([status.metadata.generation, Number(status.metadata.resourceVersion)]).toEqual([1, Number(first.metadata.resourceVersion) + 2]);
  const scaled = south.put({ ...deployment, spec: { replicas: 2 }, status: { replicas: 1 } });
  expect([scaled.metadata.generation, scaled.metadata.uid]).toEqual([2, first.metadata.uid]);
  expect(told).toEqual(['MODIFIED Deployment web', 'MODIFIED Deployment web']);
  const again = south.put({ ...scaled, spec: { replicas: 3 } });
  expect([again.metadata.generation, again.metadata.creationTimestamp]).toEqual([3, first.metadata.creationTimestamp]);
});

test('keeps managedFields of realistic size', async () => {
  await using south = await start();
  const spec = {
    nodeName: 'n',
    containers: [
      {
        name: 'main',
        image: 'i',
        env: Array.from({ length: 8 }, (_, n) => ({ name: `E${n}`, value: 'v' })),
        ports: [{ containerPort: 80 }],
      },
    ],
  };
  const conditions = ['Ready', 'Initialized'].map((type) => ({ type, status: 'True', lastTransitionTime: null }));
  const pod = south.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { a: 'b' } },
    spec,
    status: { phase: 'Running', conditions },
  });
  const fields = JSON.stringify(pod.metadata.managedFields);
  expect(fields.length).toBeGreaterThan(JSON.stringify(spec).length);
  expect(JSON.parse(fields)).toMatchObject([
    { operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:spec': {} } },
    { subresource: 'status', fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {} } } } } },
  ]);
});

test('keeps integers, odd keys and duplicate keys exactly, also in answers', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  const annotations = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
  south.put({ ...configMap('odd'), metadata: { name: 'odd', annotations } });
  expect(JSON.stringify(south.get('ConfigMap', 'odd')?.metadata.annotations)).toBe('{"__proto__":"a","constructor":"b"}');
  const raw = '"data":{"n":9223372036854775807,"twice":"first","twice":"last"}';
  south.putRaw(configMap('raw'), raw);
  expect((await client.ask('/api/v1/namespaces/default/configmaps/raw')).text).toContain(raw);
  const deep = `"data":${'{"d":'.repeat(10_000)}0${'}'.repeat(10_000)}`;
  south.putRaw(configMap('deep'), deep);
  const { text } = await client.ask('/api/v1/configmaps');
  expect([text.includes(deep), text.includes('"__proto__":"a"')]).toEqual([true, true]);
});

test('deletes objects owned only by the deleted one, and keeps those with another owner', async () => {
  await using south = await start();
  const owner = south.put(configMap('owner'));
  const other = south.put(configMap('other'));
  const owned = (name: string, ...owners: KubernetesObject[]) =>
    south.put({
      ...configMap(name),
      metadata: {
        name,
        ownerReferences: owners.map(({ metadata }) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: metadata.name,
          uid: metadata.uid ?? '',
        })),
      },
    });
  const child = owned('child', owner);
  owned('grandchild', child);
  owned('shared', owner, other);
  const told = followed(south);
  expect(south.remove('ConfigMap', 'owner')).toBe(true);
  expect(told).toEqual(['DELETED ConfigMap owner', 'DELETED ConfigMap child', 'DELETED ConfigMap grandchild', 'MODIFIED ConfigMap shared']);
  expect(south.get('ConfigMap', 'shared')?.metadata.ownerReferences).toMatchObject([{ name: 'other' }]);
  expect(south.remove('ConfigMap', 'owner')).toBe(false);
});

test('deletes dependents first in the foreground, and keeps orphans', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  const family = (name: string) => {
    const { uid = '' } = south.put(configMap(name)).metadata;
    const finalizers = ['example.com/hold'];
    south.put({
      ...configMap(`${name}-child`),
      metadata: { name: `${name}-child`, finalizers, ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }] },
    });
  };
  const remove = (name: string, propagationPolicy: string) =>
    client.read(`/api/v1/namespaces/default/configmaps/${name}`, { method: 'DELETE', body: { propagationPolicy } });
  family('front');
  family('orphaned');
  expect(await remove('front', 'Foreground')).toMatchObject({
    metadata: { finalizers: ['foregroundDeletion'], deletionGracePeriodSeconds: 0 },
  });
  const child = south.get('ConfigMap', 'front-child');
  expect(child?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
  const free = { ...child, metadata: { ...child?.metadata, finalizers: [] } };
  await client.read('/api/v1/namespaces/default/configmaps/front-child', { method: 'PUT', body: free });
  expect([south.get('ConfigMap', 'front'), south.get('ConfigMap', 'front-child')]).toEqual([undefined, undefined]);

  expect(await remove('orphaned', 'Orphan')).toMatchObject({ status: 'Success' });
  expect(south.get('ConfigMap', 'orphaned-child')?.metadata.ownerReferences).toBeUndefined();
});

test('empties a namespace before it is deleted, and waits for finalizers', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  south.put({ ...configMap('a'), metadata: { name: 'a', namespace: 'shop' } });
  south.put({ ...configMap('held'), metadata: { name: 'held', namespace: 'shop', finalizers: ['example.com/hold'] } });
  const told = followed(south);
  expect(await client.read('/api/v1/namespaces/shop', { method: 'DELETE' })).toMatchObject({ status: { phase: 'Terminating' } });
  expect(told).toEqual(['MODIFIED Namespace shop', 'DELETED ConfigMap a', 'MODIFIED ConfigMap held']);
  const held = south.get('ConfigMap', 'held', 'shop');
  const free = { ...held, metadata: { ...held?.metadata, finalizers: [] } };
  await client.read('/api/v1/namespaces/shop/configmaps/held', { method: 'PUT', body: free });
  expect(told.slice(3)).toEqual(['DELETED ConfigMap held', 'DELETED Namespace shop']);
  expect(await client.read('/api/v1/namespaces/kube-system', { method: 'DELETE' })).toMatchObject({ code: 403 });
});

const widgets = (changes: object = {}): KubernetesObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: 'v1beta1', served: true, storage: false, schema: {} },
      { name: 'v1', served: true, storage: true, schema: {}, subresources: { status: {} } },
    ],
    ...changes,
  },
});
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { z: 1, a: 2 } };

test('serves a kind in all its versions while it is defined, and reports its end', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  expect(() => south.put(widget)).toThrow('no kind Widget.example.com is served');
  expect(south.define(widgets())).toMatchObject({ kind: 'CustomResourceDefinition' });
  expect(south.get('CustomResourceDefinition', 'widgets.example.com')?.status).toMatchObject({ acceptedNames: { kind: 'Widget' } });
  south.put(widget);
  const beta = await client.ask('/apis/example.com/v1beta1/namespaces/default/widgets/w');
  expect(beta.text).toMatch(/^\{"apiVersion":"example.com\/v1beta1","kind":"Widget",.*"spec":\{"a":2,"z":1\}\}$/);
  expect(await client.read('/apis/example.com')).toMatchObject({
    preferredVersion: { version: 'v1' },
    versions: [{ version: 'v1' }, { version: 'v1beta1' }],
  });

  using watch = await client.open('/apis/example.com/v1/widgets?watch=1&resourceVersion=0');
  expect(await watch.take(1)).toEqual(['ADDED w']);
  expect([south.withdraw('widgets.example.com'), south.withdraw('widgets.example.com')]).toEqual([true, false]);
  expect([await watch.take(1), (await watch.rest()).end]).toEqual([['DELETED w'], 'clean']);
  expect((await client.ask('/apis/example.com/v1/widgets')).text.trim()).toBe('404 page not found');
  south.define(widgets());
  expect(await client.read('/apis/example.com/v1/widgets')).toMatchObject({ items: [] });
});

test('ends the watches of a kind that is redefined in another form, and keeps its objects', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  south.define(widgets());
  const { metadata } = south.put(widget);
  using watch = await client.open('/apis/example.com/v1/widgets?watch=1&resourceVersion=0');
  await watch.take(1);
  south.define(widgets({ versions: [{ name: 'v2', served: true, storage: true, schema: {} }] }));
  expect((await watch.rest()).end).toBe('clean');
  expect((await client.ask('/apis/example.com/v1/widgets')).status).toBe(404);
  const { items } = await client.read('/apis/example.com/v2/widgets');
  expect(items).toMatchObject([
    { apiVersion: 'example.com/v2', metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } },
  ]);
});

test('defines and withdraws kinds over the network too', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  expect(await client.read(path, { method: 'POST', body: widgets() })).toMatchObject({ status: { conditions: null } });
  expect((await client.ask('/apis/example.com/v1/widgets')).status).toBe(200);
  expect(await client.read(`${path}/widgets.example.com`, { method: 'DELETE' })).toMatchObject({ kind: 'CustomResourceDefinition' });
  expect((await client.ask('/apis/example.com/v1/widgets')).status).toBe(404);
});

test('creates numbered objects of a kind', async () => {
  await using south = await start();
  south.fill('Pod', 3, (index) => ({
    metadata: { name: 'web', namespace: `n${index % 2}`, labels: { index: String(index) } },
    spec: { containers: [] },
  }));
  expect(south.objects('Pod').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
    'n0/web-0',
    'n0/web-2',
    'n1/web-1',
  ]);
  expect(south.objects('Pod', 'n1')).toMatchObject([{ metadata: { labels: { index: '1' }, managedFields: [{}] } }]);
  south.fill('Deployment', 1);
  expect(south.objects('Deployment.apps')).toMatchObject([
    { apiVersion: 'apps/v1', metadata: { name: 'deployment-0', namespace: 'default' } },
  ]);
});

test('churns: changes the first objects, deletes the last, and copies the first', async () => {
  await using south = await start();
  south.fill('ConfigMap', 4, { data: { k: 'v' } });
  const told = followed(south);
  south.churn('ConfigMap', { updates: 2, deletes: 1, creates: 1 });
  expect(told.slice(0, 3)).toEqual(['MODIFIED ConfigMap configmap-0', 'MODIFIED ConfigMap configmap-1', 'DELETED ConfigMap configmap-3']);
  expect([told.length, south.objects('ConfigMap').length, south.objects('ConfigMap').every(({ data }) => data !== undefined)]).toEqual([
    4,
    4,
    true,
  ]);
});

test('finds kinds by key, and reports unknown names', async () => {
  await using south = await start();
  expect(south.objects('Event')).toEqual([]);
  expect(south.objects({ group: 'events.k8s.io', kind: 'Event' })).toEqual([]);
  expect(() => south.objects('Gadget')).toThrow('no kind Gadget is served');
  expect(south.objects('Namespace').map(({ metadata }) => metadata.name)).toEqual([
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ]);
});
