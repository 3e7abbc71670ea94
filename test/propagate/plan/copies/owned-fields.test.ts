import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import {
  fieldPathsIn,
  fingerprintHasPath,
  fingerprintOfPaths,
  isAppliedByUs,
  otherManagersOf,
  ownedPaths,
  updatesTurnedToApply,
  withoutMusterFields,
} from '../../../../src/propagate/plan/copies/owned-fields.ts';

const entry = (manager: string, operation: string, fieldsV1: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ manager, operation, apiVersion: 'v1', fieldsType: 'FieldsV1', time: '2026-01-01T00:00:00Z', fieldsV1 },
  ...more,
});
const objectWith = (...managedFields: readonly JsonObject[]): KubernetesObject => ({ metadata: { name: 'a', managedFields } });

const a = { 'f:data': { 'f:a': {} } };
const b = { 'f:data': { '.': {}, 'f:b': {} } };

test('paths are written as conflict messages write them', () => {
  const fields = {
    'f:metadata': { 'f:annotations': { '.': {}, 'f:example.com/a': {} }, 'f:finalizers': { 'v:"x"': {} } },
    'f:spec': {
      'f:replicas': {},
      'f:template': {
        'f:containers': {
          'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { 'f:name': {} } } },
        },
      },
      'f:list': { 'i:3': {} },
    },
  };
  expect(fieldPathsIn(fields)).toEqual([
    '.metadata.annotations',
    '.metadata.annotations.example.com/a',
    '.metadata.finalizers[="x"]',
    '.spec.replicas',
    '.spec.template.containers[name="web"]',
    '.spec.template.containers[name="web"].image',
    '.spec.template.containers[name="web"].ports[containerPort=80,protocol="TCP"].name',
    '.spec.list[3]',
  ]);
});

test('Muster owns the fields of its apply and update entries, without subresources', () => {
  const object = objectWith(
    entry('kubectl', 'Update', b),
    entry('muster', 'Apply', a),
    entry('muster', 'Update', { 'f:status': {} }, { subresource: 'status' }),
  );
  expect(ownedPaths(object)).toEqual(['.data.a']);
  expect(ownedPaths(objectWith(entry('muster', 'Update', b), entry('muster', 'Apply', a)))).toEqual(['.data', '.data.a', '.data.b']);
  expect(ownedPaths({ metadata: { name: 'a' } })).toEqual([]);
  expect([isAppliedByUs(object), isAppliedByUs(objectWith(entry('muster', 'Update', a)))]).toEqual([true, false]);
});

test('a fingerprint contains its own paths and no others', () => {
  const path = fc.string({ minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 100 }), path, (paths, other) => {
      const printed = fingerprintOfPaths(paths);
      expect(printed).toHaveLength(paths.length * 4);
      expect(paths.every((one) => fingerprintHasPath(printed, one))).toBe(true);
      if (!paths.includes(other)) expect(fingerprintHasPath(printed, other)).toBe(false);
    }),
    { seed: 5 },
  );
});

test('too many paths for a share give an empty fingerprint', () => {
  const paths = (count: number) => Array.from({ length: count }, (_, index) => `.data.${index}`);
  expect(fingerprintOfPaths(paths(1_024))).toHaveLength(4_096);
  expect(fingerprintOfPaths(paths(1_025))).toBe('');
});

test('managers that hold Muster’s fields are listed once, in order', () => {
  const object = objectWith(
    entry('hpa', 'Update', a),
    entry('kubectl', 'Update', a),
    entry('kubectl', 'Apply', a),
    entry('other', 'Update', b),
    entry('muster', 'Apply', a),
  );
  expect(otherManagersOf(object, fingerprintOfPaths(['.data.a']))).toEqual(['hpa', 'kubectl']);
  expect(otherManagersOf(object, '')).toEqual([]);
});

