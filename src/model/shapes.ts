import type { KindFacts, ListRules, ScalarName } from './model.ts';

/**
 * What a value looks like, before its types have names: a tree, which may share branches and never contains itself.
 * `TypeReference` is the part of it that names types instead of holding them. Plain data: it prints to JSON and back.
 */
export type Shape =
  | { readonly scalar: ScalarName }
  /** A type that every model has: `ResourceList`, `EmbeddedObjectMeta`. */
  | { readonly type: string }
  /** Items are never null; a list of `JSON` is `JSON`, whose items may be. Made by `listOf`. */
  | { readonly list: Shape }
  /** In order of their keys' code units. Not empty, but for a kind that declares nothing. */
  | { readonly fields: readonly ShapeField[] };

/** One field of an object, by its key in the JSON. */
export interface ShapeField extends ListRules {
  readonly key: string;
  /** Its name in GraphQL once it is named, if that is not its key. */
  readonly name?: string;
  readonly shape: Shape;
  readonly description?: string;
  /** The reason given in `@deprecated`. */
  readonly deprecated?: string;
}

/** The fields of an object; its own type, so that a kind's root cannot be anything else. */
export interface ObjectShape {
  readonly fields: readonly ShapeField[];
}

/** A kind as one cluster defines it, all served versions joined. Plain data: it prints to JSON and back. */
export interface KindSchema extends KindFacts {
  readonly description?: string;
  /** The fields next to `apiVersion`, `kind` and `metadata`. */
  readonly shape: ObjectShape;
}

/** Every object has these, and their types are written by hand. */
export const keysOfEveryObject: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Any value: what a shape is when nothing better is known. */
export const json: Shape = { scalar: 'JSON' };

/** True for `JSON`, the top of all joins. */
export function isJson(shape: Shape): boolean {
  return 'scalar' in shape && shape.scalar === 'JSON';
}

/** A list of it. Items of type `JSON` may be null, which list items never are: then the whole list is `JSON`. */
export function listOf(item: Shape): Shape {
  return isJson(item) ? json : { list: item };
}
