import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createConcurrencyLimit } from '../../../src/core/scheduling/concurrency-limit.ts';
import { turns } from '../../support/manual-clock.ts';

/** Work that records its start, and ends when the test ends it. */
function startWork() {
  const begun: string[] = [];
  const ends = new Map<string, (how: 'done' | 'failed') => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve, reject) => ends.set(name, (how) => (how === 'done' ? resolve(name) : reject(new Error(name)))));
  };
  return { begun, work, end: (name: string, how: 'done' | 'failed' = 'done') => ends.get(name)?.(how) };
}

test('at most the limit run at a time, the others follow in order of arrival, also after one that failed', async () => {
  const { begun, work, end } = startWork();
  const gate = createConcurrencyLimit(2);
  const { signal } = new AbortController();
  const results = ['a', 'b', 'c', 'd'].map((name) => gate.run(work(name), signal));
  await turns();
  expect(begun).toEqual(['a', 'b']);
  end('b', 'failed');
  await expect(results[1]).rejects.toThrow('b');
  // The free slot goes to waiting work, so new work waits too.
  const last = gate.run(work('e'), signal);
  await turns();
  expect(begun).toEqual(['a', 'b', 'c']);
  end('a');
  end('c');
  await turns();
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  end('d');
  end('e');
  expect(await Promise.all([results[0], results[2], results[3], last])).toEqual(['a', 'c', 'd', 'e']);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('work that is aborted before it starts never runs, and takes no slot', async () => {
  const { begun, work, end } = startWork();
  const gate = createConcurrencyLimit(1);
  const life = new AbortController();
  const { signal } = new AbortController();
  const first = gate.run(work('a'), signal);
  const second = gate.run(work('b'), life.signal);
  const third = gate.run(work('c'), signal);
  life.abort();
  expect(await second).toBeUndefined();
  expect(await gate.run(work('d'), life.signal)).toBeUndefined();
  end('a');
  await turns();
  end('c');
  expect(await Promise.all([first, third])).toEqual(['a', 'c']);
  expect(begun).toEqual(['a', 'c']);
});

test('work that is aborted while it runs keeps its slot until it has ended', async () => {
  const { begun, work, end } = startWork();
  const gate = createConcurrencyLimit(1);
  const life = new AbortController();
  const first = gate.run(work('a'), life.signal);
  const second = gate.run(work('b'), new AbortController().signal);
  life.abort();
  await turns();
  expect(begun).toEqual(['a']);
  end('a');
  expect(await first).toBe('a');
  await turns();
  end('b');
  expect(await second).toBe('b');
});

test('runs at most the limit, in order, and forgets aborted work', async () => {
  const gate = createConcurrencyLimit(1);
  const ran: string[] = [];
  const first = Promise.withResolvers<void>();
  const signal = new AbortController().signal;
  const leaving = new AbortController();
  const all = [
    gate.run(async () => {
      ran.push('a');
      await first.promise;
    }, signal),
    gate.run(async () => ran.push('b'), leaving.signal),
    gate
      .run(async () => {
        ran.push('c');
        throw new Error('c');
      }, signal)
      .catch(() => undefined),
    gate.run(async () => ran.push('d'), signal),
  ];
  leaving.abort();
  await turns();
  expect(ran).toEqual(['a']);
  first.resolve();
  await Promise.all(all);
  expect(ran).toEqual(['a', 'c', 'd']);
});
