import fc from 'fast-check';

const keys = fc.constantFrom('a', 'b', 'c', '0', '__proto__', 'constructor', 'rawJSON', 'a long key, longer than most');
const leaves = fc.constantFrom(
  'null',
  'true',
  'false',
  '0',
  '-1',
  '1.5',
  '9007199254740993',
  '9223372036854775807',
  '1e300',
  '""',
  '"a"',
  '"a text that is not short"',
  '"größe"',
);

/**
 * JSON text with few different keys and values, so that two random texts have much in common. It includes names that are special in
 * JavaScript, and exact integers.
 */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    leaves,
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(keys, tie('value')), { maxLength: 4, selector: ([key]) => key })
      .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
  ),
})).value;
