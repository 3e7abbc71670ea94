import { findMember, skipSpace, skipValue } from './json-scan.ts';

const metadataKey = Buffer.from('metadata');
const managedFieldsKey = Buffer.from('managedFields');
const quotedManagedFields = Buffer.from('"managedFields"');

/** A range of bytes to leave out. `from` is less than `to`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the member `metadata.managedFields` of the object that begins at `at`, with the comma that must be removed with it.
 *
 * Only the top-level metadata counts. A member of that name in a pod template or in a string is data of the user. Undefined if the
 * metadata has no such member, or if the bytes end before it does.
 */
export function managedFieldsOf(bytes: Buffer, at: number): ByteRange | undefined {
  if (bytes.indexOf(quotedManagedFields, at) < 0) return undefined;
  const metadataAt = findMember(bytes, at, metadataKey);
  if (metadataAt < 0) return undefined;
  const valueAt = findMember(bytes, metadataAt, managedFieldsKey);
  if (valueAt < 0) return undefined;
  const shortcut = pastManagedFields(bytes, valueAt);
  const valueEnd = shortcut < 0 ? skipValue(bytes, valueAt) : shortcut;
  if (valueEnd < 0) return undefined;
  return withComma(bytes, keyBefore(bytes, valueAt), valueEnd);
}

/**
 * Returns the index after the array of managedFields that begins at `valueAt`, without reading each byte. −1 if the end is not certain; the
 * caller then scans byte by byte.
 *
 * The array contains no other array, so it ends at the first `]`, unless this `]` is inside a string. The end is certain only if the quote
 * and the first letter of another key follow. Inside a string, they cannot follow: a quote there has a backslash before it, and a closing
 * quote has no letter after it.
 */
export function pastManagedFields(bytes: Buffer, valueAt: number): number {
  const end = bytes.indexOf(0x5d, valueAt);
  if (end < 0 || bytes[valueAt] !== 0x5b || bytes[end - 1] !== 0x7d) return -1;
  const inner = bytes.indexOf(0x5b, valueAt + 1);
  if (inner >= 0 && inner < end) return -1;
  const comma = bytes[end + 1] === 0x7d ? end + 2 : end + 1;
  const isKey = bytes[comma] === 0x2c && bytes[comma + 1] === 0x22 && isLetter(bytes[comma + 2] ?? 0);
  return isKey ? end + 1 : -1;
}

function isLetter(byte: number): boolean {
  return (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

function keyBefore(bytes: Uint8Array, valueAt: number): number {
  let i = valueAt - 1;
  while (bytes[i] !== 0x3a) i--;
  while (bytes[i] !== 0x22) i--;
  return i - managedFieldsKey.length - 1;
}

function withComma(bytes: Uint8Array, keyAt: number, valueEnd: number): ByteRange {
  let before = keyAt - 1;
  while (before > 0 && (bytes[before] ?? 0) <= 0x20) before--;
  if (bytes[before] === 0x2c) return { from: before, to: valueEnd };
  const after = skipSpace(bytes, valueEnd);
  return { from: keyAt, to: bytes[after] === 0x2c ? after + 1 : valueEnd };
}
