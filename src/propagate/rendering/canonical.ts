import { hash } from 'node:crypto';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';

/**
 * The value as canonical JSON (RFC 8785): keys in the order of their UTF-16 code units, no white space, numbers as ECMAScript prints them. So equal
 * values give equal text, whatever the order of their keys. Members that are `undefined` are left out, as JSON does.
 *
 * Leaves the standard in one thing: an integer beyond 2⁵³−1 stands with all its digits, whether it came as a double or as a raw number, where the
 * standard would round it (two integers must not become one). A lone surrogate, which the standard refuses, stands escaped.
 */
export function canonicalJson(value: Json): string {
  // What is in order already, as all that the hub has kept, takes less than half the time.
  return isInOrder(value) ? JSON.stringify(value) : printValue(value);
}

/** SHA-256 of the canonical JSON, 64 lower-case hexadecimal digits. */
export function sha256Of(value: Json): string {
  return sha256OfText(canonicalJson(value));
}

/** SHA-256 of the text's UTF-8, 64 lower-case hexadecimal digits. */
export function sha256OfText(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The value with the keys of its maps in the order of canonical JSON: what is made of it is printed and hashed in half the time. */
export function withKeysInOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(withKeysInOrder);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(sortedKeys(value).map((key) => [key, value[key] === undefined ? undefined : withKeysInOrder(value[key])]));
}

/** True if JSON.stringify prints it as canonical JSON: keys in order, no integer that it would round. */
function isInOrder(value: Json | undefined): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let before = '';
  // Half the time of looking at its entries, and a map that came as JSON has no members but its own.
  for (const key in value) {
    if (key < before || !isInOrder((value as JsonObject)[key])) return false;
    before = key;
  }
  return true;
}

function printValue(value: Json): string {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value).toString() : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return printItems(value);
  return isRawNumber(value) ? BigInt(value.rawJSON).toString() : printMembers(value as JsonObject);
}

/** Texts are put together as they come: lists of parts take twice the time. */
function printItems(list: readonly Json[]): string {
  let text = '';
  for (const item of list) text += text === '' ? printValue(item) : `,${printValue(item)}`;
  return `[${text}]`;
}

function printMembers(map: JsonObject): string {
  let text = '';
  for (const key of sortedKeys(map)) {
    const member = map[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${printValue(member)}`;
  }
  return `{${text}}`;
}

/** In the order of UTF-16 code units, which is the one the standard asks for and that of `sort`. */
function sortedKeys(map: JsonObject): readonly string[] {
  const keys = Object.keys(map);
  return areSorted(keys) ? keys : keys.sort();
}

function areSorted(keys: readonly string[]): boolean {
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key);
}
