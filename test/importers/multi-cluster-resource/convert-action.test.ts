import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { convertAction } from '../../../src/importers/multi-cluster-resource/convert-action.ts';

test.each<[readonly Json[] | null, Json | undefined]>([
  [null, undefined],
  [[], undefined],
  [[null], undefined],
  [[0], 0],
  [[''], ''],
  [[false], false],
  [['a', null], undefined],
  [['=', 'k='], { '': '', k: '' }],
  [['k=v', null], { k: 'v' }],
])('converts %j to %j', (value, expected) => {
  const { jsonPatchOperation } = convertAction({ action: { path: '/x', op: 'add', value } });
  expect(jsonPatchOperation.value).toEqual(expected);
  expect('value' in jsonPatchOperation).toBe(expected !== undefined);
});
