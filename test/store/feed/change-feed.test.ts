import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { WorkScheduler } from '../../../src/core/scheduling/work-scheduler.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import type { MirrorStore, StoreEvent } from '../../../src/store/mirror-store.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';
import { storeUnderChange } from '../../support/store/store-fixtures.ts';
import { listInto, neverAsked, objectOf, printEvent, recorder, versionOf } from '../../support/store/store-objects.ts';

const fault: Fault = { code: 'UNREACHABLE', cluster: clusterName('north'), message: 'no answer', retry: 'LATER' };

describe('joining', () => {
  test('takes snapshot and position at one moment, so no change is sent twice or missed', async () => {
    const { store, apply, remove, follow } = storeUnderChange('a', 'b');
    apply('c');
    const { followed, lines } = follow();
    apply('d');
    remove('a');
    expect(followed.snapshot.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect([followed.version, followed.epoch]).toEqual(['11', 'e']);
    await turns(1);
    expect(lines()).toEqual(['applied default/d@12', 'deleted default/a@13 by event']);
    expect(store.size).toBe(3);
  });

  test('with an aborted signal gives the snapshot and no later events', async () => {
    const { store, apply } = storeUnderChange('a');
    const { reader, batches } = recorder();
    expect(store.follow(reader, AbortSignal.abort()).snapshot).toHaveLength(1);
    apply('b');
    await turns();
    expect(batches).toEqual([]);
  });
});

describe('pulling', () => {
  test('delivers the waiting events at once, and never again', async () => {
    const { store, apply, remove, follow } = storeUnderChange('a');
    const { followed, lines } = follow();
    apply('b');
    remove('a');
    followed.pull();
    expect(lines()).toEqual(['applied default/b@11', 'deleted default/a@12 by event']);
    expect(store.version).toBe('12');
    await turns();
    expect(lines()).toHaveLength(2);
  });

  test('delivers more than one batch, and the end', async () => {
    const { store, apply, follow } = storeUnderChange();
    const { followed, lines } = follow();
    for (let index = 0; index < 1_500; index++) apply(`pod-${index % 900}`);
    store.gone(fault);
    followed.pull();
    expect([lines().length, lines().at(-1)]).toEqual([901, 'gone UNREACHABLE']);
    followed.pull();
    await turns();
    expect(lines()).toHaveLength(901);
  });

  test('has no effect while a batch is handled, and after the abort', async () => {
    const { store, apply, stop } = storeUnderChange();
    const handled = Promise.withResolvers<void>();
    const batches: (readonly StoreEvent[])[] = [];
    const { pull } = store.follow((events) => {
      batches.push(events);
      return handled.promise;
    }, stop.signal);
    apply('a');
    pull();
    apply('b');
    pull();
    expect(batches).toHaveLength(1);
    stop.abort();
    handled.resolve();
    await turns();
    pull();
    expect(batches).toHaveLength(1);
  });
});

describe('sending', () => {
  test('sends with a deletion the state that the reader knew last, however often it changed since', async () => {
    const { apply, remove, follow } = storeUnderChange('a');
    const { batches } = follow();
    apply('a');
    remove('a');
    await turns(1);
    const [event] = batches.flat();
    expect(event?.type === 'deleted' && event.before.metadata.resourceVersion).toBe('1');
  });

  test('waits for the end of the turn, and sends all changes of the turn together', async () => {
    const { apply, follow } = storeUnderChange();
    const { batches } = follow();
    apply('a');
    apply('b');
    expect(batches).toEqual([]);
    await Promise.resolve();
    expect(batches).toEqual([]);
    await turns(1);
    expect(batches.map((batch) => batch.map(printEvent))).toEqual([['applied default/a@11', 'applied default/b@12']]);
  });

  test('stops at the abort, even if changes wait', async () => {
    const { apply, follow, stop } = storeUnderChange();
    const { batches } = follow();
    apply('a');
    stop.abort();
    apply('b');
    await turns();
    expect(batches).toEqual([]);
  });

  test('merges the changes of one object in one turn', async () => {
    const { apply, remove, follow } = storeUnderChange('held', 'dies', 'returns');
    const { lines } = follow();
    apply('held');
    apply('held');
    apply('new');
    apply('brief');
    remove('returns');
    apply('new');
    apply('dies');
    remove('brief');
    remove('dies');
    apply('returns');
    await turns(1);
    expect(lines()).toEqual([
      'applied default/held@12 was @1',
      'applied default/new@16',
      'deleted default/dies@19 by event',
      'applied default/returns@20 was @1',
    ]);
  });

  test('sends the old uid before the new one of the same name', async () => {
    const { store, apply, follow } = storeUnderChange('a');
    const { lines, batches } = follow();
    apply('a');
    apply('b');
    apply('a', 'second');
    apply('a', 'second');
    apply('a', 'third');
    await turns(1);
    expect(lines()).toEqual(['applied default/b@12', 'deleted default/a@11 by event', 'applied default/a@15']);
    expect(batches.flat().map((event) => (event.type === 'applied' || event.type === 'deleted' ? event.version : ''))).toEqual([
      '12',
      undefined,
      '15',
    ]);
    expect(store.size).toBe(2);
  });

  test('ends a reader that throws, and no other', async () => {
    const { store, apply, follow, errors, stop } = storeUnderChange();
    let calls = 0;
    store.follow(() => {
      calls += 1;
      throw new Error('broken');
    }, stop.signal);
    let rejections = 0;
    store.follow(async () => {
      rejections += 1;
      throw new Error('broken later');
    }, stop.signal);
    const { lines } = follow();
    apply('a');
    await turns();
    apply('b');
    await turns();
    expect([calls, rejections]).toEqual([1, 1]);
    expect(lines()).toEqual(['applied default/a@11', 'applied default/b@12']);
    expect(errors).toHaveLength(2);
  });

  test('sends confirmed at most every 30 s', async () => {
    const { store, clock, follow } = storeUnderChange();
    const { batches } = follow();
    for (let second = 0; second < 90; second += 10) {
      store.confirmed(versionOf(100 + second));
      await clock.advance(10_000);
    }
    expect(batches.flat()).toEqual([100, 130, 160].map((version) => ({ type: 'confirmed', version: String(version) })));
  });

  test('sends failed and synced once for each change of state', async () => {
    const { store, follow } = storeUnderChange();
    const { lines } = follow();
    store.synced();
    await turns(1);
    expect(lines()).toEqual([]);
    store.failed(fault);
    await turns(1);
    store.synced();
    store.synced();
    await turns(1);
    store.failed(fault);
    await turns(1);
    listInto(store, [], 30);
    await turns(1);
    expect(lines()).toEqual(['failed UNREACHABLE', 'synced', 'failed UNREACHABLE', 'synced']);
  });

  test('leaves synced to the writer after a first list of one namespace', async () => {
    const store = createStore({ epoch: 'e', clock: createManualClock() });
    const { reader, lines } = recorder();
    store.follow(reader, new AbortController().signal);
    store.replace({ namespace: 'a' }).commit(versionOf(5));
    await turns(1);
    expect(lines()).toEqual([]);
    store.synced();
    await turns(1);
    expect(lines()).toEqual(['synced']);
  });
});

describe('thousands of readers', () => {
  /** Readers on a clock that each call of a reader moves by 1 ms. */
  function crowd(count: number) {
    let nowMs = 0;
    const told: number[] = [];
    const store = createStore({ epoch: 'e', clock: { ...createManualClock(), monotonic: () => nowMs } });
    const stop = new AbortController();
    const batches = Array.from({ length: count }, (): (readonly StoreEvent[])[] => []);
    const pulls = batches.map((own, index) =>
      store.followChanges((events) => {
        nowMs += 1;
        own.push(events);
        told.push(index);
      }, stop.signal),
    );
    const apply = (name: string, version: number) => store.applied(objectOf({ name, version }), versionOf(version), neverAsked);
    return { store, stop, told, batches, pulls, apply };
  }

  test('receive their events over several turns, in order', async () => {
    const { told, batches, apply } = crowd(20);
    apply('a', 11);
    await turns(1);
    expect(told.length).toBeLessThan(8);
    await turns(10);
    expect(told).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(new Set(batches.map(([batch]) => batch)).size).toBe(1);
  });

  test('miss no event between their turns, and receive none twice', async () => {
    const { batches, pulls, apply } = crowd(20);
    apply('a', 11);
    await turns(1);
    apply('a', 12);
    apply('b', 13);
    pulls[15]?.();
    apply('b', 14);
    await turns(20);
    const states = batches.map((own) => {
      const seen = own.flat().map((event) => (event.type === 'applied' ? [event.object.metadata.name, event.version] : []));
      expect(new Set(seen.map(String)).size).toBe(seen.length);
      return Object.fromEntries(seen);
    });
    expect(states).toEqual(Array.from({ length: 20 }, () => ({ a: '12', b: '14' })));
    expect(batches[15]?.flat().map(printEvent)).toEqual([
      'applied default/a@11',
      'applied default/a@12 was @11',
      'applied default/b@13',
      'applied default/b@14 was @13',
    ]);
  });

  test('that join while events wait do not receive them, because their snapshot has them', async () => {
    const { store, stop, apply } = crowd(3);
    apply('a', 11);
    const { reader, lines } = recorder();
    store.followChanges(reader, stop.signal);
    apply('a', 12);
    await turns(10);
    expect(lines()).toEqual(['applied default/a@12 was @11']);
  });

  test('that leave too much unread receive one reset', async () => {
    const { batches, pulls, apply } = crowd(20);
    apply('a', 1);
    await turns(1);
    // The first reader keeps up, so its changes are not merged. The last reader does not read.
    for (let version = 2; version < 8_010; version++) {
      apply(`p${version}`, version);
      pulls[0]?.();
    }
    await turns(20);
    expect(batches[0]?.flat().some(({ type }) => type === 'reset')).toBe(false);
    const last = batches[19]?.flat() ?? [];
    expect([last.filter(({ type }) => type === 'reset').length, last[0]?.type]).toEqual([1, 'reset']);
  });
});

describe('a slow reader', () => {
  function slow(store: MirrorStore, signal: AbortSignal) {
    const batches: (readonly StoreEvent[])[] = [];
    let release: () => void = () => undefined;
    store.follow((events) => {
      batches.push(events);
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    }, signal);
    return { batches, release: () => release() };
  }

  test('is called again only after it is done, and finds later events merged', async () => {
    const { store, apply, stop } = storeUnderChange();
    const { batches, release } = slow(store, stop.signal);
    apply('a');
    await turns();
    apply('b');
    await turns();
    apply('b');
    await turns();
    expect(batches).toHaveLength(1);
    release();
    await turns();
    expect(batches.map((batch) => batch.map(printEvent))).toEqual([['applied default/a@11'], ['applied default/b@13']]);
  });

  test('behind by more than 1,000 changes receives one reset with the current objects; the others miss nothing', async () => {
    const { store, apply, stop, follow } = storeUnderChange('first');
    const { batches, release } = slow(store, stop.signal);
    const { lines } = follow();
    apply('x');
    await turns();
    for (let index = 0; index < 1_001; index += 1) {
      apply(`p${index}`);
      if (index % 100 === 0) await turns(1);
    }
    await turns();
    expect(lines()).toHaveLength(1_002);
    apply('last');
    release();
    await turns();
    expect(batches).toHaveLength(2);
    expect(batches[1]?.map(printEvent)).toEqual(['reset to 1004']);
    expect(batches[1]?.[0]).toMatchObject({ version: store.version, epoch: 'e' });
    release();
    apply('more');
    await turns();
    expect(batches[2]?.map(printEvent)).toEqual(['applied default/more@1014']);
  });

  test('behind by 1,000 changes receives all of them', async () => {
    const { store, apply, stop } = storeUnderChange();
    const { batches, release } = slow(store, stop.signal);
    apply('x');
    await turns();
    for (let index = 0; index < 1_000; index += 1) apply(`p${index}`);
    for (let index = 0; index < 1_000; index += 1) apply(`p${index}`);
    release();
    await turns();
    expect(batches[1]).toHaveLength(1_000);
  });

  test('behind by more than 1 MiB receives a reset', async () => {
    const { store, apply, stop } = storeUnderChange();
    const { batches, release } = slow(store, stop.signal);
    apply('x');
    await turns();
    for (let index = 0; index < 12; index += 1) {
      store.applied(
        objectOf({ name: `big${index}`, version: 100 + index, spec: { text: 'x'.repeat(100_000) } }),
        versionOf(100 + index),
        neverAsked,
      );
    }
    release();
    await turns();
    expect(batches[1]?.map(printEvent)).toEqual(['reset to 13']);
  });

  test('keeps its state through a reset', async () => {
    const { store, apply, stop } = storeUnderChange();
    const { batches, release } = slow(store, stop.signal);
    apply('x');
    await turns();
    store.failed(fault);
    for (let index = 0; index < 1_001; index += 1) apply(`p${index}`);
    release();
    await turns();
    expect(batches[1]?.map(printEvent)).toEqual(['reset to 1002', 'failed UNREACHABLE']);
  });
});

describe('a list', () => {
  const many = (count: number, version: number) => Array.from({ length: count }, (_, index) => objectOf({ name: `p${index}`, version }));

  test('of ten thousand changes makes no reader slow, because it is sent in chunks, turn by turn', async () => {
    const { store, follow } = storeUnderChange();
    const { batches, lines } = follow();
    listInto(store, many(10_500, 20), 20);
    await turns(1);
    expect(batches).toHaveLength(1);
    expect(batches[0]).toHaveLength(1_000);
    await turns(15);
    expect(batches).toHaveLength(11);
    expect(new Set(lines()).size).toBe(10_500);
    expect(lines()[0]).toBe('applied default/p0@20');
  });

  test('has its version on its last event only', async () => {
    const { store, follow } = storeUnderChange('gone');
    const { batches } = follow();
    listInto(store, many(3, 20), 20);
    await turns();
    const versions = batches.flat().map((event) => (event.type === 'applied' || event.type === 'deleted' ? event.version : 'none'));
    expect(versions).toEqual([undefined, undefined, undefined, '20']);
  });

  test('is followed by later changes in order', async () => {
    const { store, follow } = storeUnderChange();
    const { lines } = follow();
    listInto(store, many(2_000, 20), 20);
    store.applied(objectOf({ name: 'p0', version: 21 }), versionOf(21), neverAsked);
    store.deleted(objectOf({ name: 'p1', version: 22 }), versionOf(22), neverAsked);
    await turns(10);
    expect(lines().slice(2_000)).toEqual(['applied default/p0@21 was @20', 'deleted default/p1@22 by event']);
  });

  test('becomes a reset if nine lists are unread', async () => {
    const { store, stop } = storeUnderChange();
    const batches: (readonly StoreEvent[])[] = [];
    let release: () => void = () => undefined;
    store.follow((events) => {
      batches.push(events);
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    }, stop.signal);
    store.applied(objectOf({ name: 'x', version: 11 }), versionOf(11), neverAsked);
    await turns();
    for (let list = 0; list < 9; list += 1) listInto(store, many(200, 20 + list), 20 + list);
    release();
    await turns();
    expect(batches[1]?.map(printEvent)).toEqual(['reset to 200']);
  });
});

describe('an end', () => {
  test('comes last, after all waiting events, once for each reader', async () => {
    const { store, follow } = storeUnderChange('a');
    const { lines, batches } = follow();
    listInto(
      store,
      Array.from({ length: 1_500 }, (_, index) => objectOf({ name: `p${index}`, version: 20 })),
      20,
    );
    store.gone({ ...fault, code: 'GONE' });
    await turns(10);
    expect(lines()).toHaveLength(1_502);
    expect(lines().at(-1)).toBe('gone GONE');
    expect(batches).toHaveLength(2);
  });

  test('frees the events of readers that have left', async () => {
    const { store, stop, follow } = storeUnderChange('a');
    follow();
    stop.abort();
    store.gone({ ...fault, code: 'GONE' });
    await turns();
    expect(store.size).toBe(0);
  });
});

test('does not report a failure to a reader far behind if it was over before the reader came', async () => {
  const base = createManualClock();
  let nowMs = 0;
  // Each read of the clock takes 5 ms, so every follower is called in a turn of its own.
  const monotonic = () => {
    nowMs += 5;
    return nowMs;
  };
  const clock = { ...base, monotonic };
  const store = createStore({ epoch: 'e', clock, scheduler: new WorkScheduler(clock) });
  listInto(store, [], 1);
  const early = new AbortController();
  const heard: string[] = [];
  store.follow((events) => heard.push(...events.map(({ type }) => type)), early.signal);
  store.failed({ code: 'UNREACHABLE', cluster: clusterName('north'), message: 'no answer', retry: 'LATER' });
  await turns(5);
  early.abort();
  store.synced();
  const life = new AbortController();
  const told = Array.from({ length: 60 }, () => {
    const types = new Set<string>();
    const hear = ({ type }: StoreEvent) => void types.add(type);
    store.follow((events) => events.forEach(hear), life.signal);
    return types;
  });
  for (let version = 2; version < 20_000; version += 1) {
    store.applied(objectOf({ name: `p-${version % 500}`, version }), versionOf(version), neverAsked);
    if (version % 500 === 0) await turns(1);
  }
  await turns(300);
  life.abort();
  expect(heard).toContain('failed');
  expect(told.filter((types) => types.has('reset')).length).toBeGreaterThan(0);
  expect(told.filter((types) => types.has('failed'))).toEqual([]);
});
