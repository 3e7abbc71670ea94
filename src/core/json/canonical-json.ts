import { hash } from 'node:crypto';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../json.ts';

/**
 * Prints a value as canonical JSON (RFC 8785): keys in the order of their UTF-16 code units, no white space, numbers as ECMAScript prints
 * them. Equal values give equal text, in any order of their keys. Members that are `undefined` are left out, as in JSON.
 *
 * There are two differences from the standard. An integer beyond 2⁵³−1 is printed with all its digits, so that two different integers
 * never become one. A lone surrogate is escaped, where the standard fails.
 *
 * @param maxDepth Levels to print: a deeper list or map is printed as `…`. Default: all. A bound protects the stack against hostile
 * values.
 */
export function canonicalJson(value: Json, maxDepth = Number.POSITIVE_INFINITY): string {
  // If the keys are in order, `JSON.stringify` gives the same text in less than half the time. Most values on the hub have their keys in
  // order.
  return isInOrder(value, maxDepth) ? JSON.stringify(value) : printValue(value, maxDepth);
}

/** Returns the SHA-256 of the canonical JSON as 64 lower-case hexadecimal digits. */
export function sha256Of(value: Json): string {
  return sha256OfText(canonicalJson(value));
}

/** Returns the SHA-256 of the text in UTF-8 as 64 lower-case hexadecimal digits. */
export function sha256OfText(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * Returns the value with the keys of its maps in canonical order, which halves the time for printing and hashing.
 *
 * @param maxDepth Levels to reorder: deeper ones stay unchanged. Default: all.
 */
export function withKeysInOrder(value: Json, maxDepth = Number.POSITIVE_INFINITY): Json {
  if (maxDepth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withKeysInOrder(item, maxDepth - 1));
  if (!isJsonObject(value)) return value;
  const inOrder = (member: Json | undefined) => (member === undefined ? undefined : withKeysInOrder(member, maxDepth - 1));
  return Object.fromEntries(sortedKeys(value).map((key) => [key, inOrder(value[key])]));
}

/**
 * True if JSON.stringify prints the value as canonical JSON: keys are in order, no integer would be rounded, and there are at most
 * `depth` levels.
 */
function isInOrder(value: Json | undefined, depth: number): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isInOrder(item, depth - 1));
  let before = '';
  // `for … in` takes half the time of `Object.entries`. A map parsed from JSON has no inherited members.
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

/** Prints a list. Concatenating texts takes half the time of joining a list of texts. */
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

/** Returns the keys in the order of UTF-16 code units, which the standard requires and `sort` gives. */
function sortedKeys(map: JsonObject): readonly string[] {
  const keys = Object.keys(map);
  return areSorted(keys) ? keys : keys.sort();
}

function areSorted(keys: readonly string[]): boolean {
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key);
}
