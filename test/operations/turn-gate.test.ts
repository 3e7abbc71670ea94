import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TurnGate } from '../../src/operations/turn-gate.ts';

/** A clock that moves only by the work of requests that were let in. */
function createCrowd() {
  let nowMs = 0;
  const gate = new TurnGate({ monotonic: () => nowMs });
  const done: number[] = [];
  const come = async (name: number, workMs: number) => {
    await gate.pass();
    done.push(name);
    nowMs += workMs;
  };
  return { come, done };
}

test('a single request is let in at once', async () => {
  const { come, done } = createCrowd();
  void come(1, 10);
  await Promise.resolve();
  expect(done).toEqual([1]);
});

test('when many requests come in one turn, late ones wait for the next turns, and go in in order', async () => {
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

test('after a quiet turn the gate is open again', async () => {
  const { come, done } = createCrowd();
  for (let round = 0; round < 5; round++) {
    void come(round, 10);
    await Promise.resolve();
    expect(done.length).toBe(round + 1);
    await nextTurn();
    await nextTurn();
  }
});
