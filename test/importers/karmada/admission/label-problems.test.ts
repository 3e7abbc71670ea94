import { expect, test } from 'vitest';
import { labelKeyProblems, labelValueProblems } from '../../../../src/importers/karmada/admission/label-problems.ts';

// The numbers are those of the messages of IsQualifiedName and IsValidLabelValue in k8s.io/apimachinery/pkg/util/validation.
test.each<[string, number]>([
  ['app', 0],
  ['example.com/app', 0],
  ['', 2],
  ['-', 1],
  [`-${'a'.repeat(63)}`, 2],
  ['a'.repeat(64), 1],
  ['/app', 1],
  ['example.com/', 2],
  ['Example.com/app', 1],
  [`${'a'.repeat(254)}/app`, 1],
  [`${'A'.repeat(254)}/app`, 2],
  ['a/b/c', 1],
  ['/', 3],
])('the key %j breaks %i rules', (key, count) => {
  expect(labelKeyProblems(key, 'spec')).toHaveLength(count);
});

test.each<[string, number]>([
  ['', 0],
  ['a.b', 0],
  ['-', 1],
  ['a'.repeat(64), 1],
  [`${'a'.repeat(63)}-`, 2],
])('the value %j breaks %i rules', (value, count) => {
  expect(labelValueProblems(value, 'app', 'spec')).toHaveLength(count);
});
