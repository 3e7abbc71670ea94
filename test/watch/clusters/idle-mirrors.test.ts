import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import { createIdleMirrors, type IdleMirrors } from '../../../src/watch/clusters/idle-mirrors.ts';
import type { OwnedMirror } from '../../../src/watch/mirror/mirror.ts';
import { type FakeHeap, fakeHeap } from '../../support/fake-heap.ts';
import { createManualClock, type ManualClock, turns } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { pods } from '../watching.ts';

const maxBytes = 1_000;
const minutes = 60_000;

/** A cache with a broken list loops forever, and reads the clock in each step. No schedule of this test reads it so often. */
const mostLooks = 20_000;

interface Idling {
  readonly mirror: OwnedMirror;
  bytes: number;
  /** Whether the mirror is held, idle or evicted. */
  condition: 'held' | 'idle' | 'evicted';
  evictions: number;
}

interface Place {
  readonly clock: ManualClock;
  readonly heap: FakeHeap;
  readonly idle: IdleMirrors;
  readonly all: Idling[];
  /** Adds a mirror that is held. */
  add(bytes: number): Idling;
  /** Releases the mirror. */
  rest(one: Idling): void;
  take(one: Idling): void;
  /** Returns the bytes of all idle mirrors. */
  idleBytes(): number;
  end(): void;
}

async function open(): Promise<Place> {
  const clock = createManualClock();
  // lru-cache treats a time of 0 as no time.
  await clock.advance(1);
  let looks = 0;
  const counting: Clock = {
    now: clock.now,
    monotonic() {
      if (++looks > mostLooks) throw new Error('expected the cache to come to an end');
      return clock.monotonic();
    },
    random: clock.random,
    sleep: clock.sleep,
  };
  const life = new AbortController();
  const heap = fakeHeap();
  const idle = createIdleMirrors({ clock: counting, maxBytes, heap }, life.signal);
  const all: Idling[] = [];
  const take = (one: Idling) => {
    one.condition = 'held';
    idle.remove(one.mirror);
  };
  return {
    clock,
    heap,
    idle,
    all,
    take,
    add(bytes) {
      const one: Idling = { mirror: mirrorOf(() => one.bytes, clock), bytes, condition: 'held', evictions: 0 };
      all.push(one);
      return one;
    },
    rest(one) {
      one.condition = 'idle';
      idle.add(one.mirror, () => {
        // Like the owner, removes a mirror once more after it has ended.
        take(one);
        one.condition = 'evicted';
        one.evictions++;
      });
    },
    idleBytes: () => all.reduce((sum, { condition, bytes }) => sum + (condition === 'idle' ? bytes : 0), 0),
    end: () => life.abort(),
  };
}

/** A mirror with a size. The cache reads nothing else. */
function mirrorOf(bytes: () => number, clock: Clock): OwnedMirror {
  const store = createStore({ epoch: 'one', clock });
  const sized = Object.create(store, { bytes: { get: bytes } }) as typeof store;
  return {
    cluster: clusterName('north'),
    resource: pods,
    store: sized,
    stagedCount: 0,
    lastActivityMs: undefined,
    fault: undefined,
    versions: [],
    sync: () => ({ phase: 'SYNCED' }),
    faults: () => [],
    unmirroredFault: () => undefined,
    partialListFault: () => undefined,
    settled: () => true,
    whenSettled: () => Promise.resolve(),
    requestNamespaces: () => undefined,
    namespacesCreated: () => undefined,
    relist: () => undefined,
    breakerChanged: () => undefined,
    end: () => undefined,
  };
}

test('C6: from 80 % of the heap on every idle mirror is evicted at once, and no held one', async () => {
  const place = await open();
  const held = place.add(1);
  for (let count = 0; count < 5; count++) place.rest(place.add(1));
  place.heap.set(0.79);
  expect(place.idleBytes()).toBe(5);
  place.heap.set(0.8);
  expect(place.all.map(({ evictions }) => evictions)).toEqual([0, 1, 1, 1, 1, 1]);
  expect(held.condition).toBe('held');
  place.end();
});

