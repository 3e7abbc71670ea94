import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { objectAt } from '../core/json-at.ts';

/**
 * Returns the object with a value set at a path of at least one key. Creates missing maps on the path, and replaces values that are not
 * maps. The given object is not changed, and the result shares all members outside the path. Every key becomes an own property, even
 * `__proto__`.
 */
export function withValueAt<T extends JsonObject>(object: T, keys: readonly string[], value: Json): T {
  const [key = '', ...rest] = keys;
  const member = rest.length === 0 ? value : withValueAt(objectAt(object, key), rest, value);
  return { ...object, [key]: member };
}

/**
 * Returns the object without the value at a path. Also removes maps on the path that become empty, but never the object itself. Returns the
 * same object if there is no value at the path.
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

/** Returns the map without these keys. The other keys are copied as own properties, even `__proto__`. */
export function withoutMembers<T extends JsonObject>(map: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key))) as T;
}

/**
 * True if lists and maps are nested deeper than `levels`. Other values have level 0. Does not recurse, so it accepts values of any depth.
 */
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
