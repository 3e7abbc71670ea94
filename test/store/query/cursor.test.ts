import { expect, test } from 'vitest';
import { parseJsonExactly } from '../../../src/core/json.ts';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { canonicalFilter, type OrderPosition, parseOrderPosition, printOrderPosition } from '../../../src/store/query/cursor.ts';

const position: OrderPosition = {
  keys: [
    { type: 'text', value: 'größe\u0000"' },
    undefined,
    { type: 'number', value: 9_007_199_254_740_993n },
    { type: 'instant', value: { ms: -1, nanos: 999_999 } },
  ],
  namespace: 'a',
  name: '__proto__',
  cluster: 'north',
  kind: 'Pod',
};

test('a printed position can be parsed again', () => {
  expect(parseOrderPosition(printOrderPosition(position))).toEqual(position);
  expect(parseOrderPosition(printOrderPosition({ ...position, keys: [] }))).toEqual({ ...position, keys: [] });
});

test.each([
  '',
  'x',
  'null',
  '{}',
  '[]',
  '["a","b","c","d"]',
  '["a","b","c",1,[]]',
  '["a","b","c","d",{}]',
  '["a","b","c","d",[1]]',
  '["a","b","c","d",[["text"]]]',
  '["a","b","c","d",[],1]',
])('%j is no position', (text) => {
  expect(parseOrderPosition(new TextEncoder().encode(text))).toBeUndefined();
});

test('bytes that are not text are no position', () => {
  expect(parseOrderPosition(new Uint8Array([0xff, 0xfe]))).toBeUndefined();
});

test('lists with one meaning give one text', () => {
  const one = canonicalFilter({
    kinds: ['Pod', 'Node'],
    clusters: ['b', 'a', 'a'],
    namespaces: ['y', 'x'],
    selector: parseLabelSelector('b,a=1'),
    where: { path: 'spec.x', eq: 1, ne: null, and: [{ not: { path: 'a', in: ['p', 'q'] } }] },
    search: null,
    orderBy: [{ path: 'a' }],
  });
  const other = canonicalFilter({
    kinds: ['Node', 'Pod', 'Pod'],
    clusters: ['a', 'b'],
    namespaces: ['x', 'y', 'x'],
    selector: parseLabelSelector('a in (1), b'),
    where: { and: [{ not: { in: ['p', 'q'], path: 'a' } }], eq: 1, path: 'spec.x', or: undefined },
    search: '',
    orderBy: [{ path: 'a', direction: 'ASC' }],
  });
  expect(one).toBe(other);
});

test('lists with different meanings give different texts', () => {
  const questions = [
    {},
    { clusters: [] },
    { clusters: ['a'] },
    { namespaces: [] },
    { namespaces: ['a'] },
    { selector: parseLabelSelector('a') },
    { selector: parseLabelSelector('!a') },
    { where: {} },
    { where: { path: 'a', eq: 1 } },
    { where: { path: 'a', eq: '1' } },
    { where: { path: 'a', eq: parseJsonExactly('9007199254740993') } },
    { where: { path: 'a', eq: parseJsonExactly('9007199254740995') } },
    { where: { path: 'a', ne: 1 } },
    { where: { and: [{ path: 'a', eq: 1 }] } },
    { where: { or: [{ path: 'a', eq: 1 }] } },
    { where: { not: { path: 'a', eq: 1 } } },
    { search: 'a' },
    { orderBy: [{ path: 'a' }] },
    { orderBy: [{ path: 'a', direction: 'DESC' as const }] },
    { orderBy: [{ path: 'a' }, { path: 'b' }] },
    { orderBy: [{ path: 'b' }, { path: 'a' }] },
  ];
  const texts = questions.map((question) => canonicalFilter({ kinds: ['Pod'], ...question }));
  expect(new Set([...texts, canonicalFilter({ kinds: ['Node'] })]).size).toBe(questions.length + 1);
});
