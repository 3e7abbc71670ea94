import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Returns the value at the path. Undefined if it does not exist, or if a value on the way is not an object. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const key of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

/** Returns the text at the path. Undefined if the value is not a string. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the number at the path. Undefined if the value is not a number. */
export function numberAt(value: Json | undefined, ...path: readonly string[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** Returns the object at the path. An empty object if there is none. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, ...path);
  return isJsonObject(found) ? found : {};
}

/** Returns the list at the path. An empty list if there is none. */
export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the string members of the object at the path, such as labels or a selector. */
export function labelsAt(value: Json | undefined, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = Object.entries(objectAt(value, ...path));
  return Object.fromEntries(found.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
