import { expect, test } from 'vitest';
import type { MusterError } from '../../../src/core/errors.ts';
import { LogOutbox } from '../../../src/load/logs/log-outbox.ts';
import { createQueueBudget } from '../../../src/load/queue-budget.ts';
import { viewOf } from '../../support/graph/graph-messages.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';

const target = { cluster: viewOf('north'), namespace: 'default', pod: 'web', container: 'main' };
const lines = (text: string) => [{ text }];

function outboxOf(maxBytes: number) {
  const budget = createQueueBudget(maxBytes);
  const reasons: MusterError[] = [];
  const listener = { ready: () => undefined, ended: () => undefined };
  const end = (reason: MusterError) => void reasons.push(reason);
  const outbox = new LogOutbox({ clock: createManualClock(), listener, budget, end, onThrow: () => undefined });
  return { budget, outbox, reasons };
}

test('takes its bytes from the shared budget, and returns them', () => {
  const { budget, outbox } = outboxOf(10_000);
  outbox.lines(target, lines('x'.repeat(400)));
  expect(budget.bytes).toBe(500);
  outbox.take();
  expect(budget.bytes).toBe(0);
  outbox.lines(target, lines('x'));
  outbox[Symbol.dispose]();
  expect(budget.bytes).toBe(0);
});

test('ends its reader if all queues together exceed the budget and it is the largest', async () => {
  const { budget, outbox, reasons } = outboxOf(10_000);
  outbox.lines(target, lines('x'.repeat(20_000)));
  expect(reasons.map(({ code }) => code)).toEqual(['SLOW_CONSUMER']);
  expect(budget.bytes).toBe(0);
  outbox[Symbol.dispose]();
  outbox.lines(target, lines('more'));
  await turns();
  expect([reasons.length, outbox.take(), budget.bytes]).toEqual([1, undefined, 0]);
});

test('ends its reader if messages without lines are too much', () => {
  const { outbox, reasons } = outboxOf(100 << 20);
  for (let n = 0; n < 11_000 && reasons.length === 0; n++) outbox.ended(target);
  expect(reasons.map(({ code }) => code)).toEqual(['SLOW_CONSUMER']);
});
