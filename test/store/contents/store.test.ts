import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import { isRawNumber } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { MirrorStore } from '../../../src/store/mirror-store.ts';
import { apply, emptyStore, storeOf } from '../../support/store/store-fixtures.ts';
import {
  contentsOf,
  exactly,
  listInto,
  neverAsked,
  objectOf,
  parseObject,
  printEvent,
  versionOf,
} from '../../support/store/store-objects.ts';

const fault: Fault = { code: 'FORBIDDEN', cluster: clusterName('north'), message: 'the right to list was lost', retry: 'LATER' };

describe('one event', () => {
  test('adds, replaces and deletes objects, and moves the version', () => {
    const store = storeOf('a');
    apply(store, { name: 'b', version: 11 });
    apply(store, { name: 'a', version: 12 });
    expect(contentsOf(store)).toEqual(['default/a@12', 'default/b@11']);
    store.deleted(objectOf({ name: 'b', version: 13 }), versionOf(13), neverAsked);
    expect(contentsOf(store)).toEqual(['default/a@12']);
    expect(store.version).toBe('13');
    expect(store.size).toBe(1);
  });

  test('changes only the version if it arrives twice', () => {
    const store = storeOf('a');
    const held = store.get('default', 'a');
    apply(store, { name: 'a', version: 1 });
    expect(store.get('default', 'a')).toBe(held);
    store.deleted(objectOf({ name: 'unknown', version: 12 }), versionOf(12), neverAsked);
    expect(store.version).toBe('12');
    expect(contentsOf(store)).toEqual(['default/a@1']);
  });

  test('about the uid of a deleted object does not change its successor', () => {
    const store = storeOf('a');
    apply(store, { name: 'a', uid: 'second', version: 12 });
    store.deleted(objectOf({ name: 'a', version: 13 }), versionOf(13), neverAsked);
    expect(store.get('default', 'a')?.metadata.uid).toBe('second');
  });

  test('never moves the version back if versions can be compared', () => {
    const store = storeOf('a');
    store.confirmed(versionOf(20));
    store.confirmed(versionOf(19));
    apply(store, { name: 'b', version: 18 });
    expect(store.version).toBe('20');
    store.confirmed(versionOf('opaque'));
    expect(store.version).toBe('opaque');
  });

  test('without uid or version is compared by key and content', () => {
    const store = emptyStore();
    listInto(store, [objectOf({ name: 'm', uid: '', spec: { cpu: '1' } })]);
    const held = store.get('default', 'm');
    store.applied(objectOf({ name: 'm', uid: '', spec: { cpu: '1' } }), undefined, neverAsked);
    expect(store.get('default', 'm')).toBe(held);
    store.applied(objectOf({ name: 'm', uid: '', spec: { cpu: '2' } }), undefined, neverAsked);
    expect(store.get('default', 'm')?.spec).toEqual({ cpu: '2' });
  });
});

describe('a held object', () => {
  test('has no managedFields, but keeps those of embedded objects and in texts', () => {
    const store = emptyStore();
    const spec = '{"template":{"metadata":{"managedFields":[{"manager":"x"}]}},"text":"\\"managedFields\\": []"}';
    store.applied(
      parseObject(`{"metadata":{"name":"a","managedFields":[{"manager":"kubectl"}],"uid":"u"},"spec":${spec}}`),
      undefined,
      neverAsked,
    );
    expect(JSON.stringify(store.get('', 'a'))).toBe(`{"metadata":{"name":"a","uid":"u"},"spec":${spec}}`);
  });

  test('has only metadata under the policy metadata, without last-applied-configuration', () => {
    const store = emptyStore('metadata');
    const secret = parseObject(
      JSON.stringify({
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: {
          name: 's',
          namespace: 'a',
          uid: 'u',
          managedFields: [],
          annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'hunter2', kept: 'yes' },
        },
        data: { password: 'aHVudGVyMg==' },
        stringData: { password: 'hunter2' },
      }),
    );
    store.applied(secret, versionOf(1), neverAsked);
    const stage = store.replace({ byContent: true });
    stage.add(structuredClone(secret), neverAsked);
    stage.commit(versionOf(2));
    const text = JSON.stringify([...store.objects()]);
    expect(JSON.parse(text)).toEqual([
      { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's', namespace: 'a', uid: 'u', annotations: { kept: 'yes' } } },
    ]);
    expect(text).not.toMatch(/hunter2|aHVudGVyMg/);
  });

  test('has exact integers, and is parsed exactly only for them', () => {
    const store = emptyStore();
    const text = '{"metadata":{"name":"a","uid":"u","managedFields":[]},"spec":{"n":9007199254740993,"m":7}}';
    store.applied(parseObject(text), versionOf(1), exactly(text));
    const held = store.get('', 'a');
    expect(JSON.stringify(held)).toBe('{"metadata":{"name":"a","uid":"u"},"spec":{"n":9007199254740993,"m":7}}');
    expect(isRawNumber(held?.spec && Object.values(held.spec)[0])).toBe(true);
    const stage = store.replace({ byContent: true });
    stage.add(parseObject(text), exactly(text));
    stage.commit(versionOf(2));
    expect(store.get('', 'a')).toBe(held);
    const other = text.replace('740993', '740992');
    store.applied(parseObject(other), versionOf(3), exactly(other));
    expect(JSON.stringify(store.get('', 'a')?.spec)).toBe('{"n":9007199254740992,"m":7}');
  });

  test('shares memory with a sibling of the same controller, also after the last sibling got another controller', () => {
    const store = emptyStore();
    const owned = (name: string, version: number) =>
      objectOf({
        name,
        version,
        metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs-uid', controller: true }] },
        spec: { containers: [{ image: 'a-rather-long-image-name' }] },
      });
    listInto(store, [owned('a', 1), owned('b', 2)]);
    const [a, b] = [store.get('default', 'a'), store.get('default', 'b')];
    expect(b?.spec).toBe(a?.spec);
    expect(b?.metadata.ownerReferences).toBe(a?.metadata.ownerReferences);
    store.deleted(owned('b', 3), versionOf(3), neverAsked);
    store.applied(owned('c', 4), versionOf(4), neverAsked);
    expect(store.get('default', 'c')?.spec).toBe(a?.spec);
  });

  test('is counted, and no longer counted after it is deleted', () => {
    const store = emptyStore();
    const spec = { text: 'x'.repeat(10_000) };
    apply(store, { name: 'a', spec, version: 1 });
    const one = store.bytes;
    expect(one).toBeGreaterThan(10_000);
    for (let version = 2; version < 50; version += 1) apply(store, { name: 'a', spec, status: { version }, version });
    expect(store.bytes).toBeLessThan(one + 500);
    expect(store.bytes).toBeGreaterThan(10_000);
    store.deleted(objectOf({ name: 'a', version: 51 }), versionOf(51), neverAsked);
    expect(store.bytes).toBe(0);
  });
});

