import type { InputRef, ListRef, OutputRef } from '@pothos/core';
import type { Json, RawNumber } from '../../core/json.ts';
import type { GraphContext } from '../context/context.ts';

interface AsServed<Input> {
  Input: Input;
  Output: unknown;
}

export interface GraphTypes {
  Context: GraphContext;
  Scalars: {
    ID: { Input: string; Output: string };
    Float: { Input: number; Output: number | RawNumber };
    DateTime: AsServed<string>;
    Int64: AsServed<Json & {}>;
    Quantity: AsServed<string>;
    Bytes: AsServed<string>;
    Duration: AsServed<string>;
    IntOrString: AsServed<Json & {}>;
    StringMap: AsServed<Json & {}>;
    // Without `{}` a member of `Where` would be either required or never null (exactOptionalPropertyTypes).
    JSON: AsServed<Json & {}>;
    /** Only in subgraphs of Apollo Federation. */
    _Any: AsServed<Json & {}>;
  };
}

export type Types = PothosSchemaTypes.ExtendDefaultTypes<GraphTypes>;

/** The schema builder of Pothos, with the scalars and the context of our schema. */
export type Pothos = PothosSchemaTypes.SchemaBuilder<Types>;

/** A type whose fields are resolved from `T`. */
export type ObjectRefOf<T> = PothosSchemaTypes.ObjectRef<Types, T>;

/** An input type whose values reach resolvers as `T`. */
export type InputRefOf<T> = InputRef<T>;

/** Declares the fields of a type that is resolved from `T`. */
export type FieldsOf<T> = PothosSchemaTypes.ObjectFieldBuilder<Types, T>;

/** Declares the fields of `Query`. */
export type RootFields = PothosSchemaTypes.QueryFieldBuilder<Types, object>;

/** A type for fields whose resolver returns the value as the API server serves it. */
export type AnyOutput = OutputRef<unknown> | ListRef<Types, unknown>;

/**
 * Returns a function that adds an enum to the schema. `meanings` has the values in the order of the schema, each with its description.
 * Resolvers and clients use the same text for a value.
 */
export function enumsOf(pothos: Pothos) {
  return <const Value extends string>(name: string, description: string, meanings: Readonly<Record<Value, string>>) => {
    const values = Object.entries<string>(meanings).map(([value, meaning]) => [value, { value, description: meaning }]);
    type Values = { readonly [V in Value]: { readonly value: V; readonly description: string } };
    return pothos.enumType(name, { description, values: Object.fromEntries(values) as Values });
  };
}
