import fc from 'fast-check';
import { expect, test } from 'vitest';
import { equalJson } from '../../src/core/json/json-values.ts';
import { type Json, parseJsonExactly } from '../../src/core/json.ts';
import { applyJsonPatch } from '../../src/manifests/json-patch.ts';
import { patchBetween } from '../../src/manifests/patch-between.ts';
import { jsonText } from '../support/arbitrary-json.ts';

test.each<[Json, Json, Json]>([
  [{ a: 1 }, { a: 1 }, []],
  [
    { a: 1, b: { c: 2 } },
    { b: { c: 3 }, d: null },
    [
      { op: 'remove', path: '/a' },
      { op: 'replace', path: '/b/c', value: 3 },
      { op: 'add', path: '/d', value: null },
    ],
  ],
  [{ 'a/b': [1, { c: 2 }] }, { 'a/b': [1, { c: 3 }] }, [{ op: 'replace', path: '/a~1b/1/c', value: 3 }]],
  [{ a: [1] }, { a: [1, 2] }, [{ op: 'replace', path: '/a', value: [1, 2] }]],
  [{ a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
])('the patch from %j to %j is %j', (before, after, patch) => {
  expect(patchBetween(before, after)).toEqual(patch);
});

test('a patch between two random values makes the second one from the first one', () => {
  fc.assert(
    fc.property(jsonText, jsonText, (one, other) => {
      const [before, after] = [parseJsonExactly(one), parseJsonExactly(other)];
      const patch = patchBetween(before, after);
      // Patches refuse this key.
      if (patch.some(({ path }) => path.includes('__proto__'))) return;
      const patched = applyJsonPatch(before, patch);
      expect(patched.result === 'patched' && equalJson(patched.document, after)).toBe(true);
    }),
  );
});
