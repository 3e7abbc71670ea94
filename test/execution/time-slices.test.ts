import { GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString, parse, validateExecutionArgs } from 'graphql';
import { expect, test } from 'vitest';
import { TimeSliceScheduler } from '../../src/core/scheduling/operation-scheduler.ts';
import { ChargedList } from '../../src/execution/charged-list.ts';
import { declareRepeatable, keptTextsOf, objectResolver } from '../../src/execution/known-resolvers.ts';
import { OperationExecutor } from '../../src/execution/operation-executor.ts';

/** The time that the projection of one object takes, and one lookup of its stored text, by the clock of this test. */
const objectMs = 0.02;
const lookupMs = 0.005;

/** Runs a list of 10,000 objects. Only projections and lookups advance the clock, so the figures count work and not time. */
function executing() {
  let nowMs = 0;
  const clock = { monotonic: () => nowMs };
  const objects = Array.from({ length: 10_000 }, (_, index) => ({ name: `object ${index} ${'x'.repeat(80)}` }));
  const textSource = (row: unknown) => {
    nowMs += lookupMs;
    return { object: (row as { object: object }).object, others: [] };
  };
  const item = new GraphQLObjectType({
    name: 'Item',
    ...keptTextsOf(textSource),
    fields: {
      name: {
        type: GraphQLString,
        resolve: objectResolver(({ object }: { object: { name: string } }) => {
          nowMs += objectMs;
          return object.name;
        }),
      },
    },
  });
  const rows = () => {
    const list = objects.map((object) => ({ object }));
    return new ChargedList({ length: list.length, list: () => list, iterate: () => list.values() });
  };
  const type = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(item)));
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { items: { type, resolve: declareRepeatable(rows) } } }),
  });
  const executor = new OperationExecutor({ clock, keepTextsAfter: 0, onBail: () => undefined });
  const validated = validateExecutionArgs({ schema, document: parse('{ items { name } }') });
  if (!('schema' in validated)) throw new Error(String(validated));
  const scheduler = new TimeSliceScheduler(clock);
  return {
    clock,
    now: clock.monotonic,
    run: (throwIfOver: () => void) => {
      return executor.execute(validated, {
        newContext: () => ({ read: { timeSlices: scheduler.createSlices(throwIfOver) } }),
        throwIfOver,
      });
    },
  };
}

/** Measures the longest event-loop turn until `isOver` is set. */
function watchTurns({ monotonic }: { monotonic(): number }): { longestMs: number; isOver: boolean } {
  const turns = { longestMs: 0, isOver: false };
  let last = monotonic();
  const turn = () => {
    turns.longestMs = Math.max(turns.longestMs, monotonic() - last);
    last = monotonic();
    if (!turns.isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return turns;
}

test('10,000 objects are projected, and later taken from kept texts, in turns of at most 10 ms', async () => {
  const { run, clock, now } = executing();
  const texts: string[] = [];
  // The first run is that of graphql-js, the second one projects, the third one reads kept texts.
  for (const _ of ['graphql-js', 'projected', 'kept']) {
    // The turn that the previous run has planned ends before this run begins. Otherwise the first measured turn would hold the work of two.
    await new Promise((resolve) => setImmediate(resolve));
    const beganMs = now();
    const turns = watchTurns(clock);
    texts.push(JSON.stringify(await run(() => undefined)));
    turns.isOver = true;
    if (texts.length === 1) continue;
    expect(now() - beganMs).toBeGreaterThan(40);
    expect(turns.longestMs).toBeGreaterThan(4);
    expect(turns.longestMs).toBeLessThanOrEqual(10);
  }
  expect(texts[1]).toBe(texts[0]);
  expect(texts[2]).toBe(texts[0]);
});

test('an operation that is over stops after its slice, also among kept texts', async () => {
  const { run, now } = executing();
  for (let n = 0; n < 3; n += 1) await run(() => undefined);
  const over = new Error('over');
  const beganMs = now();
  await expect(
    (async () =>
      run(() => {
        throw over;
      }))(),
  ).rejects.toBe(over);
  expect(now() - beganMs).toBeLessThanOrEqual(10);
});
