import { type Json, parseJsonExactly } from '../core/json.ts';

/** The value of a plain scalar as kubectl reads it. `refused` if JSON has no such number, or if the API server would round it. */
type PlainScalar = { readonly result: 'value'; readonly value: Json } | { readonly result: 'refused'; readonly message: string };

const words: ReadonlyMap<string, Json> = new Map<string, Json>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

const notNumbers = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const integer = /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;

/**
 * Reads a scalar without quotes and tag as kubectl does. It follows YAML 1.1, but without times and without numbers of base 60.
 *
 * Both `0o17` and `017` are octal. Invalid octal or binary numbers are read as other values: `08` is 8, `0b12` is a text.
 *
 * No schema of the YAML library has these rules. A test compares them with recorded answers of kubectl. Integers up to 64 bits are exact.
 * Longer ones are refused, because the API server rounds them.
 */
export function readPlainScalar(text: string): PlainScalar {
  const word = words.get(text);
  if (word !== undefined) return { result: 'value', value: word };
  if (notNumbers.test(text)) return { result: 'refused', message: 'expected a number that JSON can represent' };
  if (!/^[-+.\d]/.test(text)) return { result: 'value', value: text };
  // In a number that starts with a dot, underscores are not allowed.
  const digits = text.startsWith('.') ? text : text.replaceAll('_', '');
  const whole = integer.exec(digits);
  if (whole !== null) return integerOf(whole);
  const number = float.test(digits) ? Number(digits) : Number.NaN;
  return { result: 'value', value: Number.isFinite(number) ? number : text };
}

function integerOf([, sign, hexadecimal, binary, octal, decimal]: RegExpExecArray): PlainScalar {
  const magnitude = BigInt(
    hexadecimal !== undefined
      ? `0x${hexadecimal}`
      : binary !== undefined
        ? `0b${binary}`
        : octal !== undefined
          ? `0o${octal}`
          : (decimal ?? ''),
  );
  const value = sign === '-' ? -magnitude : magnitude;
  if (BigInt.asIntN(64, value) !== value) return { result: 'refused', message: 'expected an integer of 64 bits' };
  return { result: 'value', value: parseJsonExactly(value.toString()) };
}
