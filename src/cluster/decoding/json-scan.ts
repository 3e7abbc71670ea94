/** Functions that find positions in JSON bytes without parsing them. They do not validate the JSON, and none of them recurses. */

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;

/** Returns the index of the first byte from `at` on that is not white space. If there is none, the length. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let i = at;
  while (i < bytes.length) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    i++;
  }
  return i;
}

/** Returns the index after the string whose opening quote is at `at`. −1 if the bytes end before the string does. */
export function skipString(bytes: Uint8Array, at: number): number {
  const end = bytes.length;
  for (let i = at + 1; i < end; i++) {
    const byte = bytes[i];
    if (byte === quote) return i + 1;
    if (byte === backslash) i++;
  }
  return -1;
}

/**
 * Returns the index after the value that begins at `at`. −1 if the bytes end before the value does. Brackets are counted without their
 * kind: `}` also closes `[`.
 */
export function skipValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === quote) return skipString(bytes, at);
  if (first !== 0x7b && first !== 0x5b) return skipPlain(bytes, at);
  const end = bytes.length;
  let depth = 0;
  for (let i = at; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === quote) {
      // Inlined, because most bytes of an object are in strings and a call per string doubles the time.
      for (i++; i < end; i++) {
        const inside = bytes[i];
        if (inside === quote) break;
        if (inside === backslash) i++;
      }
      continue;
    }
    // '[' and ']' differ from '{' and '}' in this one bit.
    const bracket = byte | 0x20;
    if (bracket === 0x7b) depth++;
    else if (bracket === 0x7d && --depth === 0) return i + 1;
  }
  return -1;
}

function skipPlain(bytes: Uint8Array, at: number): number {
  let i = at;
  while (i < bytes.length) {
    const byte = bytes[i] ?? 0;
    if (byte === comma || (byte | 0x20) === 0x7d || byte <= 0x20) break;
    i++;
  }
  return i === at || i === bytes.length ? -1 : i;
}

/**
 * Returns the index of the value of the first member with this key, in the object that begins at `at`.
 *
 * −1 if there is no such member, or the bytes are not an object. A key with escapes is not found.
 */
export function findMember(bytes: Uint8Array, at: number, key: Uint8Array): number {
  if (bytes[at] !== 0x7b) return -1;
  let i = skipSpace(bytes, at + 1);
  while (bytes[i] === quote) {
    const keyEnd = skipString(bytes, i);
    if (keyEnd < 0) return -1;
    const colonAt = skipSpace(bytes, keyEnd);
    if (bytes[colonAt] !== colon) return -1;
    const valueAt = skipSpace(bytes, colonAt + 1);
    if (keyEnd - i - 2 === key.length && startsWith(bytes, i + 1, key)) return valueAt;
    const valueEnd = skipValue(bytes, valueAt);
    if (valueEnd < 0) return -1;
    const next = skipSpace(bytes, valueEnd);
    if (bytes[next] !== comma) return -1;
    i = skipSpace(bytes, next + 1);
  }
  return -1;
}

/** True if `bytes` have `expected` at position `at`. */
export function startsWith(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) {
    if (bytes[at + i] !== expected[i]) return false;
  }
  return true;
}
