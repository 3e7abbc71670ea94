import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resourceSpelling, schemaSpelling } from '../../../src/core/json/enum-spelling.ts';

test.each([
  ['ServerSideApply', 'SERVER_SIDE_APPLY'],
  ['CreateOnly', 'CREATE_ONLY'],
  ['Abort', 'ABORT'],
  ['NotIn', 'NOT_IN'],
  ['DoesNotExist', 'DOES_NOT_EXIST'],
  ['PreferNoSchedule', 'PREFER_NO_SCHEDULE'],
  ['PendingDeletion', 'PENDING_DELETION'],
  ['ApiMissing', 'API_MISSING'],
])('%s is %s in the schema, and back', (resource, schema) => {
  expect(schemaSpelling(resource)).toBe(schema);
  expect(resourceSpelling(schema)).toBe(resource);
});

test('a word in lower case becomes upper case', () => {
  expect(schemaSpelling('region')).toBe('REGION');
});

test('every enum value of the schema survives the conversion to a resource and back', () => {
  // No value has a word of one letter, because it could not be separated from the next word.
  const words = fc.array(fc.stringMatching(/^[A-Z][A-Z0-9]{1,7}$/), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(words, (parts) => {
      const value = parts.join('_');
      expect(schemaSpelling(resourceSpelling(value))).toBe(value);
    }),
  );
});
