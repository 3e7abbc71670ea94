import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printModel } from '../../scripts/built-ins/print-model.ts';
import { convertDefinition } from '../../src/model/convert-definition.ts';
import { createModel } from '../../src/model/create-model.ts';
import { joinKindSchemas } from '../../src/model/join-kinds.ts';
import { joinShapes } from '../../src/model/join-shapes.ts';
import { type ScalarName, scalarNames } from '../../src/model/model.ts';
import { json, type KindSchema, type Shape } from '../../src/model/shapes.ts';
import { arbitraryKindSchema, arbitraryShape } from '../support/arbitrary-shapes.ts';
import { committedModel, corpusDefinitions, fixtureDefinition } from '../support/graph/corpus.ts';

const join = (a: Shape, b: Shape): Shape => joinShapes(a, b, { path: [], conflict: () => undefined });
const copy = <T>(value: T): T => structuredClone(value);

describe('joins of shapes', () => {
  test('are commutative', () => {
    fc.assert(
      fc.property(arbitraryShape, arbitraryShape, (a, b) => {
        expect(join(a, b)).toEqual(join(b, a));
      }),
    );
  });

  test('are associative', () => {
    fc.assert(
      fc.property(arbitraryShape, arbitraryShape, arbitraryShape, (a, b, c) => {
        expect(join(join(a, b), c)).toEqual(join(a, join(b, c)));
      }),
      { numRuns: 500 },
    );
  });

  test('are idempotent, and return the first shape if the second adds nothing', () => {
    fc.assert(
      fc.property(arbitraryShape, (a) => {
        expect(join(a, copy(a))).toBe(a);
      }),
    );
  });

  test('have JSON at the top', () => {
    fc.assert(
      fc.property(arbitraryShape, (a) => {
        expect(join(a, json)).toEqual(json);
      }),
    );
  });

  test.each<[ScalarName, ScalarName, ScalarName]>([
    ['DateTime', 'String', 'String'],
    ['DateTime', 'Bytes', 'String'],
    ['DateTime', 'Int', 'IntOrString'],
    ['Quantity', 'IntOrString', 'IntOrString'],
    ['Quantity', 'String', 'IntOrString'],
    ['Quantity', 'DateTime', 'IntOrString'],
    ['Quantity', 'Int64', 'IntOrString'],
    ['String', 'Int64', 'IntOrString'],
    ['Int', 'Int64', 'Int64'],
    ['Int', 'Float', 'Float'],
    ['Float', 'IntOrString', 'JSON'],
    ['Float', 'String', 'JSON'],
    ['Boolean', 'String', 'JSON'],
    ['StringMap', 'String', 'JSON'],
  ])('%s and %s are %s', (a, b, joined) => {
    expect(join({ scalar: a }, { scalar: b })).toEqual({ scalar: joined });
  });

  test('of three scalars do not depend on the order in which they meet', () => {
    for (const a of scalarNames) {
      for (const b of scalarNames) {
        for (const c of scalarNames) {
          const [x, y, z] = [{ scalar: a }, { scalar: b }, { scalar: c }];
          expect(join(join(x, y), z)).toEqual(join(x, join(y, z)));
        }
      }
    }
  });

  test('of a list whose items become JSON are JSON, as such items may be null', () => {
    expect(join({ list: { scalar: 'String' } }, { list: { scalar: 'Boolean' } })).toEqual(json);
  });

  test('replace a list as a whole where clusters merge it differently', () => {
    const field = (listMapKeys: readonly string[]): Shape => ({
      fields: [{ key: 'ports', shape: { list: { scalar: 'String' } }, listType: 'map', listMapKeys }],
    });
    expect(join(field(['port']), field(['port', 'protocol']))).toEqual({
      fields: [{ key: 'ports', shape: { list: { scalar: 'String' } }, listType: 'atomic' }],
    });
  });
});

