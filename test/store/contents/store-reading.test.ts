import { describe, expect, test } from 'vitest';
import { createStore } from '../../../src/store/contents/store.ts';
import type { MirrorStore } from '../../../src/store/mirror-store.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { apply, emptyStore, storeOf } from '../../support/store/store-fixtures.ts';
import { contentsOf, deepFreeze, listInto, neverAsked, objectOf, versionOf } from '../../support/store/store-objects.ts';

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

  test('keeps the sorted names of a page current through any changes', () => {
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

  test('gives a list that never changes, and the same list until there is a change', () => {
    const store = storeOf('a', 'b');
    const page = store.inNamespace('default');
    const before = [...page];
    expect(store.inNamespace('default')).toBe(page);
    apply(store, { name: 'a', version: 11 });
    apply(store, { name: 'c', version: 12 });
    expect(page).toEqual(before);
    expect(store.inNamespace('default').map(({ metadata }) => metadata.resourceVersion)).toEqual(['11', '1', '12']);
  });

  test('finds objects by label, owner and node, and follows changes', () => {
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
    expect(store.countIndexed({ by: 'label', key: 'app', values: ['web', 'api', 'web'] })).toBe(3);
    expect(store.countIndexed({ by: 'label', key: 'constructor', values: ['web'] })).toBe(0);
    expect(store.countIndexed({ by: 'owner', uid: 'o1' })).toBe(2);
    expect(find({ by: 'owner', uid: 'o1' })).toEqual(['a', 'b']);
    expect(find({ by: 'node', name: 'n2' })).toEqual(['b', 'c']);
    apply(store, { name: 'a', version: 2, labels: { app: 'db' }, spec: { nodeName: 'n2' } });
    apply(store, { name: 'd', version: 3, labels: { app: 'web' } });
    store.deleted(objectOf({ name: 'c', version: 4 }), versionOf(4), neverAsked);
    expect(find({ by: 'label', key: 'app', values: ['web'] })).toEqual(['d']);
    expect(find({ by: 'owner', uid: 'o1' })).toEqual(['b']);
    expect(store.countIndexed({ by: 'owner', uid: 'o1' })).toBe(1);
    expect(find({ by: 'node', name: 'n2' })).toEqual(['a', 'b']);
    listInto(store, [], 9);
    expect(find({ by: 'label', key: 'app', values: ['db', 'web'] })).toEqual([]);
  });

  test('drops an index 10 minutes after its last use, and makes it again', async () => {
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

  test.each([
    ['all of many labels that few objects have each', { objects: 60, labelsOf: (index: number) => [index] }, 60],
    ['the 32 last used entries of an object, on the average', { objects: 1, labelsOf: () => Array.from({ length: 100 }).keys() }, 32],
    ['the last used ones of 1,024 labels', { objects: 1_100, labelsOf: (index: number) => [index] }, 1_024],
  ])('holds an index of %s', (_, { objects, labelsOf }, held) => {
    const store = emptyStore();
    const labelled = (index: number) => Object.fromEntries([...labelsOf(index)].map((label) => [`k${label}`, 'v']));
    listInto(
      store,
      Array.from({ length: objects }, (_, index) => objectOf({ name: `n${index}`, labels: labelled(index) })),
    );
    const bare = store.bytes;
    const keys = new Set([...store.objects()].flatMap(({ metadata: { labels } }) => Object.keys(labels ?? {})));
    for (const key of keys) expect(store.indexed({ by: 'label', key, values: ['v'] })).toHaveLength(1);
    expect(store.bytes - bare).toBe(held * 48);
  });

  test('updates an index of a label when objects get it, change it or lose it', () => {
    const store = emptyStore();
    listInto(store, [objectOf({ name: 'a', labels: { app: 'web' } }), objectOf({ name: 'b' })]);
    const found = () =>
      ['web', 'api'].map((value) => store.indexed({ by: 'label', key: 'app', values: [value] })?.map(({ metadata }) => metadata.name));
    expect(found()).toEqual([['a'], []]);
    apply(store, { name: 'b', version: 2, labels: { app: 'api', tier: 'x' } });
    apply(store, { name: 'a', version: 3 });
    expect(found()).toEqual([[], ['b']]);
    apply(store, { name: 'b', version: 4, labels: { app: 'web' } });
    expect(found()).toEqual([['b'], []]);
    store.deleted(objectOf({ name: 'b', version: 5 }), versionOf(5), neverAsked);
    expect(found()).toEqual([[], []]);
  });

  test('returns objects that are never changed later', () => {
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
