import type { SimKind } from '../../../src/sim/kinds/built-in-kinds.ts';
import { parseSimObject, type SimObject } from '../../../src/sim/kinds/sim-object.ts';
import type { KindStorage, StorageChange } from '../../../src/sim/state/kind-storage.ts';
import { SimState, type StateWrite } from '../../../src/sim/state/sim-state.ts';

interface SavedState {
  readonly revision: number;
  readonly storages: readonly { readonly storage: KindStorage; readonly kind: SimKind; readonly objects: readonly SimObject[] }[];
}

interface RawMembers {
  readonly storage: KindStorage;
  /** The text of all members except kind, apiVersion and metadata. */
  readonly members: string;
}

/** Maximum number of changes that are kept for lagging. */
const maxRecent = 1_000;

/** The state of a cluster whose watches can lag behind, and that can return to an earlier state. */
export class LaggingState extends SimState {
  readonly #saved = new Map<string, SavedState>();
  #recent: StorageChange[] = [];
  #behind = 0;
  #held: StorageChange[] = [];
  #raw: RawMembers | undefined;

  override get visibleRevision(): number {
    return (this.#held[0]?.revision ?? this.revision + 1) - 1;
  }

  /** Runs `write`. The object that it puts into the storage gets these members instead of its own. */
  withMembers(raw: RawMembers, write: () => SimObject): SimObject {
    this.#raw = raw;
    try {
      return write();
    } finally {
      this.#raw = undefined;
    }
  }

  override write(storage: KindStorage, write: StateWrite): SimObject {
    const raw = this.#raw;
    if (raw?.storage !== storage) return super.write(storage, write);
    return super.write(storage, { ...write, make: (revision) => spliced(storage.kind, write.make(revision), raw.members) });
  }

  /** While the cluster lags, the latest changes are held back until others follow. */
  protected override notify(change: StorageChange): void {
    this.#recent.push(change);
    if (this.#recent.length > maxRecent * 2) this.#recent = this.#recent.slice(-maxRecent);
    if (this.#behind === 0) super.notify(change);
    else this.#held.push(change);
    while (this.#held.length > this.#behind) this.#tellOldest();
  }

  /** Holds back this many of the latest changes. */
  lag(behind: number): void {
    this.#behind = behind;
    this.#held = behind === 0 ? [] : this.#recent.slice(-behind);
  }

  catchUp(): void {
    this.#behind = 0;
    while (this.#held.length > 0) this.#tellOldest();
  }

  save(): string {
    const version = String(this.revision);
    const storages = this.storages().map((storage) => ({ storage, kind: storage.kind, objects: storage.sorted() }));
    this.#saved.set(version, { revision: this.revision, storages });
    return version;
  }

  /** @throws {Error} if no such state was saved. */
  restore(version: string): void {
    const saved = this.#saved.get(version);
    if (saved === undefined) throw new Error(`no backup at version ${version}`);
    this.revision = saved.revision;
    this.storagesByPath.clear();
    this.owned.clear();
    this.#recent = [];
    this.#held = [];
    for (const { storage, kind, objects } of saved.storages) {
      this.storagesByPath.set(`${kind.resource}.${kind.group}`, storage);
      storage.kind = kind;
      storage.reset(objects, saved.revision);
      for (const object of objects) this.place(storage, object);
    }
  }

  #tellOldest(): void {
    const change = this.#held.shift();
    if (change !== undefined) super.notify(change);
  }
}

function spliced(kind: SimKind, stored: SimObject, members: string): SimObject {
  if (stored.metadataEnd > 0) return { ...stored, text: `${stored.text.slice(0, stored.metadataEnd)},${members}` };
  const { apiVersion, kind: name, metadata } = parseSimObject(kind, stored);
  return { ...stored, text: `${JSON.stringify({ apiVersion, kind: name, metadata }).slice(0, -1)},${members}}` };
}
