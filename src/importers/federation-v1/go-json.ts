import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** A value in the JSON of an annotation has a type that Federation v1 does not accept there. `path` is its path in the JSON. */
export class RefusedJson extends Error {
  readonly path: string;

  constructor(path: string, expected: string) {
    super(`expected ${expected}`);
    this.path = path;
  }
}

/** Runs a reader. Returns its `RefusedJson` as a refusal, and throws all other errors. */
export function refusedOr<Result>(
  read: () => Result,
): Result | { readonly result: 'refused'; readonly path: string; readonly message: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof RefusedJson) return { result: 'refused', path: error.path, message: error.message };
    throw error;
  }
}

/** The path of an object in the JSON, and the list that receives the paths of its unknown fields. */
export interface JsonPlace {
  readonly path: string;
  readonly unknownFields: string[];
}

/**
 * Returns those fields of an object that `names` lists, and adds the paths of all other fields to `unknownFields`. As in Go's
 * encoding/json, upper and lower case of a key do not matter. Of several keys for one field, the last one counts.
 *
 * @throws {RefusedJson} if the value is neither an object nor null.
 */
export function goFieldsOf<const Name extends string>(
  value: Json,
  names: readonly Name[],
  { path, unknownFields }: JsonPlace,
): Readonly<Partial<Record<Name, Json>>> {
  const fields: Partial<Record<Name, Json>> = {};
  for (const [key, member = null] of Object.entries(goObjectIn(value, path))) {
    const name = names.find((known) => known.toLowerCase() === key.toLowerCase());
    if (name === undefined) unknownFields.push(path === '' ? key : `${path}.${key}`);
    else fields[name] = member;
  }
  return fields;
}

/**
 * Returns an object. Null counts as an empty object.
 *
 * @throws {RefusedJson} if the value has another type.
 */
export function goObjectIn(value: Json | undefined, path: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new RefusedJson(path, 'an object');
  return value;
}

/**
 * Returns a list. Null counts as an empty list.
 *
 * @throws {RefusedJson} if the value has another type.
 */
export function goListIn(value: Json | undefined, path: string): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new RefusedJson(path, 'a list');
  return value;
}

/**
 * Returns a text. Null counts as an empty text.
 *
 * @throws {RefusedJson} if the value has another type.
 */
export function goTextIn(value: Json | undefined, path: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new RefusedJson(path, 'a text');
  return value;
}