test.each<readonly [string, readonly JsonObject[], readonly JsonObject[] | undefined]>([
  ['no fields of Muster', [entry('kubectl', 'Update', a)], undefined],
  ['applied already', [entry('muster', 'Apply', a)], undefined],
  ['a subresource is unchanged', [entry('muster', 'Update', a, { subresource: 'scale' })], undefined],
  [
    'an update',
    [entry('kubectl', 'Update', b), entry('muster', 'Update', a)],
    [entry('kubectl', 'Update', b), entry('muster', 'Apply', a)],
  ],
  [
    'an update beside an apply, in whatever order',
    [entry('muster', 'Update', b, { apiVersion: 'v1beta1' }), entry('muster', 'Apply', a)],
    [entry('muster', 'Apply', { 'f:data': { 'f:a': {}, '.': {}, 'f:b': {} } })],
  ],
])('ownership by update becomes ownership by apply: %s', (_title, before, after) => {
  expect(updatesTurnedToApply(objectWith(...before))).toEqual(after);
});

test('a release keeps the entries of others, and resets the owners if there are none', () => {
  const theirs = entry('kubectl', 'Update', b);
  const scaled = entry('muster', 'Update', a, { subresource: 'scale' });
  expect(withoutMusterFields(objectWith(theirs, entry('muster', 'Apply', a), entry('muster', 'Update', a), scaled))).toEqual([
    theirs,
    scaled,
  ]);
  expect(withoutMusterFields(objectWith(entry('muster', 'Apply', a)))).toEqual([{}]);
});

const item = (fields: JsonObject): JsonObject => ({ 'f:spec': { 'f:containers': { 'k:{"name":"web"}': fields } } });
const image = item({ 'f:image': {} });
const finalizer: JsonObject = { 'f:metadata': { 'f:finalizers': { 'v:"example.com/x"': {} } } };

test.each<
  readonly [string, { readonly now: readonly JsonObject[]; readonly before: readonly JsonObject[]; readonly after: readonly JsonObject[] }]
>([
  [
    'what we took is theirs again',
    { now: [entry('muster', 'Apply', a)], before: [entry('helm', 'Update', a)], after: [entry('helm', 'Update', a)] },
  ],
  [
    'beside what stayed theirs',
    {
      now: [entry('helm', 'Update', { 'f:data': { 'f:z': {} } }), entry('muster', 'Apply', a)],
      before: [entry('helm', 'Update', { 'f:data': { 'f:z': {}, 'f:a': {} } })],
      after: [entry('helm', 'Update', { 'f:data': { 'f:z': {}, 'f:a': {} } })],
    },
  ],
  [
    'in an entry of its own where it was of another version of the kind',
    {
      now: [entry('helm', 'Update', b), entry('muster', 'Apply', a)],
      before: [entry('helm', 'Update', a, { apiVersion: 'v1beta1' })],
      after: [entry('helm', 'Update', b), entry('helm', 'Update', a, { apiVersion: 'v1beta1' })],
    },
  ],
  [
    'what we never had is not given',
    { now: [entry('muster', 'Apply', a)], before: [entry('helm', 'Update', { 'f:data': { 'f:y': {} } })], after: [{}] },
  ],
  [
    'of an item of a list the fields that we took, and not those that others took since',
    {
      now: [entry('argocd', 'Apply', item({ 'f:args': {} })), entry('muster', 'Apply', image)],
      before: [entry('helm', 'Update', item({ '.': {}, 'f:name': {}, 'f:image': {}, 'f:args': {} }))],
      after: [entry('argocd', 'Apply', item({ 'f:args': {} })), entry('helm', 'Update', image)],
    },
  ],
  [
    'an element of a set by its value',
    {
      now: [entry('muster', 'Update', finalizer)],
      before: [entry('helm', 'Apply', finalizer)],
      after: [entry('helm', 'Apply', finalizer)],
    },
  ],
])('given back, %s', (_title, { now, before, after }) => {
  expect(withoutMusterFields(objectWith(...now), before)).toEqual(after);
});
