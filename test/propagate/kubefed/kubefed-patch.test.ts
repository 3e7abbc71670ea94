import { describe, expect, test } from 'vitest';
import { applyJsonPatch } from '../../../src/manifests/json-patch.ts';
import type { JsonPatchOperation } from '../../../src/manifests/json-patch-definition.ts';
import { standardPatchPath } from '../../../src/manifests/json-pointer.ts';
import { asStandardOperation } from '../../../src/propagate/kubefed/kubefed-patch.ts';

const document = { spec: { args: ['a', 'b'], empty: null } };
const patched = (...operations: readonly JsonPatchOperation[]) => {
  const result = applyJsonPatch(document, operations, asStandardOperation);
  return result.result === 'patched' ? JSON.parse(JSON.stringify(result.document)).spec : result.pointer;
};

describe('a patch with the leniency of KubeFed', () => {
  test.each<[string, JsonPatchOperation, unknown]>([
    ['adds the missing leaf of a replace', { op: 'replace', path: '/spec/new', value: 1 }, { ...document.spec, new: 1 }],
    ['refuses a replace below a missing parent', { op: 'replace', path: '/spec/new/leaf', value: 1 }, '/spec/new/leaf'],
    ['refuses a replace below null', { op: 'replace', path: '/spec/empty/leaf', value: 1 }, '/spec/empty/leaf'],
    ['refuses a replace beyond the end of a list', { op: 'replace', path: '/spec/args/2', value: 1 }, '/spec/args/2'],
    ['counts a negative index from the end', { op: 'remove', path: '/spec/args/-2' }, { ...document.spec, args: ['b'] }],
    ['refuses a negative index before the beginning', { op: 'remove', path: '/spec/args/-3' }, '/spec/args/-1'],
    ['reads an index with leading zeros', { op: 'remove', path: '/spec/args/01' }, { ...document.spec, args: ['a'] }],
    ['refuses a test of a missing leaf with a value', { op: 'test', path: '/spec/new', value: 1 }, '/spec/new'],
    ['refuses the removal of a missing leaf', { op: 'remove', path: '/spec/new' }, '/spec/new'],
  ])('%s', (_, operation, expected) => expect(patched(operation)).toEqual(expected));

  test('sees the result of the operations before', () => {
    const operations: readonly JsonPatchOperation[] = [
      { op: 'replace', path: '/spec/labels', value: {} },
      { op: 'replace', path: '/spec/labels/a~1b', value: 'x' },
    ];
    expect(patched(...operations)).toEqual({ ...document.spec, labels: { 'a/b': 'x' } });
  });
});

test.each([
  ['/data/k~v', '/data/k~0v'],
  ['/data/a~1b~0c~', '/data/a~1b~0c~0'],
  ['spec/replicas', '/replicas'],
  ['x/data/k', '/data/k'],
  ['spec.replicas', 'spec.replicas'],
  ['', ''],
])('reads the path %j as %j', (path, pointer) => {
  expect(standardPatchPath(path)).toBe(pointer);
});
