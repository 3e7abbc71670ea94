import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { LogQueue, type QueuedLog } from '../../../src/load/logs/log-queue.ts';
import { seededRandom } from '../../support/seeded-random.ts';

interface Target {
  readonly name: string;
}

const fault: Fault = { code: 'UNREACHABLE', cluster: clusterName('north'), message: 'gone', retry: 'LATER' };
const targets: readonly Target[] = ['a', 'b', 'c'].map((name) => ({ name }));
const [a = { name: '' }, b = { name: '' }] = targets;

const lineOf = (text: string) => ({ time: '2026-01-01T00:00:00Z', text });

function drain(queue: LogQueue<Target>): readonly QueuedLog<Target>[] {
  const taken: QueuedLog<Target>[] = [];
  for (let one = queue.take(); one !== undefined; one = queue.take()) taken.push(one);
  return taken;
}

test('lines of one log are sent together, in the order in which logs began to wait', () => {
  const queue = new LogQueue<Target>();
  queue.push(a, [lineOf('1')]);
  queue.push(b, [lineOf('2')]);
  queue.push(a, [lineOf('3')]);
  queue.addMessage(a, { type: 'ENDED' });
  queue.push(a, [lineOf('4')]);
  queue.addMessage(b, { type: 'FAILED', fault });
  expect(drain(queue)).toEqual([
    { type: 'LINES', target: a, dropped: 0, lines: [lineOf('1'), lineOf('3')] },
    { type: 'LINES', target: b, dropped: 0, lines: [lineOf('2')] },
    { type: 'ENDED', target: a, dropped: 0 },
    { type: 'LINES', target: a, dropped: 0, lines: [lineOf('4')] },
    { type: 'FAILED', target: b, dropped: 0, fault },
  ]);
  expect([queue.isEmpty, queue.bytes]).toEqual([true, 0]);
});

test('no message has more than 500 lines, nor much more than 256 KiB', () => {
  const queue = new LogQueue<Target>();
  queue.push(
    a,
    Array.from({ length: 1_001 }, () => lineOf('x')),
  );
  expect(drain(queue).map((one) => one.type === 'LINES' && one.lines.length)).toEqual([500, 500, 1]);
  queue.push(
    a,
    Array.from({ length: 7 }, () => lineOf('x'.repeat(100_000))),
  );
  expect(drain(queue).map((one) => one.type === 'LINES' && one.lines.length)).toEqual([3, 3, 1]);
});

test('messages without lines can exceed the limit too', () => {
  const queue = new LogQueue<Target>(1_000);
  for (let n = 0; n < 10; n++) queue.addMessage(a, { type: 'ENDED' });
  expect(queue.isOverfull).toBe(false);
  queue.addMessage(a, { type: 'ENDED' });
  expect(queue.isOverfull).toBe(true);
});

test('the number of lost lines comes before the lines that are left', () => {
  const queue = new LogQueue<Target>(250);
  queue.push(a, [lineOf(''), lineOf('')]);
  queue.addMessage(a, { type: 'ENDED' });
  queue.addMessage(b, { type: 'ENDED' });
  expect(drain(queue)).toEqual([
    { type: 'ENDED', target: a, dropped: 2 },
    { type: 'ENDED', target: b, dropped: 0 },
  ]);
});

test('random operations: in order, each line taken once or counted as lost, never over the limit', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seededRandom(seed);
    const queue = new LogQueue<Target>(3_000);
    const next = new Map<Target, number>();
    const pushed = new Map<Target, number>();
    const check = (one: QueuedLog<Target>) => {
      const expected = (next.get(one.target) ?? 0) + one.dropped;
      const numbers = one.type === 'LINES' ? one.lines.map(({ text }) => Number.parseInt(text, 10)) : [];
      expect(numbers, `seed ${seed}`).toEqual(numbers.map((_, index) => expected + index));
      next.set(one.target, expected + numbers.length);
    };
    for (let step = 0; step < 120; step++) {
      const target = targets[Math.floor(random() * 3)] ?? a;
      const chance = random();
      if (chance < 0.6) {
        const first = pushed.get(target) ?? 0;
        const count = Math.floor(random() * 12);
        const lines = Array.from({ length: count }, (_, index) => lineOf(String(first + index).padEnd(Math.floor(random() * 300), '.')));
        queue.push(target, lines);
        pushed.set(target, first + count);
      } else if (chance < 0.65) queue.addMessage(target, { type: 'ENDED' });
      else if (chance < 0.9) for (const one of [queue.take()]) if (one !== undefined) check(one);
      expect(queue.bytes).toBeLessThanOrEqual(3_000);
    }
    for (const one of drain(queue)) check(one);
    expect(next.get(a) ?? 0).toBe(pushed.get(a) ?? 0);
    expect([queue.bytes, queue.isEmpty]).toEqual([0, true]);
  }
});
