import { hash } from 'node:crypto';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../json.ts';

/**
 * The value as canonical JSON (RFC 8785): keys in the order of their UTF-16 code units, no white space, numbers as ECMAScript prints them. So equal
 * values give equal text, whatever the order of their keys. Members that are `undefined` are left out, as JSON does.
 *
 * Leaves the standard in one thing: an integer beyond 2⁵³−1 stands with all its digits, whether it came as a double or as a raw number, where the
 * standard would round it (two integers must not become one). A lone surrogate, which the standard refuses, stands escaped.
 *
 * @param maxDepth Levels to print: a deeper list or map is printed as `…`. Default: all. A bound protects the stack against hostile values.
 */
export function canonicalJson(value: Json, maxDepth = Number.POSITIVE_INFINITY): string {
  // What is in order already, as all that the hub has kept, takes less than half the time.
  return isInOrder(value, maxDepth) ? JSON.stringify(value) : printValue(value, maxDepth);
}

/** SHA-256 of the canonical JSON, 64 lower-case hexadecimal digits. */
export function sha256Of(value: Json): string {
  return sha256OfText(canonicalJson(value));
}

/** SHA-256 of the text's UTF-8, 64 lower-case hexadecimal digits. */
export function sha256OfText(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * The value with the keys of its maps in the order of canonical JSON: what is made of it is printed and hashed in half the time.
 *
 * @param maxDepth Levels to put in order: deeper ones are taken as they are. Default: all.
 */
export function withKeysInOrder(value: Json, maxDepth = Number.POSITIVE_INFINITY): Json {
  if (maxDepth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withKeysInOrder(item, maxDepth - 1));
  if (!isJsonObject(value)) return value;
  const inOrder = (member: Json | undefined) => (member === undefined ? undefined : withKeysInOrder(member, maxDepth - 1));
  return Object.fromEntries(sortedKeys(value).map((key) => [key, inOrder(value[key])]));
}

/** True if JSON.stringify prints it as canonical JSON: keys in order, no integer that it would round, no more levels than these. */
function isInOrder(value: Json | undefined, depth: number): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isInOrder(item, depth - 1));
  let before = '';
  // Half the time of looking at its entries, and a map that came as JSON has no members but its own.
  for (const key in value) {
    if (key < before || !isInOrder((value as JsonObject)[key], depth - 1)) return false;
    before = key;
  }
  return true;
}

function printValue(value: Json, depth: number): string {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value).toString() : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isRawNumber(value)) return BigInt(value.rawJSON).toString();
  if (depth === 0) return '…';
  return Array.isArray(value) ? printItems(value, depth - 1) : printMembers(value as JsonObject, depth - 1);
}

/** Texts are put together as they come: lists of parts take twice the time. */
function printItems(list: readonly Json[], depth: number): string {
  let text = '';
  for (const item of list) text += text === '' ? printValue(item, depth) : `,${printValue(item, depth)}`;
  return `[${text}]`;
}

function printMembers(map: JsonObject, depth: number): string {
  let text = '';
  for (const key of sortedKeys(map)) {
    const member = map[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${printValue(member, depth)}`;
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
