import type { KubernetesObject } from '../../core/objects.ts';

/** The slot of one object. Indexes hold the slot, which stays the same while the object in it is replaced. */
export interface ObjectSlot {
  object: KubernetesObject;
  /**
   * Estimated bytes of the object. This and `ownBytes` are plain members and not an `ObjectWeight`, which would cost one more JavaScript
   * object per slot. A store holds up to a million slots.
   */
  totalBytes: number;
  /** Estimated bytes that no other object shares. */
  ownBytes: number;
}

interface NamespaceSlots {
  readonly slots: Map<string, ObjectSlot>;
  /** The sorted names, except for the changes in `pending`. Undefined until the order is first needed. */
  names?: readonly string[] | undefined;
  /** Names that were added (true) or removed (false) since `names` was made. */
  readonly pending: Map<string, boolean>;
  /** The objects, sorted by name. Undefined after a change. */
  objects?: readonly KubernetesObject[] | undefined;
  /** The objects in no order. Undefined after a change. */
  unsorted?: readonly KubernetesObject[] | undefined;
}

/** Objects by namespace and name. Their order is computed when it is first needed. */
export class ObjectMap {
  readonly #byNamespace = new Map<string, NamespaceSlots>();
  #size = 0;
  #namespaces: readonly string[] | undefined;

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): ObjectSlot | undefined {
    return this.#byNamespace.get(namespace)?.slots.get(name);
  }

  /** Adds a slot under a name that has none. */
  add(namespace: string, name: string, slot: ObjectSlot): void {
    const here = this.#slotsOf(namespace);
    here.slots.set(name, slot);
    forgetLists(here);
    if (here.names !== undefined) notePending(here, name, true);
    this.#size += 1;
  }

  /** Drops the cached lists of a namespace. Call it after the object of one of its slots was replaced. */
  noteReplaced(namespace: string): void {
    const here = this.#byNamespace.get(namespace);
    if (here !== undefined) forgetLists(here);
  }

  remove(namespace: string, name: string): void {
    const here = this.#byNamespace.get(namespace);
    if (here === undefined || !here.slots.delete(name)) return;
    forgetLists(here);
    if (here.names !== undefined) notePending(here, name, false);
    this.#size -= 1;
    if (here.slots.size > 0) return;
    this.#byNamespace.delete(namespace);
    this.#namespaces = undefined;
  }

  clear(): void {
    this.#byNamespace.clear();
    this.#size = 0;
    this.#namespaces = undefined;
  }

  *all(): Iterable<ObjectSlot> {
    for (const { slots } of this.#byNamespace.values()) yield* slots.values();
  }

  within(namespace: string): Iterable<ObjectSlot> {
    return this.#byNamespace.get(namespace)?.slots.values() ?? [];
  }

  /** Returns the objects of these namespaces, or of all, in no order. The lists never change: a change of the map makes new ones. */
  lists(namespaces?: Iterable<string>): readonly (readonly KubernetesObject[])[] {
    return Array.from(namespaces ?? this.#byNamespace.keys(), (namespace) => unsortedObjects(this.#byNamespace.get(namespace)));
  }

  count(namespace: string): number {
    return this.#byNamespace.get(namespace)?.slots.size ?? 0;
  }

  /** Returns the namespaces that have at least one object, in order of code units. */
  namespaces(): readonly string[] {
    this.#namespaces ??= [...this.#byNamespace.keys()].sort();
    return this.#namespaces;
  }

  /**
   * Returns the objects of a namespace, sorted by name in code units. The list never changes: a change of the namespace makes a new one.
   */
  sorted(namespace: string): readonly KubernetesObject[] {
    const here = this.#byNamespace.get(namespace);
    return here === undefined ? [] : sortedObjects(here);
  }

  #slotsOf(namespace: string): NamespaceSlots {
    const existing = this.#byNamespace.get(namespace);
    if (existing !== undefined) return existing;
    const here: NamespaceSlots = { slots: new Map(), pending: new Map() };
    this.#byNamespace.set(namespace, here);
    this.#namespaces = undefined;
    return here;
  }
}

function unsortedObjects(here: NamespaceSlots | undefined): readonly KubernetesObject[] {
  if (here === undefined) return [];
  here.unsorted ??= here.objects ?? Array.from(here.slots.values(), ({ object }) => object);
  return here.unsorted;
}

function forgetLists(here: NamespaceSlots): void {
  here.objects = undefined;
  here.unsorted = undefined;
}

function notePending({ pending }: NamespaceSlots, name: string, isAdded: boolean): void {
  if (pending.get(name) === !isAdded) pending.delete(name);
  else pending.set(name, isAdded);
}

function sortedObjects(here: NamespaceSlots): readonly KubernetesObject[] {
  if (here.objects !== undefined) return here.objects;
  here.names = sortedNames(here);
  here.pending.clear();
  const objects: KubernetesObject[] = [];
  for (const name of here.names) {
    const slot = here.slots.get(name);
    if (slot !== undefined) objects.push(slot.object);
  }
  here.objects = objects;
  return objects;
}

/**
 * Returns all names in order. Merges a few pending changes into the earlier order, because sorting 50,000 names again after each new Pod
 * would cost more than the page that needs them. Sorts again if more than a quarter of the names changed.
 */
function sortedNames({ names, pending, slots }: NamespaceSlots): readonly string[] {
  if (names === undefined || pending.size > names.length / 4) return [...slots.keys()].sort();
  if (pending.size === 0) return names;
  const added = [...pending].filter(([, isAdded]) => isAdded).map(([name]) => name);
  added.sort();
  const merged: string[] = [];
  let next = 0;
  for (const name of names) {
    while (next < added.length && (added[next] ?? '') < name) merged.push(added[next++] ?? '');
    if (pending.get(name) !== false) merged.push(name);
  }
  return merged.concat(added.slice(next));
}
