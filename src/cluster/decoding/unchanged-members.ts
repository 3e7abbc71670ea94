import { randomUUID } from 'node:crypto';
import { jsonEscapeOf } from '../../core/json/json-escape.ts';
import type { Json } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { findMember, skipString, skipValue } from './json-scan.ts';
import type { ByteRange } from './managed-fields.ts';

const token = randomUUID();

/**
 * The JSON that stands for an unchanged member in the text that is parsed. It is random, so that no object of a cluster can contain it.
 */
export const placeholder = Buffer.from(JSON.stringify(token));

const metadataKey = Buffer.from('metadata');
const plainKey = /^[A-Za-z0-9]+$/;
const comma = 0x2c;
const quote = 0x22;
const colon = 0x3a;
const closing = 0x7d;

/** Where an object begins in the bytes, its `managedFields`, and the object of the same uid that the mirror holds. */
interface ObjectInBytes {
  readonly objectAt: number;
  readonly cut: ByteRange | undefined;
  readonly held: KubernetesObject;
}

/**
 * Finds the top-level members after `metadata` whose bytes are the JSON of the same member of the held object: the `spec`, when only the
 * status has changed. Printing a member and comparing its bytes takes a fifth of the time of parsing and comparing it.
 *
 * Stops at the first member that differs, also if it only differs in white space, in the order of keys or in the form of a number. The
 * members that were not found are parsed, which is always correct.
 */
export function unchangedMembers(bytes: Buffer, { objectAt, cut, held }: ObjectInBytes): readonly ByteRange[] {
  const found: ByteRange[] = [];
  let at = endOfMetadata(bytes, objectAt, cut);
  while (at > 0 && bytes[at] === comma && bytes[at + 1] === quote) {
    const keyEnd = skipString(bytes, at + 1);
    if (keyEnd < 0 || bytes[keyEnd] !== colon) break;
    const key = bytes.toString('latin1', at + 2, keyEnd - 1);
    // A key with escapes is another key once it is parsed.
    if (!plainKey.test(key)) break;
    const to = endOfEqual(bytes, keyEnd + 1, Object.hasOwn(held, key) ? held[key] : undefined);
    if (to < 0) break;
    found.push({ from: keyEnd + 1, to });
    at = to;
  }
  return found;
}

/** Replaces each placeholder among the top-level members by the member of the held object. Writes into `object`, which was just parsed. */
export function withHeldMembers(object: KubernetesObject, held: KubernetesObject | undefined): KubernetesObject {
  if (held === undefined) return object;
  for (const key in object) if (object[key] === token) (object as Record<string, Json | undefined>)[key] = held[key];
  return object;
}

/** Returns the index after the metadata. −1 if the bytes end before it does. */
function endOfMetadata(bytes: Buffer, objectAt: number, cut: ByteRange | undefined): number {
  // In built-in kinds, managedFields is the last member of the metadata.
  if (cut !== undefined && bytes[cut.to] === closing) return cut.to + 1;
  const metadataAt = findMember(bytes, objectAt, metadataKey);
  return metadataAt < 0 ? -1 : skipValue(bytes, metadataAt);
}

/** Returns the index after the value at `valueAt`, if its bytes are the JSON of this map or list. Else −1. */
function endOfEqual(bytes: Buffer, valueAt: number, value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return -1;
  const json = printed(value);
  if (json === undefined) return -1;
  const to = endOfText(bytes, valueAt, json);
  return to < 0 && bytes.indexOf(escapeSign, valueAt) >= 0 ? endOfText(bytes, valueAt, json.replace(escapedByGo, jsonEscapeOf)) : to;
}

/** Receives the bytes of a printed member. A buffer of its own for each member would cost as much as printing. */
const room = Buffer.allocUnsafeSlow(1 << 20);
const bytesPerCharacter = 3;

function endOfText(bytes: Buffer, at: number, text: string): number {
  if (text.length > bytes.length - at || text.length * bytesPerCharacter > room.length) return -1;
  const to = at + room.write(text, 'utf8');
  return to <= bytes.length && bytes.compare(room, 0, to - at, at, to) === 0 ? to : -1;
}

/** Prints a value as JSON. Undefined if the value is so deep that `JSON.stringify` overflows the stack. */
function printed(value: Json): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const escapeSign = Buffer.from('\\u');

/** Characters that the JSON encoder of Go escapes, and `JSON.stringify` does not. API servers are written in Go. */
const escapedByGo = /[<>&\u2028\u2029]/g;