describe('another history of the cluster', () => {
  test('begins with a list below the held version: the epoch changes, and the diff is sent as usual', async () => {
    const store = storeOf('a', 'b');
    const lines = await linesOf(store, () => listInto(store, [objectOf({ name: 'a', version: 1 })], 9));
    expect(store.epoch).toBe('e+1');
    expect(store.version).toBe('9');
    expect(lines).toEqual(['deleted default/b@1 by absence']);
    listInto(store, [], 8);
    expect(store.epoch).toBe('e+2');
  });

  test.each([
    ['10', '10'],
    ['11', '9'],
    ['abc', 'abb'],
    ['10', '010'],
  ])('does not begin at %s if %s has an opaque or equal version', (held, listed) => {
    const store = emptyStore();
    listInto(store, [], held);
    listInto(store, [], listed);
    expect(store.epoch).toBe(held === '11' ? 'e+1' : 'e');
  });
});

describe('scopes of single namespaces', () => {
  test('are as current as the oldest of them, until a list of all namespaces', () => {
    const store = emptyStore();
    store.replace({ namespace: 'a' }).commit(versionOf(20));
    expect(store.version).toBe('20');
    store.replace({ namespace: 'b' }).commit(versionOf(15));
    expect(store.version).toBe('15');
    apply(store, { name: 'x', namespace: 'b', version: 30 });
    expect(store.version).toBe('20');
    store.confirmed(versionOf(25), 'a');
    expect(store.version).toBe('25');
    listInto(store, [], 40);
    expect(store.version).toBe('40');
  });

  test('have an epoch of their own, because their cursors do not cover other namespaces', () => {
    const store = storeOf('a');
    expect(store.epoch).toBe('e');
    store.replace({ namespace: 'b' }).commit(versionOf(20));
    expect(store.epoch).toBe('e narrow');
    for (const epoch of ['e', 'e narrow']) expect(store.changesSince(epoch, versionOf(20))).toBeUndefined();
    listInto(store, [objectOf({ name: 'c', version: 30 })], 30);
    expect(store.epoch).toBe('e');
  });

  test('with later versions than the list of all namespaces leave no cursor that would miss events', () => {
    const store = storeOf('a');
    store.replace({ namespace: 'b' }).commit(versionOf(10));
    const stage = store.replace();
    apply(store, { name: 'later', namespace: 'b', version: 12 });
    stage.commit(versionOf(11));
    expect(contentsOf(store)).toEqual(['b/later@12']);
    expect(store.changesSince('e', versionOf(11))).toBeUndefined();
    apply(store, { name: 'later', namespace: 'b', version: 12 });
    expect(store.changesSince('e', versionOf(11))).toBeUndefined();
    expect(store.changesSince('e', versionOf(12))).toEqual([]);
  });
});

describe('an end', () => {
  test('empties the store without delete events, and resets readers at the next list', async () => {
    const store = storeOf('a', 'b');
    const stage = store.replace();
    stage.keep({ namespace: 'default', name: 'a', uid: 'default-a', version: '1' });
    expect(await linesOf(store, () => store.empty(fault))).toEqual(['failed FORBIDDEN']);
    expect([store.size, store.bytes, store.version]).toEqual([0, 0, undefined]);
    stage.commit(versionOf(20));
    expect(store.version).toBeUndefined();
    expect(await linesOf(store, () => listInto(store, [objectOf({ name: 'b', version: 1 })], 21))).toEqual(['reset to 1', 'synced']);
  });

  test('is final after the kind has left', async () => {
    const store = storeOf('a');
    const lines = await linesOf(store, () => {
      apply(store, { name: 'b', version: 11 });
      store.gone(fault);
      store.gone(fault);
      apply(store, { name: 'c', version: 12 });
      store.failed(fault);
      listInto(store, [objectOf({ name: 'd' })], 13);
    });
    expect(lines).toEqual(['applied default/b@11', 'gone FORBIDDEN']);
    expect([store.size, store.bytes, store.version]).toEqual([0, 0, undefined]);
    expect(await linesOf(store, () => undefined)).toEqual(['gone FORBIDDEN']);
  });
});

/** Returns the events that a new reader receives from the action. */
async function linesOf(store: MirrorStore, action: () => void): Promise<readonly string[]> {
  const lines: string[] = [];
  const stop = new AbortController();
  store.follow((events) => lines.push(...events.map(printEvent)), stop.signal);
  action();
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  return lines;
}
