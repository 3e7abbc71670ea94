import { expect, test } from 'vitest';
import { maxDepth, readYamlDocuments } from '../../src/manifests/yaml-documents.ts';

/** A comment makes the same text YAML and no JSON. */
const asYaml = (text: string) => readYamlDocuments(`${text}\n# YAML`);

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each<readonly [string, string]>([
  ['an object', '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b: c # d","list":[1,-2.5,1e3,true,null,"",{}]}}'],
  ['spaces and line breaks', '\n  {\n  "a" :\n [ 1 ,\r\n 2 ] }  \n'],
  ['tabs', '{\n\t"a":\t1,\n\t"b": [\n\t\t2\n\t]\n}'],
  ['escapes', String.raw`{"a\"b:":"\u00e9\n\\\\","\\":"\\\"\": \/"}`],
  ['keys that look alike', '{"a":{"a":1},"b":[{"a":1},{"a":2}]}'],
  ['a key of the prototype', '{"__proto__":{"a":1},"constructor":2}'],
  ['a key that merges', '{"<<":{"a":1},"b":2}'],
  ['a long key', `{"${'k'.repeat(3_000)}":1}`],
  ['duplicate keys', '{"a":1,"a":2}'],
  ['duplicate keys in two spellings', String.raw`{"a":1,"\u0061":2}`],
  ['a lone surrogate', String.raw`{"a":"\ud800"}`],
  ['a key with a lone surrogate', String.raw`{"\ud800":1}`],
  ['a control character in an escape', String.raw`{"a":"\u0001"}`],
  ['integers of 64 bits', '{"a":9223372036854775807,"b":9007199254740993}'],
  ['an integer that is too long', '{"a":92233720368547758070}'],
  ['numbers that are too large or too small', '{"a":1e400,"b":1e-400,"c":-0,"d":-0.0}'],
  ['YAML in braces', "{a: b, 'c': [d]}"],
  ['text after the object', '{"a":1} {"b":2}'],
  ['long integers as texts and fractions', '{"a":"1234567890123456789","b":0.12345678901234567,"c":1e20}'],
  ...[maxDepth - 60, maxDepth - 2, maxDepth - 1, maxDepth, maxDepth + 1].map((levels) => [`${levels} levels`, nested(levels)] as const),
])('reads %s as YAML does', (_, text) => {
  expect(JSON.stringify(readYamlDocuments(text))).toBe(JSON.stringify(asYaml(text)));
});

test('100k levels are refused', () => {
  expect(readYamlDocuments(nested(100_000))).toMatchObject({ result: 'refused' });
});
