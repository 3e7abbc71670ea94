import { findMember, skipSpace, skipValue } from './json-scan.ts';

const metadataKey = Buffer.from('metadata');
const managedFieldsKey = Buffer.from('managedFields');
const quotedManagedFields = Buffer.from('"managedFields"');

/** Bytes to leave out. `from` is before `to`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Where the member `metadata.managedFields` of the object that begins at `at` stands, with the comma that must go with it.
 *
 * Only that of the top-level metadata: a pod template's, or one within a string, is somebody's data. Undefined if there is none.
 */
export function managedFieldsOf(bytes: Buffer, at: number): ByteRange | undefined {
  if (bytes.indexOf(quotedManagedFields, at) < 0) return undefined;
  const metadataAt = findMember(bytes, at, metadataKey);
  if (metadataAt < 0) return undefined;
  const valueAt = findMember(bytes, metadataAt, managedFieldsKey);
  if (valueAt < 0) return undefined;
  const valueEnd = skipValue(bytes, valueAt);
  if (valueEnd < 0) return undefined;
  return withComma(bytes, keyBefore(bytes, valueAt), valueEnd);
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
