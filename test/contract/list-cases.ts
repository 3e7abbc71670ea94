import { gunzipSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import { type DeclareCase, keysOf, namesOf, statusOf } from './place.ts';

const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Lists: form, order, pages, versions, selectors, compression. */
export function listCases(declare: DeclareCase): void {
  declare(
    'sends built-in kinds in the order of their struct, items without kind and apiVersion',
    async ({ client, at, createConfigMaps }) => {
      await createConfigMaps(2);
      const list = (await client.get(at('configmaps'))).json();
      expect(keysOf(list)).toEqual(['kind', 'apiVersion', 'metadata', 'items']);
      expect(list.kind).toBe('ConfigMapList');
      expect(keysOf(list.items[0])).toEqual(['metadata', 'data']);
      expect(keysOf(list.items[0]?.metadata)).toEqual([
        'name',
        'namespace',
        'uid',
        'resourceVersion',
        'creationTimestamp',
        'labels',
        'managedFields',
      ]);
      expect(Number(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(list.items[1]?.metadata.resourceVersion));
    },
  );

  declare('sends a list without objects with an empty array', async ({ client, at }) => {
    const list = (await client.get(at('pods'))).json();
    expect(list).toMatchObject({ kind: 'PodList', apiVersion: 'v1', items: [] });
  });

  declare('orders by the path of the object, so that `a-b` comes before `a`', async ({ client, create, namespace, createConfigMaps }) => {
    await createConfigMaps(1);
    await create('/api/v1/namespaces', { metadata: { name: `${namespace}-b` } });
    await create(`/api/v1/namespaces/${namespace}-b/configmaps`, { metadata: { name: 'z' } });
    const all = (await client.get('/api/v1/configmaps')).json().items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const ours = all.filter((key) => key.startsWith(`${namespace}/`) || key.startsWith(`${namespace}-b/`));
    expect(ours).toEqual([`${namespace}-b/z`, `${namespace}/c0`]);
  });

  declare('pages through the list of one version, whatever happens meanwhile', async ({ client, at, create, createConfigMaps }) => {
    await createConfigMaps(5);
    const first = (await client.get(`${at('configmaps')}?limit=2`)).json();
    expect(namesOf(first)).toEqual(['c0', 'c1']);
    expect(keysOf(first.metadata)).toEqual(['resourceVersion', 'continue', 'remainingItemCount']);
    expect(first.metadata.remainingItemCount).toBe(3);

    await create(at('configmaps'), { metadata: { name: 'c2a' } });
    await client.send('DELETE', `${at('configmaps')}/c3`);
    const second = (await client.get(`${at('configmaps')}?limit=2&continue=${first.metadata.continue}`)).json();
    expect(namesOf(second)).toEqual(['c2', 'c3']);
    expect(second.metadata).toMatchObject({ resourceVersion: first.metadata.resourceVersion, remainingItemCount: 1 });

    const last = (await client.get(`${at('configmaps')}?limit=2&continue=${second.metadata.continue}`)).json();
    expect(namesOf(last)).toEqual(['c4']);
    expect(last.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
  });

  declare('leaves out remainingItemCount with a selector', async ({ client, at, createConfigMaps }) => {
    await createConfigMaps(5);
    const { metadata } = (await client.get(`${at('configmaps')}?limit=1&labelSelector=app%3Deven`)).json();
    expect(keysOf(metadata)).toEqual(['resourceVersion', 'continue']);
  });

  declare('answers the whole list at version 0, whatever the limit', async ({ client, at, createConfigMaps }) => {
    await createConfigMaps(3);
    // A real API server answers from its watch cache, which may lag behind.
    await vi.waitFor(async () => {
      const list = (await client.get(`${at('configmaps')}?limit=2&resourceVersion=0`)).json();
      expect(namesOf(list)).toEqual(['c0', 'c1', 'c2']);
      expect(list.metadata.continue).toBeUndefined();
    }, 10_000);
  });

  declare('refuses a version together with a continue token', async ({ client, at, createConfigMaps }) => {
    await createConfigMaps(3);
    const { metadata } = (await client.get(`${at('configmaps')}?limit=2`)).json();
    const next = `${at('configmaps')}?limit=2&continue=${metadata.continue}`;
    const refused = await client.get(`${next}&resourceVersion=${metadata.resourceVersion}`);
    expect(statusOf(refused.json())).toEqual({ kind: 'Status', code: 400, reason: 'BadRequest', causes: [] });
    expect(refused.json().message).toBe('specifying resource version is not allowed when using continue');
    expect((await client.get(`${next}&resourceVersion=0`)).status).toBe(200);
    const match = await client.get(`${next}&resourceVersionMatch=NotOlderThan`);
    expect(statusOf(match.json())).toMatchObject({ code: 422, reason: 'Invalid' });
  });

  declare('refuses an invalid continue token', async ({ client, at }) => {
    const refused = await client.get(`${at('configmaps')}?limit=2&continue=abc`);
    expect(statusOf(refused.json())).toEqual({ kind: 'Status', code: 400, reason: 'BadRequest', causes: [] });
  });

  declare('refuses invalid combinations of version and match', async ({ client, at }) => {
    const causeOf = async (query: string) => statusOf((await client.get(`${at('configmaps')}?${query}`)).json());
    const field = 'resourceVersionMatch';
    const invalid = (reason: string) => ({ kind: 'Status', code: 422, reason: 'Invalid', causes: [{ reason, field }] });
    expect(await causeOf('resourceVersionMatch=Exact')).toEqual(invalid('FieldValueForbidden'));
    expect(await causeOf('resourceVersionMatch=Exact&resourceVersion=0')).toEqual(invalid('FieldValueForbidden'));
    expect(await causeOf('resourceVersionMatch=Foo&resourceVersion=1')).toEqual(invalid('FieldValueNotSupported'));
    expect(await causeOf('resourceVersion=abc')).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(await causeOf('limit=abc')).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  declare('answers 504 ResourceVersionTooLarge after 3 s for a future version', async ({ client, at }) => {
    const startedMs = performance.now();
    const future = await client.get(`${at('configmaps')}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan`);
    expect(performance.now() - startedMs).toBeGreaterThan(2_500);
    expect(future.headers['retry-after']).toBe('1');
    expect(future.json()).toMatchObject({
      code: 504,
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
    });
  });

  declare('answers the list as it was at an exact version', async ({ client, at, create, createConfigMaps }) => {
    await createConfigMaps(2);
    const { metadata } = (await client.get(at('configmaps'))).json();
    await create(at('configmaps'), { metadata: { name: 'later' } });
    const old = (await client.get(`${at('configmaps')}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`)).json();
    expect(namesOf(old)).toEqual(['c0', 'c1']);
    expect(old.metadata.resourceVersion).toBe(metadata.resourceVersion);
    const newer = `${at('configmaps')}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`;
    expect(namesOf((await client.get(newer)).json())).toEqual(['c0', 'c1', 'later']);
  });

  declare('selects by labels', async ({ client, at, createConfigMaps }) => {
    await createConfigMaps(5);
    const chosen = async (selector: string) =>
      namesOf((await client.get(`${at('configmaps')}?labelSelector=${encodeURIComponent(selector)}`)).json());
    expect(await chosen('app=even')).toEqual(['c0', 'c2', 'c4']);
    expect(await chosen('app==even,n!=2')).toEqual(['c0', 'c4']);
    expect(await chosen('app in (odd),n notin (3),app')).toEqual(['c1']);
    expect(await chosen('!app')).toEqual([]);
    expect(await chosen('absent!=x,n=1')).toEqual(['c1']);
    expect(await chosen('n>2')).toEqual(['c3', 'c4']);
    for (const selector of ['app in (', '=a', 'app=a b', 'app>x', 'a/b/c=d', 'x=-a', 'a,,b']) {
      const refused = await client.get(`${at('configmaps')}?labelSelector=${encodeURIComponent(selector)}`);
      expect(statusOf(refused.json()), selector).toMatchObject({ code: 400, reason: 'BadRequest' });
    }
  });

  declare('selects by fields', async ({ client, at, create, createConfigMaps }) => {
    await createConfigMaps(3);
    const chosen = async (resource: string, selector: string) =>
      client.get(`${at(resource)}?fieldSelector=${encodeURIComponent(selector)}`);
    expect(namesOf((await chosen('configmaps', 'metadata.name=c2')).json())).toEqual(['c2']);
    expect(namesOf((await chosen('configmaps', 'metadata.name!=c2')).json())).toEqual(['c0', 'c1']);
    expect(statusOf((await chosen('configmaps', 'data.key=value')).json())).toMatchObject({ code: 400, reason: 'BadRequest' });
    await create(at('pods'), { metadata: { name: 'p' }, spec: { nodeName: 'somewhere', containers: [{ name: 'c', image: 'i' }] } });
    expect(namesOf((await chosen('pods', 'spec.nodeName=somewhere')).json())).toEqual(['p']);
    expect(namesOf((await chosen('pods', 'spec.nodeName=elsewhere')).json())).toEqual([]);
    expect(statusOf((await chosen('pods', 'spec.foo=x')).json())).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  declare('sends metadata only if the client accepts PartialObjectMetadata', async ({ client, at, createConfigMaps }) => {
    await createConfigMaps(2);
    const list = (await client.get(`${at('configmaps')}?limit=1`, { accept: metadataList })).json();
    expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: { remainingItemCount: 1 } });
    expect(keysOf(list.items[0])).toEqual(['kind', 'apiVersion', 'metadata']);
    expect(list.items[0]).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'c0' } });
    const one = (
      await client.get(`${at('configmaps')}/c1`, { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' })
    ).json();
    expect(keysOf(one)).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  declare('refuses an unsupported media type', async ({ client, at }) => {
    const refused = await client.get(at('configmaps'), { accept: 'text/html' });
    expect(statusOf(refused.json())).toMatchObject({ kind: 'Status', code: 406, reason: 'NotAcceptable' });
  });

  declare('compresses answers above 128 KiB, and no smaller ones', async ({ client, at, create }) => {
    const gzip = { 'accept-encoding': 'gzip' };
    for (let n = 0; n < 3; n++) await create(at('configmaps'), { metadata: { name: `big${n}` }, data: { text: 'x'.repeat(50_000) } });
    const small = await client.get(`${at('configmaps')}?limit=1`, gzip);
    expect(small.headers['content-encoding']).toBeUndefined();
    const large = await client.get(at('configmaps'), gzip);
    expect(large.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(large.bytes).toString()).items).toHaveLength(3);
    expect((await client.get(at('configmaps'))).headers['content-encoding']).toBeUndefined();
  });
}
