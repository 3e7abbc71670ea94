import { equalJson } from '../../core/json/json-values.ts';
import { isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** An object after it was made to share memory with an old one. */
export interface SharedObject {
  /**
   * The old object if both are equal. Otherwise the fresh object, which contains the subtrees and strings of the old one wherever they are
   * equal.
   */
  readonly object: KubernetesObject;
  readonly weight: ObjectWeight;
  /**
   * True if the object has an integer beyond 2⁵³−1. Such an integer has lost its last digits, so the object must be parsed again, exactly.
   */
  readonly inexact: boolean;
}

/** Estimated bytes of an object. `total`: all of them. `own`: those that were not in memory before. */
export interface ObjectWeight {
  readonly total: number;
  readonly own: number;
}

// Sizes in V8 on a 64-bit machine without pointer compression. JSON.parse itself shares strings of 10 characters or less.
const mapBytes = 24;
const listBytes = 32;
const slotBytes = 8;
const stringBytes = 20;
const longestInternalized = 10;

/**
 * Maximum depth of partial sharing, so that no document overflows the stack. Deeper values are shared only if they are equal as a whole.
 */
const maxDepth = 64;

/**
 * Returns `old` if both objects are equal. If not, returns `fresh`, with its equal parts replaced by those of `old`, which saves memory.
 * `old` is the predecessor of the object, or a sibling of the same controller.
 *
 * Writes only into `fresh`, which no other code may hold yet. Never writes into `old`.
 */
export function shareStructure(old: KubernetesObject | undefined, fresh: KubernetesObject): SharedObject {
  const tally: Tally = { total: 0, shared: 0, inexact: false, texts: [] };
  const object = shareValue(old, fresh, 0, tally) === old && old !== undefined ? old : fresh;
  return { object, weight: { total: tally.total, own: tally.total - tally.shared }, inexact: tally.inexact };
}

interface Tally {
  total: number;
  shared: number;
  inexact: boolean;
  /** The latest different texts that are new in this object. Times and addresses occur several times in one object. */
  readonly texts: string[];
}

const maxTexts = 4;
const longestRepeated = 40;

/** Returns an equal text that occurred before in this object, so that memory has it once. Otherwise returns the text itself. */
function repeatedText(text: string, tally: Tally): string {
  const { texts } = tally;
  if (text.length > longestRepeated) return text;
  for (const known of texts) {
    if (known !== text) continue;
    tally.shared += stringBytes + text.length;
    return known;
  }
  texts.unshift(text);
  if (texts.length > maxTexts) texts.pop();
  return text;
}

/**
 * Returns the value to keep: `old` if both are equal, otherwise `fresh`, whose equal parts are then those of `old`. Adds the bytes of the
 * value to `tally`.
 */
function shareValue(old: Json | undefined, fresh: Json, depth: number, tally: Tally): Json {
  if (typeof fresh !== 'object' || fresh === null || fresh === old) {
    // Measures the value even if it seems unchanged. An integer that has lost digits may equal another one that has lost digits.
    const before = tally.total;
    measure(fresh, depth, tally);
    if (fresh !== old) return fresh;
    tally.shared += tally.total - before;
    return old;
  }
  const isList = Array.isArray(fresh);
  if (typeof old !== 'object' || old === null || Array.isArray(old) !== isList) {
    measure(fresh, depth, tally, { isNew: true });
    return fresh;
  }
  if (depth >= maxDepth) return shareWhole(old, fresh, tally);
  const total = tally.total;
  const shared = tally.shared;
  const equal = isList
    ? shareList(old as Json[], fresh as Json[], depth, tally)
    : shareMap(old as JsonObject, fresh as JsonObject, depth, tally);
  if (!equal) return fresh;
  tally.shared = shared + tally.total - total;
  return old;
}

/** Replaces members of `fresh` by equal members of `old`. Returns true if both maps are equal; `fresh` can then be dropped for `old`. */
function shareMap(old: JsonObject, fresh: Record<string, Json | undefined>, depth: number, tally: Tally): boolean {
  let equal = true;
  let count = 0;
  // `for…in` is safe, because objects from JSON inherit nothing enumerable. V8 walks objects of known shapes without making lists of keys.
  for (const key in fresh) {
    const value = fresh[key];
    if (value === undefined) continue;
    count += 1;
    const oldValue = ownMember(old, key);
    if (typeof value === 'string') {
      if (value !== oldValue) equal = false;
      if (value.length <= longestInternalized) continue;
      tally.total += stringBytes + value.length;
      if (value === oldValue) tally.shared += stringBytes + value.length;
      continue;
    }
    const shared = shareValue(oldValue, value, depth + 1, tally);
    if (shared !== oldValue) equal = false;
    else if (shared !== value) fresh[key] = shared;
  }
  tally.total += mapBytes + slotBytes * count;
  // A raw number looks like a map with one text, so both sides must be raw numbers, or neither.
  if (equal && Object.keys(old).length === count && (count !== 1 || isRawNumber(old) === isRawNumber(fresh))) return true;
  if (!isRawNumber(fresh)) shareTexts(old, fresh, tally);
  return false;
}

/**
 * Replaces long texts of `fresh` by equal texts of `old`, or by equal texts elsewhere in the object, so that memory has each text once. Called
 * only if the maps differ: if they are equal, `old` is used instead of `fresh`.
 */
function shareTexts(old: JsonObject, fresh: Record<string, Json | undefined>, tally: Tally): void {
  for (const key in fresh) {
    const value = fresh[key];
    if (typeof value !== 'string' || value.length <= longestInternalized) continue;
    fresh[key] = ownMember(old, key) === value ? old[key] : repeatedText(value, tally);
  }
}

/** Returns an own member, or undefined. Plain indexing also finds what every object inherits: functions and `__proto__`. */
function ownMember(object: JsonObject, key: string): Json | undefined {
  const value = object[key];
  return typeof value === 'function' || value === Object.prototype ? undefined : value;
}

/** Replaces items of `fresh` by equal items of `old`. Returns true if both lists are equal; `fresh` can then be dropped for `old`. */
function shareList(old: readonly Json[], fresh: Json[], depth: number, tally: Tally): boolean {
  tally.total += listBytes + slotBytes * fresh.length;
  let equal = fresh.length === old.length;
  for (let index = 0; index < fresh.length; index += 1) {
    const value = fresh[index] ?? null;
    const oldValue = old[index];
    const shared = shareValue(oldValue, value, depth + 1, tally);
    if (shared !== oldValue) equal = false;
    else if (typeof shared === 'string' || shared !== value) fresh[index] = shared;
  }
  return equal;
}

/**
 * Returns `old` if both values are equal as a whole. If not, returns `fresh`, which then shares no part of `old`. Adds the bytes of the
 * value to `tally`. For values at the depth `maxDepth`, where recursion ends.
 */
function shareWhole(old: Json, fresh: Json, tally: Tally): Json {
  const before = tally.total;
  measureFlat(fresh, tally);
  if (!equalJson(old, fresh)) return fresh;
  tally.shared += tally.total - before;
  return old;
}

/**
 * Adds the bytes of a value to `tally.total`. Sets `tally.inexact` if the value has an integer beyond 2⁵³−1.
 *
 * @param how `isNew`: equal texts of the value are made one text. Default: the value is not changed, because other code may hold it.
 */
function measure(value: Json, depth: number, tally: Tally, how?: { readonly isNew: true }): void {
  if (typeof value === 'string') {
    if (value.length > longestInternalized) tally.total += stringBytes + value.length;
  } else if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) tally.inexact = true;
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= maxDepth) measureFlat(value, tally);
    else measureMembers(value, depth, tally, how);
  }
}

function measureMembers(value: object, depth: number, tally: Tally, how: { readonly isNew: true } | undefined): void {
  if (Array.isArray(value)) {
    tally.total += listBytes + slotBytes * value.length;
    for (const member of value) measure(member, depth + 1, tally, how);
    return;
  }
  const map = value as Record<string, Json | undefined>;
  tally.total += mapBytes;
  for (const key in map) {
    const member = map[key] ?? null;
    tally.total += slotBytes;
    measure(member, depth + 1, tally, how);
    if (how?.isNew === true && typeof member === 'string' && member.length > longestInternalized && !isRawNumber(map))
      map[key] = repeatedText(member, tally);
  }
}

/**
 * Adds the bytes of a value to `tally.total`, like `measure`, but without recursion. JSON.parse accepts values so deep that recursion would
 * overflow the stack.
 */
function measureFlat(root: Json, tally: Tally): void {
  const rest: Json[] = [root];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value !== 'object' || value === null) {
      measure(value, 0, tally);
      continue;
    }
    const members = Object.values(value) as readonly Json[];
    tally.total += mapBytes + slotBytes * members.length;
    for (const member of members) rest.push(member);
  }
}
