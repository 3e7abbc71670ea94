import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RequestScheduler } from '../../src/operations/request-scheduler.ts';

/** A clock that moves only by the work of requests that have started. */
function createCrowd() {
  let nowMs = 0;
  const scheduler = new RequestScheduler({ monotonic: () => nowMs, sleep: () => new Promise(() => {}) });
  const done: number[] = [];
  const come = async (name: number, workMs: number) => {
    await scheduler.waitForTurn();
    done.push(name);
    nowMs += workMs;
  };
  return { come, done };
}

/** Callers whose work moves the clock. `wait` moves it too. A delayed caller continues when the promise of `sleep` is fulfilled. */
function createCallers(sleep: () => Promise<void>) {
  let nowMs = 0;
  const scheduler = new RequestScheduler({ monotonic: () => nowMs, sleep });
  const done: string[] = [];
  const wait = (ms: number) => {
    nowMs += ms;
  };
  const come = async (caller: string, workMs: number) => {
    await scheduler.waitForTurn(caller);
    done.push(caller);
    wait(workMs);
  };
  return { come, done, wait };
}

test('a single request starts at once', async () => {
  const { come, done } = createCrowd();
  void come(1, 10);
  await Promise.resolve();
  expect(done).toEqual([1]);
});

test('when many requests come in one turn, late ones wait for the next turns, and start in order', async () => {
  const { come, done } = createCrowd();
  for (let name = 0; name < 10; name++) {
    void come(name, 1);
    // Each request has a callback of its own, so the work of the one before it is done.
    await Promise.resolve();
  }
  expect(done).toEqual([0, 1, 2]);
  const grown: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    await nextTurn();
    // Requests that come meanwhile wait behind the others.
    if (turn === 0) void come(10, 1);
    grown.push(done.length);
  }
  expect(grown).toEqual([3, 6, 9, 11, 11]);
  expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('after a turn without requests the next one starts at once', async () => {
  const { come, done } = createCrowd();
  for (let round = 0; round < 5; round++) {
    void come(round, 10);
    await Promise.resolve();
    expect(done.length).toBe(round + 1);
    await nextTurn();
    await nextTurn();
  }
});

test('callers take turns, and one whose request took long waits as long while others are present', async () => {
  const delay = Promise.withResolvers<void>();
  const { come, done, wait } = createCallers(() => delay.promise);
  void come('eve', 20);
  await Promise.resolve();
  for (let count = 0; count < 3; count++) void come('eve', 20);
  void come('ann', 1);
  await nextTurn();
  await nextTurn();
  await nextTurn();
  expect(done).toEqual(['eve', 'ann']);
  wait(20);
  delay.resolve();
  await nextTurn();
  await nextTurn();
  await nextTurn();
  expect(done).toEqual(['eve', 'ann', 'eve']);
});

test('callers that come while another one must wait and has more requests do not wait for it', async () => {
  const delays: PromiseWithResolvers<void>[] = [];
  const { come, done, wait } = createCallers(() => {
    const delay = Promise.withResolvers<void>();
    delays.push(delay);
    return delay.promise;
  });
  void come('ann', 1);
  await nextTurn();
  void come('eve', 300);
  await Promise.resolve();
  void come('eve', 300);
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect(done).toEqual(['ann', 'eve']);
  for (const caller of ['ann', 'bob', 'ann', 'bob']) {
    void come(caller, 2);
    await Promise.resolve();
  }
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect([done.slice(2), delays.length]).toEqual([['ann', 'bob', 'ann', 'bob'], 1]);
  wait(300);
  delays[0]?.resolve();
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect(done.at(-1)).toBe('eve');
});

test('a caller whose request took longer than others count as present is delayed too, because nothing could come meanwhile', async () => {
  const { come, done } = createCallers(() => new Promise(() => {}));
  void come('ann', 1);
  await nextTurn();
  void come('eve', 2_500);
  await Promise.resolve();
  void come('eve', 2_500);
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect(done).toEqual(['ann', 'eve']);
  void come('ann', 1);
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect(done).toEqual(['ann', 'eve', 'ann']);
});

test('a caller that is alone never has to wait', async () => {
  const { come, done } = createCrowd();
  for (let name = 0; name < 3; name++) void come(name, 50);
  for (let turn = 0; turn < 6; turn++) await nextTurn();
  expect(done).toEqual([0, 1, 2]);
});
