import { parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { MusterError } from '../../src/core/errors.ts';
import { createBudget } from '../../src/graph/context/budget.ts';
import type { GraphContext } from '../../src/graph/context/context.ts';
import { subscribeTo } from '../../src/graph/context/subscribe.ts';
import type { Propagations, PropagationView, StateListener } from '../../src/propagate/model/propagations.ts';
import type { StreamListener, StreamReader } from '../../src/streams/stream-source.ts';
import { attemptsWith, testExecutor } from '../support/graph/executor.ts';
import { graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { noRelations } from '../support/graph/no-relations.ts';
import { noWrites } from '../support/graph/no-writes.ts';
import { sampleView, scriptedPropagations } from '../support/graph/propagation-samples.ts';
import { readContext } from '../support/graph/read-context.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';

// The two streams of a Propagation: its own state, and that of its Jobs. The test makes the changes of the port.

const model = loadBaseline();
const jobs = servedAs(model, 'Job.batch');
const end = new AbortController().signal;

/** One propagation that the test changes. */
function createFollowed(first: PropagationView | undefined) {
  let now = first;
  const listeners = new Set<StateListener<PropagationView>>();
  const propagations: Partial<Propagations> = {
    get: async () => now,
    async follow(_context, _name, listener, signal) {
      listeners.add(listener);
      signal.addEventListener('abort', () => listeners.delete(listener), { once: true });
      listener.changed(now);
    },
  };
  return {
    propagations,
    /** The number of followers. */
    get followers() {
      return listeners.size;
    },
    change(view: PropagationView | undefined) {
      now = view;
      for (const listener of listeners) listener.changed(view);
    },
  };
}

interface OpenedStream {
  readonly result: 'open';
  readonly heard: { ready: number; ended: MusterError | undefined };
  readonly reader: StreamReader<object>;
  /** The next message in the form a client gets it. Undefined if none waits. */
  next(): Promise<unknown>;
}

type Opening =
  | OpenedStream
  | { readonly result: 'errors'; readonly messages: readonly string[] }
  | { readonly result: 'refused'; readonly refusal: MusterError };

function graphOf(propagations: Partial<Propagations>) {
  const writing = scriptedPropagations(propagations);
  const graph = graphOverMirrors({ model, writing });
  const contextOf = (): GraphContext => ({
    ...{ reads: graph.reads, streams: graph.streams, logs: graph.logs },
    ...noWrites,
    relations: noRelations,
    ...writing,
    read: readContext(graph, { signal: end }),
    gateway: { version: '0', demo: false, readOnly: false, schemaHash: 'h', schemaBuiltAtMs: 0 },
    clock: graph.clock,
    budget: createBudget(() => undefined),
  });
  return {
    ...graph,
    async open(source: string): Promise<Opening> {
      const document = parse(source);
      expect(validate(graph.schema, document)).toEqual([]);
      const subscribed = await subscribeTo({ schema: graph.schema, document, contextValue: contextOf() }, testExecutor());
      if ('errors' in subscribed) return { result: 'errors', messages: subscribed.errors.map(({ message }) => message) };
      const heard: { ready: number; ended: MusterError | undefined } = { ready: 0, ended: undefined };
      const listener: StreamListener = {
        ready() {
          heard.ready += 1;
        },
        ended(error) {
          heard.ended = error;
        },
      };
      let reader: StreamReader<object>;
      try {
        reader = await subscribed.source.open(listener, end);
      } catch (error) {
        return { result: 'refused', refusal: error as MusterError };
      }
      return {
        ...{ result: 'open', heard, reader },
        async next() {
          const message = reader.take();
          if (message === undefined) return undefined;
          const result = await subscribed.execute(message, attemptsWith(contextOf));
          expect(result.errors).toBeUndefined();
          return JSON.parse(JSON.stringify(result.data));
        },
      };
    },
  };
}

async function opened(graph: ReturnType<typeof graphOf>, source: string): Promise<OpenedStream> {
  const stream = await graph.open(source);
  if (stream.result !== 'open') throw new Error(`expected a stream, got ${JSON.stringify(stream)}`);
  return stream;
}

const ofState = 'subscription { propagation(namespace: "shop", name: "web") { phase } }';
const inPhase = (phase: PropagationView['phase']): PropagationView => ({ ...sampleView(), phase });

describe('a propagation is streamed', () => {
  test('its state at once, then after each change; if several were not taken, only the latest', async () => {
    const followed = createFollowed(inPhase('Planning'));
    const stream = await opened(graphOf(followed.propagations), ofState);
    expect([stream.heard.ready, stream.reader.hasMore]).toEqual([1, true]);
    expect(await stream.next()).toEqual({ propagation: { phase: 'PLANNING' } });
    expect([stream.reader.hasMore, await stream.next()]).toEqual([false, undefined]);
    for (const phase of ['Rolling', 'Paused', 'RollingBack'] as const) followed.change(inPhase(phase));
    expect(stream.heard.ready).toBe(2);
    expect(await stream.next()).toEqual({ propagation: { phase: 'ROLLING_BACK' } });
    expect(await stream.next()).toBeUndefined();
  });

  test('until it is deleted: GONE, and nothing after it', async () => {
    const followed = createFollowed(inPhase('Deleting'));
    const stream = await opened(graphOf(followed.propagations), ofState);
    followed.change(undefined);
    expect(stream.heard.ended?.code).toBe('GONE');
    const { ready } = stream.heard;
    followed.change(inPhase('Settled'));
    expect(stream.heard.ready).toBe(ready);
    // A state from before the end can still be taken.
    expect(await stream.next()).toEqual({ propagation: { phase: 'DELETING' } });
  });

  test('and stops when the reader stops', async () => {
    const followed = createFollowed(inPhase('Rolling'));
    const stream = await opened(graphOf(followed.propagations), ofState);
    expect(followed.followers).toBe(1);
    stream.reader[Symbol.dispose]();
    expect([followed.followers, stream.reader.hasMore]).toEqual([0, false]);
    followed.change(inPhase('Settled'));
    expect(stream.reader.take()).toBeUndefined();
  });

  test('and refused if it does not exist', async () => {
    const stream = await graphOf(createFollowed(undefined).propagations).open(ofState);
    expect(stream.result === 'refused' && [stream.refusal.code, stream.refusal.message]).toEqual([
      'BAD_INPUT',
      'expected a propagation that exists, got "shop/web"',
    ]);
  });
});

describe('the Jobs of a propagation', () => {
  const text = (more = '', fields = 'type') =>
    `subscription { jobStatus(propagation: { namespace: "shop", name: "web" } ${more}) { ${fields} summary { total completion { mode needed complete failed done } } added { name } } }`;
  const label = { 'muster.dev/propagation': 'u-1' };
  const job = (name: string, type?: string) =>
    objectNamed(
      name,
      { namespace: 'shop', labels: label },
      { status: type === undefined ? {} : { conditions: [{ type, status: 'True' }] } },
    );

  async function started(completion: { readonly complete: number; readonly done: boolean } | undefined, ...held: ReturnType<typeof job>[]) {
    const sample = sampleView(completion === undefined ? {} : { completion: { mode: 'Count', needed: 2, failed: 0, ...completion } });
    const followed = createFollowed(sample);
    const graph = graphOf(followed.propagations);
    const cluster = graph.mirrors.join('north');
    cluster.discover(jobs);
    const mirror = cluster.mirror(jobs);
    mirror.list(...held, objectNamed('stranger', { namespace: 'shop' }));
    const stream = await opened(graph, text());
    await turns();
    return { graph, followed, mirror, stream, sample };
  }

  /** The last message that waits. */
  async function last(stream: { next(): Promise<unknown> }): Promise<unknown> {
    let found: unknown;
    for (let message = await stream.next(); message !== undefined; message = await stream.next()) found = message;
    return found;
  }

  test('are those with its label, and have their completion', async () => {
    const { stream, mirror } = await started({ complete: 0, done: false }, job('a', 'Complete'), job('b'));
    expect(await last(stream)).toMatchObject({
      jobStatus: { summary: { total: 2, completion: { mode: 'COUNT', needed: 2, complete: 1, failed: 0, done: false } } },
    });
    // The Jobs are a moment ahead of the counts on the hub.
    mirror.list(job('a', 'Complete'), job('b', 'Complete'));
    await turns();
    expect(await last(stream)).toMatchObject({ jobStatus: { summary: { completion: { complete: 2, done: true } } } });
  });

  test('get a BOOKMARK for each change of the completion without a change of a Job', async () => {
    const { stream, followed, sample } = await started({ complete: 1, done: false }, job('a', 'Complete'), job('b'));
    await last(stream);
    const withStatus = (changes: object): PropagationView => ({
      ...sample,
      propagation: { ...sample.propagation, status: { ...sample.propagation.status, ...changes } },
    });
    const { ready } = stream.heard;
    followed.change(withStatus({ reason: 'something else' }));
    expect([stream.heard.ready, stream.reader.hasMore, await stream.next()]).toEqual([ready, false, undefined]);
    followed.change(withStatus({ completion: { mode: 'Count', needed: 1, complete: 1, failed: 0, done: true } }));
    expect([stream.heard.ready, stream.reader.hasMore]).toEqual([ready + 1, true]);
    expect(await stream.next()).toEqual({
      jobStatus: {
        type: 'BOOKMARK',
        summary: { total: 2, completion: { mode: 'COUNT', needed: 1, complete: 1, failed: 0, done: true } },
        added: [],
      },
    });
    expect([stream.reader.hasMore, await stream.next()]).toEqual([false, undefined]);
  });

  test('a stream that resumes reports a completion that changed meanwhile, though no Job changed', async () => {
    const { graph, followed, sample } = await started({ complete: 1, done: false }, job('a', 'Complete'), job('b'));
    const first = await opened(graph, text('', 'cursor'));
    await turns();
    const { jobStatus } = (await last(first)) as { readonly jobStatus: { readonly cursor: string } };
    first.reader[Symbol.dispose]();
    followed.change({
      ...sample,
      propagation: { ...sample.propagation, spec: { ...sample.propagation.spec, completion: { mode: 'Any' } } },
    });
    const resumed = await opened(graph, text(`, after: ${JSON.stringify(jobStatus.cursor)}`));
    await turns();
    expect(await last(resumed)).toMatchObject({
      jobStatus: { type: 'BOOKMARK', summary: { total: 2, completion: { mode: 'ANY', done: true } }, added: [] },
    });
  });

  test('count by the mode of the current spec, although the status is about an earlier one', async () => {
    const { stream, followed, sample } = await started({ complete: 1, done: false }, job('a', 'Complete'), job('b'));
    expect(await last(stream)).toMatchObject({ jobStatus: { summary: { completion: { mode: 'COUNT', needed: 2, done: false } } } });
    const spec = { ...sample.propagation.spec, completion: { mode: 'Any' as const } };
    followed.change({ ...sample, propagation: { ...sample.propagation, spec } });
    expect(await last(stream)).toMatchObject({
      jobStatus: { type: 'BOOKMARK', summary: { completion: { mode: 'ANY', needed: 1, complete: 1, done: true } } },
    });
  });

  test.each([
    { completion: { mode: 'All' as const }, expected: { mode: 'ALL', needed: 3 } },
    { completion: { mode: 'Count' as const, count: 3 }, expected: { mode: 'COUNT', needed: 3 } },
  ])('are not done because an earlier completion was: $expected.mode', async ({ completion, expected }) => {
    const { stream, followed, sample } = await started({ complete: 2, done: true }, job('a', 'Complete'), job('b', 'Complete'), job('c'));
    await last(stream);
    const { metadata, spec } = sample.propagation;
    const next = { metadata: { ...metadata, generation: metadata.generation + 1 }, spec: { ...spec, completion } };
    followed.change({ ...sample, propagation: { ...sample.propagation, ...next } });
    expect(await last(stream)).toMatchObject({ jobStatus: { summary: { completion: { ...expected, complete: 2, done: false } } } });
  });

  test('stay done after they are gone, because the hub keeps the completion', async () => {
    const { stream } = await started({ complete: 2, done: true });
    expect(await last(stream)).toMatchObject({ jobStatus: { summary: { total: 0, completion: { complete: 2, done: true } } } });
  });

  test('are not followed without a stream', async () => {
    const { stream, followed } = await started({ complete: 0, done: false }, job('a'));
    expect(followed.followers).toBe(1);
    stream.reader[Symbol.dispose]();
    expect(followed.followers).toBe(0);
  });

  test('of a propagation that does not exist are refused', async () => {
    const stream = await graphOf(createFollowed(undefined).propagations).open(text());
    expect(stream.result === 'errors' && stream.messages[0]).toContain('expected a propagation that exists');
  });

  test('have no completion without a propagation', async () => {
    const graph = graphOf({});
    const cluster = graph.mirrors.join('north');
    cluster.discover(jobs);
    cluster.mirror(jobs).list(job('a'));
    const stream = await opened(graph, 'subscription { jobStatus { summary { total completion { done } } } }');
    await turns();
    expect(await last(stream)).toEqual({ jobStatus: { summary: { total: 1, completion: null } } });
  });
});
