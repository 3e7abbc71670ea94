import { createStore } from '../../../src/store/contents/store.ts';
import type { MirrorStore } from '../../../src/store/mirror-store.ts';
import { createManualClock } from '../manual-clock.ts';
import { listInto, neverAsked, objectOf, recorder, versionOf } from './store-objects.ts';

/** Creates an empty store before its first list. */
export function emptyStore(policy: 'parsed' | 'metadata' = 'parsed'): MirrorStore {
  return createStore({ epoch: 'e', clock: createManualClock(), policy });
}

/** Creates a store whose first list, of version 10, has these objects. */
export function storeOf(...names: readonly string[]): MirrorStore {
  const store = emptyStore();
  listInto(
    store,
    names.map((name) => objectOf({ name, version: 1 })),
    10,
  );
  return store;
}

/** Applies an ADDED or MODIFIED event at the version of the object. */
export const apply = (store: MirrorStore, sketch: Parameters<typeof objectOf>[0]) =>
  store.applied(objectOf(sketch), versionOf(sketch.version ?? 1), neverAsked);

/** Creates a store with these objects at version 10, and functions to change and read it. Each change increments the version by one. */
export function storeUnderChange(...names: readonly string[]) {
  const clock = createManualClock();
  const errors: unknown[] = [];
  const ignore = () => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: (fields: unknown) => errors.push(fields) };
  const store = createStore({ epoch: 'e', clock, log });
  listInto(
    store,
    names.map((name) => objectOf({ name, version: 1 })),
    10,
  );
  const stop = new AbortController();
  let version = 10;
  return {
    store,
    clock,
    errors,
    stop,
    apply(name: string, uid?: string) {
      version += 1;
      store.applied(objectOf({ name, version, ...(uid === undefined ? {} : { uid }) }), versionOf(version), neverAsked);
    },
    remove(name: string) {
      version += 1;
      store.deleted(objectOf({ name, version }), versionOf(version), neverAsked);
    },
    follow() {
      const record = recorder();
      return { ...record, followed: store.follow(record.reader, stop.signal) };
    },
  };
}
