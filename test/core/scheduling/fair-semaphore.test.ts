import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { FairSemaphore, type SemaphoreBounds } from '../../../src/core/scheduling/fair-semaphore.ts';
import { turns } from '../../support/manual-clock.ts';

/** A semaphore whose requests are recorded by name: `ann-1` is the first request of the user ann. */
function semaphoreWith(bounds: SemaphoreBounds) {
  const semaphore = new FairSemaphore(bounds);
  const entered: string[] = [];
  const refused: string[] = [];
  const held = new Map<string, Disposable>();
  const request = (name: string) =>
    semaphore.request(name.split('-')[0] ?? '', {
      enter: (permit) => {
        entered.push(name);
        held.set(name, permit);
      },
      refuse: () => refused.push(name),
    });
  const free = (name: string) => held.get(name)?.[Symbol.dispose]();
  return { semaphore, entered, refused, request, free };
}

test('a free permit goes to the next user, and to the oldest request of that user', () => {
  const { entered, request, free } = semaphoreWith({ permits: 1 });
  for (const name of ['eve-1', 'eve-2', 'eve-3', 'ann-1', 'ann-2', 'bob-1']) request(name);
  for (const name of ['eve-1', 'eve-2', 'ann-1', 'bob-1', 'eve-3']) free(name);
  expect(entered).toEqual(['eve-1', 'eve-2', 'ann-1', 'bob-1', 'eve-3', 'ann-2']);
});

test('one user leaves permits to the others', () => {
  const { entered, request, free } = semaphoreWith({ permits: 3, permitsPerUser: 2 });
  for (const name of ['eve-1', 'eve-2', 'eve-3', 'ann-1', 'ann-2']) request(name);
  expect(entered).toEqual(['eve-1', 'eve-2', 'ann-1']);
  free('ann-1');
  expect(entered.at(-1)).toBe('ann-2');
  free('ann-2');
  expect(entered).not.toContain('eve-3');
  free('eve-1');
  expect(entered.at(-1)).toBe('eve-3');
});

test('a second disposal of a permit frees nothing', () => {
  const { entered, request, free } = semaphoreWith({ permits: 1 });
  for (const name of ['eve-1', 'eve-2', 'eve-3']) request(name);
  free('eve-1');
  free('eve-1');
  expect(entered).toEqual(['eve-1', 'eve-2']);
});

test('one user has at most so many requests that wait', () => {
  const { semaphore, refused, request } = semaphoreWith({ permits: 1, maxWaitingPerUser: 2 });
  for (const name of ['eve-1', 'eve-2', 'eve-3', 'eve-4', 'ann-1']) request(name);
  expect(refused).toEqual(['eve-4']);
  expect(semaphore.waiting).toBe(3);
});

test('when the queue is full, the newest request of the user with the most is refused', () => {
  const { refused, request } = semaphoreWith({ permits: 1, maxWaiting: 3 });
  for (const name of ['eve-1', 'eve-2', 'eve-3', 'eve-4', 'ann-1', 'ann-2', 'eve-5', 'bob-1']) request(name);
  expect(refused).toEqual(['eve-4', 'ann-2', 'eve-5', 'eve-3']);
});

test('a request that is given up takes no permit and no turn', () => {
  const { semaphore, entered, request, free } = semaphoreWith({ permits: 1 });
  const giveUps = ['eve-1', 'ann-1', 'bob-1'].map(request);
  giveUps[1]?.();
  giveUps[1]?.();
  expect(semaphore.waiting).toBe(1);
  free('eve-1');
  expect(entered).toEqual(['eve-1', 'bob-1']);
});

test('work that is aborted before it starts never runs; while it runs it keeps its permit', async () => {
  const semaphore = new FairSemaphore({ permits: 1 });
  const ran: string[] = [];
  const end = Promise.withResolvers<string>();
  const life = new AbortController();
  const { signal } = new AbortController();
  const first = semaphore.run('eve', () => end.promise, life.signal);
  const second = semaphore.run('eve', async () => ran.push('second'), life.signal);
  const third = semaphore.run('ann', async () => ran.push('third'), signal);
  life.abort();
  expect(await second).toEqual({ result: 'aborted' });
  expect(await semaphore.run('eve', async () => ran.push('late'), life.signal)).toEqual({ result: 'aborted' });
  expect(ran).toEqual([]);
  end.resolve('a');
  expect(await first).toEqual({ result: 'done', value: 'a' });
  expect(await third).toEqual({ result: 'done', value: 1 });
  expect(ran).toEqual(['third']);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('work that fails frees its permit; work that may not wait is refused', async () => {
  const semaphore = new FairSemaphore({ permits: 1, maxWaiting: 0 });
  const { signal } = new AbortController();
  await expect(semaphore.run('eve', () => Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  const end = Promise.withResolvers<void>();
  const first = semaphore.run('eve', () => end.promise, signal);
  expect(await semaphore.run('ann', async () => 1, signal)).toEqual({ result: 'full' });
  end.resolve();
  await first;
  await turns();
  expect(await semaphore.run('ann', async () => 1, signal)).toEqual({ result: 'done', value: 1 });
});
