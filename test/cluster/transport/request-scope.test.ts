import { expect, test } from 'vitest';
import { clusterFailure } from '../../../src/cluster/cluster-failure.ts';
import { createByteQueue } from '../../../src/cluster/transport/byte-queue.ts';
import { openRequestScope } from '../../../src/cluster/transport/request-scope.ts';
import { untilAborted } from '../../../src/core/scheduling/until-aborted.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const late = clusterFailure('TIMED_OUT', 'late');
const later = clusterFailure('TIMED_OUT', 'later');

test('a scope ends when its deadline passes, with the failure of that deadline', async () => {
  const clock = createManualClock();
  using scope = openRequestScope([new AbortController().signal], clock);
  scope.setDeadline(1_000, late);
  await clock.advance(999);
  expect(scope.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(scope.failure).toBe(late);
});

test('a deadline can be moved later, moved earlier, and removed', async () => {
  const clock = createManualClock();
  using scope = openRequestScope([new AbortController().signal], clock);
  scope.setDeadline(1_000, late);
  scope.setDeadline(5_000, late);
  await clock.advance(4_000);
  expect(scope.signal.aborted).toBe(false);
  scope.clearDeadline();
  await clock.advance(60_000);
  expect(scope.signal.aborted).toBe(false);
  scope.setDeadline(60_000, late);
  scope.setDeadline(100, later);
  await clock.advance(100);
  expect(scope.failure).toBe(later);
});

test('the abort of any outer signal ends it without a failure', async () => {
  const clock = createManualClock();
  const [caller, life] = [new AbortController(), new AbortController()];
  using scope = openRequestScope([caller.signal, life.signal], clock);
  scope.setDeadline(1_000, late);
  life.abort();
  expect([scope.signal.aborted, scope.isAbandoned, scope.failure]).toEqual([true, true, undefined]);
});

test('disposing of it ends open work and leaves no timer', async () => {
  const clock = createManualClock();
  const scope = openRequestScope([new AbortController().signal], clock);
  scope.setDeadline(1_000, late);
  await clock.advance(10);
  scope[Symbol.dispose]();
  expect(scope.signal.aborted).toBe(true);
  await clock.advance(0);
  expect(clock.sleepers).toBe(0);
});

test('a wait ends with its signal, and the promise stays pending for other callers', async () => {
  const stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<number>();
  const waiting = untilAborted(promise, stop.signal);
  stop.abort();
  expect(await waiting).toBeUndefined();
  resolve(7);
  expect(await untilAborted(promise, new AbortController().signal)).toBe(7);
  await expect(untilAborted(Promise.reject(new Error('no')), new AbortController().signal)).rejects.toThrow('no');
});

test('a queue pauses the sender beyond 1 MiB of unread bytes, and resumes it when they are read', async () => {
  const told: string[] = [];
  const queue = createByteQueue({ pause: () => told.push('pause'), resume: () => told.push('resume') });
  const chunk = new Uint8Array(256 * 1024);
  for (let pushed = 0; pushed < 4; pushed++) queue.push(chunk);
  expect(told).toEqual([]);
  queue.push(chunk);
  queue.push(chunk);
  expect(told).toEqual(['pause']);
  const read = await queue.read();
  expect(read.type === 'bytes' && read.chunks.length).toBe(6);
  expect(told).toEqual(['pause', 'resume']);
});

test('bytes before the end or the failure are read first, and only the first of both counts', async () => {
  const queue = createByteQueue({ pause: () => undefined, resume: () => undefined });
  queue.push(new Uint8Array(1));
  queue.fail(late);
  queue.end();
  queue.push(new Uint8Array(1));
  expect([await queue.read(), await queue.read(), await queue.read()].map(({ type }) => type)).toEqual(['bytes', 'broken', 'broken']);
});
