import type { KindFacts, ListRules, ScalarName } from './model.ts';

/**
 * The structure of a value before its types have names. It is a tree that may share branches and never contains itself. `TypeReference` is the
 * variant that names types instead of containing them. Plain data: it can be printed to JSON and parsed.
 */
export type Shape =
  | { readonly scalar: ScalarName }
  /** A type that every model has: `ResourceList` or `EmbeddedObjectMeta`. */
  | { readonly type: string }
  /** A list whose items are never null. A list of `JSON` is `JSON`, whose items may be null. Created by `listOf`. */
  | { readonly list: Shape }
  /**
   * An object. Its fields are in the order of their keys, by code units. It has at least one field, except for a kind that declares none.
   */
  | { readonly fields: readonly ShapeField[] };

/** One field of an object, by its key in the JSON. */
export interface ShapeField extends ListRules {
  readonly key: string;
  /** The name in GraphQL after names were assigned. Undefined if it equals the key. */
  readonly name?: string;
  readonly shape: Shape;
  readonly description?: string;
  /** The reason in `@deprecated`. Absent if the field is not deprecated. */
  readonly deprecated?: string;
}

/** The fields of an object. It is a type of its own, because the root of a kind is always an object. */
export interface ObjectShape {
  readonly fields: readonly ShapeField[];
}

/** A kind as one cluster defines it, with all served versions joined. Plain data: it can be printed to JSON and parsed. */
export interface KindSchema extends KindFacts {
  readonly description?: string;
  /** The fields next to `apiVersion`, `kind` and `metadata`. */
  readonly shape: ObjectShape;
}

/** Fields of every object, with types that are written by hand. */
export const keysOfEveryObject: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Any value: the shape when nothing better is known. */
export const json: Shape = { scalar: 'JSON' };

/** True for `JSON`. Any shape joined with `JSON` is `JSON`. */
export function isJson(shape: Shape): boolean {
  return 'scalar' in shape && shape.scalar === 'JSON';
}

/** Returns a list of this shape. Items of type `JSON` may be null, but list items are never null, so a list of `JSON` is `JSON`. */
export function listOf(item: Shape): Shape {
  return isJson(item) ? json : { list: item };
}
