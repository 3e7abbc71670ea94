import {
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNullableType,
  isInputObjectType,
  isListType,
  Kind,
} from 'graphql';

/** A field at one position in a document: everything of its arguments and its info that is the same for all objects. */
export interface FieldSite {
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly parentType: GraphQLObjectType;
  /** True if each call of the resolver needs a new arguments object (`hasFreshArguments`). */
  readonly freshArguments: boolean;
}

/** A position in a document where the schema has an interface or union. The code for each object type is compiled when the first such object is met. */
export interface AbstractSite {
  readonly type: GraphQLAbstractType;
  readonly nodes: readonly FieldNode[];
  /** True if the position is inside a list, at any depth. */
  readonly isInList: boolean;
}

/** The position of a value in an answer, as graphql-js passes it to resolvers. */
export type AnswerPath = GraphQLResolveInfo['path'];

/**
 * True if graphql-js makes a new list or object for the arguments of each call, because the document contains the argument as a literal. Compiled
 * code must do the same, because a resolver may remember which argument objects it has seen. In all other cases, the calls in one operation share
 * equal arguments.
 */
export function hasFreshArguments({ args }: GraphQLField<unknown, unknown>, { arguments: given = [] }: FieldNode): boolean {
  return given.some(({ name, value }) => {
    const type = getNullableType(args.find((argument) => argument.name === name.value)?.type);
    const isContainer = isListType(type) || isInputObjectType(type) || value.kind === Kind.LIST || value.kind === Kind.OBJECT;
    return value.kind !== Kind.VARIABLE && isContainer;
  });
}
