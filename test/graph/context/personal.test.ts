import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { isPersonal } from '../../../src/graph/context/personal.ts';
import { buildGraph } from '../../../src/graph/graph.ts';
import { loadBaseline } from '../../support/kubernetes-objects.ts';

const schema = buildGraph(loadBaseline());

test.each([
  ['what the view decides', 'subscription { pods { type cursor cluster { name faults { code } } added { id spec { nodeName } } } }', false],
  ['faults and sync', 'subscription { pods { fault { cluster { name } } added { sync { fault { cluster { name } } } } } }', false],
  ['a summary', 'subscription { jobStatus { summary { byCluster { cluster { name } sync { phase } } } } }', false],
  ['a kind', 'subscription { resources(kinds: "po") { kind { kind } added { id object } } }', false],
  ['counts of a cluster', 'subscription { pods { cluster { kinds { count } } } }', true],
  ['counts, far below', 'subscription { pods { added { sync { fault { cluster { kinds { count } } } } } } }', true],
  ['the logs of a Pod', 'subscription { pods { added { logs { text } } } }', true],
  ['logs in a fragment', 'subscription { pods { deleted { ...L } } } fragment L on Pod { logs { text } }', true],
  ['logs in an inline fragment', 'subscription { resources(kinds: "po") { added { id ... on Pod { x: logs { text } } } } }', true],
  ['logs behind a condition', 'subscription ($s: Boolean!) { pods { added { id logs @skip(if: $s) { text } } } }', true],
  [
    'a fragment within a fragment',
    'subscription { ...A } fragment A on Subscription { pods { ...B } } fragment B on Changes { ...C } fragment C on Changes { cluster { kinds { count } } }',
    true,
  ],
  [
    'fragments that are spread twice',
    'subscription { pods { added { ...P } modified { ...P } } } fragment P on Pod { id metadata { name } }',
    false,
  ],
  ['what an object belongs to', 'subscription { pods { added { owner { id } } } }', true],
  ['a relation of a kind', 'subscription { pods { added { services { totalCount } } } }', true],
  ['a reference that is followed', 'subscription { events { added { involvedObject { name resource { id } } } } }', true],
  ['a reference', 'subscription { events { added { involvedObject { name uid } metadata { ownerReferences { name } } } } }', false],
  ['followed logs', 'subscription { podLogs { lines { text } } }', true],
  ['a query, whatever it asks', '{ gateway { version } }', true],
] as const)('%s: %s', (_what, query, verdict) => {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  expect(isPersonal(schema, document)).toBe(verdict);
  expect(isPersonal(schema, document)).toBe(verdict);
});

test('each operation of a document has its own verdict', () => {
  const document = parse(
    'subscription A { pods { type } } subscription B { pods { cluster { kinds { count } } } } query C { gateway { demo } }',
  );
  expect(['A', 'B', 'C'].map((name) => isPersonal(schema, document, name))).toEqual([false, true, true]);
});

test('an ambiguous operation is personal', () => {
  const several = parse('subscription A { pods { type } } subscription B { pods { type } }');
  expect(isPersonal(schema, several)).toBe(true);
  expect(isPersonal(schema, several, 'X')).toBe(true);
  expect(isPersonal(schema, parse('subscription { exampleWidgets { type } }'))).toBe(true);
  expect(isPersonal(schema, parse('subscription { pods { colour } }'))).toBe(true);
});

test('a document has another verdict on another schema', () => {
  const document = parse('subscription { pods { type } }');
  const withoutPods = buildGraph({ kinds: new Map(), types: new Map() });
  expect([schema, withoutPods, schema].map((one) => isPersonal(one, document))).toEqual([false, true, false]);
});

test('fragments that multiply are searched once each', () => {
  const names = Array.from({ length: 30 }, (_, index) => `F${index}`);
  const fragments = names.map((name, index) => {
    const next = names[index + 1];
    return `fragment ${name} on Pod { id ${next === undefined ? '' : `...${next} ...${next}`} }`;
  });
  const document = parse(`subscription { pods { added { ...F0 ...F0 } } } ${fragments.join(' ')}`);
  expect(isPersonal(schema, document)).toBe(false);
});
