import { expect, test } from 'vitest';
import { liveHeapBytes } from '../../support/heap.ts';
import { createStreamHarness, type StreamChanges } from '../../support/serving/stream-harness.ts';

type Asked = readonly [query: string, changes?: StreamChanges];

const plain = 'subscription { ticks { n } }';
const resuming = 'subscription ($after: String) { ticks(after: $after) { n } }';

/** Returns how many groups two streams make. */
async function groupsOf(one: Asked, other: Asked): Promise<number> {
  const harness = createStreamHarness();
  for (const [query, changes] of [one, other]) await harness.open(query, changes);
  return harness.subscriptions.groups;
}

test.each<[string, Asked, Asked]>([
  ['the same document', [plain], [plain]],
  ['another transport', [plain, { transport: 'sse' }], [plain, { transport: 'websocket' }]],
  ['another caller, as nothing of it depends on who asks', [plain, { caller: 'ann' }], [plain, { caller: 'bob' }]],
  ['another place to go on from', [resuming, { variables: { after: 'a' } }], [resuming, { variables: { after: 'b' } }]],
  ['going on and beginning', [resuming, { variables: { after: 'a' } }], [resuming, {}]],
  ['a variable that the operation does not know', [plain, { variables: { x: 1 } }], [plain]],
  [
    'variables in another order',
    ['subscription ($a: String, $b: Int) { ticks(of: $a) { n(plus: $b) } }', { variables: { a: 'x', b: 1 } }],
    ['subscription ($a: String, $b: Int) { ticks(of: $a) { n(plus: $b) } }', { variables: { b: 1, a: 'x' } }],
  ],
])('shares one group: %s', async (_, one, other) => {
  expect(await groupsOf(one, other)).toBe(1);
});

const aliased = 'subscription ($a: String) { ticks(of: $a) { n } }';
const usedTwice = 'subscription ($after: String) { ticks(after: $after) { n text(prefix: $after) } }';
const usedInFragment = `subscription ($after: String) { ticks(after: $after) { ...part } } fragment part on Tick { text(prefix: $after) }`;
const usedByDirective = 'subscription ($after: String, $yes: Boolean!) { ticks(after: $after) { n @include(if: $yes) text } }';
const twoOperations = 'subscription A { ticks { n } } subscription B { ticks { n text } }';
const personal = 'subscription { ticks { n mine } }';

test.each<[string, Asked, Asked]>([
  ['another document', [plain], ['subscription { ticks { n text } }']],
  ['another operation of the document', [twoOperations, { operationName: 'A' }], [twoOperations, { operationName: 'B' }]],
  ['another argument', [aliased, { variables: { a: 'x' } }], [aliased, { variables: { a: 'y' } }]],
  ['null and absent', [aliased, { variables: { a: null } }], [aliased, {}]],
  ['a cursor used elsewhere too', [usedTwice, { variables: { after: 'a' } }], [usedTwice, { variables: { after: 'b' } }]],
  ['a cursor used in a fragment', [usedInFragment, { variables: { after: 'a' } }], [usedInFragment, { variables: { after: 'b' } }]],
  [
    'what a directive asks',
    [usedByDirective, { variables: { after: 'a', yes: true } }],
    [usedByDirective, { variables: { after: 'a', yes: false } }],
  ],
  ['a cursor written into the document', ['subscription { ticks(after: "a") { n } }'], ['subscription { ticks(after: "b") { n } }']],
  ['another caller, where a field depends on who asks', [personal, { caller: 'ann' }], [personal, { caller: 'bob' }]],
])('makes groups of their own: %s', async (_, one, other) => {
  expect(await groupsOf(one, other)).toBe(2);
});

test('variables that differ in shape have different groups, and those that differ only in the order of keys share one', async () => {
  const query = 'subscription ($a: Anything) { ticks(where: $a) { n } }';
  const harness = createStreamHarness();
  const values = [[['a', 1]], { a: 1 }, ['a', 1], { a: '1' }, { a: [1] }, 'a', 1, '1', null, { a: { b: 1, c: 2 } }];
  for (const a of values) await harness.open(query, { variables: { a } });
  expect(harness.subscriptions.groups).toBe(values.length);
  await harness.open(query, { variables: { a: { a: { c: 2, b: 1 } } } });
  expect(harness.subscriptions.groups).toBe(values.length);
});

test('a caller in a personal group sees its own objects', async () => {
  const harness = createStreamHarness();
  const streams = [await harness.open(personal, { caller: 'ann' }), await harness.open(personal, { caller: 'bob' })];
  harness.source.feed({ n: 1 });
  await harness.settle();
  expect(streams.map(({ outlet }) => outlet.seen[0]?.data?.ticks)).toEqual([
    { n: 1, mine: 'ann' },
    { n: 1, mine: 'bob' },
  ]);
});

test('a group ends with its last stream, and so do its reads', async () => {
  const harness = createStreamHarness();
  const [first, second] = [await harness.open(plain), await harness.open(plain)];
  harness.source.feed({ n: 1 });
  await harness.settle();
  const scope = harness.fields.scopes[0];
  expect(harness.fields.scopes.length).toBe(1);
  first.life.abort();
  expect([harness.subscriptions.groups, scope?.signal.aborted]).toEqual([1, false]);
  harness.source.feed({ n: 2 });
  await harness.settle();
  expect(second.outlet.seen.length, 'who stays is served, though the first has gone').toBe(2);
  second.life.abort();
  expect([harness.subscriptions.groups, scope?.signal.aborted]).toEqual([0, true]);
});

/** Feeds a message that only its stream holds, and returns whether it is still in memory. */
async function feedWeakly({ source, settle }: ReturnType<typeof createStreamHarness>, bytes: number): Promise<() => boolean> {
  const message = new WeakRef({ n: 1, text: 'x'.repeat(bytes) });
  source.feed(message.deref() ?? { n: 2 });
  await settle();
  return () => {
    liveHeapBytes();
    return message.deref() !== undefined;
  };
}

test('a large message is kept for later streams, within a bound and no longer than its group; a small one is not', async () => {
  const harness = createStreamHarness();
  const stream = await harness.open('subscription { ticks { n text } }');
  const [small, large] = [await feedWeakly(harness, 1_000), await feedWeakly(harness, 100_000)];
  await harness.settle();
  expect([small(), large()]).toEqual([false, true]);
  for (let n = 0; n < 100; n++) await feedWeakly(harness, 100_000);
  expect(large(), 'newer ones take its place').toBe(false);
  const last = await feedWeakly(harness, 100_000);
  stream.outlet.payloads.length = 0;
  expect(last()).toBe(true);
  stream.life.abort();
  await harness.settle();
  expect(last()).toBe(false);
});
