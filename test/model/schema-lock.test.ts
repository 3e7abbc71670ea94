import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOfKind } from '../../src/core/kinds.ts';
import { convertDefinition } from '../../src/model/convert-definition.ts';
import { joinKindSchemas } from '../../src/model/join-kinds.ts';
import {
  dayOf,
  emptySchemaLock,
  joinSchemaLocks,
  type LockedKind,
  parseSchemaLock,
  printSchemaLock,
  type SchemaLock,
  withoutForgotten,
} from '../../src/model/schema-lock.ts';
import type { KindSchema } from '../../src/model/shapes.ts';
import { arbitraryKindSchema } from '../support/arbitrary-shapes.ts';
import { corpusDefinitions } from '../support/graph/corpus.ts';

const lockOf = (kinds: readonly LockedKind[], prefixes: readonly (readonly [string, string])[] = []): SchemaLock => ({
  kinds: new Map(kinds.map((kind) => [keyOfKind(kind.schema), kind])),
  prefixes: new Map(prefixes),
});

function kindOf(kind: string, more: Partial<KindSchema> = {}): KindSchema {
  const plural = `${kind.toLowerCase()}s`;
  return {
    group: 'example.com',
    kind,
    versions: ['v1'],
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    source: 'CUSTOM',
    shape: { fields: [{ key: 'spec', shape: { fields: [{ key: 'size', shape: { scalar: 'Int64' } }] } }] },
    conflicts: [],
    ...more,
  };
}

const reread = (lock: SchemaLock) => parseSchemaLock(JSON.parse(printSchemaLock(lock)));

test('random locks print to JSON and parse back', () => {
  const custom = arbitraryKindSchema.filter(({ source }) => source !== 'BUILT_IN');
  fc.assert(
    fc.property(custom, (schema) => {
      const lock = lockOf([{ schema, servedOn: '2026-07-01' }], [['example.com', 'Example']]);
      expect(reread(lock)).toEqual(lock);
    }),
  );
});

test.skipIf(corpusDefinitions === undefined)('the kinds of real projects come back as they were', () => {
  const kinds = (corpusDefinitions ?? []).map((definition) => ({ schema: convertDefinition(definition), servedOn: '2026-07-01' }));
  const lock = lockOf(kinds);
  expect(lock.kinds.size).toBeGreaterThan(50);
  const sorted = kinds.map(({ schema, servedOn }) => ({ schema: { ...schema, versions: schema.versions.toSorted() }, servedOn }));
  expect(reread(lock)).toEqual(lockOf(sorted));
  expect(printSchemaLock(reread(lock))).toBe(printSchemaLock(lock));
});

test('equal locks are equal texts, a kind on each line', () => {
  const kinds = ['B', 'A'].map((kind) => ({ schema: kindOf(kind), servedOn: '2026-07-01' }));
  expect(printSchemaLock(lockOf(kinds))).toBe(printSchemaLock(lockOf(kinds.toReversed())));
  expect(printSchemaLock(lockOf(kinds)).split('\n')).toHaveLength(7);
  expect(reread(emptySchemaLock)).toEqual(emptySchemaLock);
});

describe('of two locks', () => {
  test('kinds are joined field by field, and were served on the later day', () => {
    const [other, text] = [{ key: 'color', shape: { scalar: 'String' } } as const, { scalar: 'String' } as const];
    const a = lockOf([{ schema: kindOf('Widget'), servedOn: '2026-07-02' }]);
    const b = lockOf([{ schema: kindOf('Widget', { shape: { fields: [other] } }), servedOn: '2026-07-01' }]);
    for (const joined of [joinSchemaLocks(a, b), joinSchemaLocks(b, a)]) {
      expect(joined.kinds.get('Widget.example.com')?.servedOn).toBe('2026-07-02');
      expect(joined.kinds.get('Widget.example.com')?.schema.shape.fields.map(({ key, shape }) => [key, shape])).toEqual([
        ['color', text],
        ['spec', { fields: [{ key: 'size', shape: { scalar: 'Int64' } }] }],
      ]);
    }
  });

  test('the definitions of a cluster come from the lock that has the cluster', () => {
    const [size, color, weight] = ['size', 'color', 'weight'].map((key) =>
      kindOf('Widget', { shape: { fields: [{ key, shape: { scalar: 'String' } }] } }),
    ) as [KindSchema, KindSchema, KindSchema];
    const of = (by: Readonly<Record<string, KindSchema>>): LockedKind => ({
      schema: Object.values(by).reduce(joinKindSchemas),
      servedOn: '2026-07-01',
      by: new Map(Object.entries(by).map(([cluster, schema]) => [cluster, { schema, servedOn: days[cluster] ?? '2026-07-01' }])),
    });
    const days: Readonly<Record<string, string>> = { other: '2026-06-15' };
    const kept = reread(lockOf([of({ north: size, south: color, other: weight })]));
    const ours = { ...lockOf([of({ north: color })]), clusters: new Set(['north', 'south']) };
    const joined = reread(joinSchemaLocks(kept, ours)).kinds.get('Widget.example.com');
    expect([...(joined?.by ?? [])].sort()).toEqual([
      ['north', { schema: color, servedOn: '2026-07-01' }],
      ['other', { schema: weight, servedOn: '2026-06-15' }],
    ]);
    const late = withoutForgotten(joinSchemaLocks(kept, ours), Date.parse('2026-07-16T12:00:00Z')).kinds.get('Widget.example.com');
    expect([[...(late?.by?.keys() ?? [])], late?.schema]).toEqual([['north'], color]);
    expect(joined?.schema.shape.fields.map(({ key }) => key)).toEqual(['color', 'weight']);
    const old = lockOf([{ schema: size, servedOn: '2026-07-02' }]);
    expect(joinSchemaLocks(old, ours).kinds.get('Widget.example.com')).toMatchObject({ schema: color, servedOn: '2026-07-02' });
  });

  test('the names of the first lock win, and a conflicting name is assigned again', () => {
    const kept = lockOf(
      [],
      [
        ['a.example', 'A'],
        ['Thing/a.example', 'AThing'],
      ],
    );
    const ours = lockOf(
      [],
      [
        ['a.other', 'A'],
        ['a.example', 'AExample'],
        ['Thing/a.other', 'AThing'],
        ['Gadget/a.other', 'A'],
        ['b.example', 'B'],
      ],
    );
    expect([...joinSchemaLocks(kept, ours).prefixes]).toEqual([
      ['a.example', 'A'],
      ['Thing/a.example', 'AThing'],
      ['Gadget/a.other', 'A'],
      ['b.example', 'B'],
    ]);
  });
});

