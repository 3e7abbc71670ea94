import { createHash } from 'node:crypto';
import { GraphQLSchema, printSchema, validateSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import type { Log } from '../../src/core/log.ts';
import { createLiveSchema, type ModelSource } from '../../src/graph/live-schema.ts';
import type { Model, ModelKind, ModelType } from '../../src/model/model.ts';
import { resourceFieldNames } from '../../src/model/reserved-names.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';
import { createManualClock, turns } from '../support/manual-clock.ts';

const baseline = loadBaseline();

/** The model with a kind of this group, whose type has this field. */
function withKind(model: Model, group: string, field: ModelType['fields'][number]): Model {
  const type = `${group[0]?.toUpperCase()}${group.slice(1).replace(/\..*/, '')}Thing`;
  const names = {
    plural: 'things',
    singular: 'thing',
    shortNames: [],
    categories: [],
    type,
    many: `${group.replace(/\..*/, '')}Things`,
    one: `${group.replace(/\..*/, '')}Thing`,
  };
  const kind: ModelKind = { group, kind: 'Thing', versions: ['v1'], namespaced: true, source: 'CUSTOM', conflicts: [], ...names };
  return {
    kinds: new Map([...model.kinds, [`Thing.${group}`, kind]]),
    types: new Map([...model.types, [type, { name: type, fields: [field] }]]),
  };
}

const size = { name: 'size', key: 'size', type: { scalar: 'Int64' } } as const;
const color = { name: 'color', key: 'color', type: { scalar: 'String' } } as const;
const illegal = { name: 'not a name', key: 'x', type: { scalar: 'String' } } as const;
const dangling = { name: 'size', key: 'size', type: { type: 'Nowhere' } } as const;

function start(first: Model, passing: Partial<Clock> = {}) {
  let change: (model: Model) => void = () => undefined;
  let problem: string | undefined;
  const models: ModelSource = { model: () => first, problem: () => problem, onModel: (callback) => (change = callback) };
  const logged: { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[] = [];
  const line = (fields: Readonly<Record<string, unknown>>, message: string) => void logged.push({ fields, message });
  const log: Log = { debug: line, info: line, warn: line, error: line };
  const clock = createManualClock();
  const live = createLiveSchema({ models, clock: { ...clock, ...passing }, log }, new AbortController().signal);
  return { live, logged, clock, change: (model: Model) => change(model), fail: (text: string) => (problem = text) };
}

/** Returns the fields of a type, without those that every object has. */
const fieldsOf = (live: ReturnType<typeof start>['live'], type: string) =>
  Object.keys((live.current().schema.getType(type) as { getFields?: () => object } | undefined)?.getFields?.() ?? {}).filter(
    (name) => !resourceFieldNames.has(name),
  );

test('swaps the schema as a whole, with its text, hash and time, and an operation keeps the old one', async () => {
  const { live, clock, change, logged } = start(baseline);
  const before = live.current();
  await clock.advance(5_000);
  change(withKind(baseline, 'example.com', size));
  const after = live.current();

  expect(before.schema.getType('ExampleThing')).toBeUndefined();
  expect(fieldsOf(live, 'ExampleThing')).toEqual(['size']);
  expect(after.sdl()).toMatch(/type ExampleThing implements Resource/);
  expect(after.sdl()).toBe(after.sdl());
  expect(after.hash).not.toBe(before.hash);
  expect([before.builtAtMs, after.builtAtMs]).toEqual([clock.now() - 5_000, clock.now()]);
  expect(after.model.kinds.has('Thing.example.com')).toBe(true);
  await turns();
  expect(logged).toEqual([
    {
      message: 'a new schema is in use',
      fields: {
        changes: expect.any(Number),
        first: expect.arrayContaining([expect.stringContaining('ExampleThing')]),
        schemaHash: after.hash,
      },
    },
  ]);
});

test('equal models give equal hashes, whichever process builds them', () => {
  expect(start(baseline).live.current().hash).toBe(start(loadBaseline()).live.current().hash);
});

test.each([
  ['an illegal name', illegal],
  ['a type that is nowhere', dangling],
])('leaves out a group that cannot be built for %s, and says so', (_what, field) => {
  const { live, change } = start(baseline);
  change(withKind(withKind(baseline, 'example.com', size), 'broken.org', field));
  expect(fieldsOf(live, 'ExampleThing')).toEqual(['size']);
  expect(live.current().schema.getType('BrokenThing')).toBeUndefined();
  expect(live.current().model.kinds.has('Thing.broken.org')).toBe(false);
  expect(live.problem()).toMatch(/^broken\.org: /);

  change(withKind(withKind(baseline, 'example.com', size), 'broken.org', size));
  expect(fieldsOf(live, 'BrokenThing')).toEqual(['size']);
  expect(live.problem()).toBeUndefined();
});

test('a group that can no longer be built keeps its last state, and others change', () => {
  const { live, change } = start(withKind(baseline, 'broken.org', size));
  change(withKind(withKind(baseline, 'example.com', color), 'broken.org', illegal));
  expect(fieldsOf(live, 'BrokenThing')).toEqual(['size']);
  expect(fieldsOf(live, 'ExampleThing')).toEqual(['color']);
  expect(live.problem()).toMatch(/^broken\.org: /);
});

test('P5: the last good schema stays if no part of the new one can be built', () => {
  const { live, change } = start(baseline);
  const before = live.current();
  change({ kinds: baseline.kinds, types: new Map([...baseline.types, ['Bad', { name: 'Bad', fields: [illegal] }]]) });
  expect(live.current()).toBe(before);
  expect(live.problem()).toMatch(/not a name/);
});

test('starts with the groups that can be built, and fails if the built-in kinds cannot', () => {
  const { live } = start(withKind(baseline, 'broken.org', illegal));
  expect(live.current().schema.getType('Pod')).toBeDefined();
  expect(live.problem()).toMatch(/^broken\.org: /);
  expect(() => start({ kinds: new Map(), types: new Map([['Bad', { name: 'Bad', fields: [illegal] }]]) })).toThrow(/not a name/);
});

test('reports the problems of the model next to its own', () => {
  const { live, fail, change } = start(baseline);
  fail('group x is left out');
  expect(live.problem()).toBe('group x is left out');
  change(withKind(baseline, 'broken.org', illegal));
  expect(live.problem()).toMatch(/^group x is left out; broken\.org: /);
});

/** Each step of a rebuild takes a millisecond, so that a slice has at most eight. */
function passingTime(): Partial<Clock> {
  let nowMs = 0;
  return { monotonic: () => nowMs++ };
}

async function untilBuilt({ live }: ReturnType<typeof start>): Promise<number> {
  let eventLoopTurns = 0;
  for (; live.isBuilding(); eventLoopTurns++) await new Promise((resolve) => setImmediate(resolve));
  return eventLoopTurns;
}

test('builds in many event-loop turns, while the last schema serves, and swaps once for all models that arrive during a build', async () => {
  const started = start(baseline, passingTime());
  const { live, change, logged } = started;
  const before = live.current();
  const served: (readonly string[])[] = [];
  live.onSwap(() => served.push(fieldsOf(live, 'ExampleThing')), new AbortController().signal);
  change(withKind(baseline, 'example.com', size));
  change(withKind(baseline, 'skipped.org', size));
  change(withKind(baseline, 'example.com', color));
  expect(live.current()).toBe(before);
  expect(live.isBuilding()).toBe(true);

  expect(await untilBuilt(started)).toBeGreaterThan(100);
  expect(served).toEqual([['size'], ['color']]);
  expect(live.current().schema.getType('SkippedThing')).toBeUndefined();
  expect(logged.map(({ message }) => message)).toEqual(['a new schema is in use', 'a new schema is in use']);
});

test('keeps the last good schema if a build in slices fails, and builds the next model', async () => {
  const started = start(baseline, passingTime());
  const before = started.live.current();
  started.change({ kinds: baseline.kinds, types: new Map([...baseline.types, ['Bad', { name: 'Bad', fields: [illegal] }]]) });
  await untilBuilt(started);
  expect(started.live.current()).toBe(before);
  expect(started.live.problem()).toMatch(/not a name/);

  started.change(withKind(baseline, 'example.com', size));
  await untilBuilt(started);
  expect(fieldsOf(started.live, 'ExampleThing')).toEqual(['size']);
  expect(started.live.problem()).toBeUndefined();
});

test('prints what graphql-js prints, hashes these bytes, and serves only what graphql-js finds valid', async () => {
  const started = start(baseline, passingTime());
  started.change(withKind(baseline, 'example.com', size));
  await untilBuilt(started);
  const built = started.live.current();
  const { schema, hash } = built;
  expect(built.sdl()).toBe(`${printSchema(schema)}\n`);
  expect(hash).toBe(createHash('sha256').update(built.sdl()).digest('hex').slice(0, 32));
  expect(validateSchema(new GraphQLSchema({ ...schema.toConfig(), assumeValid: false }))).toEqual([]);
});
