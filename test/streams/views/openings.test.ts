import { expect, test } from 'vitest';
import { Openings } from '../../../src/streams/views/openings.ts';
import { liveHeapBytes } from '../../support/heap.ts';

const openings = () => {
  let runs = 0;
  const made = new Openings<object>({
    scope: 'all',
    kinds: [],
    sources: () => new Map(),
    run: () => {
      runs += 1;
      return { length: 0, messageAt: () => undefined };
    },
  });
  return { made, runs: () => runs };
};
const pointOf = (digest: string) => ({ digest, cursor: { scope: 'all', positions: new Map() } });

test('is shared by all readers that begin at the same point, until something changes', () => {
  const { made, runs } = openings();
  const held = [made.openingAt(undefined), made.openingAt(pointOf('a')), made.openingAt(undefined), made.openingAt(pointOf('a'))];
  expect([held[0] === held[2], held[1] === held[3], runs()]).toEqual([true, true, 2]);
  made.forget();
  expect([made.size, made.openingAt(undefined) === held[0]]).toEqual([0, false]);
});

test('keeps few points when thousands of readers came back, and none when they have gone', async () => {
  const { made } = openings();
  const held = Array.from({ length: 5_000 }, (_, index) => made.openingAt(pointOf(`place-${index}`)));
  expect([held.length, made.size]).toEqual([5_000, 256]);
  held.length = 0;
  for (let round = 0; round < 20 && made.size > 0; round++) {
    liveHeapBytes();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(made.size).toBe(0);
});
