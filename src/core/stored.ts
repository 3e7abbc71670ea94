import { isJsonObject, type Json, parseJsonBody } from './json.ts';

/**
 * A model of `@kubernetes/client-node` in the form that API servers send and mirrors hold. Every field may be missing, and times are text. Fields have
 * their JSON names (`from`, not `_from`). Any object can be passed where a `Stored` is expected: the caller knows its kind.
 *
 * The types are not checked at run time. A field may be null, so give defaults with `??` and not in a destructuring pattern. Read lists with `itemsOf`
 * or `textsOf`. Read numbers with `numberOrZero` before you calculate with them.
 *
 * @typeParam Absent The value of an absent field besides undefined. Null for answers of GraphQL.
 */
export type Stored<T, Absent = undefined> = unknown extends T
  ? Json
  : T extends Date
    ? string
    : T extends readonly (infer Item)[]
      ? readonly Stored<Item, Absent>[]
      : T extends object
        ? StoredFields<T, Absent>
        : T;

/** The fields of an object or the entries of a map. A map may be null, because API servers do not remove `labels: null`. */
type StoredFields<T extends object, Absent> = string extends keyof T
  ? Readonly<Record<string, Stored<T[keyof T], Absent>>> | null
  : { readonly [Field in keyof T as WireName<Field>]?: Stored<T[Field], Absent> | Absent | undefined };

/** The JSON name of a field. client-node puts `_` before reserved words of JavaScript, and writes `_` for the hyphens of `x-kubernetes-…`. */
type WireName<Field> = Field extends `x_${infer Rest}` ? `x-${Hyphenated<Rest>}` : Field extends `_${infer Rest}` ? Rest : Field;

type Hyphenated<Text extends string> = Text extends `${infer Head}_${infer Rest}` ? `${Head}-${Hyphenated<Rest>}` : Text;

/** Returns the object in the body of an answer. Undefined if the body is not a JSON object. */
export function parseStored<T extends object>(body: Uint8Array): Stored<T> | undefined {
  const value = parseJsonBody(body);
  return isJsonObject(value) ? (value as Stored<T>) : undefined;
}

const none: readonly never[] = [];

/** Returns the elements of a list that are objects. Empty if the value is not a list. */
export function itemsOf<T extends object>(list: readonly T[] | null | undefined): readonly T[] {
  if (!isList(list)) return none;
  return list.every(isObject) ? list : list.filter(isObject);
}

/** Returns the elements of a list that are strings. Empty if the value is not a list. */
export function textsOf(list: readonly string[] | null | undefined): readonly string[] {
  return isList(list) ? list.filter((item) => typeof item === 'string') : none;
}

/** Returns the value if it is a number, else 0. */
export function numberOrZero(value: number | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** Returns the value if it is a string, else undefined. */
export function textOrUndefined(value: string | null | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** True if the value is a list. `Array.isArray` would lose the type of the elements. */
function isList<T>(value: readonly T[] | null | undefined): value is readonly T[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
