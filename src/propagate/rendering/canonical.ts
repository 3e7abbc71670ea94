import { createHash } from 'node:crypto';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';

/**
 * The value as canonical JSON (RFC 8785): keys in the order of their UTF-16 code units, no white space, numbers as ECMAScript prints them. So equal
 * values give equal text, whatever the order of their keys. Members that are `undefined` are left out, as JSON does.
 *
 * Leaves the standard in one thing: an integer beyond 2⁵³−1 stands with all its digits, whether it came as a double or as a raw number, where the
 * standard would round it (two integers must not become one). A lone surrogate, which the standard refuses, stands escaped.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isRawNumber(value)) return BigInt(value.rawJSON).toString();
  if (!isJsonObject(value)) return `[${value.map(canonicalJson).join(',')}]`;
  return `{${canonicalMembers(value).join(',')}}`;
}

/** SHA-256 of the canonical JSON, 64 lower-case hexadecimal digits. */
export function sha256Of(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

function canonicalMembers(map: JsonObject): readonly string[] {
  const members: string[] = [];
  // The default order of `sort` is that of UTF-16 code units, which is the one the standard asks for.
  for (const key of Object.keys(map).sort()) {
    const member = map[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return members;
}
