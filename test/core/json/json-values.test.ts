import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareOrderKeys,
  equalJson,
  type OrderKey,
  orderKeyOf,
  parseDuration,
  parseInstant,
  parseOrderKey,
  printOrderKey,
  type ValueType,
} from '../../../src/core/json/json-values.ts';
import { type Json, parseJsonExactly } from '../../../src/core/json.ts';

const big = (digits: string): Json => parseJsonExactly(digits);

test.each<[ValueType, Json, Json]>([
  ['String', 'a', 'b'],
  ['String', 'Z', 'a'],
  ['String', 'a', 'aa'],
  ['String', '10', '9'],
  ['Int', 9, 10],
  ['Int', -2, -1],
  ['Int64', 9_007_199_254_740_992, big('9007199254740993')],
  ['Int64', big('9007199254740993'), big('9007199254740994')],
  ['Int64', big('9007199254740993'), '9007199254740994'],
  ['Int64', big('-9223372036854775808'), 0],
  ['Float', 0.1, 0.2],
  ['DateTime', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'],
  ['DateTime', '2026-01-01T01:00:00+02:00', '2026-01-01T00:00:00Z'],
  ['DateTime', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000001Z'],
  ['DateTime', '2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00.000002Z'],
  ['DateTime', '2025-12-31T23:59:59.999999Z', '2026-01-01T00:00:00Z'],
  ['DateTime', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z'],
  ['Quantity', '999m', '1'],
  ['Quantity', 1, '1Ki'],
  ['Duration', '59s', '1m'],
  ['Duration', '90s', '1h30m'],
  ['IntOrString', 80, '25%'],
  ['Boolean', false, true],
  ['JSON', true, 0],
  ['JSON', 2, '1'],
  ['JSON', 'z', [1]],
  ['JSON', [2], { a: 1 }],
  ['DateTime', '2026-01-01T00:00:00Z', 'rubbish'],
])('as %s, %j comes before %j', (type, less, greater) => {
  expect(Math.sign(compareOrderKeys(keyOf(less, type), keyOf(greater, type)))).toBe(-1);
  expect(Math.sign(compareOrderKeys(keyOf(greater, type), keyOf(less, type)))).toBe(1);
});

test.each<[ValueType, Json, Json]>([
  ['DateTime', '2026-01-01T01:00:00+01:00', '2026-01-01T00:00:00Z'],
  ['DateTime', '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500000Z'],
  ['Quantity', '1Gi', '1073741824'],
  ['Quantity', 0.25, '250m'],
  ['Duration', '1h30m', '90m0s'],
  ['Int64', 7, '7'],
  ['Int64', big('9007199254740993'), '9007199254740993'],
  ['JSON', [1], [2]],
  ['JSON', {}, { a: 1 }],
])('as %s, %j has the same order as %j', (type, one, other) => {
  expect(compareOrderKeys(keyOf(one, type), keyOf(other, type))).toBe(0);
});

test.each([
  '',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T24:00:01Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01t00:00:00z',
  'now',
])('%j is no instant', (text) => {
  expect(parseInstant(text)).toBeUndefined();
});

test('February has 29 days in leap years only', () => {
  expect(parseInstant('2024-02-29T00:00:00Z')).toBeDefined();
  expect(parseInstant('2026-02-29T00:00:00Z')).toBeUndefined();
});

test.each([
  ['0', 0n],
  ['1.5h', 5_400_000_000_000n],
  ['-2m', -120_000_000_000n],
  ['1h0m0.000000001s', 3_600_000_000_001n],
  ['1µs', 1_000n],
  ['.5s', 500_000_000n],
  ['', undefined],
  ['5', undefined],
  ['1d', undefined],
  ['s', undefined],
])('the duration %j has %s nanoseconds', (text, nanoseconds) => {
  expect(parseDuration(text)).toBe(nanoseconds);
});

const deep = (levels: number): Json => JSON.parse(`${'[{"a":'.repeat(levels)}1${'}]'.repeat(levels)}`) as Json;

test('compares structure, not the order of keys, to any depth', () => {
  expect(equalJson({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBe(true);
  expect(equalJson({ a: 1 }, { a: 1, b: undefined })).toBe(false);
  expect(equalJson([1, 2], [2, 1])).toBe(false);
  expect(equalJson([], {})).toBe(false);
  expect(equalJson({ length: 0 }, [])).toBe(false);
  expect(equalJson(null, undefined)).toBe(false);
  expect(equalJson(JSON.parse('{"__proto__":{}}') as Json, {})).toBe(false);
  expect(equalJson({}, JSON.parse('{"__proto__":{}}') as Json)).toBe(false);
  expect(equalJson(JSON.parse('{"__proto__":{"a":1}}') as Json, JSON.parse('{"__proto__":{"a":1}}') as Json)).toBe(true);
  expect(equalJson(deep(5_000), deep(5_000))).toBe(true);
  expect(equalJson(deep(5_000), deep(4_999))).toBe(false);
});

test('knows exact integers from others, and from objects that look like them', () => {
  expect(equalJson(big('9007199254740993'), big('9007199254740993'))).toBe(true);
  expect(equalJson(big('9007199254740993'), big('9007199254740995'))).toBe(false);
  expect(equalJson(big('9007199254740992'), 9_007_199_254_740_992)).toBe(true);
  expect(equalJson(big('9007199254740993'), 9_007_199_254_740_992)).toBe(false);
  expect(equalJson(big('9007199254740993'), { rawJSON: '9007199254740993' })).toBe(false);
});

const anyKey = fc
  .tuple(
    fc.oneof(
      fc.jsonValue().map((value) => value as Json),
      fc.constantFrom<Json>(
        '1Gi',
        '250m',
        '2026-01-01T00:00:00Z',
        '2026-01-01T02:00:00.000001+02:00',
        '1h30m',
        'x',
        '25%',
        big('9007199254740993'),
      ),
    ),
    fc.constantFrom<ValueType>('String', 'Int64', 'Float', 'DateTime', 'Quantity', 'Duration', 'IntOrString', 'JSON'),
  )
  .map(([value, type]) => orderKeyOf(value, type))
  .filter((key) => key !== undefined);

test('P3: the order of mixed values is total', () => {
  fc.assert(
    fc.property(anyKey, anyKey, anyKey, (a, b, c) => {
      expect(Math.sign(compareOrderKeys(a, b))).toBe(0 - Math.sign(compareOrderKeys(b, a)));
      if (compareOrderKeys(a, b) <= 0 && compareOrderKeys(b, c) <= 0) expect(compareOrderKeys(a, c)).toBeLessThanOrEqual(0);
      if (compareOrderKeys(a, b) === 0) expect(Math.sign(compareOrderKeys(a, c))).toBe(Math.sign(compareOrderKeys(b, c)));
    }),
  );
});

test('a key survives being printed', () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      const again = parseOrderKey(JSON.parse(JSON.stringify(printOrderKey(key))) as Json);
      if (again === undefined) throw new Error('lost');
      expect(compareOrderKeys(again, key)).toBe(0);
      expect(again.type).toBe(key.type);
    }),
  );
});

test.each<[Json]>([
  [null],
  [{}],
  ['x'],
  [[]],
  [['number', 'x']],
  [['boolean', 1]],
  [['instant', 1]],
  [['quantity', 'x']],
  [['magic', 1]],
  [['text', 1]],
])('%j is no printed key', (json) => {
  expect(parseOrderKey(json)).toBeUndefined();
});

function keyOf(value: Json, type: ValueType): OrderKey {
  const key = orderKeyOf(value, type);
  if (key === undefined) throw new Error('no key');
  return key;
}
