import { buildSchema, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { maxInputValues, refusalOfVariables } from '../../../src/graph/context/variables.ts';

const schema = buildSchema(`
  scalar JSON
  input Where { and: [Where!] path: String in: [JSON!] }
  input Operation { op: String path: String value: JSON }
  type Query { pods(where: Where, names: [String!], patch: JSON): Int }
`);

function refusal(query: string, variables: JsonObject) {
  const operation = parse(query).definitions[0] as OperationDefinitionNode;
  return refusalOfVariables(schema, operation, variables)?.message;
}

const wanted = `expected at most ${maxInputValues} values in the variables, got more`;
const many = (count: number) => Array.from({ length: count }, () => 'a');

test.each<[string, string, JsonObject, boolean]>([
  ['a list', 'query ($n: [String!]) { pods(names: $n) }', { n: many(maxInputValues) }, false],
  ['a list below the limit', 'query ($n: [String!]) { pods(names: $n) }', { n: many(maxInputValues - 1) }, true],
  [
    'empty input objects',
    'query ($w: Where) { pods(where: $w) }',
    { w: { and: Array.from({ length: maxInputValues }, () => ({})) } },
    false,
  ],
  [
    'fields of input objects',
    'query ($w: Where) { pods(where: $w) }',
    { w: { and: Array.from({ length: maxInputValues / 2 }, () => ({ path: 'a' })) } },
    false,
  ],
  ['a list in a list', 'query ($w: [Where!]) { pods }', { w: Array.from({ length: 500 }, () => ({ in: many(100) })) }, false],
  ['several variables together', 'query ($a: [String!], $b: [String!]) { pods }', { a: many(30_000), b: many(30_000) }, false],
  [
    'the 10,000 operations of the longest patch',
    'query ($o: [Operation!]) { pods }',
    { o: Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/a', value: 1 })) },
    true,
  ],
  ['the members of a JSON scalar', 'query ($p: JSON) { pods(patch: $p) }', { p: many(100_000) }, true],
  ['a variable that is not defined', '{ pods }', { n: many(100_000) }, true],
  [
    'null, a text for a list, and an object for a text',
    'query ($w: Where, $n: [String!]) { pods }',
    { w: { and: null, path: {} }, n: 'a' },
    true,
  ],
])('counts %s', (_, query, variables, isAllowed) => {
  expect(refusal(query, variables)).toBe(isAllowed ? undefined : wanted);
});
