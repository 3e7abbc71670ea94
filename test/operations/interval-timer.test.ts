import { expect, test } from 'vitest';
import { IntervalTimer } from '../../src/operations/interval-timer.ts';
import { createManualClock, turns } from '../support/manual-clock.ts';

function beating() {
  const clock = createManualClock();
  const heard: { readonly thing: number; readonly atMs: number }[] = [];
  const beats = new IntervalTimer<number>({
    clock,
    everyMs: 12_000,
    onInterval: (thing) => heard.push({ thing, atMs: clock.monotonic() }),
  });
  return { clock, heard, beats };
}

test('each item gets one callback per interval, and each slice has at most its share', async () => {
  const { clock, heard, beats } = beating();
  for (let thing = 0; thing < 1_200; thing++) beats.add(thing);
  await clock.advance(36_000);
  expect(heard).toHaveLength(3 * 1_200);
  const perThing = Map.groupBy(heard, ({ thing }) => thing);
  for (const [{ atMs = 0 } = {}, second, third] of perThing.values()) {
    expect(atMs).toBeLessThanOrEqual(12_000);
    expect([second?.atMs, third?.atMs]).toEqual([atMs + 12_000, atMs + 24_000]);
  }
  for (const together of Map.groupBy(heard, ({ atMs }) => atMs).values()) expect(together).toHaveLength(100);
});

test('a single item waits a whole interval; adding it twice has no effect, and a removed item gets no callback', async () => {
  const { clock, heard, beats } = beating();
  beats.add(1);
  beats.add(1);
  await clock.advance(11_999);
  expect(heard).toEqual([]);
  await clock.advance(1);
  expect(heard).toEqual([{ thing: 1, atMs: 12_000 }]);
  beats.delete(1);
  beats.delete(1);
  await turns();
  expect(clock.sleepers).toBe(0);
  beats.add(2);
  await clock.advance(12_000);
  expect(heard.map(({ thing }) => thing)).toEqual([1, 2]);
});
