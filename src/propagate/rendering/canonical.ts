import { hash } from 'node:crypto';
import { isRawNumber, type Json, type JsonObject } from '../../core/json.ts';

/**
 * The value as canonical JSON (RFC 8785): keys in the order of their UTF-16 code units, no white space, numbers as ECMAScript prints them. So equal
 * values give equal text, whatever the order of their keys. Members that are `undefined` are left out, as JSON does.
 *
 * Leaves the standard in one thing: an integer beyond 2⁵³−1 stands with all its digits, whether it came as a double or as a raw number, where the
 * standard would round it (two integers must not become one). A lone surrogate, which the standard refuses, stands escaped.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value).toString() : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return printItems(value);
  return isRawNumber(value) ? BigInt(value.rawJSON).toString() : printMembers(value as JsonObject);
}

/** SHA-256 of the canonical JSON, 64 lower-case hexadecimal digits. */
export function sha256Of(value: Json): string {
  return sha256OfText(canonicalJson(value));
}

/** SHA-256 of the text's UTF-8, 64 lower-case hexadecimal digits. */
export function sha256OfText(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Texts are put together as they come: lists of parts take twice the time. */
function printItems(list: readonly Json[]): string {
  let text = '';
  for (const item of list) text += text === '' ? canonicalJson(item) : `,${canonicalJson(item)}`;
  return `[${text}]`;
}

function printMembers(map: JsonObject): string {
  let text = '';
  for (const key of sortedKeys(map)) {
    const member = map[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** In the order of UTF-16 code units, which is the one the standard asks for and that of `sort`; what the hub has kept is in it already. */
function sortedKeys(map: JsonObject): readonly string[] {
  const keys = Object.keys(map);
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key) ? keys : keys.sort();
}