describe('joins of kinds', () => {
  test('are commutative, associative and idempotent in every part, conflicts too', () => {
    fc.assert(
      fc.property(arbitraryKindSchema, arbitraryKindSchema, arbitraryKindSchema, (a, b, c) => {
        expect(joinKindSchemas(a, b)).toEqual(joinKindSchemas(b, a));
        expect(joinKindSchemas(joinKindSchemas(a, b), c)).toEqual(joinKindSchemas(a, joinKindSchemas(b, c)));
        expect(joinKindSchemas(a, copy(a))).toEqual(a);
      }),
      { numRuns: 300 },
    );
  });

  test('list each path that became JSON, but none beneath another', () => {
    const thing = (scalar: Shape): KindSchema => ({ ...base, shape: { fields: [{ key: 'spec', shape: scalar }] } });
    const inner = (key: string, scalar: ScalarName) => thing({ fields: [{ key, shape: { scalar } }] });
    expect(joinKindSchemas(inner('a.b', 'String'), inner('a.b', 'Boolean')).conflicts).toEqual(['spec["a.b"]']);
    const both = joinKindSchemas(joinKindSchemas(inner('x', 'String'), inner('x', 'Boolean')), thing({ scalar: 'String' }));
    expect(both.conflicts).toEqual(['spec']);
    expect(joinKindSchemas(thing(json), thing(json)).conflicts).toEqual([]);
  });

  test('refuse two kinds', () => {
    expect(() => joinKindSchemas(base, { ...base, kind: 'Other' })).toThrow('cannot be joined');
  });

  test('of two clusters with different widgets have the fields of both', () => {
    const [north, south] = [convertDefinition(fixtureDefinition('widgets-north')), convertDefinition(fixtureDefinition('widgets-south'))];
    const joined = joinKindSchemas(north, south);
    const spec = joined.shape.fields.find(({ key }) => key === 'spec')?.shape;
    const shapes = new Map(spec !== undefined && 'fields' in spec ? spec.fields.map(({ key, shape }) => [key, shape]) : []);
    expect(shapes.get('shape')).toEqual({ scalar: 'String' });
    expect(shapes.get('weight')).toEqual({ scalar: 'Float' });
    expect(shapes.get('size')).toEqual({ scalar: 'Float' });
    expect(shapes.get('port')).toEqual({ scalar: 'IntOrString' });
    expect(joined.conflicts).toEqual(['spec.round', 'spec.selector']);
    expect(joined.versions).toEqual(['v1', 'v1beta1']);
    expect(joined.shortNames).toEqual(['wd', 'wg', 'wi']);
  });
});

describe.skipIf(corpusDefinitions === undefined)('the CRDs of real projects', () => {
  test('give one model in 20 random orders of 20 clusters', () => {
    const baseline = committedModel();
    const schemas = (corpusDefinitions ?? []).map(convertDefinition);
    // Each cluster has most kinds, some with a version less, so that joins change something.
    const clusters = Array.from({ length: 20 }, (_, cluster) =>
      schemas.filter((_, index) => (index * 7 + cluster) % 5 !== 0).map(narrowed(cluster)),
    );
    const models = new Set<string>();
    fc.assert(
      fc.property(fc.shuffledSubarray(clusters, { minLength: clusters.length }), (order) => {
        const { model, problems } = createModel({ baseline, custom: order.flat(), prefixes: new Map() });
        expect(problems).toEqual([]);
        models.add(printModel(model));
      }),
      { numRuns: 20 },
    );
    expect(models.size).toBe(1);
  });

  test('have few conflicts between their versions, each of which a human would call one', () => {
    const conflicts = (corpusDefinitions ?? [])
      .map(convertDefinition)
      .flatMap(({ kind, conflicts }) => conflicts.map((path) => `${kind} ${path}`));
    expect(conflicts).toContain('Cluster status.failureDomains');
    expect(conflicts.length).toBeLessThan(20);
  });
});

const base: KindSchema = {
  group: 'example.com',
  kind: 'Thing',
  plural: 'things',
  singular: 'thing',
  versions: ['v1'],
  shortNames: [],
  categories: [],
  namespaced: true,
  source: 'CUSTOM',
  shape: { fields: [] },
  conflicts: [],
};

/** The same kind in an older or a newer release, without the fields that this cluster lacks. */
function narrowed(cluster: number): (schema: KindSchema) => KindSchema {
  const thin = (shape: Shape): Shape => {
    if ('list' in shape) return { list: thin(shape.list) };
    if (!('fields' in shape)) return shape;
    const kept = shape.fields.filter((_, index) => shape.fields.length === 1 || (index + cluster) % 11 !== 0);
    return { fields: kept.map((field) => ({ ...field, shape: thin(field.shape) })) };
  };
  return (schema) => ({
    ...schema,
    shape: { fields: schema.shape.fields.map((field) => ({ ...field, shape: thin(field.shape) })) },
  });
}
