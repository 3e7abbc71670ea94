import { expect, test } from 'vitest';
import { columnsOfDefinitions, type DefinedColumn, type Definition } from '../../../src/core/columns/custom-columns.ts';
import type { ListedItem } from '../../../src/core/columns/printed-column.ts';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const size = { name: 'Size', type: 'integer', jsonPath: '.spec.size' };
const phase = { name: 'Phase', type: 'string', jsonPath: '.status.phase', priority: 1 };

const definition = (cluster: string, versions: Readonly<Record<string, readonly DefinedColumn[] | null>>): Definition => ({
  cluster: { name: cluster },
  spec: { versions: Object.entries(versions).map(([name, additionalPrinterColumns]) => ({ name, additionalPrinterColumns })) },
});
const widget = (cluster: string, version = 'v1') => {
  const metadata = { name: 'one', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    apiVersion: `example.com/${version}`,
    kind: 'Widget',
    cluster: { name: cluster },
    metadata,
    object: { metadata, spec: { size: 3 }, status: { phase: 'Up' } },
  };
};
const headers = (...definitions: readonly Definition[]) =>
  columnsOfDefinitions(definitions).map(
    ({ header, isWide, fields }) => `${header}${isWide === true ? ' wide' : ''}${fields === '' ? '' : ` of ${fields}`}`,
  );
const cells = (item: ListedItem, ...definitions: readonly Definition[]) =>
  columnsOfDefinitions(definitions).map((column) => column.cell(item, { nowMs, isMixed: false }));

test('prints the columns of a definition after NAME', () => {
  expect(headers(definition('north', { v1: [size, phase, age] }))).toEqual(['NAME', 'SIZE of object', 'PHASE wide of object', 'AGE']);
  expect(cells(widget('north'), definition('north', { v1: [size, phase, age] }))).toEqual(['one', '3', 'Up', '60m']);
});

test.each<[which: string, definitions: readonly Definition[]]>([
  ['no definition', []],
  ['no columns', [definition('north', { v1: [] })]],
  ['nothing said of columns', [definition('north', { v1: null })]],
])('prints NAME and AGE for %s, without selecting whole objects', (_, definitions) => {
  expect(headers(...definitions)).toEqual(['NAME', 'AGE']);
  expect(cells(widget('north'), ...definitions)).toEqual(['one', '60m']);
});

test('prints the cells of each cluster by its own definition, and nothing in columns of other clusters', () => {
  const both = [
    definition('north', { v1: [size] }),
    definition('south', {
      v1: [
        { ...phase, priority: 0 },
        { ...size, jsonPath: '.status.phase', type: 'string' },
      ],
    }),
  ];
  expect(headers(...both)).toEqual(['NAME', 'SIZE of object', 'PHASE of object']);
  expect(cells(widget('north'), ...both)).toEqual(['one', '3', undefined]);
  expect(cells(widget('south'), ...both)).toEqual(['one', 'Up', 'Up']);
});

test('chooses the columns by the version in which the object was read', () => {
  const versions = definition('north', { v1: [size], v2: [age] });
  expect(cells(widget('north', 'v1'), versions)).toEqual(['one', undefined, '3']);
  expect(cells(widget('north', 'v2'), versions)).toEqual(['one', '60m', undefined]);
});

test('takes order and priority from the version that is read: the best served one', () => {
  const wideSize = { ...size, priority: 1 };
  const versions = definition('north', { v1beta1: [size, phase, age], v1: [age, { ...phase, priority: 0 }, wideSize], v2: [phase] });
  const served = (versions.spec?.versions ?? []).map((version) => ({ ...version, served: version.name !== 'v2' }));
  const read = { ...versions, spec: { versions: served } };
  expect(headers(read)).toEqual(['NAME', 'AGE', 'PHASE of object', 'SIZE wide of object']);
  expect(cells(widget('north', 'v1'), read)).toEqual(['one', '60m', 'Up', '3']);
});

test('keeps two columns whose names are equal or differ only in case', () => {
  const twice = definition('north', { v1: [size, { ...phase, name: 'size' }, { ...age, name: 'SIZE' }] });
  expect(headers(twice)).toEqual(['NAME', 'SIZE of object', 'SIZE wide of object', 'SIZE']);
  expect(cells(widget('north'), twice)).toEqual(['one', '3', 'Up', '60m']);
});

test('prints AGE for a cluster whose definition may not be read', () => {
  expect(cells(widget('south'), definition('north', { v1: [size, age] }))).toEqual(['one', undefined, '60m']);
});

test('makes a column wide if all definitions do', () => {
  expect(headers(definition('north', { v1: [phase] }), definition('south', { v1: [{ ...phase, priority: 0 }] }))).toEqual([
    'NAME',
    'PHASE of object',
  ]);
});

test('prints nothing for an invalid path', () => {
  expect(cells(widget('north'), definition('north', { v1: [{ ...size, jsonPath: '..size' }] }))).toEqual(['one', '']);
});
