import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Waiters } from '../../../src/core/scheduling/waiters.ts';

test('wakes all callers that wait, and none that comes later', async () => {
  const waiters = new Waiters();
  const { signal } = new AbortController();
  const done: string[] = [];
  const waits = (name: string) => waiters.wait(signal).then(() => done.push(name));
  const both = [waits('first'), waits('second')];
  waiters.wake();
  void waits('later');
  await Promise.all(both);
  expect(done).toEqual(['first', 'second']);
});

test('a wait ends with its signal and leaves no listener behind', async () => {
  const waiters = new Waiters();
  const life = new AbortController();
  const woken = waiters.wait(life.signal);
  waiters.wake();
  await woken;
  expect(getEventListeners(life.signal, 'abort')).toHaveLength(0);
  const aborted = waiters.wait(life.signal);
  life.abort();
  await aborted;
  await waiters.wait(life.signal);
  expect(getEventListeners(life.signal, 'abort')).toHaveLength(0);
});
