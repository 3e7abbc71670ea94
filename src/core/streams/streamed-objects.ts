/** The parts of a message that change the set of objects. */
export interface ChangeMessage<Item> {
  readonly type: string;
  readonly cluster: { readonly name: string };
  readonly kind?: { readonly group: string; readonly kind: string };
  readonly fault?: { readonly code: string } | null;
  readonly added: readonly Item[];
  readonly modified: readonly Item[];
  readonly deleted: readonly Item[];
}

/** A change that is new to a reader of all earlier messages. */
export interface StreamedChange<Item> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly item: Item;
}

/** An object of a stream of changes. */
export interface StreamedItem {
  readonly id: string;
}

/**
 * The current objects of a stream of changes. After a reset or a change of gateway, the stream sends its state again. Then only
 * differences are reported, each change and each deletion once.
 */
export class StreamedObjects<Item extends StreamedItem> {
  /** Objects by cluster and kind, then by id. */
  readonly #scopes = new Map<string, Map<string, Item>>();
  /** Objects from before a reset. An object missing from the new state is reported as deleted once that state is complete. */
  readonly #doubtful = new Map<string, Map<string, Item>>();
  readonly #versionOf: (item: Item) => string;

  /** Creates an empty set of objects. `versionOf` returns a text that is equal for equal states of an object. */
  constructor(versionOf: (item: Item) => string) {
    this.#versionOf = versionOf;
  }

  /**
   * Adds a message and returns the changes of objects in it. The end of a state after a reset also returns a deletion for each object that
   * is missing from the state. After the fault `GONE`, forgets the objects of this cluster and kind, and returns no deletions.
   */
  apply(message: ChangeMessage<Item>): readonly StreamedChange<Item>[] {
    const scope = scopeOf(message);
    if (message.type === 'RESET') this.#doubt(scope);
    if (message.fault?.code === 'GONE') {
      this.#scopes.delete(scope);
      this.#doubtful.delete(scope);
      return [];
    }
    const changes = [
      ...message.deleted.flatMap((item) => this.#deleted(scope, item)),
      ...message.added.flatMap((item) => this.#seen(scope, item)),
      ...message.modified.flatMap((item) => this.#seen(scope, item)),
    ];
    if (message.type !== 'SYNCED') return changes;
    const gone = [...(this.#doubtful.get(scope)?.values() ?? [])];
    this.#doubtful.delete(scope);
    return [...changes, ...gone.map((item) => ({ type: 'DELETED', item }) as const)];
  }

  /**
   * Keeps the current objects for comparison with the state that the stream sends again. Call this when the stream starts from the
   * beginning for all clusters.
   */
  restart(): void {
    for (const scope of [...this.#scopes.keys()]) this.#doubt(scope);
  }

  /** Yields all objects, including those from before a reset. */
  *values(): Iterable<Item> {
    for (const part of [this.#scopes, this.#doubtful]) for (const held of part.values()) yield* held.values();
  }

  #doubt(scope: string): void {
    const before = this.#doubtful.get(scope);
    this.#doubtful.set(scope, new Map([...(before ?? []), ...(this.#scopes.get(scope) ?? [])]));
    this.#scopes.delete(scope);
  }

  #seen(scope: string, item: Item): readonly StreamedChange<Item>[] {
    const held = this.#scopes.get(scope) ?? new Map<string, Item>();
    this.#scopes.set(scope, held);
    const before = held.get(item.id) ?? this.#doubtful.get(scope)?.get(item.id);
    this.#doubtful.get(scope)?.delete(item.id);
    held.set(item.id, item);
    if (before !== undefined && this.#versionOf(before) === this.#versionOf(item)) return [];
    return [{ type: before === undefined ? 'ADDED' : 'MODIFIED', item }];
  }

  #deleted(scope: string, item: Item): readonly StreamedChange<Item>[] {
    const wasHeld = this.#scopes.get(scope)?.delete(item.id) === true;
    const wasDoubtful = this.#doubtful.get(scope)?.delete(item.id) === true;
    return wasHeld || wasDoubtful ? [{ type: 'DELETED', item }] : [];
  }
}

function scopeOf({ cluster, kind }: ChangeMessage<StreamedItem>): string {
  return JSON.stringify([cluster.name, kind?.group, kind?.kind]);
}
