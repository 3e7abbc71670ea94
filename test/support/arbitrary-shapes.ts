import fc from 'fast-check';
import { compareText } from '../../src/core/text.ts';
import { type ListRules, scalarNames } from '../../src/model/model.ts';
import { type KindSchema, listOf, type ObjectShape, type Shape, type ShapeField } from '../../src/model/shapes.ts';

// Few keys and short texts, so that two random schemas often have keys in common.
const keys = ['a', 'b', 'c', 'a.b'];
const text = fc.option(fc.constantFrom('one', 'two', 'three'), { nil: undefined });
const rules: fc.Arbitrary<ListRules> = fc.oneof(
  fc.constantFrom<ListRules>({}, { listType: 'set' }, { listType: 'atomic' }),
  fc.constantFrom<ListRules>({ listType: 'map', listMapKeys: ['a'] }, { listType: 'map', listMapKeys: ['a', 'b'], patchMergeKey: 'a' }),
);

const { shape: shapes } = fc.letrec<{ shape: Shape; object: ObjectShape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'shape' },
    { arbitrary: fc.constantFrom(...scalarNames).map((scalar): Shape => ({ scalar })), weight: 3 },
    { arbitrary: fc.constant<Shape>({ type: 'ResourceList' }), weight: 1 },
    { arbitrary: tie('shape').map(listOf), weight: 1 },
    { arbitrary: tie('object'), weight: 3 },
  ),
  object: objectsOf(tie('shape')),
}));

/** Any shape that a converter makes. */
export const arbitraryShape: fc.Arbitrary<Shape> = shapes;

/** Any definition of one kind, `Thing.example.com`, that a cluster may have. */
export const arbitraryKindSchema: fc.Arbitrary<KindSchema> = fc
  .record({
    shape: objectsOf(shapes),
    versions: fc.subarray(['v1', 'v1alpha1', 'v1beta1', 'v2']),
    shortNames: fc.subarray(['t', 'th']),
    categories: fc.subarray(['all', 'toys']),
    namespaced: fc.boolean(),
    source: fc.constantFrom<KindSchema['source']>('CUSTOM', 'AGGREGATED', 'BUILT_IN'),
    description: text,
  })
  .map(({ description, ...schema }) => ({
    group: 'example.com',
    kind: 'Thing',
    plural: 'things',
    singular: 'thing',
    conflicts: [],
    ...schema,
    ...(description === undefined ? {} : { description }),
  }));

function objectsOf(shape: fc.Arbitrary<Shape>): fc.Arbitrary<ObjectShape> {
  return fc
    .uniqueArray(fc.record({ key: fc.constantFrom(...keys), shape, description: text, deprecated: text, rules }), {
      selector: ({ key }) => key,
      minLength: 1,
      maxLength: keys.length,
    })
    .map((fields) => ({
      fields: fields
        .map(
          ({ key, shape, description, deprecated, rules }): ShapeField => ({
            key,
            shape,
            ...('list' in shape ? rules : {}),
            ...(description === undefined ? {} : { description }),
            ...(deprecated === undefined ? {} : { deprecated }),
          }),
        )
        .sort((a, b) => compareText(a.key, b.key)),
    }));
}
