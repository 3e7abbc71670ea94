import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import type { StoreEvent } from '../../../src/store/mirror-store.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { storeUnderChange } from '../../support/store/store-fixtures.ts';
import { listInto, neverAsked, objectOf, printEvent, versionOf } from '../../support/store/store-objects.ts';

describe('resuming', () => {
  const told = (events: readonly StoreEvent[] | undefined) => events?.map(printEvent);

  test('gives the changes after any version that was reached', () => {
    const { store, apply } = storeUnderChange('a');
    apply('b');
    store.confirmed(versionOf(15));
    store.confirmed(versionOf(18));
    listInto(store, [objectOf({ name: 'c', version: 20 })], 21);
    store.applied(objectOf({ name: 'd', version: 30 }), versionOf(30), neverAsked);
    const list = ['deleted default/a@1 by absence', 'deleted default/b@11 by absence', 'applied default/c@20'];
    expect(told(store.changesSince('e', versionOf(10)))).toEqual(['applied default/b@11', ...list, 'applied default/d@30']);
    for (const version of [11, 15, 16, 18])
      expect(told(store.changesSince('e', versionOf(version)))).toEqual([...list, 'applied default/d@30']);
    for (const version of [21, 25]) expect(told(store.changesSince('e', versionOf(version)))).toEqual(['applied default/d@30']);
    expect(store.changesSince('e', versionOf(30))).toEqual([]);
  });

  test('reports an unknown delta: version too old, ahead, of another epoch, opaque', () => {
    const { store, apply } = storeUnderChange('a');
    apply('b');
    for (const version of [9, 12, '011', 'abc']) expect(store.changesSince('e', versionOf(version))).toBeUndefined();
    expect(store.changesSince('other', versionOf(11))).toBeUndefined();
    listInto(store, [], 5);
    expect(store.changesSince('e', versionOf(5))).toBeUndefined();
    expect(store.changesSince('e+1', versionOf(5))).toEqual([]);
    expect(store.changesSince('e+1', versionOf(4))).toBeUndefined();
  });

  test('reports an unknown delta at a version that a list skipped', () => {
    const { store } = storeUnderChange('a');
    store.confirmed(versionOf(103));
    listInto(store, [objectOf({ name: 'a', version: 1 })], 200);
    for (const version of [104, 105, 199]) expect(store.changesSince('e', versionOf(version))).toBeUndefined();
    for (const version of [50, 103, 200]) expect(store.changesSince('e', versionOf(version))).toEqual([]);
    // A bookmark after the list does not close the gap before the list.
    store.confirmed(versionOf(210));
    expect(store.changesSince('e', versionOf(105))).toBeUndefined();
    for (const version of [103, 200, 205, 210]) expect(store.changesSince('e', versionOf(version))).toEqual([]);
  });

  test('finds opaque versions by equality', () => {
    const store = createStore({ epoch: 'e', clock: createManualClock() });
    listInto(store, [], 'v-a');
    store.applied(objectOf({ name: 'x' }), versionOf('v-c'), neverAsked);
    store.confirmed(versionOf('v-b'));
    store.applied(objectOf({ name: 'y' }), versionOf('v-d'), neverAsked);
    expect(told(store.changesSince('e', versionOf('v-a')))).toEqual(['applied default/x@', 'applied default/y@']);
    for (const version of ['v-b', 'v-c']) expect(told(store.changesSince('e', versionOf(version)))).toEqual(['applied default/y@']);
    expect(store.changesSince('e', versionOf('v-x'))).toBeUndefined();
  });

  test('repeats the changes of a list by content at a version that was reached before', () => {
    const { store } = storeUnderChange('a');
    const stage = store.replace({ byContent: true });
    stage.add(objectOf({ name: 'a', version: 1, spec: {} }), neverAsked);
    stage.commit(versionOf(10));
    expect(told(store.changesSince('e', versionOf(10)))).toEqual(['applied default/a@1 was @1']);
  });

  test('remembers 4,096 changes', () => {
    const { store, apply } = storeUnderChange();
    for (let index = 0; index < 5_000; index += 1) apply(`p${index % 10}`);
    expect(store.version).toBe('5010');
    expect(store.changesSince('e', versionOf(5_010 - 4_096))).toHaveLength(4_096);
    expect(store.changesSince('e', versionOf(5_009 - 4_096))).toBeUndefined();
  });

  test('remembers 4 MiB', () => {
    const { store } = storeUnderChange();
    const big = (name: string, version: number): KubernetesObject => objectOf({ name, version, spec: { text: 'x'.repeat(1_000_000) } });
    for (let version = 11; version <= 20; version += 1) store.applied(big(`p${version}`, version), versionOf(version), neverAsked);
    expect(store.changesSince('e', versionOf(16))).toHaveLength(4);
    expect(store.changesSince('e', versionOf(15))).toBeUndefined();
  });

  test('remembers 10 minutes', async () => {
    const { store, clock, apply } = storeUnderChange();
    apply('a');
    await clock.advance(6 * 60_000);
    apply('b');
    await clock.advance(4 * 60_000);
    expect(store.changesSince('e', versionOf(10))).toHaveLength(2);
    await clock.advance(1);
    expect(store.changesSince('e', versionOf(10))).toBeUndefined();
    expect(store.changesSince('e', versionOf(11))).toHaveLength(1);
  });

  test('forgets everything after a list with more changes than it remembers', () => {
    const { store } = storeUnderChange();
    listInto(
      store,
      Array.from({ length: 4_097 }, (_, index) => objectOf({ name: `p${index}`, version: 20 })),
      20,
    );
    expect(store.changesSince('e', versionOf(10))).toBeUndefined();
    expect(store.changesSince('e', versionOf(20))).toEqual([]);
  });
});
