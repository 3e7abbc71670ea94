import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Steps, TimeSliceScheduler } from '../../../src/core/scheduling/operation-scheduler.ts';

/** A clock that advances only by work. */
function createBusyClock() {
  let nowMs = 0;
  return {
    clock: { monotonic: () => nowMs },
    work: (ms: number) => {
      nowMs += ms;
    },
    now: () => nowMs,
  };
}

const never = () => undefined;

describe('long work', () => {
  test('is done at once if it fits into the first slice', () => {
    const { clock, work } = createBusyClock();
    const operation = new TimeSliceScheduler(clock).createSlices(never);
    function* steps(): Steps<string> {
      work(3);
      yield;
      work(3);
      return 'done';
    }
    expect(operation.run(steps())).toBe('done');
  });

  test('takes its first step at once, and the others in slices of at most 8 ms and a step', async () => {
    const { clock, work, now } = createBusyClock();
    const slices = new TimeSliceScheduler(clock);
    slices.createSlices(never).run(taking(work, 8));
    const turns: number[] = [];
    const done = slices.createSlices(never).run(taking(work, 100));
    const begun = now();
    expect(begun).toBe(9);
    for (let at = begun; now() < 108; at = now()) {
      await nextTurn();
      turns.push(now() - at);
    }
    expect(await done).toBe('done');
    expect(Math.max(...turns)).toBeLessThanOrEqual(9);
  });

  test('does not wait inside a step, and continues there for at most 2 ms after the slice', async () => {
    const { clock, work, now } = createBusyClock();
    const operation = new TimeSliceScheduler(clock).createSlices(never);
    const inner: unknown[] = [];
    function* steps(): Steps<string> {
      work(7.5);
      yield;
      work(1);
      inner.push(operation.pause(), operation.run(taking(work, 1)), operation.run(taking(work, 3)));
      return 'done';
    }
    expect(operation.run(steps())).toBe('done');
    expect(inner).toEqual([undefined, 'done', expect.any(Promise)]);
    expect(now()).toBeLessThanOrEqual(11);
    expect(operation.pause(), 'after the step').toBeInstanceOf(Promise);
    await Promise.all(inner);
  });

  test('ends when its operation is over', async () => {
    const { clock, work, now } = createBusyClock();
    const end = new AbortController();
    const operation = new TimeSliceScheduler(clock).createSlices(() => end.signal.throwIfAborted());
    const done = operation.run(taking(work, 1_000));
    const waits = operation.pause();
    end.abort(new Error('over'));
    await expect(done).rejects.toThrow('over');
    await expect(waits).rejects.toThrow('over');
    expect(now()).toBeLessThan(10);
  });

  test('fails its caller alone', async () => {
    const { clock, work } = createBusyClock();
    const slices = new TimeSliceScheduler(clock);
    function* failing(): Steps<void> {
      work(10);
      yield;
      throw new Error('broken');
    }
    const [broken, fine] = [slices.createSlices(never).run(failing()), slices.createSlices(never).run(taking(work, 20))];
    await expect(broken).rejects.toThrow('broken');
    expect(await fine).toBe('done');
  });
});

test('C9: a small operation waits for one slice, however many long ones there are', async () => {
  const { clock, work, now } = createBusyClock();
  const slices = new TimeSliceScheduler(clock);
  const long = Array.from({ length: 50 }, () => slices.createSlices(never).run(taking(work, 1_000)));
  for (let turn = 0; turn < 60; turn += 1) await nextTurn();
  const cameMs = now();
  const small = slices.createSlices(never);
  await small.pause();
  await small.run(taking(work, 2));
  expect(now() - cameMs).toBeLessThanOrEqual(20);
  expect(await Promise.all(long)).toHaveLength(50);
});

test('long operations have the same time', async () => {
  const { clock, work } = createBusyClock();
  const slices = new TimeSliceScheduler(clock);
  const usedMs = [0, 0, 0];
  for (const index of usedMs.keys()) {
    const noted = (ms: number) => {
      usedMs[index] = (usedMs[index] ?? 0) + ms;
      work(ms);
    };
    void slices.createSlices(never).run(taking(noted, 10_000));
  }
  for (let turn = 0; turn < 60; turn += 1) await nextTurn();
  expect(Math.max(...usedMs) - Math.min(...usedMs)).toBeLessThanOrEqual(10);
});

test('the work of an operation with its results counts as part of the slice', async () => {
  const { clock, work, now } = createBusyClock();
  const operation = new TimeSliceScheduler(clock).createSlices(never);
  void operation.run(taking(work, 10));
  const completed = Array.from({ length: 20 }, async () => {
    await operation.pause();
    // Continues after a few promises, as an executor does.
    await undefined;
    await undefined;
    work(3);
  });
  for (let at = now(); at < 70; at = now()) {
    await nextTurn();
    expect(now() - at).toBeLessThanOrEqual(12);
  }
  await Promise.all(completed);
});

/** Takes this many steps of 1 ms. */
function* taking(work: (ms: number) => void, ms: number): Steps<string> {
  for (let step = 0; step < ms; step += 1) {
    work(1);
    yield;
  }
  return 'done';
}
