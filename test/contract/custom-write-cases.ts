import { expect } from 'vitest';
import type { ApiBody } from '../support/clients/raw-client.ts';
import { conflictsIn, ownersIn, patchingIn } from './patching.ts';
import { type DeclareCase, eventually, type Place, statusOf } from './place.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let groups = 0;

const item = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, v: { type: 'integer' } } };
const spec = {
  type: 'object',
  required: ['mode'],
  properties: {
    size: { type: 'integer', minimum: 0, default: 3 },
    mode: { type: 'string', enum: ['A', 'B'] },
    name: { type: 'string', maxLength: 3, pattern: '^a' },
    items: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: item },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    list: { type: 'array', items: { type: 'string' } },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    either: { 'x-kubernetes-int-or-string': true },
  },
};
const status = { type: 'object', properties: { size: { type: 'integer' }, phase: { type: 'string' } } };

interface Gizmos {
  readonly definition: ApiBody;
  readonly all: string;
  /** Makes a Gizmo with this name, spec and further members. */
  gizmo(name: string, spec?: object, more?: object): object;
}

/** Applies the definition of its own kind, and waits until it is served. */
async function applyGizmos(place: Place): Promise<Gizmos> {
  const group = `h${++groups}.example.com`;
  const openAPIV3Schema = { type: 'object', required: ['spec'], properties: { spec, status } };
  const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
  const { apply } = patchingIn(place);
  const answer = await apply(`${definitions}/gizmos.${group}`, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gizmos.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'gizmos', kind: 'Gizmo' } },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {}, scale }, schema: { openAPIV3Schema } }],
    },
  });
  const all = place.at('gizmos', `${group}/v1`);
  await eventually(async () => (await place.client.get(all)).status === 200);
  return {
    definition: answer.json(),
    all,
    gizmo: (name, given, { metadata = {}, ...more }: { readonly metadata?: object } = {}) => ({
      ...{ apiVersion: `${group}/v1`, kind: 'Gizmo', metadata: { name, ...metadata } },
      ...(given === undefined ? {} : { spec: given }),
      ...more,
    }),
  };
}

