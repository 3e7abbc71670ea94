import { GraphQLError, GraphQLString } from 'graphql';
import { expect, test } from 'vitest';
import { InvariantError, MusterError } from '../../src/core/errors.ts';
import { loggableError, withoutQuotedValues } from '../../src/core/loggable-error.ts';

const canary = 'C4NARY';

function thrownBy(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected it to throw an error');
}

const failing: readonly [string, () => unknown][] = [
  ['JSON', () => JSON.parse(`${canary} is no JSON`)],
  ['a search in a text', () => canary in (canary as unknown as object)],
  ['a property of a text', () => Object.assign(canary, [1]) && Object.defineProperty(canary as never, '0', {})],
  ['a BigInt', () => BigInt(canary)],
  ['entries', () => Object.fromEntries([canary as never])],
  ['a map', () => new Map([canary as never])],
  ['a callback', () => [1].map(canary as never)],
  ['a callback in small letters', () => [1].map(canary.toLowerCase() as never)],
  ['a URL', () => new URL(canary)],
  ['a Buffer', () => Buffer.from({ length: canary } as never, canary as never)],
  ['a leaf of graphql-js', () => GraphQLString.coerceOutputValue({ password: canary })],
  [
    'a wrapped leaf',
    () => {
      throw new GraphQLError('wrapped', { originalError: thrownBy(() => GraphQLString.coerceOutputValue({ password: canary })) });
    },
  ],
  [
    'a cause',
    () => {
      throw new MusterError('BAD_INPUT', 'expected JSON', { cause: thrownBy(() => JSON.parse(canary)) });
    },
  ],
  [
    'another error',
    () => {
      throw Object.assign(new TypeError(canary), { body: canary, code: canary });
    },
  ],
];

test.each(failing)('the log of an error contains no values: %s', (_what, action) => {
  let error: unknown;
  try {
    action();
    return;
  } catch (thrown) {
    error = thrown;
  }
  const safe = loggableError(error);
  expect(JSON.stringify([safe, safe.message, safe.stack, String(safe.cause), Object.entries(safe)])).not.toMatch(new RegExp(canary, 'i'));
  expect(safe.stack).toMatch(/\n {4}at .*loggable-error\.test/);
});

test('a thrown value that is not an error is not shown', () => {
  expect(loggableError({ password: canary }).message).toBe('expected an error to be thrown, got: object');
});

test('messages of Muster and those about code stay', () => {
  for (const error of [new InvariantError('a bug'), new MusterError('GONE', 'gone'), new Error('ours')])
    expect(loggableError(error)).toBe(error);
  const none = undefined as unknown as { readonly metadata: { readonly name: string } };
  expect(loggableError(thrownBy(() => none.metadata)).message).toBe("Cannot read properties of undefined (reading 'metadata')");
  const field = new GraphQLError('Cannot return null for non-nullable field Pod.kind.');
  expect(loggableError(field).message).toBe(field.message);
});

test.each([
  ['String cannot represent a non string value: { p: "C4NARY" }', 'String cannot represent a non string value: an object.'],
  ['Int cannot represent non-integer value: "C4NARY"', 'Int cannot represent non-integer value: a text.'],
  ['Int cannot represent non 32-bit signed integer value: 3000000000', 'Int cannot represent non 32-bit signed integer value: 3000000000'],
  ['Int cannot represent non-integer value: { rawJSON: "9007199254740993" }', 'Int cannot represent non-integer value: 9007199254740993'],
  ['String cannot represent value: [1, "C4NARY"]', 'String cannot represent value: a list.'],
  [
    'Expected value of type "Manifest" to be an object. Found: "C4NARY".',
    'Expected value of type "Manifest" to be an object. Found: a text.',
  ],
  ['Cannot query field "colour" on type "Pod".', 'Cannot query field "colour" on type "Pod".'],
])('%s', (message, expected) => {
  expect(withoutQuotedValues(message)).toBe(expected);
});
