import { expect, test, vi } from 'vitest';
import type { ClusterApi, ListPart } from '../../../src/cluster/cluster-api.ts';
import { fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createConcurrencyLimit } from '../../../src/core/scheduling/concurrency-limit.ts';
import { type DecodingScheduler, LiveList } from '../../../src/load/reads/live-list.ts';
import { LiveListBudget } from '../../../src/load/reads/live-list-budget.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { pumped } from '../../support/pumped-clock.ts';

const east = clusterName('east');
const resource = {
  ...{ group: '', version: 'v1', versions: ['v1'], kind: 'ConfigMap', resource: 'configmaps', singular: 'configmap' },
  ...{ namespaced: true, verbs: ['get', 'list'], shortNames: [], categories: [] },
};
const caller = { key: 'ann' };
const life = new AbortController().signal;

const item = (namespace: string, name: string) =>
  Buffer.from(JSON.stringify({ metadata: { namespace, name, uid: `${namespace}/${name}` } }));
/** An object of many empty lists, whose text is short. */
const nested = Buffer.from(JSON.stringify({ metadata: { namespace: 'shop', name: 'nested', uid: 'n' }, spec: Array(1_000).fill([]) }));
const many = (count: number) => Array.from({ length: count }, (_, index) => item('shop', `a${index}`));
const forbidden = fault('FORBIDDEN', 'no', { cluster: east, retry: 'NEVER' });

const openScheduler: DecodingScheduler = { waitForTurn: () => undefined };

/** Creates a list over an API that sends these parts for each namespace. `''`: all namespaces. */
function listOver(
  partsOf: (namespace: string) => readonly ListPart[] | 'silence',
  { budget = new LiveListBudget(), isWithheld = false, used = 0, requestScheduler = openScheduler } = {},
) {
  const clock = createManualClock();
  const requested: string[] = [];
  const api = {
    cluster: east,
    connectionFaults: [],
    async *list({ namespace = '' }: { readonly namespace?: string }, signal: AbortSignal) {
      requested.push(namespace);
      const parts = partsOf(namespace);
      if (parts === 'silence') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      else yield* parts;
    },
  } as unknown as ClusterApi;
  const limit = createConcurrencyLimit(10);
  return {
    clock,
    requested,
    budget,
    list: new LiveList({
      api,
      resource,
      form: 'object',
      isWithheld,
      caller,
      budget,
      heap: { used: () => used },
      limit,
      requestScheduler,
      clock,
    }),
  };
}

const whole = (items: readonly Uint8Array[]): readonly ListPart[] => [{ type: 'items', items }, { type: 'pageEnded' }];

test('lists each namespace once, and keeps the others when one fails', async () => {
  const { list, requested } = listOver((namespace) =>
    namespace === 'bank' ? [{ type: 'failed', fault: forbidden }] : whole([item(namespace, 'a')]),
  );
  await Promise.all([list.load(['shop', 'bank'], life), list.load(['shop'], life)]);
  await list.load(['shop'], life);
  expect(requested).toEqual(['shop', 'bank']);
  expect([...list.store.objects()].map(({ metadata }) => metadata.namespace)).toEqual(['shop']);
  expect(list.sync()).toMatchObject({ phase: 'SYNCED' });
  expect(list.unmirroredFault(['shop'])).toBeUndefined();
  expect(list.unmirroredFault(['shop', 'bank'])).toBe(forbidden);
  expect(list.partialListFault('all'), 'not listed').toMatchObject({ code: 'SYNCING' });
});

test('a list that fails on a later page shows no objects', async () => {
  let page = 0;
  const { list, budget } = listOver(() =>
    page++ === 0
      ? [
          { type: 'items', items: many(3) },
          { type: 'pageEnded', continue: 'next' },
        ]
      : [{ type: 'failed', fault: forbidden }],
  );
  await list.load('all', life);
  expect(list.store.size).toBe(0);
  expect(list.sync()).toEqual({ phase: 'MISSING', fault: forbidden });
  list[Symbol.dispose]();
  expect(budget.take(caller, 64 << 20), 'all bytes are returned').toBe(true);
});

