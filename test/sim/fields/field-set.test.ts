import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  differenceOf,
  emptyFieldSet,
  type FieldPath,
  fieldSetFrom,
  intersectionOf,
  isEmptySet,
  isSameSet,
  outsideOf,
  parseFieldSet,
  pathsOf,
  pathText,
  printFieldSet,
  unionOf,
} from '../../../src/sim/fields/field-set.ts';

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:"y"');
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

const textOf = (given: FieldPath) => given.join(' ');
const textsOf = (given: readonly FieldPath[]) => new Set(given.map(textOf));

describe('a set of fields', () => {
  test('behaves as a set of paths: union, intersection and difference', () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [fieldSetFrom(left), fieldSetFrom(right)];
        const [inLeft, inRight] = [textsOf(left), textsOf(right)];
        expect(textsOf(pathsOf(unionOf(a, b)))).toEqual(inLeft.union(inRight));
        expect(textsOf(pathsOf(intersectionOf(a, b)))).toEqual(inLeft.intersection(inRight));
        expect(textsOf(pathsOf(differenceOf(a, b)))).toEqual(inLeft.difference(inRight));
        const isBelow = (one: FieldPath) => right.some((other) => textOf(one.slice(0, other.length)) === textOf(other));
        expect(textsOf(pathsOf(outsideOf(a, b)))).toEqual(textsOf(left.filter((one) => !isBelow(one))));
        expect(isSameSet(a, b)).toBe(inLeft.symmetricDifference(inRight).size === 0);
        expect(isEmptySet(differenceOf(a, a))).toBe(true);
      }),
    );
  });

  test('survives printing as fieldsV1 and parsing', () => {
    fc.assert(
      fc.property(paths, (given) => {
        const set = fieldSetFrom(given);
        const parsed = parseFieldSet(JSON.parse(JSON.stringify(printFieldSet(set))));
        expect(parsed !== undefined && isSameSet(parsed, set)).toBe(true);
      }),
    );
  });

  test.each([
    ['a text', 'f:a'],
    ['a list', []],
    ['a name without its sort', { data: {} }],
    ['one deeper down', { 'f:data': { k: {} } }],
    ['no object below', { 'f:data': 1 }],
  ])('is undefined for %s', (_what, value) => {
    expect(parseFieldSet(value)).toBeUndefined();
  });

  test('lists the fields of an object before deeper ones', () => {
    const set = fieldSetFrom([
      ['f:spec', 'f:ports', 'k:{"port":80}'],
      ['f:spec', 'f:ports', 'k:{"port":80}', 'f:name'],
      ['f:spec', 'f:selector'],
      ['f:kind'],
    ]);
    expect(pathsOf(set).map(pathText)).toEqual(['.kind', '.spec.selector', '.spec.ports[port=80]', '.spec.ports[port=80].name']);
    expect(printFieldSet(set)).toEqual({
      'f:kind': {},
      'f:spec': { 'f:ports': { 'k:{"port":80}': { '.': {}, 'f:name': {} } }, 'f:selector': {} },
    });
    expect(printFieldSet(emptyFieldSet)).toEqual({});
  });

  test.each([
    [['f:metadata', 'f:labels', 'f:example.com/name'], '.metadata.labels.example.com/name'],
    [['f:metadata', 'f:finalizers', 'v:"a/b"'], '.metadata.finalizers[="a/b"]'],
    [['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}'], '.spec.ports[port=80,protocol="TCP"]'],
    [['f:list', 'i:2'], '.list[2]'],
  ])('prints the path %j', (given, spelled) => {
    expect(pathText(given)).toBe(spelled);
  });
});
