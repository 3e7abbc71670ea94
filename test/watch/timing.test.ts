import { expect, test } from 'vitest';
import type { Fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import { createDecodePace } from '../../src/watch/reflector/decode-pace.ts';
import { ListAdmission, type ReleaseAdmission } from '../../src/watch/reflector/list-admission.ts';
import { backoffMs } from '../../src/watch/server/backoff.ts';
import { createBreaker } from '../../src/watch/server/breaker.ts';
import { createDiscoveryLoop } from '../../src/watch/server/discovery-loop.ts';
import { fakeHeap } from '../support/fake-heap.ts';
import { createManualClock, turns } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const fault: Fault = { code: 'UNREACHABLE', cluster: clusterName('north'), message: 'no connection', retry: 'LATER' };

test('the backoff doubles from 0.8 to 30 s, times a random factor in [1, 2)', () => {
  const least = Array.from({ length: 8 }, (_, attempt) => backoffMs({ attempt, random: 0 }));
  expect(least).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  const most = Array.from({ length: 8 }, (_, attempt) => backoffMs({ attempt, random: 0.999_999 }));
  most.forEach((ms, attempt) => {
    expect(ms).toBeLessThan(2 * (least[attempt] ?? 0));
  });
  expect(backoffMs({ attempt: 5_000, random: 0 })).toBe(30_000);
});

test('waits at least for Retry-After, of at most 10 minutes, plus up to a second to spread clients', () => {
  expect(backoffMs({ attempt: 0, random: 0, retryAfterMs: 7_000 })).toBe(7_000);
  expect(backoffMs({ attempt: 0, random: 0.5, retryAfterMs: 7_000 })).toBe(7_500);
  expect(backoffMs({ attempt: 5, random: 0, retryAfterMs: 7_000 })).toBe(25_600);
  expect(backoffMs({ attempt: 0, random: 0, retryAfterMs: 3_600_000 })).toBe(600_000);
});

function startBreaker(random: () => number = () => 0) {
  const clock = createManualClock({ random });
  const life = new AbortController();
  const probes: number[] = [];
  const breaker = createBreaker({ clock, probe: async () => probes.push(clock.monotonic()), onChange: () => undefined }, life.signal);
  return { clock, life, probes, breaker };
}

test('B3: three connection failures in a row open the breaker, but not two with an answer between them', () => {
  const { breaker } = startBreaker();
  breaker.failed(fault);
  breaker.failed(fault);
  breaker.answered();
  breaker.failed(fault);
  breaker.failed(fault);
  expect(breaker.fault).toBeUndefined();
  breaker.failed(fault);
  expect(breaker.fault).toMatchObject({ code: 'UNREACHABLE' });
  breaker.answered();
  expect(breaker.fault).toBeUndefined();
});

test('B3: an open breaker sends one probe per step of the backoff, and a closed one none', async () => {
  const { breaker, clock, probes, life } = startBreaker();
  for (let count = 0; count < 3; count++) breaker.failed(fault);
  await clock.advance(60_000);
  expect(probes).toEqual([800, 2_400, 5_600, 12_000, 24_800, 50_400]);
  breaker.answered();
  await clock.advance(120_000);
  expect(probes).toHaveLength(6);
  expect(clock.sleepers).toBe(0);
  for (let count = 0; count < 3; count++) breaker.failed(fault);
  life.abort();
  expect(clock.sleepers).toBe(0);
});

test('wakes callers of the breaker spread over a second per 20', async () => {
  const { breaker, clock } = startBreaker(seededRandom(7));
  const wokenMs: number[] = [];
  const gone = new AbortController();
  for (let count = 0; count < 100; count++)
    breaker.onClosed(() => wokenMs.push(clock.monotonic()), count < 20 ? gone.signal : new AbortController().signal);
  for (let count = 0; count < 3; count++) breaker.failed(fault);
  gone.abort();
  breaker.answered();
  await clock.advance(4_000);
  expect(wokenMs).toHaveLength(80);
  const perSecond = [0, 1, 2, 3].map((second) => wokenMs.filter((ms) => Math.floor(ms / 1_000) === second).length);
  for (const count of perSecond) expect(count).toBeGreaterThan(8);
});

test('C6: lists no new kind while the heap is nearly full, but lists held kinds again', async () => {
  const heap = fakeHeap();
  const admission = new ListAdmission(undefined, heap);
  const entered: string[] = [];
  const enter = (name: string, isNew: boolean) => {
    const list = { cluster: 'north', bytesInFlight: 1, bytesToCome: 1, isNew };
    void admission.enter(list, new AbortController().signal).then(() => entered.push(name));
  };
  heap.set(0.9);
  enter('new', true);
  enter('held', false);
  await turns();
  expect(entered).toEqual(['held']);
  heap.set(0.89);
  await turns();
  expect(entered).toEqual(['held', 'new']);
});

test('C8: admission limits lists per cluster and bytes over all, small lists first', async () => {
  const admission = new ListAdmission({ bytesInFlight: 100, listsPerCluster: 2 });
  const signal = new AbortController().signal;
  const entered: string[] = [];
  const leaves = new Map<string, ReleaseAdmission | undefined>();
  const enter = (name: string, cluster: string, bytes: number) => {
    void admission.enter({ cluster, bytesInFlight: Math.min(bytes, 40), bytesToCome: bytes, isNew: true }, signal).then((leave) => {
      entered.push(name);
      leaves.set(name, leave);
    });
  };
  enter('n1', 'north', 40);
  enter('n2', 'north', 40);
  enter('n-large', 'north', 4_000);
  enter('n-small', 'north', 10);
  enter('s1', 'south', 20);
  enter('s-full', 'south', 40);
  await turns();
  expect(entered).toEqual(['n1', 'n2', 's1']);
  leaves.get('n1')?.();
  leaves.get('n1')?.();
  await turns();
  expect(entered).toEqual(['n1', 'n2', 's1', 'n-small']);
  leaves.get('n2')?.();
  await turns();
  expect(entered.slice(4)).toEqual(['s-full']);
  leaves.get('n-small')?.();
  await turns();
  expect(entered.slice(5)).toEqual(['n-large']);
});

test('admits a list alone that is larger than the limit, and forgets one that gives up', async () => {
  const admission = new ListAdmission({ bytesInFlight: 100, listsPerCluster: 2 });
  const given = new AbortController();
  const leave = await admission.enter({ cluster: 'north', bytesInFlight: 500, bytesToCome: 500, isNew: true }, given.signal);
  const waiting = admission.enter({ cluster: 'south', bytesInFlight: 10, bytesToCome: 10, isNew: true }, given.signal);
  given.abort();
  expect(await waiting).toBeUndefined();
  expect(await admission.enter({ cluster: 'south', bytesInFlight: 10, bytesToCome: 10, isNew: true }, given.signal)).toBeUndefined();
  leave?.();
  const next = await admission.enter({ cluster: 'south', bytesInFlight: 10, bytesToCome: 10, isNew: true }, new AbortController().signal);
  expect(next).toBeDefined();
});

test('discovers every 5 minutes ± 20 %, by the backoff after a failure, and sooner on request', async () => {
  const clock = createManualClock({ random: () => 0.5 });
  const life = new AbortController();
  const askedMs: number[] = [];
  let succeeds = false;
  const discover = async () => {
    askedMs.push(clock.monotonic());
    return succeeds;
  };
  const loop = createDiscoveryLoop({ clock, discover }, life.signal);
  await clock.advance(1_200 + 2_400);
  expect(askedMs).toEqual([0, 1_200, 3_600]);
  succeeds = true;
  await clock.advance(4_800 + 300_000);
  expect(askedMs.slice(3)).toEqual([8_400, 308_400]);
  for (let count = 0; count < 1_000; count++) loop.soon(250);
  await clock.advance(10_000);
  expect(askedMs.slice(5)).toEqual([308_900]);
  life.abort();
  await turns();
  expect(clock.sleepers).toBe(0);
});

test('resumes resting callers one per event-loop turn, in order', async () => {
  const pace = createDecodePace(createManualClock());
  const order: string[] = [];
  for (const name of ['a', 'b', 'c']) void pace.rest().then(() => order.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(['a']);
  await turns(3);
  expect(order).toEqual(['a', 'b', 'c']);
});

test('all slices of one event-loop turn share 8 ms, and a later one has 0.2 ms', async () => {
  let nowMs = 0;
  const pace = createDecodePace({ monotonic: () => nowMs });
  const first = pace.begin('events');
  nowMs = 7;
  expect([first.spent(), pace.begin('events').spent()]).toEqual([false, false]);
  nowMs = 8;
  const late = pace.begin('events');
  expect([first.spent(), late.spent()]).toEqual([true, false]);
  nowMs = 8.2;
  expect(late.spent()).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  const next = pace.begin('events');
  nowMs = 16;
  expect(next.spent()).toBe(false);
});

test('a list has no time after the 8 ms of a turn, and 8 ms again after a rest', async () => {
  let nowMs = 0;
  const pace = createDecodePace({ monotonic: () => nowMs });
  expect(pace.begin('list').spent()).toBe(false);
  nowMs = 8;
  expect(pace.begin('list').spent()).toBe(true);
  await pace.rest();
  expect(pace.begin('list').spent()).toBe(false);
});

test('a caller that has rested has 8 ms', async () => {
  let nowMs = 0;
  const pace = createDecodePace({ monotonic: () => nowMs });
  pace.begin('events');
  nowMs = 8;
  await pace.rest();
  const slice = pace.begin('events');
  nowMs = 15;
  expect(slice.spent()).toBe(false);
});
