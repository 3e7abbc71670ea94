import { LRUCache } from 'lru-cache';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { parseSimObject, type SimObject, simObjectOf } from '../kinds/sim-object.ts';

/** One write. Revisions count over all kinds, in the order of the writes. */
export interface StorageChange {
  readonly revision: number;
  readonly storage: KindStorage;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after the write. For DELETED, its last state at the revision of the deletion. */
  readonly object: SimObject;
  /** The state before the write. Absent for ADDED. */
  readonly before?: SimObject;
}

/** All objects of a kind at one revision, kept so that continue tokens can return further pages. `takenMs` is a monotonic time. */
export interface PinnedList {
  readonly revision: number;
  readonly takenMs: number;
  readonly objects: readonly SimObject[];
}

/** The largest number of pinned lists. The least recently used one is dropped, and its tokens expire. */
const maxSnapshots = 64;

/** All objects of one kind, with the history that watches can resume from. */
export class KindStorage {
  /** The kind as it is served now. An updated definition replaces it. */
  kind: SimKind;
  /** The first revision with complete history. */
  oldestRevision: number;
  readonly #historyLength: number;
  readonly #snapshots = new LRUCache<number, PinnedList>({ max: maxSnapshots });
  #objects = new Map<string, SimObject>();
  #history: StorageChange[] = [];
  #sorted: readonly SimObject[] | undefined;

  constructor(kind: SimKind, options: { readonly revision: number; readonly historyLength: number }) {
    this.kind = kind;
    this.oldestRevision = options.revision;
    this.#historyLength = options.historyLength;
  }

  /** Serves the kind in another form. If that changes the text of objects, replaces them at the same versions and clears the history. */
  serveAs(kind: SimKind): void {
    const old = this.kind;
    this.kind = kind;
    if (kind.source !== 'custom' || (kind.kind === old.kind && kind.versions[0] === old.versions[0])) return;
    const printed = [...this.#objects.values()].map((object) => simObjectOf(kind, parseSimObject(old, object), object.revision));
    this.reset(printed, this.#history.at(-1)?.revision ?? this.oldestRevision);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): SimObject | undefined {
    return this.#objects.get(key);
  }

  /** Returns all objects by key, in order of code units. The array is shared and never changes. */
  sorted(): readonly SimObject[] {
    this.#sorted ??= [...this.#objects.values()].sort(byKey);
    return this.#sorted;
  }

  /** Returns the objects at a revision. Undefined if its history is gone. */
  at(revision: number): readonly SimObject[] | undefined {
    if (revision < this.oldestRevision) return undefined;
    if (this.#history.every((change) => change.revision <= revision)) return this.sorted();
    const objects = new Map(this.#objects);
    for (const change of this.#history.toReversed()) {
      if (change.revision <= revision) break;
      if (change.before === undefined) objects.delete(change.object.key);
      else objects.set(change.before.key, change.before);
    }
    return [...objects.values()].sort(byKey);
  }

  /** Returns the changes after a revision, oldest first. Undefined if that history is gone. */
  since(revision: number): readonly StorageChange[] | undefined {
    if (revision < this.oldestRevision) return undefined;
    return this.#history.filter((change) => change.revision > revision);
  }

  apply(change: StorageChange): void {
    if (change.type === 'DELETED') this.#objects.delete(change.object.key);
    else this.#objects.set(change.object.key, change.object);
    this.#sorted = undefined;
    this.#history.push(change);
    // The history is trimmed in large steps, because shifting an array at every write is slow.
    if (this.#history.length < this.#historyLength * 1.25) return;
    this.#history = this.#history.slice(-this.#historyLength);
    this.oldestRevision = Math.max(this.oldestRevision, (this.#history[0]?.revision ?? 1) - 1);
  }

  /** Keeps a list for continue tokens. */
  pin(snapshot: PinnedList): void {
    if (!this.#snapshots.has(snapshot.revision)) this.#snapshots.set(snapshot.revision, snapshot);
  }

  pinned(revision: number): PinnedList | undefined {
    return this.#snapshots.get(revision);
  }

  /** Replaces all objects, as of the revision, and clears the history. */
  reset(objects: Iterable<SimObject>, revision: number): void {
    this.#objects = new Map([...objects].map((object) => [object.key, object]));
    this.#sorted = undefined;
    this.#history = [];
    this.oldestRevision = revision;
    this.#snapshots.clear();
  }
}

function byKey(left: SimObject, right: SimObject): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
}
