import { expect } from 'vitest';
import type { RawEvent } from '../support/clients/raw-client.ts';
import { type DeclareCase, keysOf, type Place, statusOf } from './place.ts';

const initialEvents = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const metadataForm = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

const briefly = ({ type, object }: RawEvent): string => `${type} ${object.metadata.name}`;

/** Returns the current version of the namespace's ConfigMaps. */
async function versionNow({ client, at }: Place): Promise<string> {
  return (await client.get(at('configmaps'))).json().metadata.resourceVersion;
}

/** Watches: order, form, versions, WatchList, bookmarks, selectors. */
export function watchCases(declare: DeclareCase): void {
  declare('sends every change after the version, in order, each object with kind and apiVersion', async (place) => {
    const { client, at, create, read, replace, createConfigMaps } = place;
    await createConfigMaps(1);
    using watch = await client.watch(`${at('configmaps')}?watch=1&resourceVersion=${await versionNow(place)}`);
    expect(watch.status).toBe(200);
    await replace(`${at('configmaps')}/c0`, { ...(await read(`${at('configmaps')}/c0`)), data: { key: 'other' } });
    await create(at('configmaps'), { metadata: { name: 'new' }, data: { key: 'value' } });
    await client.send('DELETE', `${at('configmaps')}/new`);

    const [modified, added, deleted] = await watch.take(3);
    expect([modified, added, deleted].map((event) => event && briefly(event))).toEqual(['MODIFIED c0', 'ADDED new', 'DELETED new']);
    expect(keysOf(modified)).toEqual(['type', 'object', 'line']);
    expect(keysOf(modified?.object)).toEqual(['kind', 'apiVersion', 'metadata', 'data']);
    expect(modified?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { key: 'other' } });
    expect(deleted?.object.data).toEqual({ key: 'value' });
    expect(Number(deleted?.object.metadata.resourceVersion)).toBeGreaterThan(Number(added?.object.metadata.resourceVersion));
  });

  declare('resumes from an earlier version with every later change', async (place) => {
    const { client, at, createConfigMaps } = place;
    const before = await versionNow(place);
    await createConfigMaps(2);
    await client.send('DELETE', `${at('configmaps')}/c0`);
    using watch = await client.watch(`${at('configmaps')}?watch=1&resourceVersion=${before}`);
    expect((await watch.take(3)).map(briefly)).toEqual(['ADDED c0', 'ADDED c1', 'DELETED c0']);
  });

  declare('without a version or at version 0, starts with the existing objects', async ({ client, at, create, createConfigMaps }) => {
    await createConfigMaps(2);
    using anywhere = await client.watch(`${at('configmaps')}?watch=1`);
    using zero = await client.watch(`${at('configmaps')}?watch=1&resourceVersion=0`);
    for (const watch of [anywhere, zero]) expect((await watch.take(2)).map(briefly)).toEqual(['ADDED c0', 'ADDED c1']);
    await create(at('configmaps'), { metadata: { name: 'new' } });
    for (const watch of [anywhere, zero]) expect((await watch.take(1)).map(briefly)).toEqual(['ADDED new']);
  });

  declare('sends no event for a PUT that changes nothing', async (place) => {
    const { client, at, read, replace, createConfigMaps } = place;
    await createConfigMaps(1);
    const held = await read(`${at('configmaps')}/c0`);
    using watch = await client.watch(`${at('configmaps')}?watch=1&resourceVersion=${await versionNow(place)}`);
    const same = await replace(`${at('configmaps')}/c0`, held);
    expect(same.metadata.resourceVersion).toBe(held.metadata.resourceVersion);
    await client.send('DELETE', `${at('configmaps')}/c0`);
    expect((await watch.take(1)).map(briefly)).toEqual(['DELETED c0']);
  });

  declare('sends a WatchList: the existing objects in order, the end bookmark, then changes', async (place) => {
    const { client, at, create, createConfigMaps } = place;
    await createConfigMaps(2);
    using watch = await client.watch(`${at('configmaps')}?${initialEvents}`);
    expect(watch.status).toBe(200);
    expect((await watch.take(2)).map(briefly)).toEqual(['ADDED c0', 'ADDED c1']);
    const [end] = await watch.take(1);
    expect(end?.type).toBe('BOOKMARK');
    expect(end?.object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/), annotations: initialEventsEnd },
    });
    expect(Number(end?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(await versionNow(place)) - 50);
    await create(at('configmaps'), { metadata: { name: 'new' } });
    expect((await watch.take(1)).map(briefly)).toEqual(['ADDED new']);
  });

  declare('ends the WatchList of a typed kind with a bookmark that has a spec and a status', async ({ client, at }) => {
    const endOf = async (path: string) => {
      using watch = await client.watch(`${path}?${initialEvents}`);
      const [end] = await watch.take(1);
      return { type: end?.type, keys: keysOf(end?.object), metadata: keysOf(end?.object.metadata), spec: typeof end?.object.spec };
    };
    const typed = {
      type: 'BOOKMARK',
      keys: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
      metadata: ['resourceVersion', 'annotations'],
    };
    expect(await endOf(at('pods'))).toEqual({ ...typed, spec: 'object' });
    expect(await endOf(at('deployments', 'apps/v1'))).toEqual({ ...typed, spec: 'object' });
    expect(await endOf(at('jobs', 'batch/v1'))).toEqual({ ...typed, spec: 'object' });
  });

  declare('sends a WatchList of metadata', async ({ client, at, createConfigMaps }) => {
    await createConfigMaps(1);
    using watch = await client.watch(`${at('configmaps')}?${initialEvents}`, { accept: metadataForm });
    const [added, end] = await watch.take(2);
    expect(keysOf(added?.object)).toEqual(['kind', 'apiVersion', 'metadata']);
    expect(added?.object).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'c0' } });
    expect(end?.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { annotations: initialEventsEnd } });
  });

  declare('sends no end bookmark in a WatchList without allowWatchBookmarks', async ({ client, at, create, createConfigMaps }) => {
    await createConfigMaps(1);
    using watch = await client.watch(`${at('configmaps')}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    expect((await watch.take(1)).map(briefly)).toEqual(['ADDED c0']);
    await create(at('configmaps'), { metadata: { name: 'new' } });
    expect((await watch.take(1)).map(briefly)).toEqual(['ADDED new']);
  });

  declare(
    'refuses a WatchList without NotOlderThan, a match without WatchList, and sendInitialEvents in a list',
    async ({ client, at }) => {
      const refused = async (query: string) => statusOf((await client.get(`${at('configmaps')}?${query}`)).json());
      const forbidden = (field: string) => ({ reason: 'FieldValueForbidden', field });
      expect(await refused('watch=1&sendInitialEvents=true&allowWatchBookmarks=true')).toEqual({
        kind: 'Status',
        code: 422,
        reason: 'Invalid',
        causes: [forbidden('resourceVersionMatch')],
      });
      expect(await refused('watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=5')).toMatchObject({
        code: 422,
        causes: [forbidden('resourceVersionMatch')],
      });
      expect(await refused('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=5')).toMatchObject({
        code: 422,
        causes: [forbidden('sendInitialEvents')],
      });
    },
  );

  declare('answers a WatchList at a future version with 200, and after 3 s with ERROR 504', async ({ client, at }) => {
    using watch = await client.watch(`${at('configmaps')}?${initialEvents}&resourceVersion=99999999`);
    expect(watch.status).toBe(200);
    const told = await watch.next();
    expect(told?.type).toBe('ERROR');
    expect(told?.object).toMatchObject({
      code: 504,
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
    });
    expect(await watch.next()).toBeUndefined();
  });

  declare('opens a watch at a future version, and sends nothing before that version', async ({ client, at, createConfigMaps }) => {
    using watch = await client.watch(`${at('configmaps')}?watch=1&resourceVersion=99999999&timeoutSeconds=1`);
    expect(watch.status).toBe(200);
    await createConfigMaps(1);
    expect(await watch.next()).toBeUndefined();
  });

  declare('refuses a version that is not a number: 500 without a reason', async ({ client, at }) => {
    const refused = await client.get(`${at('configmaps')}?watch=1&resourceVersion=abc`);
    expect(statusOf(refused.json())).toEqual({ kind: 'Status', code: 500, reason: undefined, causes: [] });
  });

  declare('ends a watch cleanly after timeoutSeconds', async ({ client, at }) => {
    const startedMs = performance.now();
    using watch = await client.watch(`${at('configmaps')}?watch=1&timeoutSeconds=1&resourceVersion=0`);
    expect(await watch.next()).toBeUndefined();
    expect(performance.now() - startedMs).toBeGreaterThan(900);
  });

  declare('sends DELETED for an object that leaves the selector, and ADDED for one that enters it', async (place) => {
    const { client, at, read, replace, createConfigMaps } = place;
    await createConfigMaps(1);
    using watch = await client.watch(`${at('configmaps')}?watch=1&labelSelector=app%3Deven&resourceVersion=${await versionNow(place)}`);
    const relabel = async (app: string) => {
      const held = await read(`${at('configmaps')}/c0`);
      return replace(`${at('configmaps')}/c0`, { ...held, metadata: { ...held.metadata, labels: { app } } });
    };
    const outside = await relabel('other');
    const inside = await relabel('even');
    const [left, came] = await watch.take(2);
    expect(left).toMatchObject({ type: 'DELETED', object: { metadata: { labels: { app: 'even' } } } });
    expect(left?.object.metadata.resourceVersion).toBe(outside.metadata.resourceVersion);
    expect(came).toMatchObject({ type: 'ADDED', object: { metadata: { resourceVersion: inside.metadata.resourceVersion } } });
  });

  declare('watches one object by a field selector on its name', async ({ client, at, create, createConfigMaps }) => {
    await createConfigMaps(2);
    using watch = await client.watch(`${at('configmaps')}?watch=1&fieldSelector=metadata.name%3Dc1&resourceVersion=0`);
    expect((await watch.take(1)).map(briefly)).toEqual(['ADDED c1']);
    await create(at('configmaps'), { metadata: { name: 'other' } });
    await client.send('DELETE', `${at('configmaps')}/c1`);
    expect((await watch.take(1)).map(briefly)).toEqual(['DELETED c1']);
  });

  declare('watches all namespaces in one stream', async ({ client, at, create, namespace, createConfigMaps }) => {
    const { metadata } = (await client.get('/api/v1/configmaps?limit=1')).json();
    using watch = await client.watch(`/api/v1/configmaps?watch=1&resourceVersion=${metadata.resourceVersion}`);
    await create('/api/v1/namespaces', { metadata: { name: `${namespace}-b` } });
    await createConfigMaps(1);
    await create(at('configmaps').replace(namespace, `${namespace}-b`), { metadata: { name: 'there' } });
    const ours: string[] = [];
    while (ours.length < 2) {
      const [event] = await watch.take(1);
      const { namespace: where, name } = event?.object.metadata ?? {};
      if (where?.startsWith(`${namespace}`) && [namespace, `${namespace}-b`].includes(where)) ours.push(`${where}/${name}`);
    }
    expect(ours).toEqual([`${namespace}/c0`, `${namespace}-b/there`]);
  });

  declare('never compresses a watch', async ({ client, at, create }) => {
    for (let n = 0; n < 3; n++) await create(at('configmaps'), { metadata: { name: `big${n}` }, data: { text: 'x'.repeat(50_000) } });
    using watch = await client.watch(`${at('configmaps')}?watch=1&resourceVersion=0`, { 'accept-encoding': 'gzip' });
    expect((await watch.take(3)).map(briefly)).toEqual(['ADDED big0', 'ADDED big1', 'ADDED big2']);
  });
}