test('evicts mirrors that became idle together once each, when their time is over', async () => {
  const place = await open();
  for (let count = 0; count < 50; count++) place.rest(place.add(1));
  await place.clock.advance(4 * minutes);
  expect(place.all.every(({ condition }) => condition === 'idle')).toBe(true);
  await place.clock.advance(2 * minutes);
  expect(place.all.map(({ condition, evictions }) => [condition, evictions])).toEqual(place.all.map(() => ['evicted', 1]));
  place.end();
});

test('evicts all other mirrors once each if one mirror needs the memory of all', async () => {
  const place = await open();
  for (let count = 0; count < 50; count++) place.rest(place.add(20));
  const large = place.add(maxBytes);
  place.rest(large);
  expect(large.condition).toBe('idle');
  expect(place.all.filter((one) => one !== large).map(({ evictions }) => evictions)).toEqual(Array.from({ length: 50 }, () => 1));
  place.end();
});

test('keeps a mirror that is taken into use while another is being evicted', async () => {
  const place = await open();
  const [first, second] = [place.add(1), place.add(1)];
  for (const [one, other] of [
    [first, second],
    [second, first],
  ] as const) {
    one.condition = 'idle';
    place.idle.add(one.mirror, () => {
      one.condition = 'evicted';
      one.evictions++;
      place.idle.remove(one.mirror);
      if (other.condition === 'idle') place.take(other);
    });
  }
  await place.clock.advance(10 * minutes);
  expect(place.all.map(({ condition }) => condition).toSorted()).toEqual(['evicted', 'held']);
  expect(first.evictions + second.evictions).toBe(1);
  place.end();
});

describe('random schedules', () => {
  const seed = Number(process.env.MUSTER_SEED ?? Math.floor(Math.random() * 2 ** 31));

  test(`evict every idle mirror once, and no held one (MUSTER_SEED=${seed})`, async () => {
    for (let round = 0; round < 300; round++) await runSchedule(seededRandom(seed + round), `MUSTER_SEED=${seed}, round ${round}`);
  }, 60_000);
});

async function runSchedule(random: () => number, what: string): Promise<void> {
  const place = await open();
  const life = new AbortController();
  const anyOf = (condition: Idling['condition']) => {
    const those = place.all.filter((one) => one.condition === condition);
    return those[Math.floor(random() * those.length)];
  };
  const acts: readonly (() => void)[] = [
    () => place.rest(anyOf('held') ?? place.add(Math.ceil(random() * 300))),
    () => place.rest(place.add(Math.ceil(random() * 300))),
    () => {
      const one = anyOf('idle');
      if (one !== undefined) place.take(one);
    },
    () => {
      const one = anyOf('idle');
      if (one !== undefined) one.bytes = Math.ceil(random() * 1_200);
    },
    () => {
      const one = anyOf('idle');
      // The mirror expires at the time of a sweep.
      void place.clock.sleep(30_000 - (place.clock.monotonic() % 30_000) + 1, life.signal).then(() => {
        if (one?.condition === 'idle') place.take(one);
      });
    },
  ];
  for (let act = 0; act < 60; act++) {
    acts[Math.floor(random() * acts.length)]?.();
    // Mostly one second, so that many mirrors expire in one sweep. Sometimes a sweep, or the whole time.
    if (random() < 0.2) await place.clock.advance([1_000, 30_000, 5 * minutes][Math.floor(random() * 3)] ?? 0);
  }
  await place.clock.advance(30_000);
  expect(place.idleBytes(), what).toBeLessThanOrEqual(maxBytes);
  const idle = place.all.filter(({ condition }) => condition === 'idle');
  const held = place.all.filter(({ condition }) => condition === 'held');
  await place.clock.advance(6 * minutes);
  expect(
    idle.map(({ condition }) => condition),
    what,
  ).toEqual(idle.map(() => 'evicted'));
  expect(
    held.map(({ condition }) => condition),
    what,
  ).toEqual(held.map(() => 'held'));
  expect(
    place.all.every(({ condition, evictions }) => evictions === (condition === 'evicted' ? 1 : 0)),
    what,
  ).toBe(true);
  place.end();
  life.abort();
  await turns(1);
  expect(place.clock.sleepers, what).toBe(0);
}
