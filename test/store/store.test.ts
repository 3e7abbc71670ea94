import { describe, expect, test } from 'vitest';
import type { Fault } from '../../src/core/faults.ts';
import { isRawNumber } from '../../src/core/json.ts';
import { clusterName } from '../../src/core/names.ts';
import { identityOf } from '../../src/core/objects.ts';
import type { MirrorStore } from '../../src/store/mirror-store.ts';
import { createStore } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  contentsOf,
  deepFreeze,
  exactly,
  listInto,
  neverAsked,
  objectOf,
  parseObject,
  printEvent,
  versionOf,
} from '../support/store-objects.ts';

const fault: Fault = { code: 'FORBIDDEN', cluster: clusterName('north'), message: 'the right to list was lost', retry: 'LATER' };

function emptyStore(policy: 'parsed' | 'metadata' = 'parsed'): MirrorStore {
  return createStore({ epoch: 'e', clock: createManualClock(), policy });
}

function storeOf(...names: readonly string[]): MirrorStore {
  const store = emptyStore();
  listInto(
    store,
    names.map((name) => objectOf({ name, version: 1 })),
    10,
  );
  return store;
}

const apply = (store: MirrorStore, sketch: Parameters<typeof objectOf>[0]) =>
  store.applied(objectOf(sketch), versionOf(sketch.version ?? 1), neverAsked);

