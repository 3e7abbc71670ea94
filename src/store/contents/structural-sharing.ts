import { equalJson } from '../../core/json/json-values.ts';
import { isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** An object made small by what is already held. */
export interface SharedObject {
  /** The old object itself if both are equal; else the fresh one, with the old one's subtrees and strings wherever those are equal. */
  readonly object: KubernetesObject;
  readonly weight: ObjectWeight;
  /** True if it holds an integer beyond 2⁵³−1, which has lost its last digits: parse it again, exactly. */
  readonly inexact: boolean;
}

/** Estimated bytes of an object: all of it, and what of it was not held before. */
export interface ObjectWeight {
  readonly total: number;
  readonly own: number;
}

// What V8 takes on a 64-bit machine without pointer compression; a string of 10 characters or less is shared by JSON.parse itself.
const mapBytes = 24;
const listBytes = 32;
const slotBytes = 8;
const stringBytes = 20;
const longestInternalized = 10;

/** Deeper than this nothing is shared but what is equal as a whole, so that no depth overflows the stack. */
const maxDepth = 64;

/**
 * Lets a freshly parsed object share what is equal with its predecessor, or with a sibling of the same controller.
 *
 * Writes into `fresh` only, which nobody else may hold yet, and never into `old`.
 */
export function shareStructure(old: KubernetesObject | undefined, fresh: KubernetesObject): SharedObject {
  const tally: Tally = { total: 0, shared: 0, inexact: false };
  const object = shareValue(old, fresh, 0, tally) === old && old !== undefined ? old : fresh;
  return { object, weight: { total: tally.total, own: tally.total - tally.shared }, inexact: tally.inexact };
}

interface Tally {
  total: number;
  shared: number;
  inexact: boolean;
}

/** What stands for `fresh` from now on: `old` itself exactly if both are equal, else `fresh`. */
function shareValue(old: Json | undefined, fresh: Json, depth: number, tally: Tally): Json {
  if (typeof fresh !== 'object' || fresh === null) {
    // An integer that has lost digits equals others that have: it is looked at even if it seems unchanged.
    const before = tally.total;
    measure(fresh, depth, tally);
    if (fresh !== old) return fresh;
    tally.shared += tally.total - before;
    return old;
  }
  const isList = Array.isArray(fresh);
  if (typeof old !== 'object' || old === null || Array.isArray(old) !== isList) {
    measure(fresh, depth, tally);
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

/** True if both are equal. */
function shareMap(old: JsonObject, fresh: Record<string, Json | undefined>, depth: number, tally: Tally): boolean {
  let equal = true;
  let count = 0;
  // Objects of JSON inherit nothing that can be enumerated, and V8 walks one of its own shapes without making lists of keys.
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
  // A raw number looks like a map of one text.
  if (equal && Object.keys(old).length === count && (count !== 1 || isRawNumber(old) === isRawNumber(fresh))) return true;
  if (!isRawNumber(fresh)) shareTexts(old, fresh);
  return false;
}

/** Only where the map itself is kept: of one that equals the old one nothing is. */
function shareTexts(old: JsonObject, fresh: Record<string, Json | undefined>): void {
  for (const key in fresh) {
    const value = fresh[key];
    if (typeof value === 'string' && value.length > longestInternalized && ownMember(old, key) === value) fresh[key] = old[key];
  }
}

/** What the object itself holds under the key. Plain indexing finds what every object inherits: functions, and `__proto__`. */
function ownMember(object: JsonObject, key: string): Json | undefined {
  const value = object[key];
  return typeof value === 'function' || value === Object.prototype ? undefined : value;
}

/** True if both are equal. */
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

/** Below `maxDepth`: all or nothing. */
function shareWhole(old: Json, fresh: Json, tally: Tally): Json {
  const before = tally.total;
  measureFlat(fresh, tally);
  if (!equalJson(old, fresh)) return fresh;
  tally.shared += tally.total - before;
  return old;
}

/** Counts what a value holds, and looks for inexact integers. */
function measure(value: Json, depth: number, tally: Tally): void {
  if (typeof value === 'string') {
    if (value.length > longestInternalized) tally.total += stringBytes + value.length;
  } else if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) tally.inexact = true;
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= maxDepth) measureFlat(value, tally);
    else measureMembers(value, depth, tally);
  }
}

function measureMembers(value: object, depth: number, tally: Tally): void {
  if (Array.isArray(value)) {
    tally.total += listBytes + slotBytes * value.length;
    for (const member of value) measure(member, depth + 1, tally);
    return;
  }
  const keys = Object.keys(value);
  tally.total += mapBytes + slotBytes * keys.length;
  for (const key of keys) measure((value as JsonObject)[key] ?? null, depth + 1, tally);
}

/** As `measure`, on a stack of its own: JSON.parse takes any depth, recursion does not. */
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
