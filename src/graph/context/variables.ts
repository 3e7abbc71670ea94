import {
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import type { ErrorCode } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';

/**
 * Maximum number of list elements and of fields of input objects in the variables of one operation. graphql-js coerces all of them at once,
 * which takes up to 2 µs for each. The largest argument has 10,000 operations of a JSON patch with up to 5 values each.
 */
export const maxInputValues = 50_000;

/**
 * Returns the error for an operation whose variables have too many values. Undefined if it may run. Values inside a JSON scalar do not count,
 * because they are not coerced. Variables that the operation does not define do not count either.
 */
export function refusalOfVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: Pick<OperationDefinitionNode, 'variableDefinitions'>,
  variables: JsonObject | undefined,
): GraphQLError | undefined {
  let left = maxInputValues;
  const open: TypedValue[] = [];
  const add = (type: GraphQLInputType, value: unknown) => {
    left -= 1;
    if (typeof value === 'object' && value !== null) open.push({ type: getNullableType(type), value });
  };
  for (const { variable, type: node } of variableDefinitions) {
    const type = typeFromAST(schema, node);
    const value = variables?.[variable.name.value];
    if (isInputType(type) && value !== undefined) add(type, value);
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { type, value } = next;
    if (isListType(type)) {
      // A list takes a single value in place of a list with one element.
      const elements = Array.isArray(value) ? value : [value];
      if (elements.length > left) return tooMany();
      for (const element of elements) add(type.ofType, element);
    } else if (isInputObjectType(type) && isJsonObject(value)) {
      const fields = type.getFields();
      for (const [name, member] of Object.entries(value)) {
        const field = fields[name];
        if (field !== undefined) add(field.type, member);
      }
    }
    if (left < 0) return tooMany();
  }
  return undefined;
}

interface TypedValue {
  readonly type: GraphQLInputType;
  readonly value: object;
}

function tooMany(): GraphQLError {
  const code: ErrorCode = 'BAD_INPUT';
  return new GraphQLError(`expected at most ${maxInputValues} values in the variables, got more`, { extensions: { code } });
}
