import { expect } from 'vitest';
import type { ApiBody } from '../support/clients/raw-client.ts';
import { type DeclareCase, eventually, keysOf, namesOf, type Place, statusOf } from './place.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
const initialEvents = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

let groups = 0;

/** Defines a kind `Gauge` in its own group, and waits until it is served and discovered. */
async function defineGauges({ client, create }: Place): Promise<{ readonly group: string; readonly all: string }> {
  const group = `g${++groups}.example.com`;
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const definition = await create(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gauges.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge', shortNames: ['gg'], categories: ['all'] },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
    },
  });
  using watch = await client.watch(
    `${definitions}?watch=1&fieldSelector=metadata.name%3Dgauges.${group}&resourceVersion=${definition.metadata.resourceVersion}`,
  );
  for (let held = definition; !isEstablished(held); ) held = (await watch.take(1))[0]?.object ?? held;
  // The definition is Established a few milliseconds before its path is served and the group is discovered.
  await eventually(async () => {
    const served = (await client.get(`/apis/${group}/v1/gauges`)).status === 200;
    return served && (await client.get('/apis', aggregated)).text.includes(`"${group}"`);
  });
  return { group, all: `/apis/${group}/v1/gauges` };
}

function isEstablished({ status }: ApiBody): boolean {
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
  return conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false;
}

