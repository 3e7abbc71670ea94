import { buildSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { documentLimits, limitRules } from '../../../src/graph/context/limits.ts';

const schema = buildSchema('type Query { a: A b: Int } type A { a: A b: Int }');

function refusals(source: string): readonly string[] {
  const errors = validate(schema, parse(source), limitRules);
  for (const { extensions } of errors) expect(extensions).toEqual({ code: 'TOO_COSTLY' });
  return errors.map(({ message }) => message);
}

const nested = (levels: number, inside = 'b') => `${'a { '.repeat(levels - 1)}${inside}${' }'.repeat(levels - 1)}`;
const many = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, index) => part(index)).join(' ');

test('12 levels of fields pass, 13 do not', () => {
  expect(refusals(`{ ${nested(12)} }`)).toEqual([]);
  expect(refusals(`{ ${nested(13)} }`)).toEqual(['expected at most 12 levels of fields, got 13']);
});

test('fragments are no levels, and their fields count where they are spread', () => {
  expect(refusals(`{ ...on Query { ... { ${nested(12)} } } }`)).toEqual([]);
  expect(refusals(`{ a { ...F } } fragment F on A { ...G } fragment G on A { ${nested(11)} }`)).toEqual([]);
  expect(refusals(`{ a { ...F } } fragment F on A { ...G } fragment G on A { ${nested(12)} }`)).toEqual([
    'expected at most 12 levels of fields, got 13',
  ]);
});

test('30 aliases pass, 31 do not, also where a fragment multiplies them', () => {
  expect(refusals(`{ a { ${many(30, (i) => `x${i}: b`)} } }`)).toEqual([]);
  expect(refusals(`{ a { ${many(31, (i) => `x${i}: b`)} } }`)).toEqual(['expected at most 30 aliases, got 31']);
  expect(
    refusals('{ a { a { ...F } ...F a { a { ...F } } } } fragment F on A { x: b y: b z: b a { w: b v: b u: b t: b s: b r: b q: b p: b } }'),
  ).toEqual(['expected at most 30 aliases, got 33']);
});

test('50 directives pass and 51 do not, anywhere in the document', () => {
  const skips = (count: number) => '@include(if: true) '.repeat(count);
  expect(
    refusals(
      `query ($x: Int ${skips(10)}) ${skips(10)} { b ${skips(10)} ...F ${skips(10)} } fragment F on Query ${skips(9)} { b ${skips(1)} }`,
    ),
  ).toEqual([]);
  expect(
    refusals(
      `query ($x: Int ${skips(10)}) ${skips(10)} { b ${skips(10)} ...F ${skips(10)} } fragment F on Query ${skips(10)} { b ${skips(1)} }`,
    ),
  ).toEqual(['expected at most 50 directives, got 51']);
});

test('10 fields at the root pass, 11 do not; the same one twice is one, __typename is none', () => {
  expect(refusals(`{ __typename b ${many(9, (i) => `x${i}: b`)} b }`)).toEqual([]);
  expect(refusals(`{ b ${many(10, (i) => `x${i}: b`)} }`)).toEqual(['expected at most 10 fields at the root, got 11']);
  expect(
    refusals(
      `{ ...F ... { ...F ...G } } fragment F on Query { ${many(6, (i) => `x${i}: b`)} } fragment G on Query { ${many(5, (i) => `y${i}: b`)} }`,
    ),
  ).toEqual(['expected at most 10 fields at the root, got 11']);
});

test('of a mutation 5 fields at the root pass, 6 do not', () => {
  const mutating = buildSchema('type Query { b: Int } type Mutation { b: Int }');
  const refused = (fields: number) =>
    validate(mutating, parse(`mutation { ${many(fields, (i) => `x${i}: b`)} }`), limitRules).map(({ message }) => message);
  expect(refused(5)).toEqual([]);
  expect(refused(6)).toEqual(['expected at most 5 fields at the root, got 6']);
});

test('each operation is checked, and names itself', () => {
  const [error] = validate(schema, parse(`query Small { b } query Large { ${nested(13)} }`), limitRules);
  expect(error?.nodes?.[0]).toMatchObject({ name: { value: 'Large' } });
});

test('a fragment bomb of n = 22 is refused at once', () => {
  const bomb = (field: string) =>
    many(22, (i) => `fragment F${i} on A { ${field}${i}: a { ...F${i + 1} } ${field}_${i}: a { ...F${i + 1} } }`);
  const source = `{ a { ...F0 } } ${bomb('x')} fragment F22 on A { b }`;
  expect(refusals(source)).toEqual(['expected at most 12 levels of fields, got 24', `expected at most 30 aliases, got ${2 ** 23 - 2}`]);
  // A document of this size ends only if each fragment is counted once.
  const large = many(150, (i) => `fragment F${i} on A { ...F${i + 1} x: a { ...F${i + 1} } }`);
  expect(refusals(`{ a { ...F0 } } ${large} fragment F150 on A { b }`)).toHaveLength(2);
});

test('fragments that spread each other end', () => {
  expect(refusals('{ ...F } fragment F on Query { ...G b } fragment G on Query { ...F ...None }')).toEqual([]);
});

test('introspection does not count, because graphql-js bounds its depth', () => {
  expect(refusals(getIntrospectionQuery())).toEqual([]);
  expect(refusals(`{ __schema { ${'types { fields { type { '.repeat(5)} name ${'} } }'.repeat(5)} } }`)).toEqual([]);
  const deep = parse('{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }');
  expect(validate(schema, deep).map(({ message }) => message)).toEqual(['Maximum introspection depth exceeded']);
});

test('rules have different names, because validation caches use them', () => {
  expect(new Set(limitRules.map(({ name }) => name)).size).toBe(limitRules.length);
});

test('2,000 tokens are parsed, more are not', () => {
  const parsing = (fields: number) => () => parse(`{ ${'b '.repeat(fields)} }`, { maxTokens: documentLimits.tokens });
  expect(parsing(1_998)).not.toThrow();
  expect(parsing(1_999)).toThrow(/2000 tokens/);
});
