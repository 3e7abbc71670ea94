import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** What stands at the path; undefined where there is nothing, or something that has no members. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const key of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

/** The text at the path, if it is one. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** The number at the path, if it is one. */
export function numberAt(value: Json | undefined, ...path: readonly string[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** The object at the path; an empty one if there is none. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, ...path);
  return isJsonObject(found) ? found : {};
}

/** The list at the path; an empty one if there is none. */
export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The members of the object at the path that are text: labels, selectors. */
export function labelsAt(value: Json | undefined, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = Object.entries(objectAt(value, ...path));
  return Object.fromEntries(found.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