/** Writes of custom resources, whose kind has a structural schema. */
export function customWriteCases(declare: DeclareCase): void {
  declare('serves a kind whose definition was applied, and changes nothing when it is applied again', async (place) => {
    const { definition, all } = await applyGizmos(place);
    expect(ownersIn(definition)).toEqual({
      'muster Apply': { 'f:spec': { 'f:group': {}, 'f:names': { 'f:kind': {}, 'f:plural': {} }, 'f:scope': {}, 'f:versions': {} } },
    });
    expect((await place.read(all)).items).toEqual([]);
    const path = `${definitions}/${definition.metadata.name}`;
    const held = await place.read(path);
    const { metadata: _metadata, status: _status, ...body } = definition;
    const again = await patchingIn(place).apply(path, { ...body, metadata: { name: definition.metadata.name } }, { force: 'true' });
    expect(again.json().metadata.generation).toBe(held.metadata.generation);
  });

  declare('drops or refuses undeclared fields, and fills in defaults', async (place) => {
    const { all, gizmo } = await applyGizmos(place);
    const given = { mode: 'A', zzz: 1, items: [{ name: 'x', foo: 1 }], any: { z: { y: [1] } }, map: { k: 'v' }, either: '5%' };
    const made = await place.client.send('POST', all, { body: gizmo('one', given, { status: { phase: 'x' } }) });
    expect(made.headers.warning).toBe('299 - "unknown field \\"spec.items[0].foo\\"", 299 - "unknown field \\"spec.zzz\\""');
    expect(made.json().spec).toEqual({ mode: 'A', size: 3, items: [{ name: 'x' }], any: { z: { y: [1] } }, map: { k: 'v' }, either: '5%' });
    expect(made.json()).not.toHaveProperty('status');
    const strict = await place.client.send('POST', `${all}?fieldValidation=Strict`, { body: gizmo('two', given) });
    expect(statusOf(strict.json())).toMatchObject({ code: 400, reason: 'BadRequest' });
    const nulls = await place.client.send('POST', all, { body: gizmo('two', { mode: 'A', size: null, map: null }) });
    expect(nulls.json().spec).toEqual({ mode: 'A', size: 3 });
    const { merge } = patchingIn(place);
    expect((await merge(`${all}/two`, { spec: { zzz: 1 } })).headers.warning).toBe('299 - "unknown field \\"spec.zzz\\""');
    const refused = await merge(`${all}/two`, { spec: { zzz: 1 } }, { fieldValidation: 'Strict' });
    expect(statusOf(refused.json())).toMatchObject({ code: 422, causes: [{ field: 'patch' }] });
  });

  declare('validates values by the schema: 422 with the field', async (place) => {
    const { all, gizmo } = await applyGizmos(place);
    const cases: readonly (readonly [object | undefined, string, string])[] = [
      [undefined, 'FieldValueRequired', 'spec'],
      [{}, 'FieldValueRequired', 'spec.mode'],
      [{ mode: 'C' }, 'FieldValueNotSupported', 'spec.mode'],
      [{ mode: 'A', size: -1 }, 'FieldValueInvalid', 'spec.size'],
      [{ mode: 'A', size: 'x' }, 'FieldValueTypeInvalid', 'spec.size'],
      [{ mode: 'A', size: 1.5 }, 'FieldValueTypeInvalid', 'spec.size'],
      [{ mode: 'A', items: {} }, 'FieldValueTypeInvalid', 'spec.items'],
      [{ mode: 'A', name: 'abcd' }, 'FieldValueTooLong', 'spec.name'],
      [{ mode: 'A', name: 'b' }, 'FieldValueInvalid', 'spec.name'],
      [{ mode: 'A', tags: ['a', 'a'] }, 'FieldValueDuplicate', 'spec.tags[1]'],
      [{ mode: 'A', items: [{ name: 'a' }, { name: 'a' }] }, 'FieldValueDuplicate', 'spec.items[1]'],
      [{ mode: 'A', items: [{ v: 1 }] }, 'FieldValueRequired', 'spec.items[0].name'],
    ];
    for (const [given, reason, field] of cases) {
      const answer = (await place.client.send('POST', all, { body: gizmo('one', given) })).json();
      const told = (answer.details?.causes ?? []) as readonly { readonly reason: string; readonly field: string }[];
      expect(answer.code, JSON.stringify(given)).toBe(422);
      expect(told.map((cause) => `${cause.reason} ${cause.field}`)).toContain(`${reason} ${field}`);
    }
    const { merge } = patchingIn(place);
    await place.create(all, gizmo('one', { mode: 'A' }));
    expect((await merge(`${all}/one`, { spec: { size: 'x' } })).json().code).toBe(422);
  });

  declare('applies by the schema: lists by key, sets, atomic values, and 500 for undeclared fields', async (place) => {
    const { apply } = patchingIn(place);
    const { all, gizmo } = await applyGizmos(place);
    const given = {
      ...{ mode: 'A', items: [{ name: 'x', v: 1 }], tags: ['q'], list: ['a'], whole: { a: '1' } },
      ...{ any: { z: { y: [1] } }, map: { k: 'v' } },
    };
    const made = (await apply(`${all}/one`, gizmo('one', given, { metadata: { labels: { a: 'b' }, resourceVersion: '1' } }))).json();
    expect(ownersIn(made)).toEqual({
      'muster Apply': {
        'f:metadata': { 'f:labels': { 'f:a': {} } },
        'f:spec': {
          ...{ 'f:mode': {}, 'f:list': {}, 'f:whole': {}, 'f:tags': { 'v:"q"': {} }, 'f:map': { 'f:k': {} } },
          'f:any': { 'f:z': { '.': {}, 'f:y': {} } },
          'f:items': { 'k:{"name":"x"}': { '.': {}, 'f:name': {}, 'f:v': {} } },
        },
      },
    });
    const guarded = await apply(`${all}/one`, gizmo('one', { mode: 'A' }, { metadata: { resourceVersion: '1' } }), { force: 'true' });
    expect(statusOf(guarded.json())).toEqual({ kind: 'Status', code: 409, reason: 'Conflict', causes: [] });
    const other = await apply(`${all}/one`, gizmo('one', { mode: 'B', items: [{ name: 'x', v: 2 }] }), { fieldManager: 'other' });
    expect(conflictsIn(other.json())).toEqual(['conflict with "muster": .spec.mode', 'conflict with "muster": .spec.items[name="x"].v']);
    const more = await apply(`${all}/one`, gizmo('one', { mode: 'A', items: [{ name: 'y', v: 2 }] }), { fieldManager: 'other' });
    expect(more.json().spec?.items).toEqual([
      { name: 'x', v: 1 },
      { name: 'y', v: 2 },
    ]);
    const bare = (await apply(`${all}/one`, gizmo('one', { mode: 'A' }))).json();
    expect([bare.metadata.labels, bare.spec]).toEqual([undefined, { mode: 'A', size: 3, items: [{ name: 'y', v: 2 }] }]);
    for (const wrong of [
      { mode: 'A', zzz: 1 },
      { mode: 'A', size: '1' },
      { mode: 'A', tags: ['a', 'a'] },
    ]) {
      expect(statusOf((await apply(`${all}/two`, gizmo('two', wrong))).json())).toMatchObject({ code: 500, reason: undefined });
    }
    expect(statusOf((await apply(`${all}/two`, gizmo('two', { mode: 'C' }))).json())).toMatchObject({ code: 422 });
    const uid = { metadata: { uid: 'abc' } };
    expect((await apply(`${all}/two`, gizmo('two', { mode: 'A' }, uid))).status).toBe(409);
    expect((await apply(`${all}/one`, gizmo('one', { mode: 'A' }, uid))).status).toBe(422);
  });

  declare('writes the status separately, and increases the generation for changes of the spec only', async (place) => {
    const { apply, merge } = patchingIn(place);
    const { all, gizmo } = await applyGizmos(place);
    const path = `${all}/one`;
    await apply(path, gizmo('one', { mode: 'A' }, { status: { phase: 'ignored' } }));
    const applied = await apply(`${path}/status`, gizmo('one', { mode: 'B' }, { status: { phase: 'x' } }), { fieldManager: 's' });
    expect(applied.json()).toMatchObject({ metadata: { generation: 1 }, spec: { mode: 'A' }, status: { phase: 'x' } });
    const patch = { status: { size: 1 }, spec: { mode: 'B' }, metadata: { annotations: { a: 'b' } } };
    const merged = (await merge(`${path}/status`, patch, { fieldManager: 't' })).json();
    expect(merged).toMatchObject({ metadata: { generation: 1 }, spec: { mode: 'A' }, status: { phase: 'x', size: 1 } });
    expect(merged.metadata.annotations).toBeUndefined();
    expect(ownersIn(merged)).toEqual({
      'muster Apply': { 'f:spec': { 'f:mode': {} } },
      's Apply status': { 'f:status': { 'f:phase': {} } },
      't Update status': { 'f:status': { 'f:size': {} } },
    });
    const held = (await apply(path, gizmo('one', { mode: 'B' }, { status: { phase: 'z' } }))).json();
    expect(held).toMatchObject({ metadata: { generation: 2 }, status: { phase: 'x' } });
    expect(statusOf((await apply(`${all}/none/status`, gizmo('none', undefined, { status: {} }))).json())).toMatchObject({ code: 404 });
  });

  declare('scales the paths of its definition', async (place) => {
    const { apply } = patchingIn(place);
    const { all, gizmo } = await applyGizmos(place);
    await apply(`${all}/one`, gizmo('one', { mode: 'A' }));
    expect(await place.read(`${all}/one/scale`)).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 } });
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'one' }, spec: { replicas: 7 } };
    expect((await place.replace(`${all}/one/scale`, scale)).spec).toEqual({ replicas: 7 });
    expect(await place.read(`${all}/one`)).toMatchObject({ metadata: { generation: 2 }, spec: { mode: 'A', size: 7 } });
  });

  declare('refuses a strategic merge patch of a custom resource: 415', async (place) => {
    const { all, gizmo } = await applyGizmos(place);
    await place.create(all, gizmo('one', { mode: 'A' }));
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    const refused = await place.client.send('PATCH', `${all}/one`, { body: { spec: { size: 2 } }, headers });
    expect(statusOf(refused.json())).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });
}
