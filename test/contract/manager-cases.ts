import { expect } from 'vitest';
import { conflictsIn, container, deploymentOf, ownersIn, patchingIn } from './patching.ts';
import { type DeclareCase, statusOf } from './place.ts';

/** The owners of fields, and the fate of fields without an owner. */
export function managerCases(declare: DeclareCase): void {
  declare('tracks ownership of list items by key, and of an atomic value as a whole', async (place) => {
    const { apply } = patchingIn(place);
    const template = { metadata: { labels: { app: 'web' } }, spec: { nodeSelector: { disk: 'fast' }, containers: [container()] } };
    const made = await apply(`${place.at('deployments', 'apps/v1')}/web`, deploymentOf({ template }));
    const port = 'k:{"containerPort":80,"protocol":"TCP"}';
    expect(ownersIn(made.json())).toEqual({
      'muster Apply': {
        'f:spec': {
          'f:replicas': {},
          'f:selector': {},
          'f:template': {
            'f:metadata': { 'f:labels': { 'f:app': {} } },
            'f:spec': {
              'f:nodeSelector': {},
              'f:containers': {
                'k:{"name":"web"}': {
                  ...{ '.': {}, 'f:name': {}, 'f:image': {}, 'f:args': {} },
                  'f:env': { 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
                  'f:ports': { [port]: { '.': {}, 'f:containerPort': {} } },
                },
              },
            },
          },
        },
      },
    });
  });

  declare('tracks ownership of finalizers by value, and of owner references by uid', async (place) => {
    const { applyData } = patchingIn(place);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'abc' }];
    const made = await applyData('one', { k: '1' }, { metadata: { finalizers: ['example.com/b', 'example.com/a'], ownerReferences } });
    expect(ownersIn(made.json())).toEqual({
      'muster Apply': {
        'f:data': { 'f:k': {} },
        'f:metadata': {
          'f:finalizers': { 'v:"example.com/a"': {}, 'v:"example.com/b"': {} },
          'f:ownerReferences': { 'k:{"uid":"abc"}': {} },
        },
      },
    });
    const other = { options: { fieldManager: 'other' } };
    const both = await applyData('one', {}, { ...other, metadata: { finalizers: ['example.com/c', 'example.com/a'] } });
    expect(both.json().metadata).toMatchObject({ finalizers: ['example.com/b', 'example.com/c', 'example.com/a'] });
    const fewer = await applyData('one', { k: '1' }, { metadata: { ownerReferences } });
    expect(fewer.json().metadata).toMatchObject({ finalizers: ['example.com/c', 'example.com/a'] });
    await applyData('one', { k: '1' });
    await applyData('one', {}, other);
  });

  declare('answers 409 with manager and path if another manager owns a field that would change', async (place) => {
    const { apply, applyData } = patchingIn(place);
    const other = { fieldManager: 'other' };
    await applyData('one', { k: '1', z: '2' }, { metadata: { labels: { 'a.b/c': 'x' } } });
    const first = (await applyData('one', { k: '9', q: '5' }, { options: other })).json();
    expect(statusOf(first)).toEqual({
      kind: 'Status',
      code: 409,
      reason: 'Conflict',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.k' }],
    });
    expect(first.message).toBe('Apply failed with 1 conflict: conflict with "muster": .data.k');
    const more = (await applyData('one', { k: '9', z: '9' }, { metadata: { labels: { 'a.b/c': 'y' } }, options: other })).json();
    expect(more.message).toBe('Apply failed with 3 conflicts: conflicts with "muster":\n- .data.k\n- .data.z\n- .metadata.labels.a.b/c');
    const service = (ports: readonly object[], selector: object) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { selector, ports },
    });
    const path = `${place.at('services')}/s`;
    await apply(
      path,
      service(
        [
          { port: 80, name: 'h', targetPort: 1 },
          { port: 53, protocol: 'UDP', name: 'u' },
        ],
        { a: 'b' },
      ),
    );
    const ports = [
      { port: 80, protocol: 'TCP', name: 'z', targetPort: 'q' },
      { port: 53, protocol: 'UDP', name: 'u' },
    ];
    expect(conflictsIn((await apply(path, service(ports, { a: 'c' }), other)).json())).toEqual([
      'conflict with "muster": .spec.selector',
      'conflict with "muster": .spec.ports[port=80,protocol="TCP"].name',
      'conflict with "muster": .spec.ports[port=80,protocol="TCP"].targetPort',
    ]);
  });

  declare('lets two managers share a field with an equal value, and moves it to a manager that forces', async (place) => {
    const { applyData } = patchingIn(place);
    const other = { fieldManager: 'other' };
    await applyData('one', { k: '1', z: '2' });
    const shared = await applyData('one', { k: '1' }, { options: other });
    expect(ownersIn(shared.json())).toEqual({
      'muster Apply': { 'f:data': { 'f:k': {}, 'f:z': {} } },
      'other Apply': { 'f:data': { 'f:k': {} } },
    });
    const dropped = await applyData('one', { z: '2' });
    expect(dropped.json().data).toEqual({ k: '1', z: '2' });
    const forced = await applyData('one', { z: '3' }, { options: { ...other, force: 'true' } });
    expect(forced.json().data).toEqual({ z: '3' });
    expect(ownersIn(forced.json())).toEqual({ 'other Apply': { 'f:data': { 'f:z': {} } } });
  });

  declare('removes fields that a manager applied before and no longer applies', async (place) => {
    const { apply, merge } = patchingIn(place);
    const path = `${place.at('deployments', 'apps/v1')}/web`;
    const withContainers = (...containers: readonly object[]) =>
      deploymentOf({ template: { metadata: { labels: { app: 'web' } }, spec: { containers } } }, { annotations: { note: 'x' } });
    await apply(path, withContainers(container(), { name: 'side', image: 'side:1' }));
    await merge(path, { metadata: { annotations: { theirs: 'y' } } }, { fieldManager: 'someone' });
    const fewer = (await apply(path, withContainers(container({ env: [] })))).json();
    const names = (fewer.spec as { template: { spec: { containers: readonly { name: string; env?: unknown }[] } } }).template.spec
      .containers;
    expect(names.map(({ name, env }) => [name, env])).toEqual([['web', undefined]]);
    expect(fewer.metadata.annotations).toEqual({ note: 'x', theirs: 'y' });
    const bare = (await apply(path, deploymentOf())).json();
    expect(bare.metadata.annotations).toEqual({ theirs: 'y' });
  });

  declare('keeps Apply and Update of one manager name apart', async (place) => {
    const { applyData } = patchingIn(place);
    const path = place.at('configmaps');
    const made = await place.create(`${path}?fieldManager=muster`, { metadata: { name: 'one', labels: { a: 'b' } }, data: { k: '1' } });
    expect(ownersIn(made)).toEqual({
      'muster Update': { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } },
    });
    const refused = (await applyData('one', { k: '2' })).json();
    expect(refused.message).toBe('Apply failed with 1 conflict: conflict with "muster" using v1: .data.k');
    const forced = (await applyData('one', { j: '2' }, { options: { force: 'true' } })).json();
    expect(forced.data).toEqual({ j: '2', k: '1' });
    expect(Object.keys(ownersIn(forced))).toEqual(['muster Apply', 'muster Update']);
  });

  declare('rewrites the managedFields of a creation, and accepts those of an update', async (place) => {
    const { applyData, json, merge } = patchingIn(place);
    const entry = (operation: string) => ({
      ...{ manager: 'muster', operation, apiVersion: 'v1', time: '2026-01-01T00:00:00Z' },
      ...{ fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:k': {} } } },
    });
    const path = `${place.at('configmaps')}/one`;
    const made = await place.create(`${place.at('configmaps')}?fieldManager=x`, {
      metadata: { name: 'one', managedFields: [entry('Apply')] },
      data: { k: '1', z: '2' },
    });
    expect(Object.keys(ownersIn(made))).toEqual(['x Update']);
    const moved = (await merge(path, { metadata: { managedFields: [entry('Apply')] } })).json();
    expect(ownersIn(moved)).toEqual({ 'muster Apply': { 'f:data': { 'f:k': {} } } });
    expect((await applyData('one', { k: '2' })).json().data).toEqual({ k: '2', z: '2' });
    const reset = (await json(path, [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }])).json();
    expect(ownersIn(reset)).toEqual({});
    const still = (await merge(path, { data: { k: '3' } }, { fieldManager: 'x' })).json();
    expect(ownersIn(still)).toEqual({});
    const refused = (await applyData('one', { k: '4' })).json();
    expect(conflictsIn(refused)).toEqual(['conflict with "before-first-apply" using v1: .data.k']);
  });

  declare('an update owns the fields that it changes, and no others', async (place) => {
    const { merge } = patchingIn(place);
    const path = `${place.at('configmaps')}/one`;
    const made = await place.create(`${place.at('configmaps')}?fieldManager=a`, { metadata: { name: 'one' }, data: { k: '1', z: '2' } });
    const patched = (await merge(path, { data: { k: null, v: '1' } }, { fieldManager: 'b' })).json();
    expect(ownersIn(patched)).toEqual({ 'a Update': { 'f:data': { '.': {}, 'f:z': {} } }, 'b Update': { 'f:data': { 'f:v': {} } } });
    const { resourceVersion } = patched.metadata;
    const replaced = await place.replace(`${path}?fieldManager=c`, {
      ...made,
      metadata: { ...made.metadata, resourceVersion, managedFields: undefined },
      data: { v: '2', z: '2' },
    });
    expect(ownersIn(replaced)).toEqual({ 'a Update': { 'f:data': { '.': {}, 'f:z': {} } }, 'c Update': { 'f:data': { 'f:v': {} } } });
  });

  declare('tracks ownership of the status by its subresource', async (place) => {
    const { apply } = patchingIn(place);
    const path = `${place.at('deployments', 'apps/v1')}/web`;
    const made = (await apply(path, { ...deploymentOf(), status: { replicas: 7 } })).json();
    expect(made.status).toEqual({});
    const conditions = [{ type: 'Progressing', status: 'True', reason: 'Testing', lastUpdateTime: '2026-01-01T00:00:00Z' }];
    await place.replace(`${path}/status?fieldManager=controller`, { ...made, status: { replicas: 1, conditions } });
    const applied = await apply(
      `${path}/status`,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, status: { readyReplicas: 1 } },
      { fieldManager: 'reporter' },
    );
    expect(applied.json().status).toMatchObject({ replicas: 1, readyReplicas: 1 });
    const owners = ownersIn(applied.json());
    expect(Object.keys(owners)).toEqual(['muster Apply', 'reporter Apply status', 'controller Update status']);
    expect(owners['reporter Apply status']).toEqual({ 'f:status': { 'f:readyReplicas': {} } });
    expect(owners['controller Update status']).toMatchObject({
      'f:status': { 'f:conditions': { '.': {}, 'k:{"type":"Progressing"}': { '.': {}, 'f:reason': {}, 'f:type': {} } }, 'f:replicas': {} },
    });
  });

  declare('moves ownership of the replicas to the manager that scales, so that an earlier count conflicts', async (place) => {
    const { apply, merge } = patchingIn(place);
    const path = `${place.at('deployments', 'apps/v1')}/web`;
    const { resources } = JSON.parse((await place.client.get('/apis/apps/v1')).text) as {
      readonly resources: readonly { readonly name: string }[];
    };
    const part = { singularName: '', namespaced: true, verbs: ['get', 'patch', 'update'] };
    expect(resources.filter(({ name }) => name.startsWith('deployments/'))).toEqual([
      { name: 'deployments/scale', group: 'autoscaling', version: 'v1', kind: 'Scale', ...part },
      { name: 'deployments/status', kind: 'Deployment', ...part },
    ]);
    const { metadata } = (await apply(path, deploymentOf())).json();
    const scale = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'web', namespace: place.namespace },
      spec: { replicas: 5 },
    };
    const scaled = await place.replace(`${path}/scale?fieldManager=kubectl`, scale);
    expect(scaled).toMatchObject({ kind: 'Scale', spec: { replicas: 5 }, status: { replicas: 0, selector: 'app=web' } });
    expect(scaled.metadata.uid).toBe(metadata.uid);
    const held = await place.read(path);
    expect([held.metadata.generation, held.spec?.replicas]).toEqual([2, 5]);
    expect(ownersIn(held)['kubectl Update scale']).toEqual({ 'f:spec': { 'f:replicas': {} } });
    expect(conflictsIn((await apply(path, deploymentOf())).json())).toEqual([
      'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
    ]);
    expect((await merge(`${path}/scale`, { spec: { replicas: 3 } }, { fieldManager: 'kk' })).json().spec).toEqual({ replicas: 3 });
    const applied = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web' }, spec: { replicas: 4 } };
    expect((await apply(`${path}/scale`, applied, { fieldManager: 'ka', force: 'true' })).status).toBe(200);
    expect(Object.keys(ownersIn(await place.read(path)))).toEqual(['ka Apply scale', 'muster Apply']);
    const stale = { ...scale, metadata: { ...scale.metadata, resourceVersion: '1' } };
    expect(statusOf((await place.client.send('PUT', `${path}/scale`, { body: stale })).json())).toMatchObject({ code: 409, causes: [] });
    const below = { ...scale, spec: { replicas: -1 } };
    expect(statusOf((await place.client.send('PUT', `${path}/scale`, { body: below })).json())).toMatchObject({ code: 422 });
    expect((await apply(path, deploymentOf(), { force: 'true' })).json().spec).toMatchObject({ replicas: 2 });
  });
}
