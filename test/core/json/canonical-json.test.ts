import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, sha256Of, withKeysInOrder } from '../../../src/core/json/canonical-json.ts';
import { equalJson } from '../../../src/core/json/json-values.ts';
import { isJsonObject, type Json, parseJsonExactly } from '../../../src/core/json.ts';
import { jsonText } from '../../support/arbitrary-json.ts';

describe('canonical JSON', () => {
  test.each([
    [
      'keys by UTF-16 code units',
      '{"€":1,"\\r":2,"\ufb33":3,"1":4,"😀":5,"\\u0080":6,"ö":7}',
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
    ['numbers as ECMAScript', '[333333333.33333329, 4.50, 2e-3, 1e-27, -0, 0.0]', '[333333333.3333333,4.5,0.002,1e-27,0,0]'],
    ['escapes only what must be', '"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/"', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [
      'integers beyond a double exactly',
      '[9007199254740993, 9007199254740992, -9007199254740993]',
      '[9007199254740993,9007199254740992,-9007199254740993]',
    ],
    ['nested maps in order, lists as they are', '{"b":[{"z":1,"a":2},[]],"a":{}}', '{"a":{},"b":[{"a":2,"z":1},[]]}'],
  ])('writes %s', (_name, text, expected) => {
    expect(canonicalJson(parseJsonExactly(text))).toBe(expected);
  });

  test('leaves out members that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: null })).toBe('{"a":null}');
  });

  test('gives a double and a raw number that are one integer one text', () => {
    expect(canonicalJson(2 ** 53)).toBe(canonicalJson(parseJsonExactly('9007199254740992')));
    expect(canonicalJson(1e30)).toBe(canonicalJson(parseJsonExactly('1000000000000000019884624838656')));
    expect(canonicalJson(1e30)).not.toBe(canonicalJson(parseJsonExactly('1000000000000000000000000000000')));
  });

  test('prints ordered and unordered maps in the same way', () => {
    for (const odd of ['1e300', '123456789012345680000.0', '9007199254740993', '-0', '1.5']) {
      const ordered = parseJsonExactly(`{"a":${odd},"b":[${odd}]}`);
      expect(canonicalJson(ordered)).toBe(canonicalJson(reversed(ordered)));
    }
    // JavaScript orders integer-like keys by number, not by code units.
    expect(canonicalJson({ 9: 1, 10: 2, a: 3 })).toBe('{"10":2,"9":1,"a":3}');
  });

  test('does not depend on the order of keys, and reads back as the same value', () => {
    fc.assert(
      fc.property(jsonText, (source) => {
        const value = parseJsonExactly(source);
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(equalJson(parseJsonExactly(text), value)).toBe(true);
        expect(canonicalJson(withKeysInOrder(value))).toBe(text);
        expect(equalJson(withKeysInOrder(value), value)).toBe(true);
      }),
    );
  });
});

describe('the hash', () => {
  test('is the SHA-256 of the text', () => {
    expect(sha256Of({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
    expect(sha256Of({ a: 1, b: [2] })).toBe(sha256Of({ b: [2], a: 1 }));
  });

  test('distinguishes two integers that are the same double', () => {
    const hashes = ['9007199254740993', '9007199254740992', '9007199254740994'].map((text) => sha256Of(parseJsonExactly(text)));
    expect(new Set(hashes).size).toBe(3);
  });
});

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, member === undefined ? undefined : reversed(member)]),
  );
}
