import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWorkQueue, retryAfterMs, type WorkQueue } from '../../../../src/propagate/controller/state/work-queue.ts';
import { createManualClock, type ManualClock, turns } from '../../../support/manual-clock.ts';

interface Probe {
  readonly clock: ManualClock;
  readonly queue: WorkQueue;
  /** `key@ms` of each pass that has started. */
  readonly begun: string[];
  readonly bugs: unknown[];
  readonly stop: AbortController;
}

function probe(work: (key: string, clock: ManualClock) => Promise<number | undefined>, maxRunning = 10): Probe {
  const clock = createManualClock();
  const stop = new AbortController();
  const begun: string[] = [];
  const bugs: unknown[] = [];
  const queue = createWorkQueue(
    {
      clock,
      maxRunning,
      work: (key) => {
        begun.push(`${key}@${clock.monotonic()}`);
        return work(key, clock);
      },
      onBug: (_key, error) => bugs.push(error),
    },
    stop.signal,
  );
  return { clock, queue, begun, bugs, stop };
}

const never = new AbortController().signal;
const takes = (ms: number) => async (_key: string, clock: ManualClock) => {
  await clock.sleep(ms, never);
  return undefined;
};

test('runs one pass of a key at a time, and one more if the key was added meanwhile', async () => {
  const { clock, queue, begun } = probe(takes(100));
  queue.add('a');
  queue.add('b');
  for (let again = 0; again < 5; again++) queue.add('a');
  await clock.advance(50);
  queue.add('a');
  await clock.advance(1_000);
  expect(begun).toEqual(['a@0', 'b@0', 'a@200']);
});

test('rests a key four times as long as its pass took, at most 100 ms', async () => {
  for (const [took, next] of [
    [0, 10],
    [5, 25],
    [30, 130],
  ] as const) {
    const { clock, queue, begun } = probe(takes(took));
    queue.add('a');
    await clock.advance(took === 0 ? 10 : 1);
    queue.add('a');
    await clock.advance(1_000);
    expect(begun).toEqual(['a@0', `a@${next}`]);
  }
});

test('does not rest a key without another pass', async () => {
  const { clock, queue, begun } = probe(takes(30));
  queue.add('a');
  await clock.advance(31);
  queue.add('a');
  await clock.advance(1_000);
  expect(begun).toEqual(['a@0', 'a@31']);
});

test('runs at most the allowed number of keys at once, and the others in order', async () => {
  const { clock, queue, begun } = probe(takes(100), 2);
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key);
  await clock.advance(1_000);
  expect(begun).toEqual(['a@0', 'b@0', 'c@100', 'd@100', 'e@200']);
});

test('runs a key again after the delay of its pass; the earliest of several times counts, and an added key runs at once', async () => {
  const answers = [5_000, undefined, undefined];
  const { clock, queue, begun } = probe(async () => answers.shift());
  queue.add('a');
  await clock.advance(1_000);
  queue.addAfter('a', 10_000);
  await clock.advance(60_000);
  expect(begun).toEqual(['a@0', 'a@5000']);
  queue.addAfter('a', 3_000);
  queue.addAfter('a', 2_000);
  queue.addAfter('a', 9_000);
  await clock.advance(60_000);
  expect(begun).toEqual(['a@0', 'a@5000', 'a@63000']);
  expect(clock.sleepers).toBe(0);
});

test('reports a thrown error as a bug, retries it with a backoff, and delays no other key', async () => {
  const { clock, queue, begun, bugs } = probe(async (key) => {
    if (key === 'bad') throw new Error('a bug');
    return undefined;
  });
  queue.add('bad');
  queue.add('good');
  await clock.advance(10_000);
  expect(begun).toEqual(['bad@0', 'good@0', 'bad@800', 'bad@2400', 'bad@5600']);
  expect(bugs.length).toBe(4);
});

test.each<{ readonly name: string; readonly thrown: (signal: AbortSignal) => unknown; readonly told: number }>([
  { name: 'the abort of its own signal', thrown: ({ reason }) => reason, told: 0 },
  { name: 'another abort', thrown: () => new DOMException('of another', 'AbortError'), told: 1 },
  { name: 'a bug', thrown: () => new Error('a bug'), told: 1 },
])('$name, thrown at the end of a pass, is reported as $told bugs', async ({ thrown, told }) => {
  const { queue, bugs, stop } = probe(async () => {
    stop.abort();
    throw thrown(stop.signal);
  });
  queue.add('a');
  await queue.idle();
  expect(bugs.length).toBe(told);
});

test('doubles the delay from 0.8 s up to five minutes', () => {
  const waits = [1, 2, 3, 4, 10, 50].map((failures) => retryAfterMs(failures, 0));
  expect(waits).toEqual([800, 1_600, 3_200, 6_400, 300_000, 300_000]);
  fc.assert(
    fc.property(fc.nat(1_000), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, random) => {
      const ms = retryAfterMs(failures, random);
      expect(ms).toBeGreaterThanOrEqual(800);
      expect(ms).toBeLessThanOrEqual(300_000);
    }),
  );
});

test('starts no pass after its signal has aborted, and is idle when running passes have ended', async () => {
  const { clock, queue, begun, stop } = probe(takes(100), 1);
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 50);
  await turns();
  stop.abort();
  queue.add('d');
  let isIdle = false;
  void queue.idle().then(() => {
    isIdle = true;
  });
  await turns();
  expect(isIdle).toBe(false);
  await clock.advance(10_000);
  expect([isIdle, begun, clock.sleepers]).toEqual([true, ['a@0'], 0]);
});

test('never loses an added key, in any order of adding and ending', async () => {
  const act = fc.record({ key: fc.constantFrom('a', 'b', 'c'), gapMs: fc.nat(150), lateMs: fc.option(fc.nat(300), { nil: undefined }) });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (acts, maxRunning) => {
      const { clock, queue, begun } = probe(takes(100), maxRunning);
      const owed = new Map<string, number>();
      for (const { key, gapMs, lateMs } of acts) {
        if (lateMs === undefined) queue.add(key);
        else queue.addAfter(key, lateMs);
        owed.set(key, clock.monotonic());
        await clock.advance(gapMs);
      }
      await clock.advance(10_000);
      for (const [key, sinceMs] of owed) {
        const last = begun.findLast((entry) => entry.startsWith(`${key}@`));
        expect(Number(last?.split('@')[1])).toBeGreaterThanOrEqual(sinceMs);
      }
      expect(clock.sleepers).toBe(0);
    }),
    { numRuns: 30 },
  );
}, 60_000);
