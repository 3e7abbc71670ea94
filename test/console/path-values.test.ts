import { expect, test } from 'vitest';
import { compareValues, textOfValue, valueAtPath } from '../../src/console/objects/path-values.ts';
import { parseJsonExactly } from '../../src/core/json.ts';

const pod = parseJsonExactly(
  '{"spec":{"nodeName":"n1","big":9007199254740993,"containers":[{"image":"a"},{"image":"b"},{}]},"data":{"a.b":"x"}}',
);

test.each([
  [['spec', 'nodeName'], 'n1'],
  [['spec', 'containers', 'image'], 'a, b'],
  [['spec', 'big'], '9007199254740993'],
  [['data', 'a.b'], 'x'],
  [['spec', 'absent', 'further'], ''],
  [['spec', 'nodeName', 'further'], ''],
  [['data'], '{"a.b":"x"}'],
])('the text at %j is %s', (path, expected) => {
  expect(textOfValue(valueAtPath(pod, path))).toBe(expected);
});

test('numbers are compared by size, texts by their characters, and absent values come last', () => {
  const values = [undefined, 10, 9, parseJsonExactly('9007199254740993')];
  expect(values.toSorted(compareValues).map(textOfValue)).toEqual(['9', '10', '9007199254740993', '']);
  expect([undefined, 'b', 'a', 'B'].toSorted(compareValues)).toEqual(['B', 'a', 'b', undefined]);
  expect(compareValues(undefined, 'a')).toBeGreaterThan(0);
});
