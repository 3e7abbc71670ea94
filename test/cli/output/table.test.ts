import { expect, test } from 'vitest';
import { createTableColumns, printable, renderTable } from '../../../src/cli/output/table.ts';

test('columns are as wide as their widest cell, three spaces apart, without trailing spaces', () => {
  const rows = [
    ['north', 'shop', 'web-1', '5m'],
    ['south-east', '', 'a-node', ''],
  ];
  expect(renderTable(['CLUSTER', 'NAMESPACE', 'NAME', 'AGE'], rows)).toBe(
    [
      'CLUSTER      NAMESPACE   NAME     AGE\n', //
      'north        shop        web-1    5m\n',
      'south-east               a-node\n',
    ].join(''),
  );
});

test('wide characters take two columns, and combining characters take none', () => {
  const rows = [
    ['東京', 'a'],
    ['👩‍👩‍👧', 'b'],
    ['cafe\u0301', 'c'],
    ['🇩🇪-west', 'd'],
  ];
  expect(renderTable(['CLUSTER', 'NAME'], rows)).toBe(
    [
      'CLUSTER   NAME\n', //
      '東京      a\n',
      '👩‍👩‍👧        b\n',
      'cafe\u0301      c\n',
      '🇩🇪-west   d\n',
    ].join(''),
  );
});

test('prints no header without rows', () => {
  expect(renderTable(['NAME'], [])).toBe('');
});

test('later lines align with earlier ones, without a second header', () => {
  const columns = createTableColumns(['NAME', 'AGE']);
  expect(columns.lines([])).toEqual([]);
  expect(columns.lines([['web-12', '1s']])).toEqual(['NAME     AGE', 'web-12   1s']);
  expect(columns.lines([['api', '2s']])).toEqual(['api      2s']);
  expect(columns.lines([['recommendations', '2s']])).toEqual(['recommendations   2s']);
});

test('colors do not count for the width', () => {
  const lines = createTableColumns(['NAME', 'AGE']).lines([['web', '1s']], (text, { row, column }) =>
    row === 0 && column === 0 ? `<${text}>` : text,
  );
  expect(lines).toEqual(['NAME   AGE', '<web>    1s']);
});

test('terminal control characters are made visible', () => {
  expect(printable('red \x1b[31m\nline two\ttab')).toBe('red ^[[31m line two tab');
  expect(printable('a\x07b\x9bc\u202ed')).toBe('a^Gb?c?d');
  expect(renderTable(['NAME'], [['\x1b]0;title\x07']])).toBe('NAME\n^[]0;title^G\n');
  // Headers of custom kinds come from clusters.
  expect(renderTable(['RE\x1b[31MADY\nX'], [['a']])).toBe('RE^[[31MADY X\na\n');
});

test('spaces that end a header reserve width for later rows', () => {
  const columns = createTableColumns(['EVENT   ', 'NAME']);
  expect([...columns.lines([['ADDED', 'web']]), ...columns.lines([['MODIFIED', 'web']])]).toEqual([
    'EVENT      NAME',
    'ADDED      web',
    'MODIFIED   web',
  ]);
});
