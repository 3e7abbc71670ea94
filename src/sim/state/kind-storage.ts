import { LRUCache } from 'lru-cache';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { parseSimObject, type SimObject, simObjectOf } from '../kinds/sim-object.ts';

/** One write, in the order in which the cluster made them: `revision` counts over all kinds. */
export interface StorageChange {
  readonly revision: number;
  readonly storage: KindStorage;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after it; of a DELETED its last state, at the revision of the deletion. */
  readonly object: SimObject;
  /** The state before it; absent of an ADDED. */
  readonly before?: SimObject;
}

/** A state that continue tokens refer to. */
export interface PinnedList {
  readonly revision: number;
  readonly takenMs: number;
  readonly objects: readonly SimObject[];
}

/** Most snapshots kept for continue tokens; the one least asked for goes first, and its tokens are expired. */
const maxSnapshots = 64;

/** All objects of one kind, with as much of their history as watches may resume from. */
export class KindStorage {
  /** As it is served now: a definition that is applied anew changes it. */
  kind: SimKind;
  /** History before it is forgotten. */
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

  /** Serves the kind in another form: what is held is printed anew where that shows, at the same versions. */
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

  /** All objects by key, in order of code units. The array is shared, and stays as it is when the storage changes. */
  sorted(): readonly SimObject[] {
    this.#sorted ??= [...this.#objects.values()].sort(byKey);
    return this.#sorted;
  }

  /** The objects as they were at the revision, or undefined if its history is forgotten. */
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

  /** What came after the revision, the oldest first, or undefined if that is forgotten. */
  since(revision: number): readonly StorageChange[] | undefined {
    if (revision < this.oldestRevision) return undefined;
    return this.#history.filter((change) => change.revision > revision);
  }

  apply(change: StorageChange): void {
    if (change.type === 'DELETED') this.#objects.delete(change.object.key);
    else this.#objects.set(change.object.key, change.object);
    this.#sorted = undefined;
    this.#history.push(change);
    // Trimmed in one go now and then: shifting an array at every write is slow.
    if (this.#history.length < this.#historyLength * 1.25) return;
    this.#history = this.#history.slice(-this.#historyLength);
    this.oldestRevision = Math.max(this.oldestRevision, (this.#history[0]?.revision ?? 1) - 1);
  }

  /** Keeps the state for continue tokens. */
  pin(snapshot: PinnedList): void {
    if (!this.#snapshots.has(snapshot.revision)) this.#snapshots.set(snapshot.revision, snapshot);
  }

  pinned(revision: number): PinnedList | undefined {
    return this.#snapshots.get(revision);
  }

  /** Goes back to these objects, as of the revision; no history remains. */
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
