import { isJsonObject, type Json, jsonIn } from './json.ts';

/**
 * A model of `@kubernetes/client-node` as API servers send it and mirrors hold it. Every field may be missing, times are text, and fields have
 * the names of the wire (`from`, not `_from`). Any object can be passed where a `Stored` is expected: the caller knows its kind.
 *
 * Nothing checks the types at run time. A field may be null: give defaults with `??`, not in a pattern. Read lists with `itemsOf` or `textsOf`, and
 * numbers to calculate with through `countOf`.
 *
 * @typeParam Absent What an absent field may hold besides undefined: null in answers of GraphQL.
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

/** API servers pass `labels: null` on. */
type StoredFields<T extends object, Absent> = string extends keyof T
  ? Readonly<Record<string, Stored<T[keyof T], Absent>>> | null
  : { readonly [Field in keyof T as WireName<Field>]?: Stored<T[Field], Absent> | Absent | undefined };

/** client-node puts `_` before names that are words of JavaScript, and in place of the hyphens of `x-kubernetes-…`. */
type WireName<Field> = Field extends `x_${infer Rest}` ? `x-${Hyphenated<Rest>}` : Field extends `_${infer Rest}` ? Rest : Field;

type Hyphenated<Text extends string> = Text extends `${infer Head}_${infer Rest}` ? `${Head}-${Hyphenated<Rest>}` : Text;

/** The object in the body of an answer. Undefined if it is no JSON object. */
export function storedIn<T extends object>(body: Uint8Array): Stored<T> | undefined {
  const value = jsonIn(body);
  return isJsonObject(value) ? (value as Stored<T>) : undefined;
}

const none: readonly never[] = [];

/** The objects of a list. Empty if the value is no list. */
export function itemsOf<T extends object>(list: readonly T[] | null | undefined): readonly T[] {
  if (!isList(list)) return none;
  return list.every(isObject) ? list : list.filter(isObject);
}

/** The texts of a list. Empty if the value is no list. */
export function textsOf(list: readonly string[] | null | undefined): readonly string[] {
  return isList(list) ? list.filter((item) => typeof item === 'string') : none;
}

/** The number; 0 if the value is none. */
export function countOf(value: number | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** The text; undefined if the value is none. */
export function textOf(value: string | null | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `Array.isArray` would forget the type of the elements. */
function isList<T>(value: readonly T[] | null | undefined): value is readonly T[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
