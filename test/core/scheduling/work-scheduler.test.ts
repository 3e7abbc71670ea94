import { expect, test } from 'vitest';
import { type ScheduledWorker, WorkScheduler } from '../../../src/core/scheduling/work-scheduler.ts';

/** Time that passes only by work. */
function createWork() {
  let nowMs = 0;
  const done: string[] = [];
  const row = new WorkScheduler({ monotonic: () => nowMs });
  const worker = (name: string, pieces: number, pieceMs = 0): ScheduledWorker => ({
    work: () => {
      done.push(name);
      nowMs += pieceMs;
      pieces--;
      return pieces > 0;
    },
  });
  return { row, worker, done, nowMs: () => nowMs };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('no work starts before the end of the turn in which it was scheduled', async () => {
  const { row, worker, done } = createWork();
  row.schedule(worker('a', 1));
  expect(done).toEqual([]);
  await Promise.resolve();
  expect(done).toEqual(['a']);
});

test('each worker does one piece and goes to the end of the queue', async () => {
  const { row, worker, done } = createWork();
  for (const name of ['a', 'b', 'c']) row.schedule(worker(name, name === 'b' ? 1 : 3));
  await nextTurn();
  expect(done.join('')).toBe('abcacac');
});

test('a worker that is already in the queue keeps its position', async () => {
  const { row, worker, done } = createWork();
  const [a, b] = [worker('a', 1), worker('b', 1)];
  for (const one of [a, b, a]) row.schedule(one);
  await nextTurn();
  expect(done).toEqual(['a', 'b']);
});

test('a cancelled worker is skipped', async () => {
  const { row, worker, done } = createWork();
  const [a, b] = [worker('a', 1), worker('b', 1)];
  row.schedule(a);
  row.schedule(b);
  row.cancel(a);
  await nextTurn();
  expect(done).toEqual(['b']);
});

test('a turn ends after 4 ms, so that others have theirs', async () => {
  const { row, worker, done } = createWork();
  row.schedule(worker('a', 100, 0.5));
  await Promise.resolve();
  expect(done.length).toBe(8);
  let others = 0;
  const other = setImmediate(() => others++);
  await nextTurn();
  expect([done.length, others]).toEqual([16, 1]);
  clearImmediate(other);
});

test('no piece is begun that is likely to make the turn too long, judged by those before it', async () => {
  let nowMs = 0;
  const row = new WorkScheduler({ monotonic: () => nowMs });
  // Seven short pieces for each long one. Four short pieces and a long one would make a turn of 11 ms.
  const pieces = Array.from({ length: 80 }, (_, place) => (place % 8 === 0 ? 7 : 1));
  let next = 0;
  const mixed: ScheduledWorker = {
    work: () => {
      nowMs += pieces[next++] ?? 0;
      return next < pieces.length;
    },
  };
  row.schedule(mixed);
  const lengths: number[] = [];
  for (let before = 0; next < pieces.length; before = nowMs) {
    if (next === 0) await Promise.resolve();
    else await nextTurn();
    lengths.push(nowMs - before);
  }
  expect(Math.max(...lengths)).toBeLessThanOrEqual(9);
  expect(Math.min(...lengths)).toBeGreaterThan(0);
});

test('bytes that are written at the end of a turn count as time', async () => {
  const { row, done } = createWork();
  const writer: ScheduledWorker = {
    work: () => {
      done.push('a');
      row.countWrittenBytes(1 << 20);
      return done.length < 10;
    },
  };
  row.schedule(writer);
  await Promise.resolve();
  expect(done.length).toBe(2);
  await nextTurn();
  expect(done.length).toBe(4);
});

test('a queue that never empties blocks nothing, even if the clock stands still', async () => {
  const { row, worker, done } = createWork();
  row.schedule(worker('endless', Number.POSITIVE_INFINITY));
  await nextTurn();
  const soFar = done.length;
  expect(soFar).toBeGreaterThan(0);
  await nextTurn();
  expect(done.length).toBeGreaterThan(soFar);
});