test('kinds that no cluster has served for 30 days are forgotten, with their names', () => {
  const lock = lockOf(
    [
      { schema: kindOf('Widget'), servedOn: '2026-07-01' },
      { schema: kindOf('Gadget', { group: 'other.org' }), servedOn: '2026-06-30' },
    ],
    [
      ['example.com', 'Example'],
      ['Widget/example.com', 'ExampleWidget'],
      ['other.org', 'Other'],
      ['Gadget/other.org', 'OtherGadget'],
      ['Gadget/example.com', 'ExampleGadget'],
    ],
  );
  const rest = withoutForgotten(lock, Date.parse('2026-07-31T12:00:00Z'));
  expect([...rest.kinds.keys()]).toEqual(['Widget.example.com']);
  expect([...rest.prefixes.keys()]).toEqual(['example.com', 'Widget/example.com']);
  expect(withoutForgotten(lock, Date.parse('2026-07-30T23:59:59Z')).kinds.size).toBe(2);
  expect(dayOf(Date.parse('2026-07-30T23:59:59Z'))).toBe('2026-07-30');
});

const [good] = (JSON.parse(printSchemaLock(lockOf([{ schema: kindOf('Widget'), servedOn: '2026-07-01' }]))) as { kinds: [object] }).kinds;
const document = (kinds: unknown, names: unknown = []) => ({ apiVersion: 'schema-lock.muster.dev/v1', names, kinds });
const withShape = (shape: unknown) => document([{ ...good, schema: { ...(good as LockedKind).schema, shape } }]);

test.each([
  ['no object', [], 'the document'],
  ['another version', { ...document([]), apiVersion: 'schema-lock.muster.dev/v2' }, 'apiVersion'],
  ['kinds that are no list', document({}), 'kinds'],
  ['names that are no pairs', document([], [['a']]), 'names'],
  ['a kind without a day', document([{ ...good, servedOn: 7 }]), 'kinds[0].servedOn'],
  ['a built-in kind', document([{ ...good, schema: { ...(good as LockedKind).schema, source: 'BUILT_IN' } }]), 'kinds[0].schema.source'],
  ['a kind without a name', document([{ ...good, schema: { ...(good as LockedKind).schema, kind: 1 } }]), 'kinds[0].schema.kind'],
  ['a shape that is none', withShape({ fields: [{ key: 'a', shape: { scalar: 'Colour' } }] }), 'kinds[0].schema.shape.fields[0].shape'],
  ['a type of another model', withShape({ fields: [{ key: 'a', shape: { type: 'PodSpec' } }] }), 'kinds[0].schema.shape.fields[0].shape'],
  [
    'a key that stands twice',
    withShape({ fields: ['a', 'a'].map((key) => ({ key, shape: { scalar: 'Int' } })) }),
    'kinds[0].schema.shape.fields: expected the key "a" once',
  ],
])('%s is refused, with the path', (_, value, at) => {
  expect(() => parseSchemaLock(value)).toThrow(`not a schema lock: ${at}`);
});

test('fields are ordered by their keys, and names are valid in GraphQL', () => {
  const shape = { fields: ['b', 'a'].map((key) => ({ key, shape: { scalar: 'Int' } })) };
  const lock = parseSchemaLock(withShape(shape));
  expect(lock.kinds.get('Widget.example.com')?.schema.shape.fields.map(({ key }) => key)).toEqual(['a', 'b']);
  const names = ['Good', '1Bad', '__Bad', 'a b', ''].map((name, index) => [`group${index}`, name]);
  expect([...parseSchemaLock(document([], names)).prefixes.values()]).toEqual(['Good']);
});
