import { BuildCache } from '@pothos/core';
import {
  type GraphQLError,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLUnionType,
  specifiedScalarTypes,
  validateSchema,
} from 'graphql';
import type { Steps } from '../core/scheduling/operation-scheduler.ts';
import type { GraphBuilder } from './builder/builder.ts';
import { partWithFields } from './objects/generated.ts';

/** The order in which Pothos builds types. The printed schema has the same order. */
const buildOrder = [['Enum', 'Scalar'], ['InputObject'], ['Interface'], ['Object'], ['Union'], ['Query', 'Mutation', 'Subscription']];

/**
 * Builds the schema as `pothos.toSchema({ sortSchema: false })` does, but in steps.
 *
 * Two steps take longer for a larger schema. With 80,000 fields, Pothos needs 50 ms to read the declarations of all types, and the constructor of
 * graphql-js needs 50 ms.
 *
 * @throws {Error} if a type is invalid. The message names the types or fields.
 */
export function* schemaInSteps(builder: GraphBuilder): Steps<GraphQLSchema> {
  const { pothos } = builder;
  const { configStore } = pothos;
  for (const scalar of specifiedScalarTypes)
    if (!configStore.hasImplementation(scalar.name)) pothos.addScalarType(scalar.name as 'ID', scalar as never);
  const cache = new BuildCache(pothos, {});
  yield;
  configStore.prepareForBuild();
  yield;
  for (const kinds of buildOrder) {
    for (const config of configStore.typeConfigs.values()) {
      if (!kinds.includes(config.kind) || cache.types.has(config.name)) continue;
      cache.buildTypeFromConfig(config);
      const built = cache.types.get(config.name);
      if (built instanceof GraphQLObjectType) cache.types.set(config.name, partWithFields(builder, built, cache.types));
      yield;
    }
  }
  const types = [...cache.types.values()];
  for (const type of types) {
    makeFields(type);
    yield;
  }
  const [query, mutation, subscription] = ['Query', 'Mutation', 'Subscription'].map((name) => objectOf(cache.types.get(name)));
  // Every type is validated below. Without `assumeValid` graphql-js validates the schema again, at once, in the first operation.
  const schema = new GraphQLSchema({ query, mutation, subscription, types, assumeValid: true });
  yield;
  const errors = yield* errorsOf(schema);
  if (errors.length > 0) throw new Error(`the model makes no valid schema: ${errors.map(({ message }) => message).join('; ')}`);
  return schema;
}

/** Makes the fields of a type now. Otherwise graphql-js makes them when they are first read. */
function makeFields(type: GraphQLNamedType): void {
  if (type instanceof GraphQLObjectType || type instanceof GraphQLInterfaceType || type instanceof GraphQLInputObjectType) type.getFields();
  else if (type instanceof GraphQLUnionType) type.getTypes();
}

function objectOf(type: GraphQLNamedType | undefined): GraphQLObjectType | undefined {
  return type instanceof GraphQLObjectType ? type : undefined;
}

/** Number of types that one step validates, in less than a millisecond. */
const typesPerStep = 50;

/**
 * Returns the errors of `validateSchema`, in steps. Input types are validated together, because a circle of input types can be an error.
 */
function* errorsOf(schema: GraphQLSchema): Steps<readonly GraphQLError[]> {
  const types = Object.values(schema.getTypeMap());
  const inputs = types.filter((type) => type instanceof GraphQLInputObjectType);
  const others = types.filter((type) => !(type instanceof GraphQLInputObjectType));
  const errors = [...validateSchema(onlyTypes(schema, inputs))];
  yield;
  for (let from = 0; from < others.length; from += typesPerStep) {
    errors.push(...validateSchema(onlyTypes(schema, others.slice(from, from + typesPerStep))));
    yield;
  }
  return errors;
}

/** Returns an object that acts as the schema, but has only these types in its map. Fields still lead to all types. */
function onlyTypes(schema: GraphQLSchema, types: readonly GraphQLNamedType[]): GraphQLSchema {
  const map = Object.fromEntries(types.map((type) => [type.name, type]));
  return Object.create(schema, {
    getTypeMap: { value: () => map },
    __validationErrors: { value: undefined, writable: true },
  });
}
