import { expect, test } from 'vitest';
import type { Column } from '../../../src/model/columns/columns.ts';
import type { ModelPath, ReadPath } from '../../../src/model/paths/paths.ts';
import { createPathMeaning } from '../../../src/store/filter/path-meaning.ts';

const path = (key: string, over: Partial<ReadPath> = {}): ReadPath => ({
  text: key,
  from: 'object',
  steps: [{ key, list: false }],
  type: { scalar: 'String' },
  many: false,
  ...over,
});
const cluster = { name: 'north', labels: { env: 'prod', tier: 'a' }, phase: 'SYNCED' };

test('describes paths by their meaning in the model, not by their names', () => {
  const ofText = createPathMeaning([path('size')])(cluster);
  expect(createPathMeaning([path('size', { text: 'Size' })])({ ...cluster, phase: 'UNREACHABLE' })).toBe(ofText);
  expect(createPathMeaning([path('size', { type: { scalar: 'Int' } })])(cluster)).not.toBe(ofText);
  expect(createPathMeaning([path('size', { steps: [{ key: 'size', list: true }] })])(cluster)).not.toBe(ofText);
});

test('distinguishes a column from a field of its name and from other columns', () => {
  const column = (name: string): Column => ({ name, type: { scalar: 'String' }, nullable: false, description: '', get: () => name });
  const computed = (name: string): ModelPath => ({ ...path('x'), from: 'column', column: column(name), steps: [] });
  const meanings = [{ ...path('phase'), steps: [] }, computed('phase'), computed('ready')].map((one) => createPathMeaning([one])(cluster));
  expect(new Set(meanings).size).toBe(3);
});

test('contains the named values of the cluster, and no others', () => {
  const steps = [
    { key: 'labels', list: false },
    { key: 'env', list: false },
  ];
  const meaning = createPathMeaning([path('metadata'), path('cluster.labels.env', { from: 'cluster', steps })]);
  const labelled = (labels: Readonly<Record<string, string>>) => meaning({ ...cluster, labels });
  expect(labelled({ env: 'prod' })).toBe(meaning(cluster));
  expect(labelled({ env: 'test', tier: 'a' })).not.toBe(meaning(cluster));
  expect(labelled({})).not.toBe(meaning(cluster));
});
