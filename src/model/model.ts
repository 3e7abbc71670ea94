import type { GroupKind } from '../core/kinds.ts';

/** The scalars of generated fields. Values are passed through in the form the API server serves. The schema describes each scalar. */
export const scalarNames = [
  'String',
  'Boolean',
  'Int',
  'Int64',
  'Float',
  'DateTime',
  'Bytes',
  'Quantity',
  'Duration',
  'IntOrString',
  'StringMap',
  'JSON',
] as const;

export type ScalarName = (typeof scalarNames)[number];

/**
 * The type of a field. `ResourceList` (a map of quantities) and `ObjectMeta` are written by hand, and are referred to by name like any other
 * type.
 */
export type TypeReference =
  | { readonly scalar: ScalarName }
  | { readonly type: string }
  /** Items are never null. */
  | { readonly list: TypeReference };

/** How server-side apply and strategic merge treat a list: `x-kubernetes-list-type`, `-list-map-keys` and `-patch-merge-key`. */
export interface ListRules {
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly patchMergeKey?: string;
}

export interface ModelField extends ListRules {
  /** The name in GraphQL. */
  readonly name: string;
  /** The key in the JSON of the object. It equals `name`, except for the few keys that are not legal in GraphQL. */
  readonly key: string;
  readonly type: TypeReference;
  readonly description?: string;
  readonly deprecated?: string;
}

/**
 * An object type of the schema, with its fields in the order of their keys by code units. The type of a kind leaves out `apiVersion`,
 * `kind` and `metadata`, so it may have no fields. Every other type has at least one field.
 */
export interface ModelType {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly ModelField[];
}

export type KindSource = 'BUILT_IN' | 'CUSTOM' | 'AGGREGATED';

/** The names of a kind, and how it is served. */
export interface KindFacts extends GroupKind {
  /** The versions that serve the kind. A `ModelKind` has the preferred version first. */
  readonly versions: readonly string[];
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly source: KindSource;
  /** The paths (dotted keys) whose types differ between clusters, so that they became `JSON`. */
  readonly conflicts: readonly string[];
}

/** A kind with root fields. */
export interface ModelKind extends KindFacts {
  /** The names in GraphQL: the type (`Pod`), the list field (`pods`) and the field for one object (`pod`). */
  readonly type: string;
  readonly many: string;
  readonly one: string;
  /** The reason in `@deprecated`. Set if no cluster serves the kind any more. */
  readonly deprecated?: string;
}

/** Types and kinds. The schema is built from them, and `where`, `orderBy` and sums are checked against them. */
export interface Model {
  /** All types of the schema, by name. */
  readonly types: ReadonlyMap<string, ModelType>;
  /** All kinds of the schema, by `keyOfKind`. */
  readonly kinds: ReadonlyMap<string, ModelKind>;
}

/** Prints a type as in the schema, without the `!` of non-null types: `Int64`, `Container`, `[Container]`. */
export function printTypeReference(type: TypeReference): string {
  if ('scalar' in type) return type.scalar;
  return 'list' in type ? `[${printTypeReference(type.list)}]` : type.type;
}