/** Custom kinds that are added and removed, and the special properties of their objects. */
export function customResourceCases(declare: DeclareCase): void {
  declare('serves a kind as soon as it is defined, and lists it in discovery', async (place) => {
    const before = await place.client.get('/apis', aggregated);
    const { group, all } = await defineGauges(place);
    const after = await place.client.get('/apis', { ...aggregated, 'if-none-match': String(before.headers.etag) });
    expect(after.status).toBe(200);
    const found = after.json().items.find(({ metadata }) => metadata.name === group);
    expect(found).toMatchObject({
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'gauges',
              responseKind: { group, version: 'v1', kind: 'Gauge' },
              scope: 'Namespaced',
              singularResource: 'gauge',
              shortNames: ['gg'],
              categories: ['all'],
              verbs: expect.arrayContaining(['create', 'delete', 'get', 'list', 'update', 'watch']),
            },
          ],
        },
      ],
    });
    expect((await place.client.get(all)).json()).toMatchObject({ kind: 'GaugeList', apiVersion: `${group}/v1`, items: [] });
    const definition = (await place.client.get(`${definitions}/gauges.${group}`)).json();
    expect(definition.status).toMatchObject({ acceptedNames: { kind: 'Gauge', plural: 'gauges' }, storedVersions: ['v1'] });
  });

  declare('sends custom resources with sorted keys, items with kind and apiVersion, the version of the list at the end', async (place) => {
    const { client, at, create } = place;
    const { group, all } = await defineGauges(place);
    const gauges = at('gauges', `${group}/v1`);
    const made = await create(gauges, {
      kind: 'Gauge',
      apiVersion: `${group}/v1`,
      metadata: { name: 'one', labels: { b: '1', a: '2' } },
      spec: { z: 1, a: 2 },
    });
    expect(made.metadata.generation).toBe(1);
    await create(gauges, { kind: 'Gauge', apiVersion: `${group}/v1`, metadata: { name: 'two' } });
    const list = (await client.get(`${all}?limit=1`)).json();
    expect(keysOf(list)).toEqual(['apiVersion', 'items', 'kind', 'metadata']);
    expect(keysOf(list.metadata)).toEqual(['continue', 'remainingItemCount', 'resourceVersion']);
    const [item] = list.items;
    expect(keysOf(item)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(keysOf(item?.metadata)).toEqual([
      'creationTimestamp',
      'generation',
      'labels',
      'managedFields',
      'name',
      'namespace',
      'resourceVersion',
      'uid',
    ]);
    expect(keysOf(item?.spec)).toEqual(['a', 'z']);
    const rest = (await client.get(`${all}?limit=1&continue=${list.metadata.continue}`)).json();
    expect(namesOf(rest)).toEqual(['two']);
    const missing = (await client.get(`${gauges}/nothing`)).json();
    expect(missing.details).toEqual({ name: 'nothing', group, kind: 'gauges' });
  });

  declare('returns integers exactly as they were written', async (place) => {
    const { client, at } = place;
    const { group } = await defineGauges(place);
    const body = `{"apiVersion":"${group}/v1","kind":"Gauge","metadata":{"name":"big"},"spec":{"count":9007199254740993,"least":-9223372036854775808}}`;
    const made = await client.send('POST', at('gauges', `${group}/v1`), { body });
    expect(made.text).toContain('"spec":{"count":9007199254740993,"least":-9223372036854775808}');
    expect((await client.get(at('gauges', `${group}/v1`))).text).toContain('"count":9007199254740993');
    using watch = await client.watch(`${at('gauges', `${group}/v1`)}?watch=1&resourceVersion=0`);
    expect((await watch.take(1))[0]?.line).toContain('"count":9007199254740993');
  });

  declare('requires kind and apiVersion to create and to update', async (place) => {
    const { client, at, create } = place;
    const { group } = await defineGauges(place);
    const gauges = at('gauges', `${group}/v1`);
    const nameless = (await client.send('POST', gauges, { body: { metadata: { name: 'one' } } })).json();
    expect(statusOf(nameless)).toMatchObject({ code: 400, reason: 'BadRequest' });
    const made = await create(gauges, { kind: 'Gauge', apiVersion: `${group}/v1`, metadata: { name: 'one' }, spec: { size: 1 } });
    const unversioned = { kind: 'Gauge', apiVersion: `${group}/v1`, metadata: { name: 'one' }, spec: { size: 2 } };
    const refused = (await client.send('PUT', `${gauges}/one`, { body: unversioned })).json();
    expect(statusOf(refused)).toMatchObject({ code: 422, causes: [{ reason: 'FieldValueInvalid', field: 'metadata.resourceVersion' }] });
    const changed = await place.replace(`${gauges}/one`, { ...made, spec: { size: 2 } });
    expect(changed).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2 } });
    const reported = await place.replace(`${gauges}/one/status`, { ...changed, spec: { size: 9 }, status: { seen: 2 } });
    expect(reported).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2 }, status: { seen: 2 } });
  });

  declare('expires a watch from before the kind was defined: 200, then ERROR 410, then the end', async (place) => {
    const { all } = await defineGauges(place);
    using watch = await place.client.watch(`${all}?watch=1&resourceVersion=1`);
    expect(watch.status).toBe(200);
    expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(await watch.next()).toBeUndefined();
  });

  declare('when a kind is deleted, a watch reports each object as deleted and ends, and requests get 404 as text', async (place) => {
    const { client, at, create } = place;
    const { group, all } = await defineGauges(place);
    for (const name of ['one', 'two']) {
      await create(at('gauges', `${group}/v1`), { kind: 'Gauge', apiVersion: `${group}/v1`, metadata: { name } });
    }
    using watch = await client.watch(`${all}?${initialEvents}`);
    const [one, two, end] = await watch.take(3);
    expect([one?.object.metadata.name, two?.object.metadata.name]).toEqual(['one', 'two']);
    expect(end?.object).toEqual({
      apiVersion: `${group}/v1`,
      kind: 'Gauge',
      metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: expect.stringMatching(/^\d+$/) },
    });
    expect((await client.send('DELETE', `${definitions}/gauges.${group}`)).status).toBe(200);
    const told: string[] = [];
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
      if (event.type !== 'BOOKMARK') told.push(`${event.type} ${event.object.metadata.name}`);
    }
    expect(told.toSorted()).toEqual(['DELETED one', 'DELETED two']);
    await eventually(async () => (await client.get(all)).status === 404);
    await eventually(async () => (await client.get(all)).text.trim() === '404 page not found');
    await eventually(async () => !(await client.get('/apis', aggregated)).text.includes(`"${group}"`));
  });
}