test.each([
  ['10,001 objects', 'TOO_LARGE', () => listOver(() => whole(many(10_001)))],
  ['more bytes than the budget has', 'TOO_LARGE', () => listOver(() => whole(many(100)), { budget: new LiveListBudget(2_000) })],
  [
    'objects that take many times the bytes of their JSON',
    'TOO_LARGE',
    () => listOver(() => whole([nested]), { budget: new LiveListBudget(10 * nested.byteLength) }),
  ],
  ['a heap that is nearly full', 'TOO_LARGE', () => listOver(() => whole(many(1)), { used: 0.95 })],
  ['a page without its end, as of a cluster that leaves', 'GONE', () => listOver(() => [{ type: 'items', items: many(1) }])],
  ['withheld Secrets', 'FORBIDDEN', () => listOver(() => whole(many(1)), { isWithheld: true })],
  ['an item that is no JSON', 'MALFORMED', () => listOver(() => whole([Buffer.from('{')]))],
  ['a server that does not answer within 10 s', 'TIMED_OUT', () => listOver(() => 'silence')],
])('%s: %s, and no objects', async (_, code, create) => {
  const { list, clock } = create();
  await pumped(clock, list.load('all', life));
  expect(list.sync()).toMatchObject({ phase: 'MISSING', fault: { code, cluster: east } });
  expect(list.unmirroredFault(['shop'])).toMatchObject({ code });
  expect(list.store.size).toBe(0);
});

test('decodes each part of a list only when the caller may continue, in turns with requests of other callers', async () => {
  const waiting: { readonly key: string; readonly letIn: () => void }[] = [];
  const requestScheduler: DecodingScheduler = {
    waitForTurn: (key) => new Promise((letIn) => waiting.push({ key, letIn })),
  };
  const parts: readonly ListPart[] = [
    { type: 'items', items: [item('shop', 'a')] },
    { type: 'items', items: [Buffer.from('{')] },
    { type: 'pageEnded' },
  ];
  const { list } = listOver(() => parts, { requestScheduler });
  const loaded = list.load('all', life);
  await vi.waitFor(() => expect(waiting.map(({ key }) => key)).toEqual(['ann']));
  expect(list.covers('all')).toBe(false);
  waiting[0]?.letIn();
  await vi.waitFor(() => expect(waiting.length).toBe(2));
  expect(list.covers('all'), 'the second part is not decoded, so its fault is not known').toBe(false);
  waiting[1]?.letIn();
  await loaded;
  expect(list.unmirroredFault(['shop'])).toMatchObject({ code: 'MALFORMED' });
});

test('a list whose operation ends while it waits for its turn is not decoded', async () => {
  const waiting: (() => void)[] = [];
  const requestScheduler: DecodingScheduler = { waitForTurn: () => new Promise((letIn) => waiting.push(letIn)) };
  const operation = new AbortController();
  const { list } = listOver(() => whole([Buffer.from('{')]), { requestScheduler });
  const ended = expect(list.load('all', operation.signal)).rejects.toThrow('gone');
  await vi.waitFor(() => expect(waiting.length).toBe(1));
  operation.abort(new Error('gone'));
  waiting[0]?.();
  await ended;
  expect(list.covers('all')).toBe(false);
});

test('more than 100 namespaces are refused without a request', async () => {
  const { list, requested } = listOver(() => whole([]));
  await list.load(
    Array.from({ length: 101 }, (_, index) => `n${index}`),
    life,
  );
  expect([requested, list.sync().fault?.code]).toEqual([[], 'TOO_LARGE']);
});

test('one caller may use no more bytes than it leaves free', () => {
  const budget = new LiveListBudget(100);
  const bob = { key: 'bob' };
  expect([budget.take(caller, 50), budget.take(caller, 1), budget.take(bob, 26), budget.take(bob, 25)]).toEqual([true, false, false, true]);
  budget.giveBack(caller, 50);
  expect(budget.take(bob, 25)).toBe(true);
});
