import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mutate } from '../../../src/cli/client/gateway-client.ts';
import { sendListMutation } from '../../../src/cli/writes/write-objects.ts';
import { type CliSession, createCliSession } from '../../support/cli/cli-session.ts';

/** A gateway that returns the items it received as results. */
const echo = () =>
  createCliSession({ answer: ({ variables }) => ({ outcome: { results: (variables?.manifests ?? []) as readonly object[] } }) });

const sizes = (session: CliSession) =>
  session.asked.map(({ variables }) => (Array.isArray(variables?.manifests) ? variables.manifests.length : 0));

const asked = (items: readonly object[], writesPerItem: number) => ({
  field: 'apply',
  list: { name: 'manifests', type: '[Manifest!]!', items: JSON.parse(JSON.stringify(items)) },
  writesPerItem,
  rest: { force: { type: 'Boolean', value: true } },
  output: undefined,
});

test('declares inputs with their types, and passes them as variables', async () => {
  const session = createCliSession({ answer: () => ({ outcome: 7 }) });
  const inputs = { name: { type: 'String!', value: 'web' }, revision: { type: 'Int', value: null } };
  expect(await mutate(session.gateway, { field: 'rollback', inputs, selection: 'result' })).toBe(7);
  expect(session.asked).toEqual([
    {
      query: 'mutation ($name: String!, $revision: Int) { outcome: rollback(name: $name, revision: $revision) { result } }',
      variables: { name: 'web', revision: null },
    },
  ]);
});

test('sends a list in parts that a gateway accepts, in order, each item once', async () => {
  const item = fc.integer({ min: 1, max: 400 }).map((kilobytes) => 'x'.repeat(kilobytes * 1024));
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 30 }), fc.integer({ min: 1, max: 600 }), async (texts, writesPerItem) => {
      const session = echo();
      const items = texts.map((text, index) => ({ index, text }));
      expect(await sendListMutation(session.gateway, asked(items, writesPerItem))).toEqual(items);
      for (const { variables } of session.asked) {
        const { manifests, force } = variables as { manifests: readonly object[]; force: boolean };
        expect(force).toBe(true);
        expect(manifests.length * writesPerItem <= 1_000 || manifests.length === 1).toBe(true);
        expect(JSON.stringify(variables).length < 4 << 20 || manifests.length === 1).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});

test('sends as few requests as possible', async () => {
  const session = echo();
  await sendListMutation(
    session.gateway,
    asked(
      Array.from({ length: 1_000 }, (_, index) => ({ index })),
      3,
    ),
  );
  expect(sizes(session)).toEqual([333, 333, 333, 1]);
});

test('sends an item above the size bound alone, and nothing for an empty list', async () => {
  const session = echo();
  const large = { text: 'x'.repeat(3 << 20) };
  await sendListMutation(session.gateway, asked([{ a: 1 }, large, { b: 2 }], 1));
  expect(sizes(session)).toEqual([1, 1, 1]);
  expect(await sendListMutation(echo().gateway, asked([], 1))).toEqual([]);
});
