/** Reads the structure of JSON from its bytes without parsing: whoever needs certainty parses afterwards. Nothing here recurses. */

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;

/** The index of the first byte from `at` on that is no white space; the length if there is none. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let i = at;
  while (i < bytes.length) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    i++;
  }
  return i;
}

/** The index past the string whose opening quote is at `at`, or −1 if the bytes end before it does. */
export function skipString(bytes: Uint8Array, at: number): number {
  const end = bytes.length;
  for (let i = at + 1; i < end; i++) {
    const byte = bytes[i];
    if (byte === quote) return i + 1;
    if (byte === backslash) i++;
  }
  return -1;
}

/** The index past the value that begins at `at`, or −1 if the bytes end before it does. Brackets are counted, not matched by sort. */
export function skipValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === quote) return skipString(bytes, at);
  if (first !== 0x7b && first !== 0x5b) return skipPlain(bytes, at);
  const end = bytes.length;
  let depth = 0;
  for (let i = at; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === quote) {
      // Inlined: strings are most of an object's bytes, and a call per string doubles the time.
      for (i++; i < end; i++) {
        const inside = bytes[i];
        if (inside === quote) break;
        if (inside === backslash) i++;
      }
      continue;
    }
    // '[' and ']' differ from '{' and '}' by this one bit.
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
 * Where the value of the first member with this key begins, in the object that begins at `at`.
 *
 * −1 if there is none, or if the bytes are no object. A key written with escapes is not found.
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

/** True if these bytes stand at `at`. */
export function startsWith(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) {
    if (bytes[at + i] !== expected[i]) return false;
  }
  return true;
}
