import { buildSchema, type OperationDefinitionNode, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { estimateOf, maxEstimate, refusalOfCost } from '../../../src/graph/context/cost.ts';
import { buildGraph } from '../../../src/graph/graph.ts';
import { loadBaseline } from '../../support/kubernetes-objects.ts';

const schema = buildSchema(`
  type Query { pods(first: Int = 100): PodConnection! pod: Pod clusters: [Cluster!]! }
  type Mutation { restart: PodConnection! }
  type Subscription { pods: Changes }
  type Changes { added: [Pod!]! }
  type Cluster { name: String pods(first: Int = 20): PodConnection! }
  interface Resource { name: String owned(first: Int = 20): PodConnection! }
  type Pod implements Resource { name: String owned(first: Int = 20): PodConnection! node: Node }
  type Node implements Resource { name: String owned(first: Int = 20): PodConnection! pods(first: Int = 20): PodConnection! }
  type PodConnection { items: [Pod!]! edges: [PodEdge!]! totalCount: Int groups(first: Int = 100): [Group!]! }
  type PodEdge { node: Pod }
  type Group { count: Int }
`);

function asked(source: string, variables?: JsonObject, operationName?: string) {
  const document = parse(source);
  expect(validate(schema, document).map(({ message }) => message)).toEqual([]);
  const operations = document.definitions.filter((node): node is OperationDefinitionNode => node.kind === 'OperationDefinition');
  const operation = operations.find(({ name }) => operationName === undefined || name?.value === operationName);
  if (operation === undefined) throw new Error('expected an operation');
  return { schema, document, operation, variables };
}
const estimate = (...args: Parameters<typeof asked>) => estimateOf(asked(...args));

describe('the estimate', () => {
  test.each<[string, string, JsonObject | undefined, number]>([
    ['a list without first is its default', '{ pods { items { name } } }', undefined, 100],
    ['a page is its size', '{ pods(first: 7) { items { name } totalCount } }', undefined, 7],
    ['nothing but leaves costs nothing', '{ pod { name } __typename }', undefined, 0],
    [
      'pages multiply',
      '{ pods(first: 10) { items { owned(first: 3) { items { owned(first: 2) { totalCount } } } } } }',
      undefined,
      10 * (1 + 3 * (1 + 2)),
    ],
    ['single objects on the way do not', '{ pods(first: 10) { items { node { pods(first: 3) { totalCount } } } } }', undefined, 40],
    ['clusters do not', '{ clusters { pods(first: 5) { totalCount } } }', undefined, 5],
    ['groups are objects too, of the connection and not of each object', '{ pods(first: 10) { groups { count } } }', undefined, 10 + 100],
    [
      'they multiply with the connections that they are of',
      '{ pods(first: 10) { items { owned(first: 3) { groups(first: 5) { count } } } groups(first: 7) { count } } }',
      undefined,
      10 + 10 * (3 + 5) + 7,
    ],
    [
      'edges are as their nodes',
      '{ pods(first: 10) { edges { node { owned(first: 3) { edges { node { name } } } } } } }',
      undefined,
      10 * (1 + 3),
    ],
    [
      'what is of each object is so through fragments',
      '{ pods(first: 10) { ...F } } fragment F on PodConnection { ... { items { owned(first: 3) { totalCount } } } groups(first: 5) { count } }',
      undefined,
      10 * (1 + 3) + 5,
    ],
    ['siblings add up, also under other names', '{ a: pods(first: 3) { totalCount } b: pods(first: 4) { totalCount } }', undefined, 7],
    [
      'a variable has its value',
      'query ($n: Int) { pods(first: $n) { items { owned(first: $n) { items { owned(first: $n) { totalCount } } } } } }',
      { n: 5 },
      5 + 25 + 125,
    ],
    [
      'fragments count where they are spread',
      '{ pod { ...F } } fragment F on Resource { owned(first: 9) { items { ...G } } } fragment G on Pod { ... { ... on Resource { owned(first: 2) { totalCount } } } }',
      undefined,
      27,
    ],
    [
      'a fragment that is spread twice in one place is one',
      '{ pod { ...F ...F } } fragment F on Pod { owned(first: 9) { totalCount } }',
      undefined,
      9,
    ],
    [
      'one that is spread in two fields is two',
      '{ pod { a: node { ...F } b: node { ...F } } } fragment F on Node { owned(first: 9) { totalCount } }',
      undefined,
      18,
    ],
    ['what is below zero is left to its reader', '{ pods(first: -5) { items { owned { totalCount } } } }', undefined, 0],
    ['so is what is above 500', '{ pods(first: 2147483647) { totalCount } }', undefined, 500],
    ['mutations count', 'mutation { restart { items { owned(first: 8) { totalCount } } } }', undefined, 8],
    ['subscriptions count', 'subscription { pods { added { owned(first: 8) { totalCount } } } }', undefined, 8],
  ])('%s', (_, source, variables, expected) => {
    expect(estimate(source, variables)).toBe(expected);
  });

  const deep = (...firsts: readonly string[]) =>
    `${firsts.map((first, level) => `${level === 0 ? 'pods' : 'owned'}(first: ${first}) { items { `).join('')}name${' } }'.repeat(firsts.length)}`;

  test('variables count with their values, also absent, null and invalid ones', () => {
    const source = `query ($n: Int = 7, $m: Int) { ${deep('500', '500', '$n', '$m')} }`;
    const outer = 500 + 500 * 500;
    expect(estimate(source, {})).toBe(outer + 500 * 500 * 7 * (1 + 20));
    expect(estimate(source, { n: 1, m: 1 })).toBe(outer + 500 * 500 * 2);
    expect(estimate(source, { n: 2 ** 31, m: 500 })).toBe(outer + 500 * 500 * 500 * 501);
    expect(estimate(source, { n: 'many', m: 3 })).toBe(outer);
    expect(estimate(source, { n: null, m: 1 }), 'null is what the field says').toBe(outer + 500 * 500 * 20 * 2);
  });

  test('each operation of a document has its own estimate', () => {
    const source = 'query A { pods(first: 1) { totalCount } } query B { pods(first: 2) { totalCount } }';
    expect([estimate(source, {}, 'A'), estimate(source, {}, 'B')]).toEqual([1, 2]);
  });

  test('1,000,000 pass, and more are refused with the number, at the operation', () => {
    const source = `query Big($n: Int) { ${deep('$n', '499', '4')} }`;
    expect(estimate(source, { n: 400 })).toBe(400 * (1 + 499 * 5));
    expect(refusalOfCost(asked(source, { n: 400 }))).toBeUndefined();
    const refusal = refusalOfCost(asked(source, { n: 401 }));
    expect(refusal?.message).toMatch(new RegExp(`^expected an operation of at most ${maxEstimate} objects, got ${401 * 2496}: `));
    expect(refusal).toMatchObject({ extensions: { code: 'TOO_COSTLY' }, locations: [{ line: 1, column: 1 }] });
  });

  test('fragments that spread each other in many places take no longer than the document is long', () => {
    const parts = Array.from(
      { length: 60 },
      (_, n) =>
        `fragment F${n} on Pod { node { ...G${n} } ...G${n} } fragment G${n} on Resource { ... on Pod { ...F${n + 1} } ... on Node { owned(first: 2) { items { ...F${n + 1} } } } }`,
    );
    const source = `{ pod { ...F0 } } ${parts.join(' ')} fragment F60 on Pod { owned(first: 1) { totalCount } }`;
    expect(estimate(source)).toBeGreaterThan(2 ** 60);
    expect(refusalOfCost(asked(source))).toBeDefined();
  });
});

describe('of the schema that is served', () => {
  const served = buildGraph(loadBaseline());

  function estimateServed(source: string, variables?: JsonObject): number {
    const document = parse(source);
    expect(validate(served, document).map(({ message }) => message)).toEqual([]);
    const [operation] = document.definitions;
    return operation?.kind === 'OperationDefinition' ? estimateOf({ schema: served, document, operation, variables }) : Number.NaN;
  }

  const large = '{ items { owned(first: 500) { items { owned(first: 500) { totalCount } } } } }';
  const ofLarge = 1 + 500 * 501;

  test.each<[string, string, JsonObject | undefined, number]>([
    ['a list', '{ pods { items { id } } }', undefined, 100],
    ['null', '{ pods(first: null) { items { id } } }', undefined, 100],
    ['a variable that is absent', `query ($n: Int) { pods(first: $n) ${large} }`, undefined, 100 * ofLarge],
    ['a variable that is null', `query ($n: Int = null) { pods(first: $n) ${large} }`, { n: null }, 100 * ofLarge],
    ['a relation', '{ pods(first: 1) { items { owned { items { owned { items { id } } } } } } }', undefined, 1 + 20 + 400],
    ['groups', '{ pods { groups(by: "phase") { count } } }', undefined, 200],
  ])('what is not said is the default: %s', (_, source, variables, expected) => {
    expect(estimateServed(source, variables)).toBe(expected);
  });

  test('defaults bound the lists inside them', () => {
    const inner = (first: string) =>
      `pods${first} { items { node { pods(first: 100) { items { services(first: 100) { items { owned(first: 100) { totalCount } } } } } } } }`;
    expect(estimateServed(`{ ${inner('')} }`)).toBe(estimateServed(`{ ${inner('(first: 100)')} }`));
    expect(estimateServed(`{ ${inner('')} }`)).toBeGreaterThan(maxEstimate);
  });

  test('groups next to a page do not multiply', () => {
    const groups = ['a', 'b', 'c', 'd'].map((name) => `${name}: groups(by: "phase", first: 500) { count }`).join(' ');
    expect(estimateServed(`{ pods(first: 500) { items { id } ${groups} } }`)).toBe(2_500);
    expect(estimateServed('{ pods { items { owned(first: 100) { groups(by: "phase") { count } } } } }')).toBe(100 + 100 * 200);
  });
});
