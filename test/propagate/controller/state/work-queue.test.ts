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

function probe(work: (key: string, clock: ManualClock) => Promise<number | undefined>, most = 10): Probe {
  const clock = createManualClock();
  const stop = new AbortController();
  const begun: string[] = [];
  const bugs: unknown[] = [];
  const queue = createWorkQueue(
    {
      clock,
      most,
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

test('does a key once at a time, and once more if it was added meanwhile, however often', async () => {
  const { clock, queue, begun } = probe(takes(100));
  queue.add('a');
  queue.add('b');
  for (let again = 0; again < 5; again++) queue.add('a');
  await clock.advance(50);
  queue.add('a');
  await clock.advance(1_000);
  expect(begun).toEqual(['a@0', 'b@0', 'a@200']);
});

test('a key rests after its pass: four times as long as that took, and no longer than 100 ms', async () => {
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

test('a key that nothing waited for does not rest', async () => {
  const { clock, queue, begun } = probe(takes(30));
  queue.add('a');
  await clock.advance(31);
  queue.add('a');
  await clock.advance(1_000);
  expect(begun).toEqual(['a@0', 'a@31']);
});

test('has no more keys at work than allowed, the others in the order they came', async () => {
  const { clock, queue, begun } = probe(takes(100), 2);
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key);
  await clock.advance(1_000);
  expect(begun).toEqual(['a@0', 'b@0', 'c@100', 'd@100', 'e@200']);
});

test('a pass says when its key is due again; of several times the first holds, and adding it is sooner', async () => {
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

test('what throws is told as a bug and tried again with a backoff, and keeps no other key', async () => {
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
  { name: 'the abort that ended it', thrown: ({ reason }) => reason, told: 0 },
  { name: 'another abort', thrown: () => new DOMException('of another', 'AbortError'), told: 1 },
  { name: 'a bug', thrown: () => new Error('a bug'), told: 1 },
])('$name, thrown by a pass at its end, is told as $told bugs', async ({ thrown, told }) => {
  const { queue, bugs, stop } = probe(async () => {
    stop.abort();
    throw thrown(stop.signal);
  });
  queue.add('a');
  await queue.idle();
  expect(bugs.length).toBe(told);
});

test('waits 0.8 s doubling to five minutes, and never longer', () => {
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

test('begins nothing once its signal has aborted, and is idle when what runs has ended', async () => {
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

test('no added key is forgotten, whatever the order of adding and ending', async () => {
  const act = fc.record({ key: fc.constantFrom('a', 'b', 'c'), gapMs: fc.nat(150), lateMs: fc.option(fc.nat(300), { nil: undefined }) });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (acts, most) => {
      const { clock, queue, begun } = probe(takes(100), most);
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
