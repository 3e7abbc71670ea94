import type { Clock } from '../../core/clock.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import type { KindName } from '../kinds/embedded-cluster.ts';
import type { SimObject } from '../kinds/sim-object.ts';
import { KindStorage, type StorageChange } from './kind-storage.ts';

/** A write before it has a revision. */
export interface StateWrite {
  readonly type: StorageChange['type'];
  /** Creates the state for the revision of the write. */
  readonly make: (revision: number) => SimObject;
  readonly before?: SimObject;
}

export interface StateOptions {
  readonly clock: Clock;
  readonly historyLength: number;
  readonly kinds: readonly SimKind[];
}

/**
 * The state of a cluster: its kinds, their objects, and one revision count over all of them. Each write
 * calls the listeners of `onWrite` before it returns.
 */
export class SimState {
  readonly clock: Clock;
  revision = 1;
  readonly #historyLength: number;
  protected readonly storagesByPath = new Map<string, KindStorage>();
  /** Storage and key of owned objects, by the uid of the owner. */
  protected readonly owned = new Map<string, Set<string>>();
  readonly #listeners = new Set<(change: StorageChange) => void>();
  readonly #writeListeners = new Set<(change: StorageChange) => void>();

  constructor({ clock, historyLength, kinds }: StateOptions) {
    this.clock = clock;
    this.#historyLength = historyLength;
    for (const kind of kinds) this.serve(kind);
  }

  /** Returns the time to the second, as Kubernetes writes it. */
  timestamp(): string {
    return `${new Date(this.clock.now()).toISOString().slice(0, 19)}Z`;
  }

  storages(): readonly KindStorage[] {
    return [...this.storagesByPath.values()];
  }

  storage(group: string, resource: string): KindStorage | undefined {
    return this.storagesByPath.get(`${resource}.${group}`);
  }

  /** Returns the storage of a kind by any of its names. @throws {Error} if the kind is not served, or the name is ambiguous. */
  storageOf(kind: KindName): KindStorage {
    const found = this.storages().filter((storage) => isNamed(storage.kind, kind));
    const [first] = found;
    if (first !== undefined && (found.length === 1 || first.kind.group === '')) return first;
    const name = typeof kind === 'string' ? kind : keyOfKind(kind);
    throw new Error(
      first === undefined ? `no kind ${name} is served` : `${name} may be ${found.map((one) => keyOfKind(one.kind)).join(' or ')}`,
    );
  }

  /** Serves a kind, or serves it in another form. Existing objects stay. */
  serve(kind: SimKind): KindStorage {
    const key = `${kind.resource}.${kind.group}`;
    const known = this.storagesByPath.get(key);
    if (known !== undefined) {
      known.serveAs(kind);
      return known;
    }
    const storage = new KindStorage(kind, { revision: this.revision, historyLength: this.#historyLength });
    this.storagesByPath.set(key, storage);
    return storage;
  }

  withdraw(storage: KindStorage): void {
    this.storagesByPath.delete(`${storage.kind.resource}.${storage.kind.group}`);
  }

  isServed(storage: KindStorage): boolean {
    return this.storagesByPath.get(`${storage.kind.resource}.${storage.kind.group}`) === storage;
  }

  /** Performs a write at the next revision. */
  write(storage: KindStorage, { type, make, before }: StateWrite): SimObject {
    this.revision += 1;
    const object = make(this.revision);
    const change: StorageChange = { revision: this.revision, storage, type, object, ...(before === undefined ? {} : { before }) };
    storage.apply(change);
    this.#index(change);
    for (const listener of [...this.#writeListeners]) listener(change);
    this.notify(change);
    return object;
  }

  /** Calls the listener with each change once watches can see it. Ends with the disposable. */
  onChange(listener: (change: StorageChange) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Calls the listener with each change when it is made, even if watches do not see it yet. Dispose of the result to stop the calls. */
  onWrite(listener: (change: StorageChange) => void): Disposable {
    this.#writeListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#writeListeners.delete(listener) };
  }

  /** Yields the objects with this owner. */
  *ownedBy(uid: string): Iterable<{ readonly storage: KindStorage; readonly object: SimObject }> {
    for (const place of [...(this.owned.get(uid) ?? [])]) {
      const [resource = '', key = ''] = place.split(' ');
      const storage = this.storagesByPath.get(resource);
      const object = storage?.get(key);
      if (storage !== undefined && object !== undefined) yield { storage, object };
    }
  }

  hasUid(uid: string): boolean {
    return this.storages().some((storage) => storage.sorted().some((object) => object.uid === uid));
  }

  /** The newest revision that watches and cached lists can see. A subclass may let it lag behind `revision`. */
  get visibleRevision(): number {
    return this.revision;
  }

  /** Calls the listeners of visible changes. */
  protected notify(change: StorageChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }

  #index({ type, storage, object, before }: StorageChange): void {
    const place = `${storage.kind.resource}.${storage.kind.group} ${object.key}`;
    for (const uid of before?.owners ?? []) {
      const places = this.owned.get(uid);
      places?.delete(place);
      if (places?.size === 0) this.owned.delete(uid);
    }
    if (type !== 'DELETED') this.place(storage, object);
  }

  /** Adds the object to the index of owners. */
  protected place(storage: KindStorage, object: SimObject): void {
    for (const uid of object.owners) {
      const places = this.owned.get(uid) ?? new Set();
      this.owned.set(uid, places.add(`${storage.kind.resource}.${storage.kind.group} ${object.key}`));
    }
  }
}

function isNamed(kind: SimKind, name: KindName): boolean {
  if (typeof name !== 'string') return kind.kind === name.kind && kind.group === name.group;
  return name === kind.kind || name === keyOfKind(kind);
}

/** Longest time that an API server waits for a future version. */
const patienceMs = 3_000;

/** Resolves to true as soon as watches can see the revision, and to false after 3 s or when the signal aborts before. */
export async function whenVisible(state: SimState, revision: number, signal: AbortSignal): Promise<boolean> {
  if (state.visibleRevision >= revision) return true;
  const enough = new AbortController();
  using _listening = state.onChange(() => {
    if (state.visibleRevision >= revision) enough.abort();
  });
  await state.clock.sleep(patienceMs, AbortSignal.any([enough.signal, signal]));
  return state.visibleRevision >= revision;
}