describe('one event', () => {
  test('adds, replaces and deletes, and moves the version', () => {
    const store = storeOf('a');
    apply(store, { name: 'b', version: 11 });
    apply(store, { name: 'a', version: 12 });
    expect(contentsOf(store)).toEqual(['default/a@12', 'default/b@11']);
    store.deleted(objectOf({ name: 'b', version: 13 }), versionOf(13), neverAsked);
    expect(contentsOf(store)).toEqual(['default/a@12']);
    expect(store.version).toBe('13');
    expect(store.size).toBe(1);
  });

  test('told twice changes nothing but the version', () => {
    const store = storeOf('a');
    const held = store.get('default', 'a');
    apply(store, { name: 'a', version: 1 });
    expect(store.get('default', 'a')).toBe(held);
    store.deleted(objectOf({ name: 'unknown', version: 12 }), versionOf(12), neverAsked);
    expect(store.version).toBe('12');
    expect(contentsOf(store)).toEqual(['default/a@1']);
  });

  test('about a uid that has left does not touch its successor', () => {
    const store = storeOf('a');
    apply(store, { name: 'a', uid: 'second', version: 12 });
    store.deleted(objectOf({ name: 'a', version: 13 }), versionOf(13), neverAsked);
    expect(store.get('default', 'a')?.metadata.uid).toBe('second');
  });

  test('never moves the version back where versions can be compared', () => {
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

describe('what is held', () => {
  test('has no managedFields, but keeps those of embedded objects and of texts', () => {
    const store = emptyStore();
    const spec = '{"template":{"metadata":{"managedFields":[{"manager":"x"}]}},"text":"\\"managedFields\\": []"}';
    store.applied(
      parseObject(`{"metadata":{"name":"a","managedFields":[{"manager":"kubectl"}],"uid":"u"},"spec":${spec}}`),
      undefined,
      neverAsked,
    );
    expect(JSON.stringify(store.get('', 'a'))).toBe(`{"metadata":{"name":"a","uid":"u"},"spec":${spec}}`);
  });

  test('by the policy of metadata is nothing else, and no last-applied-configuration', () => {
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

  test('holds integers exactly, asking for the exact parse only then', () => {
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

  test('shares with the sibling of the same controller, also after the last of them has changed hands', () => {
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

  test('is counted, and forgotten when it leaves', () => {
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

describe('a list', () => {
  test('is seen whole at its commit, and not before', () => {
    const store = storeOf('a', 'b');
    const stage = store.replace();
    stage.add(objectOf({ name: 'c', version: 12 }), neverAsked);
    expect(stage.keep({ namespace: 'default', name: 'a', uid: 'default-a', version: '1' })).toBe(true);
    expect(contentsOf(store)).toEqual(['default/a@1', 'default/b@1']);
    expect(store.version).toBe('10');
    stage.commit(versionOf(12));
    expect(contentsOf(store)).toEqual(['default/a@1', 'default/c@12']);
    expect(store.version).toBe('12');
  });

  test('discarded, or committed twice, has no effect', () => {
    const store = storeOf('a');
    const stage = store.replace();
    stage.discard();
    stage.commit(versionOf(12));
    expect(contentsOf(store)).toEqual(['default/a@1']);
    const second = store.replace();
    second.add(objectOf({ name: 'b', version: 13 }), neverAsked);
    second.commit(versionOf(13));
    second.commit(versionOf(14));
    expect(contentsOf(store)).toEqual(['default/b@13']);
    expect(store.version).toBe('13');
  });

  test.each([
    ['another version', { version: '2' }],
    ['another uid', { uid: 'other' }],
    ['another name', { name: 'b' }],
    ['no uid', { uid: '' }],
  ])('keeps nothing of %s', (_, changed) => {
    const stage = storeOf('a').replace();
    expect(stage.keep({ namespace: 'default', name: 'a', uid: 'default-a', version: '1', ...changed })).toBe(false);
  });

  test('by content keeps nothing unparsed, and tells of what changed at the same version', async () => {
    const store = storeOf('a', 'b');
    const lines = await linesOf(store, () => {
      const stage = store.replace({ byContent: true });
      expect(stage.keep({ namespace: 'default', name: 'a', uid: 'default-a', version: '1' })).toBe(false);
      stage.add(objectOf({ name: 'a', version: 1, spec: { newDefault: true } }), neverAsked);
      stage.add(objectOf({ name: 'b', version: 1 }), neverAsked);
      stage.commit(versionOf(10));
    });
    expect(lines).toEqual(['applied default/a@1 was @1']);
  });

  test('takes back what was deleted while it came', () => {
    const store = storeOf('a', 'b');
    const stage = store.replace();
    stage.keep({ namespace: 'default', name: 'a', uid: 'default-a', version: '1' });
    stage.add(objectOf({ name: 'c', version: 11 }), neverAsked);
    stage.remove('default', 'a');
    stage.remove('default', 'c');
    stage.remove('default', 'never');
    stage.commit(versionOf(12));
    expect(contentsOf(store)).toEqual([]);
  });

  test('tells deletions first, then what came, and nothing of what is equal', async () => {
    const store = storeOf('gone', 'new-uid', 'changed', 'equal', 'kept');
    const lines = await linesOf(store, () => {
      const stage = store.replace();
      stage.add(objectOf({ name: 'changed', version: 11 }), neverAsked);
      stage.add(objectOf({ name: 'equal', version: 1 }), neverAsked);
      stage.add(objectOf({ name: 'new-uid', uid: 'second', version: 11 }), neverAsked);
      stage.add(objectOf({ name: 'added', version: 11 }), neverAsked);
      stage.keep({ namespace: 'default', name: 'kept', uid: 'default-kept', version: '1' });
      stage.commit(versionOf(12));
    });
    expect(lines).toEqual([
      'deleted default/gone@1 by absence',
      'deleted default/new-uid@1 by absence',
      'applied default/changed@11 was @1',
      'applied default/new-uid@11',
      'applied default/added@11',
    ]);
  });

  test('in which nothing changed says nothing', async () => {
    const store = storeOf('a', 'b');
    const lines = await linesOf(store, () => {
      const stage = store.replace();
      for (const object of store.objects()) stage.keep(identityOf(object));
      stage.commit(versionOf(30));
    });
    expect(lines).toEqual([]);
    expect(store.version).toBe('30');
  });

  test('of one namespace leaves the others alone', () => {
    const store = emptyStore();
    listInto(store, [objectOf({ name: 'x', namespace: 'a', version: 1 }), objectOf({ name: 'y', namespace: 'b', version: 1 })]);
    const stage = store.replace({ namespace: 'a' });
    stage.add(objectOf({ name: 'z', namespace: 'a', version: 5 }), neverAsked);
    stage.add(objectOf({ name: 'stray', namespace: 'b', version: 5 }), neverAsked);
    stage.commit(versionOf(5));
    expect(contentsOf(store)).toEqual(['a/z@5', 'b/y@1']);
  });

  test('does not undo what events told of later versions while it came', () => {
    const store = storeOf('kept', 'deleted', 'changed');
    const stage = store.replace();
    for (const name of ['kept', 'deleted']) stage.keep({ namespace: 'default', name, uid: `default-${name}`, version: '1' });
    stage.add(objectOf({ name: 'changed', version: 11 }), neverAsked);
    store.deleted(objectOf({ name: 'deleted', version: 21 }), versionOf(21), neverAsked);
    apply(store, { name: 'changed', version: 22 });
    apply(store, { name: 'created', version: 23 });
    apply(store, { name: 'kept', version: 24 });
    stage.commit(versionOf(20));
    expect(contentsOf(store)).toEqual(['default/changed@22', 'default/created@23', 'default/kept@24']);
  });

  test('undoes what events told of earlier versions', () => {
    const store = storeOf('a');
    const stage = store.replace();
    apply(store, { name: 'b', version: 11 });
    stage.commit(versionOf(20));
    expect(contentsOf(store)).toEqual([]);
  });
});

describe('another history of the cluster', () => {
  test('is a list below the version held: the epoch changes, and the diff is told as ever', async () => {
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
  ])('is not at %s where %s is told by an opaque or equal version', (held, listed) => {
    const store = emptyStore();
    listInto(store, [], held);
    listInto(store, [], listed);
    expect(store.epoch).toBe(held === '11' ? 'e+1' : 'e');
  });
});

describe('narrow scopes', () => {
  test('are as true as the oldest of them, until a list of everything', () => {
    const store = emptyStore();
    store.replace({ namespace: 'a' }).commit(versionOf(20));
    expect(store.version).toBe('20');
    store.replace({ namespace: 'b' }).commit(versionOf(15));
    expect(store.version).toBe('15');
    expect(store.epoch).toBe('e');
    apply(store, { name: 'x', namespace: 'b', version: 30 });
    expect(store.version).toBe('20');
    store.confirmed(versionOf(25), 'a');
    expect(store.version).toBe('25');
    expect(store.changesSince('e', versionOf(25))).toBeUndefined();
    listInto(store, [], 40);
    expect(store.version).toBe('40');
    expect(store.changesSince('e', versionOf(40))).toEqual([]);
  });
});

describe('an end', () => {
  test('empties without telling a deletion, and resets readers at the next list', async () => {
    const store = storeOf('a', 'b');
    const stage = store.replace();
    stage.keep({ namespace: 'default', name: 'a', uid: 'default-a', version: '1' });
    expect(await linesOf(store, () => store.empty(fault))).toEqual(['failed FORBIDDEN']);
    expect([store.size, store.bytes, store.version]).toEqual([0, 0, undefined]);
    stage.commit(versionOf(20));
    expect(store.version).toBeUndefined();
    expect(await linesOf(store, () => listInto(store, [objectOf({ name: 'b', version: 1 })], 21))).toEqual(['reset to 1', 'synced']);
  });

  test('is final when the kind has left', async () => {
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

describe('reading', () => {
  test('gives namespaces and names in order of code units', () => {
    const store = emptyStore();
    const names = ['b', 'a', 'B', 'é', 'a-1', 'a1', 'z', 'aa'];
    listInto(
      store,
      names.flatMap((name) => ['y', 'x'].map((namespace) => objectOf({ name, namespace }))),
    );
    expect(store.namespaces()).toEqual(['x', 'y']);
    expect(store.inNamespace('x').map(({ metadata }) => metadata.name)).toEqual([...names].sort());
    expect(store.countIn('x')).toBe(8);
    expect(store.inNamespace('absent')).toEqual([]);
    expect(store.countIn('absent')).toBe(0);
  });

  test('keeps a page of names in order through any changes', () => {
    const store = emptyStore();
    const names = new Set<string>();
    for (let step = 0; step < 400; step += 1) {
      const name = `n${(step * 7_919) % 53}`;
      if (names.has(name) && step % 3 !== 0) {
        names.delete(name);
        store.deleted(objectOf({ name, version: step + 1 }), versionOf(step + 1), neverAsked);
      } else {
        names.add(name);
        apply(store, { name, version: step + 1 });
      }
      if (step % 5 === 0) expect(store.inNamespace('default').map(({ metadata }) => metadata.name)).toEqual([...names].sort());
    }
  });

  test('gives a list that no later change touches, and the same one until there is one', () => {
    const store = storeOf('a', 'b');
    const page = store.inNamespace('default');
    const before = [...page];
    expect(store.inNamespace('default')).toBe(page);
    apply(store, { name: 'a', version: 11 });
    apply(store, { name: 'c', version: 12 });
    expect(page).toEqual(before);
    expect(store.inNamespace('default').map(({ metadata }) => metadata.resourceVersion)).toEqual(['11', '1', '12']);
  });

  test('finds by label, owner and node, and follows changes', () => {
    const store = emptyStore();
    const owned = (name: string, owner: string, node: string, app: string) =>
      objectOf({
        name,
        version: 1,
        labels: { app },
        spec: { nodeName: node },
        metadata: {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'X', name: owner, uid: owner },
            { apiVersion: 'v1', kind: 'X', name: owner, uid: owner },
          ],
        },
      });
    listInto(store, [owned('a', 'o1', 'n1', 'web'), owned('b', 'o1', 'n2', 'api'), owned('c', 'o2', 'n2', 'web')]);
    const find = (lookup: Parameters<MirrorStore['indexed']>[0]) =>
      store
        .indexed(lookup)
        ?.map(({ metadata }) => metadata.name)
        .sort();
    expect(find({ by: 'label', key: 'app', values: ['web'] })).toEqual(['a', 'c']);
    expect(find({ by: 'label', key: 'app', values: ['web', 'api', 'web'] })).toEqual(['a', 'b', 'c']);
    expect(find({ by: 'label', key: 'constructor', values: ['web'] })).toEqual([]);
    expect(find({ by: 'owner', uid: 'o1' })).toEqual(['a', 'b']);
    expect(find({ by: 'node', name: 'n2' })).toEqual(['b', 'c']);
    apply(store, { name: 'a', version: 2, labels: { app: 'db' }, spec: { nodeName: 'n2' } });
    apply(store, { name: 'd', version: 3, labels: { app: 'web' } });
    store.deleted(objectOf({ name: 'c', version: 4 }), versionOf(4), neverAsked);
    expect(find({ by: 'label', key: 'app', values: ['web'] })).toEqual(['d']);
    expect(find({ by: 'owner', uid: 'o1' })).toEqual(['b']);
    expect(find({ by: 'node', name: 'n2' })).toEqual(['a', 'b']);
    listInto(store, [], 9);
    expect(find({ by: 'label', key: 'app', values: ['db', 'web'] })).toEqual([]);
  });

  test('forgets an index 10 minutes after its last use, and makes it again', async () => {
    const clock = createManualClock();
    const store = createStore({ epoch: 'e', clock });
    listInto(
      store,
      Array.from({ length: 100 }, (_, index) => objectOf({ name: `p${index}`, labels: { app: `a${index % 2}` } })),
    );
    const bare = store.bytes;
    const lookup = { by: 'label', key: 'app', values: ['a1'] } as const;
    expect(store.indexed(lookup)).toHaveLength(50);
    expect(store.bytes).toBeGreaterThan(bare);
    await clock.advance(9 * 60_000);
    expect(store.indexed(lookup)).toHaveLength(50);
    await clock.advance(9 * 60_000);
    apply(store, { name: 'p0', version: 2, labels: { app: 'a1' } });
    const used = store.bytes;
    await clock.advance(2 * 60_000);
    apply(store, { name: 'p0', version: 3, labels: { app: 'a1' } });
    expect(store.bytes).toBeLessThan(used - 1_000);
    expect(store.indexed(lookup)).toHaveLength(51);
  });

  test('holds 32 indexes at most, the last used ones', () => {
    const store = emptyStore();
    listInto(store, [objectOf({ name: 'a', labels: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 'v'])) })]);
    const bare = store.bytes;
    for (let index = 0; index < 100; index += 1) expect(store.indexed({ by: 'label', key: `k${index}`, values: ['v'] })).toHaveLength(1);
    expect(store.bytes - bare).toBeLessThan(33 * 100);
  });

  test('hands out objects that nobody writes to later', () => {
    const store = emptyStore();
    const stage = store.replace();
    for (const name of ['a', 'b']) stage.add(objectOf({ name, version: 1, spec: { list: [{ a: 'a text that is long' }] } }), neverAsked);
    stage.commit(versionOf(1));
    for (const object of store.objects()) deepFreeze(object);
    apply(store, { name: 'a', version: 2, spec: { list: [{ a: 'a text that is long' }, 2] } });
    const relist = store.replace({ byContent: true });
    relist.add(objectOf({ name: 'b', version: 1, spec: { list: [{ a: 'a text that is long' }] } }), neverAsked);
    relist.commit(versionOf(3));
    expect(contentsOf(store)).toEqual(['default/b@1']);
  });
});

/** What a reader that joins now is told of what the action does. */
async function linesOf(store: MirrorStore, action: () => void): Promise<readonly string[]> {
  const lines: string[] = [];
  const stop = new AbortController();
  store.follow((events) => lines.push(...events.map(printEvent)), stop.signal);
  action();
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  return lines;
}
