import { expect, test } from 'vitest';
import { createQueueBudget } from '../../src/load/queue-budget.ts';

test('evicts the largest queue, and no more than necessary', () => {
  const evicted: string[] = [];
  const budget = createQueueBudget(100);
  const shares = new Map(['small', 'large', 'last'].map((name) => [name, budget.open(() => evicted.push(name))]));
  shares.get('small')?.set(30);
  shares.get('large')?.set(60);
  expect([budget.bytes, evicted]).toEqual([90, []]);
  shares.get('last')?.set(20);
  expect([budget.bytes, evicted]).toEqual([50, ['large']]);
  // An evicted queue counts as empty, whatever it sets.
  shares.get('large')?.set(500);
  expect([budget.bytes, evicted]).toEqual([50, ['large']]);
});

test('evicts the queue that has just grown, if that is the largest', () => {
  const budget = createQueueBudget(100);
  let evictions = 0;
  const share = budget.open(() => {
    evictions += 1;
  });
  share.set(101);
  expect([budget.bytes, evictions]).toEqual([0, 1]);
});

test('returns the bytes of a queue once when it ends', () => {
  const budget = createQueueBudget(100);
  const share = budget.open(() => undefined);
  share.set(40);
  share[Symbol.dispose]();
  share[Symbol.dispose]();
  share.set(40);
  expect(budget.bytes).toBe(0);
});
