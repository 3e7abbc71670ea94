import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { TextSourceOf } from './kept-texts.ts';

/**
 * The facts that the compiler has about a resolver. An operation is never compiled if the compiler knows nothing about one of its resolvers.
 *
 * `ofObject`: the value depends only on the object of the cluster, its kind and resource, and the name of the cluster. If that holds for all fields
 * of a selection set, its JSON text can be stored as long as the object exists. Default: false.
 */
export type KnownResolver =
  /** Reads the property with this name, as the default resolver of graphql-js does. */
  | { readonly type: 'property'; readonly name: string; readonly ofObject?: boolean }
  /** Reads a value from JSON, without calling the resolver: `source.path[0].path[1]…[key]`. */
  | StoredRead
  /**
   * Called with the source alone, and returns no promise. A list that it returns is part of one object, so the budget is not charged for its
   * elements.
   */
  | { readonly type: 'value'; readonly ofObject?: boolean }
  /**
   * Called with the source, the arguments and the context; if `info` is true, also with the info of the field. Returns a promise only in rare cases.
   * If the document gives the argument named `unless`, the resolver counts as unknown.
   */
  | { readonly type: 'call'; readonly info: boolean; readonly unless?: string };

/** A value in the JSON of an object. Generated code reads it directly: reading needs no rights beyond those for the object. */
export interface StoredRead {
  readonly type: 'stored';
  /** The properties that lead from the source to the JSON object that contains the value. All of them must exist in every source. */
  readonly path: readonly string[];
  readonly key: string;
  /** The test for values that the resolver returns unchanged. For any other value, the compiled code gives up and graphql-js calls the resolver. */
  readonly fit: StoredFit;
}

/**
 * A test for stored values. `text` accepts strings, `boolean` accepts booleans, `any` accepts every value, and a function returns true for values
 * that it accepts.
 */
export type StoredFit = 'text' | 'boolean' | 'any' | ((value: unknown) => boolean);

type AnyResolver = (...args: never[]) => unknown;

/**
 * The declarations, by resolver function. They are not stored by field, because a plugin may wrap a resolver. The wrapper is another function, so it
 * counts as unknown.
 */
const known = new WeakMap<AnyResolver, KnownResolver>();

/**
 * Declares that the resolver reads a stored value, and returns the resolver. Compiled code reads the value itself, so the declaration must describe
 * exactly what the resolver does.
 */
export function storedResolver<Resolver extends AnyResolver>(read: Omit<StoredRead, 'type'>, resolver: Resolver): Resolver {
  known.set(resolver, { type: 'stored', ...read });
  return resolver;
}

/** Returns a resolver that reads the property `name` of the parent. The property must depend on the object alone, in the sense of `ofObject`. */
export function constantProperty<const Name extends string>(name: Name) {
  const resolver = <Value>(parent: { readonly [N in Name]: Value }): Value => parent[name];
  known.set(resolver, { type: 'property', name, ofObject: true });
  return resolver;
}

/** Declares that the resolver computes its value from the parent alone and returns no promise. Returns the resolver. */
export function valueResolver<Parent, Value>(resolver: (parent: Parent) => Value): (parent: Parent) => Value {
  known.set(resolver, { type: 'value' });
  return resolver;
}

/** Like `valueResolver`, for values that depend on the object alone, in the sense of `ofObject`. */
export function objectResolver<Parent, Value>(resolver: (parent: Parent) => Value): (parent: Parent) => Value {
  known.set(resolver, { type: 'value', ofObject: true });
  return resolver;
}

/**
 * Declares that the resolver may be called again after a failed attempt, and returns it. Such a resolver makes no request to a cluster and changes
 * only the context of its operation. It does not read the info of its field.
 */
export function repeatableResolver<Parent, Args, Context, Value>(
  resolver: (parent: Parent, args: Args, context: Context) => Value,
): (parent: Parent, args: Args, context: Context) => Value {
  return declareRepeatable(resolver);
}

/** Like `repeatableResolver`, for a resolver whose parameter types TypeScript cannot infer from its field. */
export function declareRepeatable<Resolver extends AnyResolver>(resolver: Resolver): Resolver {
  known.set(resolver, { type: 'call', info: false });
  return resolver;
}

/** A resolver that needs the info of its field. */
export type InfoResolver<Parent, Args, Context, Value> = (parent: Parent, args: Args, context: Context, info: GraphQLResolveInfo) => Value;

/** Like `repeatableResolver`, for a resolver that needs the info of its field. */
export function repeatableResolverWithInfo<Parent, Args, Context, Value>(
  resolver: InfoResolver<Parent, Args, Context, Value>,
): InfoResolver<Parent, Args, Context, Value> {
  known.set(resolver, { type: 'call', info: true });
  return resolver;
}

/**
 * Like `repeatableResolverWithInfo`, for a resolver that makes requests to clusters if the document gives `argument`. Such a document is never
 * compiled.
 */
export function repeatableResolverUnless<Parent, Args, Context, Value>(
  argument: string,
  resolver: InfoResolver<Parent, Args, Context, Value>,
): InfoResolver<Parent, Args, Context, Value> {
  known.set(resolver, { type: 'call', info: true, unless: argument });
  return resolver;
}

/**
 * Returns what the compiler knows about the resolver of a field. Undefined if nothing was declared, or if the document gives the `unless` argument of
 * the declaration.
 */
export function knownResolverOf(field: GraphQLField<unknown, unknown>, node: FieldNode): KnownResolver | undefined {
  const { resolve } = field;
  if (resolve === undefined || resolve === defaultFieldResolver) return { type: 'property', name: field.name };
  const found = known.get(resolve);
  if (found?.type === 'call' && node.arguments?.some(({ name }) => name.value === found.unless) === true) return undefined;
  if (found !== undefined) return found;
  // Pothos makes these resolvers for `t.exposeString` and similar methods. They read a property. Their type is `call` and not `property`, because a
  // plugin may have wrapped them.
  return typeof field.extensions.pothosExposedField === 'string' ? { type: 'call', info: true } : undefined;
}

/** Returns the resolver of a field as graphql-js calls it. */
export function resolverOf(field: GraphQLField<unknown, unknown>): GraphQLFieldResolver<unknown, unknown> {
  return field.resolve ?? defaultFieldResolver;
}

/** True if the value depends on the object alone, in the sense of `ofObject`. This always holds for stored values. */
export function isOfObject(known: KnownResolver): boolean {
  return known.type === 'stored' || (known.type !== 'call' && known.ofObject === true);
}

/** Returns options for an object type. They declare with `textSource` that the JSON texts of its objects can be stored. */
export function keptTextsOf(textSource: TextSourceOf) {
  return { extensions: { textSource } };
}

/** Returns the function that the type declared with `keptTextsOf`. Undefined if it declared none. */
export function textSourceOf(type: GraphQLObjectType): TextSourceOf | undefined {
  return type.extensions.textSource as TextSourceOf | undefined;
}

/** Options of an interface or union whose `resolveType` reads only its first parameter, the value. Other interfaces and unions are never compiled. */
export const typeOfValue = { extensions: { typeOfValue: true } } as const;
