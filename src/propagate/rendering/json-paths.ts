import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** The member of a map that is its own: what a prototype has does not count. */
export function memberOf(map: Json | undefined, key: string): Json | undefined {
  return isJsonObject(map) && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** The value that stands at these keys. Undefined where one is missing, or where something other than a map stands on the way. */
export function valueAt(value: Json | undefined, keys: readonly string[]): Json | undefined {
  let found = value;
  for (const key of keys) found = memberOf(found, key);
  return found;
}

/** The map at these keys, or an empty one where there is none. */
export function mapAt(value: Json | undefined, keys: readonly string[]): JsonObject {
  const found = valueAt(value, keys);
  return isJsonObject(found) ? found : {};
}

/** The list at these keys. Undefined where there is none. */
export function listAt(value: Json | undefined, keys: readonly string[]): readonly Json[] | undefined {
  const found = valueAt(value, keys);
  return Array.isArray(found) ? found : undefined;
}

/**
 * The object with that value at these keys, of which there must be one at least. Maps on the way that are missing, or are none, are made. Nothing is
 * changed in place; what is not on the way is shared. Every key is an own one, `__proto__` too.
 */
export function withValueAt<T extends JsonObject>(object: T, keys: readonly string[], value: Json): T {
  const [key = '', ...rest] = keys;
  const member = rest.length === 0 ? value : withValueAt(mapAt(object, [key]), rest, value);
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
