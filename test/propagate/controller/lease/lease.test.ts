import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { type Log, silentLog } from '../../../../src/core/log.ts';
import { lead, type Term } from '../../../../src/propagate/controller/lease/lease.ts';
import { callHub } from '../../../../src/propagate/hub/hub.ts';
import { createManualClock, type ManualClock, turns } from '../../../support/manual-clock.ts';
import { type CallFate, createLeaseServer, type LeaseServer } from '../../../support/propagate/lease-server.ts';

// The first typed call imports client-node. On a busy machine that takes longer than `turns`, so the first test would miss how its Lease is
// acquired.
beforeAll(async () => {
  const hub = createLeaseServer(createManualClock()).hub();
  const place = { namespace: 'muster-system', name: 'muster' };
  const { signal } = new AbortController();
  await callHub(hub, ({ CoordinationV1Api }, transport) => new CoordinationV1Api(transport).readNamespacedLease(place), signal);
});

interface Candidate {
  readonly isLeading: boolean;
  /** The terms that have started so far. */
  readonly terms: readonly Term[];
  /** Stops the process. Resolves when it has stopped. */
  stop(): Promise<void>;
}

interface CandidateOptions {
  readonly fate?: () => CallFate;
  readonly clock?: ManualClock;
  readonly log?: Log;
  /** Called at the end of a term, before its work ends. */
  readonly beforeEnd?: () => Promise<void>;
}

function candidate(server: LeaseServer, clock: ManualClock, identity: string, options: CandidateOptions = {}): Candidate {
  const stop = new AbortController();
  const terms: Term[] = [];
  const work = async (term: Term) => {
    terms.push(term);
    await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }));
    await options.beforeEnd?.();
  };
  const ended = lead(
    {
      hub: server.hub(options.fate),
      namespace: 'muster-system',
      name: 'muster',
      identity,
      clock: options.clock ?? clock,
      log: options.log ?? silentLog,
    },
    work,
    stop.signal,
  );
  return {
    terms,
    get isLeading() {
      const term = terms.at(-1);
      return term !== undefined && !term.signal.aborted && term.isLeading();
    },
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

test('acquires a free Lease and renews it every two seconds', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  const one = candidate(server, clock, 'one');
  await turns();
  expect(one.isLeading).toBe(true);
  expect(server.object?.spec).toEqual({
    holderIdentity: 'one',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  });

  await clock.advance(3_600_000);
  expect(one.isLeading).toBe(true);
  expect(one.terms.length).toBe(1);
  expect(server.object?.spec).toMatchObject({ acquireTime: '2026-01-01T00:00:00.000000Z', renewTime: '2026-01-01T01:00:00.000000Z' });
  await one.stop();
  expect(clock.sleepers).toBe(0);
});

test('releases the Lease after its work at a clean stop, so that the next process leads within one retry', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  let holderAtEnd: unknown;
  const one = candidate(server, clock, 'one', {
    beforeEnd: async () => {
      await clock.sleep(1_000, new AbortController().signal);
      holderAtEnd = server.holders.at(-1);
    },
  });
  await turns();
  const two = candidate(server, clock, 'two');
  await clock.advance(30_000);
  expect([one.isLeading, two.isLeading]).toEqual([true, false]);

  const stopping = one.stop();
  expect(one.terms[0]?.signal.aborted).toBe(true);
  await clock.advance(1_000);
  await stopping;
  expect(holderAtEnd).toBe('one');
  await clock.advance(2_000);
  expect(two.isLeading).toBe(true);
  expect(server.holders).toEqual(['one', '', 'two']);
  expect(server.object?.spec).toMatchObject({ leaseTransitions: 1 });
  await two.stop();
});

test('acquires the Lease of a dead process 15 to 17 seconds after its last renewal', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  let isDead = false;
  const one = candidate(server, clock, 'one', { fate: () => (isDead ? 'hangs' : 'answered') });
  await turns();
  const two = candidate(server, clock, 'two');
  await clock.advance(10_000);
  isDead = true;
  await clock.advance(9_999);
  expect([one.isLeading, two.isLeading]).toEqual([true, false]);
  // The deadline of the leader ends before another process may lead, and its work stops even though its request still hangs.
  await clock.advance(1);
  expect([one.isLeading, one.terms[0]?.signal.aborted, two.isLeading]).toEqual([false, true, false]);
  await clock.advance(4_999);
  expect(two.isLeading).toBe(false);
  await clock.advance(2_001);
  expect(two.isLeading).toBe(true);
  await Promise.all([one.stop(), two.stop()]);
});

test.each<{ readonly name: string; readonly fate: CallFate }>([
  { name: 'answers 5xx', fate: 'refused' },
  { name: 'does not answer', fate: 'hangs' },
  { name: 'writes, but its answers are lost', fate: 'lost' },
])('a Lease API that $name for 9 s costs nothing, for longer the term; afterwards it leads again', async ({ fate }) => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  let now: CallFate = 'answered';
  const one = candidate(server, clock, 'one', { fate: () => now });
  await clock.advance(2_000);
  now = fate;
  await clock.advance(9_000);
  expect(one.isLeading).toBe(true);
  await clock.advance(1_001);
  expect([one.isLeading, one.terms[0]?.signal.aborted]).toEqual([false, true]);
  now = 'answered';
  await clock.advance(12_500);
  expect([one.isLeading, one.terms.length]).toEqual([true, 2]);
  await one.stop();
});

