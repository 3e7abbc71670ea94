import { type ConstValueNode, GraphQLBoolean, GraphQLError, GraphQLFloat, GraphQLInt, GraphQLString, Kind } from 'graphql';
import { isRawNumber, type Json, parseJsonExactly, type RawNumber } from '../../core/json.ts';
import { sentUnchanged } from '../../execution/leaf-code.ts';
import { type ScalarName, scalarNames } from '../../model/model.ts';
import type { AnyOutput, Pothos } from './pothos.ts';

/**
 * Adds the scalars, and returns them by name. Those that GraphQL itself does not have return values unchanged, except `Int64`. Their literals
 * keep all digits of integers beyond 2⁵³−1.
 */
export function addScalars(pothos: Pothos): ReadonlyMap<ScalarName, AnyOutput> {
  const scalars: Readonly<Record<ScalarName, AnyOutput>> = {
    String: pothos.addScalarType('String', GraphQLString),
    Boolean: pothos.addScalarType('Boolean', GraphQLBoolean),
    Int: pothos.addScalarType('Int', GraphQLInt),
    Float: pothos.addScalarType('Float', GraphQLFloat),
    DateTime: pothos.scalarType('DateTime', {
      ...textual('DateTime'),
      description: 'A time as text in RFC 3339 format, in the form the API server serves.',
    }),
    Quantity: pothos.scalarType('Quantity', {
      ...textual('Quantity'),
      description: 'An amount as Kubernetes writes it, such as `250m` or `1Gi`, in the form the API server serves.',
    }),
    Bytes: pothos.scalarType('Bytes', {
      ...textual('Bytes'),
      description: 'Binary data as base64 text, in the form the API server serves.',
    }),
    Duration: pothos.scalarType('Duration', {
      ...textual('Duration'),
      description: 'A length of time as text, such as `90s` or `5m`, in the form the API server serves.',
    }),
    Int64: pothos.scalarType('Int64', {
      ...anything,
      description: 'An integer of 64 bits, never rounded. Up to 2^53-1 it is a JSON number, beyond that its decimal digits as text.',
      coerceOutputValue: exactInteger,
    }),
    IntOrString: pothos.scalarType('IntOrString', {
      ...anything,
      ...sentUnchanged,
      description: 'A number or a text, such as `3` or `25%`, in the form the API server serves.',
    }),
    StringMap: pothos.scalarType('StringMap', {
      ...anything,
      ...sentUnchanged,
      description: 'A map from text to text, such as `{"app": "web"}`, in the form the API server serves.',
    }),
    JSON: pothos.scalarType('JSON', {
      ...anything,
      ...sentUnchanged,
      description:
        'Any JSON value, not encoded as text. Integers keep all their digits. Values of objects have the form the API server serves.',
    }),
  };
  return new Map(scalarNames.map((name) => [name, scalars[name]]));
}

/**
 * Changes the global `Float` of graphql-js, which refuses integers that a double cannot hold. After the change, they are sent with all
 * their digits. A `Float` of our own is not possible, because Pothos accepts only the global one.
 */
const coerceDouble = GraphQLFloat.coerceOutputValue;
GraphQLFloat.coerceOutputValue = (value) => (isRawNumber(value) ? (value as RawNumber & number) : coerceDouble(value));

/** The functions of a scalar that takes and returns any JSON value. */
export const anything = {
  coerceOutputValue: (value: unknown) => value,
  coerceInputValue: (value: unknown) => value as Json & {},
  coerceInputLiteral: (node: ConstValueNode) => (jsonOfLiteral(node) ?? undefined) as (Json & {}) | undefined,
};

function textual(name: string) {
  return {
    ...sentUnchanged,
    coerceOutputValue: (value: unknown) => value,
    coerceInputValue: (value: unknown) => {
      if (typeof value === 'string') return value;
      throw new GraphQLError(
        `expected a text for ${name}, got ${typeof value === 'object' ? 'an object or a list' : JSON.stringify(value)}`,
      );
    },
    coerceInputLiteral: (node: ConstValueNode) => (node.kind === Kind.STRING ? node.value : undefined),
  };
}

function exactInteger(value: unknown): unknown {
  if (isRawNumber(value)) return value.rawJSON;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? String(BigInt(value as number)) : value;
}

/** Returns the JSON value of a literal. Maps keep every key as their own, even `__proto__`. */
export function jsonOfLiteral(node: ConstValueNode): Json {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.STRING:
    case Kind.ENUM:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return parseJsonExactly(node.value);
    case Kind.LIST:
      return node.values.map(jsonOfLiteral);
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, jsonOfLiteral(value)]));
    default:
      throw new GraphQLError(`expected a JSON value, got ${(node satisfies never as ConstValueNode).kind}`);
  }
}
