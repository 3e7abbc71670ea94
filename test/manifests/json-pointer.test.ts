import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePointer, printPointer, valueAtKeys, withValueAtKeys } from '../../src/manifests/json-pointer.ts';
import { deepFreeze } from '../support/store/store-objects.ts';

test.each<[string, readonly string[] | undefined]>([
  ['', []],
  ['/', ['']],
  ['/a/b', ['a', 'b']],
  ['/a~1b/m~0n', ['a/b', 'm~n']],
  ['/~01', ['~1']],
  ['/a//b', ['a', '', 'b']],
  ['a', undefined],
  ['/~2', undefined],
  ['/~', undefined],
])('%j is read', (text, keys) => {
  expect(parsePointer(text)).toEqual(keys);
});

test('a printed pointer is parsed as the same keys', () => {
  const key = fc.oneof(fc.string(), fc.constantFrom('~', '/', '~1', '~0', '', '0'));
  fc.assert(fc.property(fc.array(key), (keys) => void expect(parsePointer(printPointer(keys))).toEqual(keys)));
});

const document = deepFreeze({ a: [{ b: 1 }, null], c: { d: 'x' } });

test.each<[readonly string[], unknown]>([
  [[], document],
  [['a', '0', 'b'], 1],
  [['a', '1'], null],
  [['a', '2'], undefined],
  [['a', '00'], undefined],
  [['a', '-'], undefined],
  [['a', 'length'], undefined],
  [['c', 'd', '0'], undefined],
  [['c', 'toString'], undefined],
])('%j is found', (keys, expected) => {
  expect(valueAtKeys(document, keys)).toEqual(expected);
});

test('a value is set in a copy that shares everything outside the path', () => {
  const changed = withValueAtKeys(document, ['a', '0', 'e'], 2);
  expect(changed).toEqual({ a: [{ b: 1, e: 2 }, null], c: { d: 'x' } });
  expect((changed as typeof document).c).toBe(document.c);
});

test.each([[['a', '7']], [['x', 'y']], [['c', 'd', 'e']]])('%j leads to no value, and changes nothing', (keys) => {
  expect(withValueAtKeys(document, keys, 1)).toEqual(document);
});
