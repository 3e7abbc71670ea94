import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { objectAt } from '../core/json-at.ts';

/**
 * The object with that value at these keys, of which there must be one at least. Maps on the way that are missing, or are none, are made. Nothing is
 * changed in place; what is not on the way is shared. Every key is an own one, `__proto__` too.
 */
export function withValueAt<T extends JsonObject>(object: T, keys: readonly string[], value: Json): T {
  const [key = '', ...rest] = keys;
  const member = rest.length === 0 ? value : withValueAt(objectAt(object, key), rest, value);
  return { ...object, [key]: member };
}

/**
 * The object without what stands at these keys. A map on the way that this empties goes too, but never the object itself. The object as it is where
 * nothing stands there.
 */
export function withoutValueAt<T extends JsonObject>(object: T, keys: readonly string[]): T {
  const [key, ...rest] = keys;
  if (key === undefined || !Object.hasOwn(object, key)) return object;
  if (rest.length === 0) return withoutMembers(object, [key]);
  const member = object[key];
  if (!isJsonObject(member)) return object;
  const left = withoutValueAt(member, rest);
  if (left === member) return object;
  return Object.keys(left).length === 0 ? withoutMembers(object, [key]) : { ...object, [key]: left };
}

/** The map without these keys. Those left are copied as own ones, `__proto__` too. */
export function withoutMembers<T extends JsonObject>(map: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key))) as T;
}

/** True if lists and maps stand in each other deeper than so many levels; a value that is neither has none. Without recursion, so any depth is fine. */
export function isDeeperThan(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap(membersOf);
    if (level.length === 0) return false;
  }
  return true;
}

function membersOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value).filter((member) => member !== undefined) : [];
}
