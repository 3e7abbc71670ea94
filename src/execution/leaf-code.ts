import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, type GraphQLLeafType, GraphQLString, isScalarType } from 'graphql';

/** Options of a scalar that puts every value into the answer without converting it. */
export const sentUnchanged = { extensions: { sentUnchanged: true } } as const;

/** For each built-in scalar: JavaScript of the condition under which the value in the variable `v` needs no conversion. */
const usual: ReadonlyMap<GraphQLLeafType, (v: string) => string> = new Map<GraphQLLeafType, (v: string) => string>([
  [GraphQLString, (v) => `typeof ${v} === "string"`],
  [GraphQLID, (v) => `typeof ${v} === "string"`],
  [GraphQLBoolean, (v) => `typeof ${v} === "boolean"`],
  [GraphQLInt, (v) => `typeof ${v} === "number" && (${v} | 0) === ${v}`],
  [GraphQLFloat, (v) => `typeof ${v} === "number" && ${v} - ${v} === 0`],
]);

/**
 * Returns JavaScript that converts the value in the variable `v` to a leaf of this type. The value is neither null nor undefined.
 * @param constant The name that the type has in the generated code.
 * @param isJson True if the value comes from JSON, so it is neither a promise nor an error and needs no test for them.
 */
export function leafCode(
  type: GraphQLLeafType,
  v: string,
  { constant, isJson }: { readonly constant: string; readonly isJson: boolean },
): string {
  const condition = usual.get(type);
  if (condition !== undefined) return `if (!(${condition(v)})) ${v} = r.leaf(${constant}, ${v});`;
  if (isScalarType(type) && type.extensions.sentUnchanged === true) return isJson ? '' : `if (typeof ${v} === "object") r.present(${v});`;
  return `${v} = r.leaf(${constant}, ${v});`;
}
