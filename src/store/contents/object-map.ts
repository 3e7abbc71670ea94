import type { KubernetesObject } from '../../core/objects.ts';

/** Where one object stands: it stays the same while the object is replaced, so that indexes can hold it. */
export interface ObjectSlot {
  object: KubernetesObject;
  /** Estimated bytes: all of it, and what of it nothing else holds. Numbers side by side, as a million of these are held. */
  totalBytes: number;
  ownBytes: number;
}

/** Objects by namespace and name, and their order, which is made when it is asked for. */
export interface ObjectMap {
  readonly size: number;
  get(namespace: string, name: string): ObjectSlot | undefined;
  /** Puts a new one where nothing stands. */
  add(namespace: string, name: string, held: ObjectSlot): void;
  /** Says that the object of one that stands here is another now. */
  noteReplaced(namespace: string): void;
  remove(namespace: string, name: string): void;
  clear(): void;
  all(): Iterable<ObjectSlot>;
  within(namespace: string): Iterable<ObjectSlot>;
  /** The objects of these namespaces, or of all, in no order. The lists are never changed: after a change others are made. */
  lists(namespaces?: Iterable<string>): readonly (readonly KubernetesObject[])[];
  count(namespace: string): number;
  /** Of those that hold something, in order of code units. */
  namespaces(): readonly string[];
  /** By name, in order of code units. The list is never changed: after a change another one is made. */
  sorted(namespace: string): readonly KubernetesObject[];
}

interface Shelf {
  readonly held: Map<string, ObjectSlot>;
  /** Sorted, but for what `pending` says. Absent before somebody asks. */
  names?: readonly string[] | undefined;
  /** Names that came (true) or went (false) since `names` was made. */
  readonly pending: Map<string, boolean>;
  objects?: readonly KubernetesObject[] | undefined;
  /** The same in no order, where nobody has asked for them in order. */
  unsorted?: readonly KubernetesObject[] | undefined;
}

/** Empty shelves. */
export function createObjectMap(): ObjectMap {
  const shelves = new Map<string, Shelf>();
  let size = 0;
  let namespaces: readonly string[] | undefined;

  const shelfOf = (namespace: string): Shelf => {
    const existing = shelves.get(namespace);
    if (existing !== undefined) return existing;
    const shelf: Shelf = { held: new Map(), pending: new Map() };
    shelves.set(namespace, shelf);
    namespaces = undefined;
    return shelf;
  };

  return {
    get size() {
      return size;
    },
    get: (namespace, name) => shelves.get(namespace)?.held.get(name),
    add(namespace, name, held) {
      const shelf = shelfOf(namespace);
      shelf.held.set(name, held);
      forgetLists(shelf);
      if (shelf.names !== undefined) noteName(shelf, name, true);
      size += 1;
    },
    noteReplaced(namespace) {
      const shelf = shelves.get(namespace);
      if (shelf !== undefined) forgetLists(shelf);
    },
    remove(namespace, name) {
      const shelf = shelves.get(namespace);
      if (shelf === undefined || !shelf.held.delete(name)) return;
      forgetLists(shelf);
      if (shelf.names !== undefined) noteName(shelf, name, false);
      size -= 1;
      if (shelf.held.size > 0) return;
      shelves.delete(namespace);
      namespaces = undefined;
    },
    clear() {
      shelves.clear();
      size = 0;
      namespaces = undefined;
    },
    *all() {
      for (const { held } of shelves.values()) yield* held.values();
    },
    within: (namespace) => shelves.get(namespace)?.held.values() ?? [],
    lists: (within) => Array.from(within ?? shelves.keys(), (namespace) => unsortedObjects(shelves.get(namespace))),
    count: (namespace) => shelves.get(namespace)?.held.size ?? 0,
    namespaces() {
      namespaces ??= [...shelves.keys()].sort();
      return namespaces;
    },
    sorted(namespace) {
      const shelf = shelves.get(namespace);
      return shelf === undefined ? [] : sortedObjects(shelf);
    },
  };
}

function unsortedObjects(shelf: Shelf | undefined): readonly KubernetesObject[] {
  if (shelf === undefined) return [];
  shelf.unsorted ??= shelf.objects ?? Array.from(shelf.held.values(), ({ object }) => object);
  return shelf.unsorted;
}

function forgetLists(shelf: Shelf): void {
  shelf.objects = undefined;
  shelf.unsorted = undefined;
}

function noteName(shelf: Shelf, name: string, came: boolean): void {
  if (shelf.pending.get(name) === !came) shelf.pending.delete(name);
  else shelf.pending.set(name, came);
}

function sortedObjects(shelf: Shelf): readonly KubernetesObject[] {
  if (shelf.objects !== undefined) return shelf.objects;
  shelf.names = sortedNames(shelf);
  shelf.pending.clear();
  const objects: KubernetesObject[] = [];
  for (const name of shelf.names) {
    const held = shelf.held.get(name);
    if (held !== undefined) objects.push(held.object);
  }
  shelf.objects = objects;
  return objects;
}

/** Merges what came and went into the order, as sorting 50,000 names after each new pod would cost more than the page asked for. */
function sortedNames({ names, pending, held }: Shelf): readonly string[] {
  if (names === undefined || pending.size > names.length / 4) return [...held.keys()].sort();
  if (pending.size === 0) return names;
  const came = [...pending].filter(([, here]) => here).map(([name]) => name);
  came.sort();
  const merged: string[] = [];
  let next = 0;
  for (const name of names) {
    while (next < came.length && (came[next] ?? '') < name) merged.push(came[next++] ?? '');
    if (pending.get(name) !== false) merged.push(name);
  }
  return merged.concat(came.slice(next));
}
