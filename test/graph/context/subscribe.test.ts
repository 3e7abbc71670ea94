import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { SourceCarrier } from '../../../src/graph/context/subscribe.ts';
import type { buildGraph } from '../../../src/graph/graph.ts';
import type { StreamSource } from '../../../src/streams/stream-source.ts';
import { graphOfMessages } from '../../support/graph/graph-messages.ts';

const refuse = (): StreamSource<never> => {
  throw new MusterError('BAD_INPUT', 'expected what may be, got what came');
};

test('a refusal of load is a result with only errors, with the path of its field', async () => {
  const graph = graphOfMessages({
    streams: { changes: refuse, changesOfKinds: refuse, jobStatus: refuse },
    logs: { follow: refuse },
  });
  for (const field of ['pods { type }', 'resources(kinds: "x") { type }', 'jobStatus { type }', 'podLogs { type }']) {
    const subscribed = await graph.subscribe(`subscription { it: ${field} }`);
    expect(Object.keys(subscribed)).toEqual(['errors']);
    if (!('errors' in subscribed)) continue;
    expect(subscribed.errors).toMatchObject([
      { path: ['it'], message: 'expected what may be, got what came', originalError: { code: 'BAD_INPUT' } },
    ]);
    expect(subscribed.errors[0]?.locations).toHaveLength(1);
  }
});

test('a bug below is reported as a bug and not as an error of the caller', async () => {
  const bug = new TypeError('it is broken');
  const graph = graphOfMessages({
    streams: {
      changes: () => {
        throw bug;
      },
    },
  });
  const subscribed = await graph.subscribe('subscription { pods { type } }');
  expect('errors' in subscribed && subscribed.errors[0]?.originalError).toBe(bug);
});

test('missing or wrong variables are errors before load is called', async () => {
  const { subscribe, asked } = graphOfMessages();
  const missing = await subscribe('subscription ($kinds: [String!]!) { resources(kinds: $kinds) { type } }');
  expect('errors' in missing && missing.errors.map(String).join()).toMatch(/\$kinds/);
  const wrong = await subscribe('subscription ($after: String) { pods(after: $after) { type } }', { after: { not: 'text' } });
  expect('errors' in wrong && wrong.errors.map(String).join()).toMatch(/\$after/);
  expect(asked).toEqual([]);
});

test.each([
  ['two root fields', 'subscription { pods { type } nodes { type } }', /only one|single|one top level/i],
  [
    'two through a fragment',
    'subscription { pods { type } ...F } fragment F on Subscription { nodes { type } }',
    /only one|single|one top/i,
  ],
  ['two aliases of one', 'subscription { a: pods { type } b: pods { type } }', /only one|single|one top/i],
  ['introspection', 'subscription { __typename }', /introspection/i],
  ['a condition at the root', 'subscription ($s: Boolean!) { pods @skip(if: $s) { type } }', /@skip/],
  ['a kind nobody has', 'subscription { pod { type } }', /Cannot query field "pod"/],
  ['jobStatus of a propagation without a namespace', 'subscription { jobStatus(propagation: { name: "x" }) { type } }', /namespace/],
  ['resources without kinds', 'subscription { resources { type } }', /kinds/],
  ['arguments of lists', 'subscription { pods(first: 1) { type } }', /Unknown argument "first"/],
])('%s: refused by validation', (_what, query, words) => {
  expect(validate(buildGraphOnce(), parse(query)).map(String).join()).toMatch(words);
});

test('a carrier is never iterated', () => {
  const carrier = new SourceCarrier({ open: () => Promise.reject(new Error('unused')) });
  expect(() => carrier[Symbol.asyncIterator]()).toThrow(/through its source/);
});

let schema: ReturnType<typeof buildGraph> | undefined;

function buildGraphOnce(): ReturnType<typeof buildGraph> {
  schema ??= graphOfMessages().schema;
  return schema;
}
