import type { GroupKind } from '../core/kinds.ts';

/** Scalars that generated fields have. Passed through as served; what each means stands in its description in the schema. */
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

/** What a field holds. `ResourceList` (a map of quantities) and `ObjectMeta` are object types written by hand, named like any other. */
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
  /** Its name in GraphQL. */
  readonly name: string;
  /** Its key in the JSON of the object; equal to `name` but for the few that GraphQL cannot name. */
  readonly key: string;
  readonly type: TypeReference;
  readonly description?: string;
  readonly deprecated?: string;
}

/**
 * An object type of the schema. Fields in order of their keys' code units. The type of a kind holds what stands beside `apiVersion`, `kind` and
 * `metadata`, and may have no field at all; any other type has one.
 */
export interface ModelType {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly ModelField[];
}

export type KindSource = 'BUILT_IN' | 'CUSTOM' | 'AGGREGATED';

/** The names of a kind and how it is served. */
export interface KindFacts extends GroupKind {
  /** Versions known to serve it. Those of a `ModelKind` have the best first. */
  readonly versions: readonly string[];
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly source: KindSource;
  /** Paths (dotted keys) whose types differ between clusters, so that they became `JSON`. */
  readonly conflicts: readonly string[];
}

/** A kind with root fields. */
export interface ModelKind extends KindFacts {
  /** Names in GraphQL: the type (`Pod`), the list field (`pods`), the single field (`pod`). */
  readonly type: string;
  readonly many: string;
  readonly one: string;
  /** Set when nobody serves the kind any more: the reason given in `@deprecated`. */
  readonly deprecated?: string;
}

/** Types and kinds: what the schema is built from, and what `where`, `orderBy` and sums are checked against. */
export interface Model {
  /** By name. */
  readonly types: ReadonlyMap<string, ModelType>;
  /** By `keyOfKind`. */
  readonly kinds: ReadonlyMap<string, ModelKind>;
}

/** `Int64`, `Container`, `[Container]`: as in the schema, but for the marks of what is never null. */
export function printTypeReference(type: TypeReference): string {
  if ('scalar' in type) return type.scalar;
  return 'list' in type ? `[${printTypeReference(type.list)}]` : type.type;
}
