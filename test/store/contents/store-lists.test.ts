import { describe, expect, test } from 'vitest';
import { identityOf } from '../../../src/core/objects.ts';
import type { MirrorStore } from '../../../src/store/mirror-store.ts';
import { apply, emptyStore, storeOf } from '../../support/store/store-fixtures.ts';
import { contentsOf, listInto, neverAsked, objectOf, printEvent, versionOf } from '../../support/store/store-objects.ts';

describe('a list', () => {
  test('becomes visible as a whole at its commit', () => {
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

  test('has no effect after it was discarded or committed', () => {
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
  ])('keeps no object with %s', (_, changed) => {
    const stage = storeOf('a').replace();
    expect(stage.keep({ namespace: 'default', name: 'a', uid: 'default-a', version: '1', ...changed })).toBe(false);
  });

  test('by content keeps no unparsed object, and reports changes at the same version', async () => {
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

  test('removes an object that was deleted while the list was received', () => {
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

  test('reports deletions first, then other changes, and nothing about equal objects', async () => {
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

  test('without a change sends no event', async () => {
    const store = storeOf('a', 'b');
    const lines = await linesOf(store, () => {
      const stage = store.replace();
      for (const object of store.objects()) stage.keep(identityOf(object));
      stage.commit(versionOf(30));
    });
    expect(lines).toEqual([]);
    expect(store.version).toBe('30');
  });

  test('of one namespace leaves the others unchanged', () => {
    const store = emptyStore();
    listInto(store, [objectOf({ name: 'x', namespace: 'a', version: 1 }), objectOf({ name: 'y', namespace: 'b', version: 1 })]);
    const stage = store.replace({ namespace: 'a' });
    stage.add(objectOf({ name: 'z', namespace: 'a', version: 5 }), neverAsked);
    stage.add(objectOf({ name: 'stray', namespace: 'b', version: 5 }), neverAsked);
    stage.commit(versionOf(5));
    expect(contentsOf(store)).toEqual(['a/z@5', 'b/y@1']);
  });

  test('does not undo events of later versions that arrived meanwhile', () => {
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

  test('undoes events of earlier versions', () => {
    const store = storeOf('a');
    const stage = store.replace();
    apply(store, { name: 'b', version: 11 });
    stage.commit(versionOf(20));
    expect(contentsOf(store)).toEqual([]);
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