test('gives up a hanging renewal after 5 s, logs it and sends it again, and the term continues', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (fields: unknown) => void warned.push(fields) };
  const fates: CallFate[] = [];
  const one = candidate(server, clock, 'one', { fate: () => fates.shift() ?? 'answered', log });
  await turns();
  for (const fate of ['hangs', 'lost'] as const) {
    fates.push(fate);
    await clock.advance(7_000);
    expect(warned.splice(0)).toEqual([{ lease: 'muster', code: 'TIMED_OUT', reason: 'expected an answer within 5 s, got none' }]);
  }
  await clock.advance(60_000);
  expect([one.isLeading, one.terms.length, warned]).toEqual([true, 1, []]);
  await one.stop();
  expect([server.holders, clock.sleepers]).toEqual([['one', ''], 0]);
});

test('logs a refused request about the Lease, but not one that was aborted by a stop', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: unknown, message: string) => void warned.push(message) };
  let now: CallFate = 'answered';
  const [one, two] = ['one', 'two'].map((identity) => candidate(server, clock, identity, { fate: () => now, log }));
  await turns();
  now = 'hangs';
  // Both fail so far: the leader to renew, the other process to read.
  await clock.advance(3_000);
  now = 'answered';
  await Promise.all([one?.stop(), two?.stop()]);
  expect([warned, server.holders]).toEqual([[], ['one', '']]);

  now = 'refused';
  const three = candidate(server, clock, 'three', { fate: () => now, log });
  await turns();
  expect(warned).toEqual(['could not get the Lease']);
  await three.stop();
});

test('counts a term from the time when its last renewal was sent, however late the answer was', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  let now: CallFate = 'answered';
  const one = candidate(server, clock, 'one', { fate: () => now });
  await turns();
  now = 'slow';
  // The first renewal is sent and written at 2 s, and answered at 6 s. The next ones hang.
  await clock.advance(5_999);
  now = 'hangs';
  await clock.advance(1);
  await clock.advance(5_999);
  expect([clock.monotonic(), one.isLeading]).toEqual([11_999, true]);
  await clock.advance(1);
  expect([one.isLeading, one.terms[0]?.signal.aborted]).toEqual([false, true]);
  await one.stop();
});

test('B13: a changed wall clock makes no process lose or acquire the Lease', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  const one = candidate(server, clock, 'one');
  await turns();
  const two = candidate(server, clock, 'two');
  for (const jumpMs of [3_600_000, -7_200_000, 20_000]) {
    clock.jump(jumpMs);
    await clock.advance(20_000);
    expect([one.isLeading, two.isLeading, one.terms.length]).toEqual([true, false, 1]);
  }
  await Promise.all([one.stop(), two.stop()]);
});

test('B13: a process that was suspended past its deadline notices it before its next write', async () => {
  const clock = createManualClock();
  let stoodMs = 0;
  const stopped: ManualClock = Object.create(clock, { monotonic: { value: () => clock.monotonic() + stoodMs } });
  const server = createLeaseServer(clock);
  const one = candidate(server, clock, 'one', { clock: stopped });
  await clock.advance(4_000);
  const [term] = one.terms;
  // The process was suspended: no timer and no callback ran. The write that checks the term runs first.
  stoodMs = 60_000;
  expect([term?.signal.aborted, term?.isLeading()]).toEqual([false, false]);
  await clock.advance(10_000);
  expect(term?.signal.aborted).toBe(true);
  await one.stop();
});

test('ends a term as soon as another process is seen to hold the Lease', async () => {
  const clock = createManualClock();
  const server = createLeaseServer(clock);
  const one = candidate(server, clock, 'one');
  await clock.advance(2_000);
  const { object } = server;
  if (object === undefined) throw new Error('expected a Lease');
  server.put({ ...object, spec: { ...object.spec, holderIdentity: 'somebody' } });
  await clock.advance(2_000);
  expect([one.isLeading, one.terms[0]?.signal.aborted]).toEqual([false, true]);
  await one.stop();
  expect(server.holders).toEqual(['one', 'somebody']);
});

test('never lets two processes lead at once, whatever requests fail, and lets one lead when they succeed again', async () => {
  const fate = fc.constantFrom<CallFate>('answered', 'answered', 'answered', 'refused', 'hangs', 'lost');
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 60 }), fc.array(fate, { maxLength: 60 }), async (first, second) => {
      const clock = createManualClock();
      const server = createLeaseServer(clock);
      const fates = [[...first], [...second]];
      const candidates = fates.map((list, place) => candidate(server, clock, `c${place}`, { fate: () => list.shift() ?? 'answered' }));
      for (let step = 0; step < 200; step++) {
        await clock.advance(1_000);
        expect(candidates.filter(({ isLeading }) => isLeading).length).toBeLessThanOrEqual(1);
        if (fates.every((list) => list.length === 0) && step > 150) break;
      }
      await clock.advance(40_000);
      if (fates.every((list) => list.length === 0)) expect(candidates.filter(({ isLeading }) => isLeading).length).toBe(1);
      await Promise.all(candidates.map(({ stop }) => stop()));
      expect(clock.sleepers).toBe(0);
    }),
    { numRuns: 15 },
  );
}, 60_000);
