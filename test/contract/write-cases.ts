import { expect } from 'vitest';
import { type DeclareCase, statusOf } from './place.ts';

const strangeUid = '11111111-2222-3333-4444-555555555555';

/** Create, update and delete, with their preconditions. */
export function writeCases(declare: DeclareCase): void {
  declare('sets uid, version, time and namespace of a created object', async ({ client, at, namespace }) => {
    const answer = await client.send('POST', at('configmaps'), {
      body: { metadata: { name: 'one', labels: { b: '1', a: '2' } }, data: { k: 'v' } },
    });
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'one', namespace }, data: { k: 'v' } });
    expect(answer.json().metadata.uid).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    expect(answer.json().metadata.resourceVersion).toMatch(/^\d+$/);
    expect(answer.json().metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const again = await client.send('POST', at('configmaps'), { body: { metadata: { name: 'one' } } });
    expect(statusOf(again.json())).toEqual({ kind: 'Status', code: 409, reason: 'AlreadyExists', causes: [] });
    expect(again.json().details).toEqual({ name: 'one', kind: 'configmaps' });
  });

  declare('makes a name from generateName', async ({ client, at }) => {
    const names = new Set<string>();
    for (let n = 0; n < 2; n++) {
      const { metadata } = (await client.send('POST', at('configmaps'), { body: { metadata: { generateName: 'made-' } } })).json();
      expect(metadata.name).toMatch(/^made-[a-z0-9]{5}$/);
      names.add(metadata.name);
    }
    expect(names.size).toBe(2);
  });

  declare('refuses to create an incomplete object', async ({ client, at }) => {
    const refused = async (body: unknown, path = at('configmaps'), headers: Readonly<Record<string, string>> = {}) =>
      statusOf((await client.send('POST', path, { body, headers })).json());
    expect(await refused({ metadata: {} })).toMatchObject({
      code: 422,
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }],
    });
    expect(await refused({ metadata: { name: 'x', namespace: 'elsewhere' } })).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(await refused({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x' } })).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(await refused('{{')).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(await refused({ metadata: { name: 'x', resourceVersion: '5' } })).toEqual({
      kind: 'Status',
      code: 500,
      reason: undefined,
      causes: [],
    });
    expect(await refused({ metadata: { name: 'x' } }, at('configmaps'), { 'content-type': 'text/plain' })).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
    });
  });

  declare('answers 404 of kind namespaces for an absent namespace', async ({ client }) => {
    const refused = await client.send('POST', '/api/v1/namespaces/nowhere/configmaps', { body: { metadata: { name: 'x' } } });
    expect(statusOf(refused.json())).toEqual({ kind: 'Status', code: 404, reason: 'NotFound', causes: [] });
    expect(refused.json().details).toEqual({ name: 'nowhere', kind: 'namespaces' });
  });

  declare('updates at the current version only, else 409 without causes', async ({ client, at, create, replace }) => {
    const path = `${at('configmaps')}/one`;
    const first = await create(at('configmaps'), { metadata: { name: 'one' }, data: { k: '1' } });
    const second = await replace(path, { ...first, data: { k: '2' } });
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
    expect(second.metadata.uid).toBe(first.metadata.uid);
    const stale = (await client.send('PUT', path, { body: { ...first, data: { k: '3' } } })).json();
    expect(statusOf(stale)).toEqual({ kind: 'Status', code: 409, reason: 'Conflict', causes: [] });
    const third = await replace(path, { metadata: { name: 'one' }, data: { k: '3' } });
    expect(third.data).toEqual({ k: '3' });
    const other = (await client.send('PUT', path, { body: { metadata: { name: 'one', uid: strangeUid } } })).json();
    expect(statusOf(other)).toEqual({ kind: 'Status', code: 409, reason: 'Conflict', causes: [] });
  });

  declare('refuses to update an absent object, or one of another name', async ({ client, at, create }) => {
    await create(at('configmaps'), { metadata: { name: 'one' } });
    const missing = (await client.send('PUT', `${at('configmaps')}/missing`, { body: { metadata: { name: 'missing' } } })).json();
    expect(statusOf(missing)).toEqual({ kind: 'Status', code: 404, reason: 'NotFound', causes: [] });
    expect(missing.details).toEqual({ name: 'missing', kind: 'configmaps' });
    const renamed = (await client.send('PUT', `${at('configmaps')}/one`, { body: { metadata: { name: 'two' } } })).json();
    expect(statusOf(renamed)).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  declare(
    'writes spec and status separately, and increases the generation with each change of the spec',
    async ({ at, create, replace, read }) => {
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      const path = `${at('deployments', 'apps/v1')}/d`;
      const made = await create(at('deployments', 'apps/v1'), {
        metadata: { name: 'd' },
        spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template },
      });
      expect(made.metadata.generation).toBe(1);
      const scaled = await replace(path, { ...made, spec: { ...made.spec, replicas: 3 }, status: { replicas: 9 } });
      expect(scaled.metadata.generation).toBe(2);
      expect(scaled.status).toEqual({});
      const reported = await replace(`${path}/status`, {
        ...scaled,
        spec: { ...scaled.spec, replicas: 7 },
        status: { replicas: 3, observedGeneration: 2 },
      });
      expect(reported).toMatchObject({
        metadata: { generation: 2 },
        spec: { replicas: 3 },
        status: { replicas: 3, observedGeneration: 2 },
      });
      const labelled = await replace(path, { ...reported, metadata: { ...reported.metadata, labels: { x: 'y' } } });
      expect(labelled.metadata.generation).toBe(2);
      expect((await read(path)).status).toEqual({ observedGeneration: 2, replicas: 3 });
    },
  );

  declare('deletes with preconditions: 409 for another uid or version', async ({ client, at, create }) => {
    const path = `${at('configmaps')}/one`;
    const { metadata } = await create(at('configmaps'), { metadata: { name: 'one' } });
    const remove = async (preconditions: object) =>
      (await client.send('DELETE', path, { body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions } })).json();
    expect(statusOf(await remove({ uid: strangeUid }))).toEqual({ kind: 'Status', code: 409, reason: 'Conflict', causes: [] });
    expect(statusOf(await remove({ resourceVersion: '1' }))).toEqual({ kind: 'Status', code: 409, reason: 'Conflict', causes: [] });
    expect(await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'one', kind: 'configmaps', uid: metadata.uid },
    });
    expect(statusOf((await client.send('DELETE', path)).json())).toEqual({ kind: 'Status', code: 404, reason: 'NotFound', causes: [] });
  });

  declare('keeps a deleted object until its last finalizer is removed', async ({ client, at, create, read, replace }) => {
    const path = `${at('configmaps')}/held`;
    const made = await create(at('configmaps'), { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    using watch = await client.watch(`${at('configmaps')}?watch=1&resourceVersion=${made.metadata.resourceVersion}`);
    const marked = await client.send('DELETE', path);
    expect(marked.status).toBe(200);
    expect(marked.json()).toMatchObject({ kind: 'ConfigMap', metadata: { deletionGracePeriodSeconds: 0 } });
    const held = await read(path);
    expect(held.metadata.deletionTimestamp).toMatch(/Z$/);
    const more = { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold', 'example.com/more'] } };
    expect(statusOf((await client.send('PUT', path, { body: more })).json())).toMatchObject({ code: 422, reason: 'Invalid' });
    await replace(path, { ...held, metadata: { ...held.metadata, finalizers: [] } });
    expect((await client.get(path)).status).toBe(404);
    expect((await watch.take(2)).map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
  });

  declare('refuses new objects in a namespace that is being deleted', async ({ client, at, create, namespace, read }) => {
    await create(at('configmaps'), { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    const gone = (await client.send('DELETE', `/api/v1/namespaces/${namespace}`)).json();
    expect(gone).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
    expect((await read(`/api/v1/namespaces/${namespace}`)).metadata.deletionTimestamp).toMatch(/Z$/);
    const refused = (await client.send('POST', at('configmaps'), { body: { metadata: { name: 'late' } } })).json();
    expect(statusOf(refused)).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }],
    });
  });

  declare('refuses a patch with the content type application/json', async ({ client, at, createConfigMaps }) => {
    await createConfigMaps(1);
    const refused = await client.send('PATCH', `${at('configmaps')}/c0`, { body: { data: { z: '1' } } });
    expect(statusOf(refused.json())).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });

  declare('keeps managedFields last in the metadata of a built-in kind', async ({ client, at, create }) => {
    await create(at('configmaps'), { metadata: { name: 'one', annotations: { a: 'b' } }, data: { k: 'v' } });
    const { text } = await client.get(`${at('configmaps')}/one`);
    expect(text).toMatch(/"managedFields":\[\{.*\}\]\},"data":\{"k":"v"\}\}\s*$/);
  });
}
