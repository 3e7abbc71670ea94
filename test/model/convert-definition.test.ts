import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { convertDefinition } from '../../src/model/convert-definition.ts';
import type { KindSchema, Shape, ShapeField } from '../../src/model/shapes.ts';
import { corpusDefinitions, fixtureDefinition } from '../support/graph/corpus.ts';

describe('a plain definition', () => {
  const widget = convertDefinition(fixtureDefinition('widgets-north'));

  test('gives its names, scope, source and first sentence', () => {
    const { shape: _, ...rest } = widget;
    expect(rest).toEqual({
      group: 'example.com',
      kind: 'Widget',
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['wd', 'wg'],
      categories: ['toys'],
      namespaced: true,
      source: 'CUSTOM',
      versions: ['v1'],
      description: 'A widget, e.g. a round one.',
      conflicts: [],
    });
  });

  test('leaves out the fields that every object has', () => {
    expect(widget.shape.fields.map(({ key }) => key)).toEqual(['spec', 'status']);
  });

  test.each<[string, Shape]>([
    ['size', { scalar: 'Int64' }],
    ['weight', { scalar: 'Float' }],
    ['round', { scalar: 'Boolean' }],
    ['colour', { scalar: 'String' }],
    ['madeAt', { scalar: 'DateTime' }],
    ['seal', { scalar: 'Bytes' }],
    ['keepFor', { scalar: 'Duration' }],
    ['port', { scalar: 'IntOrString' }],
    ['cpu', { scalar: 'Quantity' }],
    ['limits', { type: 'ResourceList' }],
    ['selector', { scalar: 'StringMap' }],
    ['ranks', { scalar: 'JSON' }],
    ['tags', { list: { scalar: 'String' } }],
  ])('gives %s its shape', (key, shape) => {
    expect(fieldAt(widget, 'spec', key).shape).toEqual(shape);
  });

  test('keeps how lists merge, with the keys in order', () => {
    expect(fieldAt(widget, 'spec', 'parts')).toMatchObject({ listType: 'map', listMapKeys: ['lane', 'name'] });
    expect(fieldAt(widget, 'spec', 'tags')).toMatchObject({ listType: 'set' });
  });

  test('keeps the first sentence of a description, and marks only descriptions that start with "Deprecated"', () => {
    expect(fieldAt(widget, 'spec', 'size').description).toBe('How large it is.');
    expect(fieldAt(widget, 'spec', 'color').deprecated).toBe('use colour instead.');
    expect(fieldAt(widget, 'spec', 'colour').deprecated).toBeUndefined();
  });
});

describe('values without a schema', () => {
  const free = convertDefinition(fixtureDefinition('free'));

  test.each([
    ...['declared', 'anything', 'empty', 'template', 'freeMap'],
    ...['mapOfLists', 'mapOfObjects', 'listOfAnything', 'listWithNulls'],
  ])('%s is JSON', (key) => {
    expect(fieldAt(free, 'spec', key).shape).toEqual({ scalar: 'JSON' });
  });

  test('a list of lists stays a list of lists', () => {
    expect(fieldAt(free, 'spec', 'matrix').shape).toEqual({ list: { list: { scalar: 'Float' } } });
  });

  test('a root that preserves unknown fields keeps those it declares', () => {
    expect(free.shape.fields.map(({ key }) => key)).toEqual(['spec']);
  });

  test('the singular is the kind in small letters where none is given', () => {
    expect(free.singular).toBe('free');
  });
});

test('an embedded resource has apiVersion, kind and metadata in addition to its fields', () => {
  const embedded = (properties: object): Json => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: properties as Json,
  });
  const text = { type: 'string' };
  const spec = {
    type: 'object',
    properties: {
      template: embedded({ spec: { type: 'object', properties: { size: text } } }),
      templates: { type: 'array', items: embedded({ metadata: { type: 'object', properties: { name: text } }, kind: text }) },
    },
  };
  const converted = convertDefinition(definition({ versions: [version({ spec })] }));
  const implied = [
    { key: 'apiVersion', shape: { scalar: 'String' } },
    { key: 'kind', shape: { scalar: 'String' } },
    { key: 'metadata', shape: { type: 'EmbeddedObjectMeta' } },
  ];
  const declared = { key: 'spec', shape: { fields: [{ key: 'size', shape: { scalar: 'String' } }] } };
  expect(fieldAt(converted, 'spec', 'template').shape).toEqual({ fields: [...implied, declared] });
  expect(fieldAt(converted, 'spec', 'templates').shape).toEqual({ list: { fields: implied } });
});

describe('versions', () => {
  test('that are served are joined, others do not count', () => {
    const machine = convertDefinition(fixtureDefinition('machines'));
    expect(machine.versions).toEqual(['v1', 'v1beta1']);
    expect(fieldAt(machine, 'spec', 'disk').shape).toEqual({ scalar: 'String' });
    expect(fieldAt(machine, 'spec', 'cores').shape).toEqual({ scalar: 'Int64' });
    expect(fieldAt(machine, 'spec', 'zone').shape).toEqual({ scalar: 'String' });
    expect(machine.conflicts).toEqual([]);
  });

  test('that are not served still give their fields', () => {
    const unserved = convertDefinition(definition({ versions: [version({ served: false })] }));
    expect(unserved.versions).toEqual([]);
    expect(unserved.shape.fields.map(({ key }) => key)).toEqual(['spec']);
  });

  test('without a schema have the fields of every object only', () => {
    expect(convertDefinition(definition({ versions: [{ name: 'v1', served: true }] })).shape).toEqual({ fields: [] });
  });
});

describe('an invalid definition is named, with the path', () => {
  test.each<[string, Json, string]>([
    ['no group', { group: '' }, 'CustomResourceDefinition things.example.com: expected text at group, got ""'],
    ['no names', { names: 3 }, 'expected an object at names, got 3'],
    ['no kind', { names: { plural: 'things' } }, 'expected text at kind, got nothing'],
    ['no versions', { versions: [] }, 'spec.versions: expected at least one'],
    ['a property that is no schema', { versions: [version({ spec: 'text' })] }, 'v1.spec: expected a schema, got "text"'],
    ['a type nobody knows', { versions: [version({ spec: { type: 'date' } })] }, 'v1.spec: expected a type of OpenAPI, got "date"'],
    [
      'a mistake deep down',
      {
        versions: [
          version({ spec: { type: 'object', properties: { a: { type: 'array', items: { type: 'object', properties: { b: 1 } } } } } }),
        ],
      },
      'v1.spec.a.b: expected a schema, got 1',
    ],
  ])('%s', (_, spec, message) => {
    expect(() => convertDefinition(definition(spec as object))).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', message: expect.stringContaining(message) }),
    );
  });

  test('one without a spec', () => {
    expect(() => convertDefinition({ metadata: { name: 'x' } })).toThrow(
      'CustomResourceDefinition x: expected an object at spec, got nothing',
    );
  });

  test('one that is larger than any real one', () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, { type: 'string' }]));
    const rows = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`r${index}`, { type: 'object', properties: wide }]));
    expect(() => convertDefinition(definition({ versions: [version({ spec: { type: 'object', properties: rows } })] }))).toThrow(
      'at most 60000 fields',
    );
  });
});

test('a schema nested without end is JSON from 40 levels on', () => {
  let schema: Json = { type: 'string' };
  for (let level = 0; level < 5_000; level++) schema = { type: 'object', properties: { down: schema } };
  let shape: Shape = fieldAt(convertDefinition(definition({ versions: [version({ spec: schema })] })), 'spec').shape;
  let levels = 0;
  for (; 'fields' in shape; levels++) shape = shape.fields[0]?.shape ?? shape;
  expect(shape).toEqual({ scalar: 'JSON' });
  expect(levels).toBeLessThan(41);
});

test.skipIf(corpusDefinitions === undefined)('every CRD of the corpus converts, and none to nothing', () => {
  const kinds = (corpusDefinitions ?? []).map(convertDefinition);
  expect(kinds.length).toBeGreaterThan(60);
  expect(kinds.filter(({ shape }) => shape.fields.length === 0)).toEqual([]);
});

function version({
  served = true,
  spec = { type: 'object', properties: { a: { type: 'string' } } },
}: {
  served?: boolean;
  spec?: Json;
} = {}): Json {
  return { name: 'v1', served, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } };
}

function definition(spec: object): KubernetesObject {
  const names = { kind: 'Thing', plural: 'things' };
  return {
    metadata: { name: 'things.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version()], ...spec },
  };
}

function fieldAt({ shape }: KindSchema, ...path: readonly string[]): ShapeField {
  let current: Shape = shape;
  let field: ShapeField | undefined;
  for (const key of path) {
    field = 'fields' in current ? current.fields.find((one) => one.key === key) : undefined;
    if (field === undefined) throw new Error(`no field ${key}`);
    current = field.shape;
  }
  if (field === undefined) throw new Error('no path');
  return field;
}
