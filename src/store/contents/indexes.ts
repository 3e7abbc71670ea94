import type { Clock } from '../../core/clock.ts';
import { isJsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { IndexLookup } from '../mirror-store.ts';
import type { ObjectSlot } from './object-map.ts';

interface ObjectIndex {
  /** The label of an index of labels. Undefined for other indexes. */
  readonly label: string | undefined;
  /** Returns the values under which an object is found: none, one or several. */
  readonly valuesOf: (object: KubernetesObject) => readonly string[];
  readonly buckets: Map<string, Set<ObjectSlot>>;
  /** The sorted objects of the buckets that were read in order and have not changed since. */
  readonly sorted: Map<string, readonly KubernetesObject[]>;
  usedAtMs: number;
}

const unusedMs = 10 * 60_000;
const sweepMs = 60_000;
/**
 * Maximum number of indexes. A client can filter by any label, so the index that was not used for longest is dropped. An index costs
 * nothing for objects without its label, or for changes of such objects.
 */
const maxIndexes = 1_024;
/** Maximum number of index entries per object, on average. */
const maxEntries = 32;
const bytesPerEntry = 48;
/** Maximum number of objects that an index keeps sorted. A query for more objects walks all objects in order instead. */
const maxSorted = 2_000;

/**
 * Indexes of the objects of one mirror: by label, owner, node or other values that the objects contain.
 *
 * Each index is made at its first use, and dropped after 10 minutes without use.
 */
export class ObjectIndexes {
  readonly #all: () => Iterable<ObjectSlot>;
  readonly #clock: Clock;
  readonly #indexes = new Map<string, ObjectIndex>();
  readonly #byLabel = new Map<string, ObjectIndex>();
  /** The indexes that are not of labels. */
  readonly #others = new Set<ObjectIndex>();
  #entries = 0;
  #sweptAtMs: number;

  /**
   * Creates an empty set of indexes.
   *
   * @param all Returns all slots. Called when an index is made.
   */
  constructor(all: () => Iterable<ObjectSlot>, clock: Clock) {
    this.#all = all;
    this.#clock = clock;
    this.#sweptAtMs = clock.monotonic();
  }

  /** Estimated bytes held. */
  get bytes(): number {
    return this.#entries * bytesPerEntry;
  }

  find(lookup: IndexLookup): readonly KubernetesObject[] {
    this.#sweep();
    const { buckets } = this.#indexFor(lookup);
    const found = [...new Set(wantedValues(lookup))].flatMap((value) => buckets.get(value) ?? none);
    const [only = none, ...others] = found;
    if (others.length === 0) return Array.from(only, ({ object }) => object);
    const slots = new Set<ObjectSlot>();
    for (const bucket of found) for (const slot of bucket) slots.add(slot);
    return Array.from(slots, ({ object }) => object);
  }

  /** Returns an upper bound of the number of objects that `find` returns. The cost does not depend on that number. */
  count(lookup: IndexLookup): number {
    this.#sweep();
    const { buckets } = this.#indexFor(lookup);
    let count = 0;
    for (const value of new Set(wantedValues(lookup))) count += buckets.get(value)?.size ?? 0;
    return count;
  }

  /**
   * Returns the objects that `find` returns, sorted by namespace and name. Returns undefined for a lookup of several values and for more
   * than 2,000 objects, because sorting them again after each change would cost too much.
   */
  findInOrder(lookup: IndexLookup): readonly KubernetesObject[] | undefined {
    this.#sweep();
    const { buckets, sorted } = this.#indexFor(lookup);
    const [value, ...others] = new Set(wantedValues(lookup));
    if (value === undefined || others.length > 0) return undefined;
    const bucket = buckets.get(value);
    if (bucket === undefined) return none;
    const known = sorted.get(value);
    if (known !== undefined || bucket.size > maxSorted) return known;
    const made = Array.from(bucket, ({ object }) => object).sort(compareNames);
    sorted.set(value, made);
    return made;
  }

  add(slot: ObjectSlot): void {
    this.#sweep();
    for (const index of this.#indexesOf(slot.object)) this.#insert(index, slot);
  }

  /** Updates the indexes for a slot whose object was replaced. `before` is the earlier object. */
  replace(slot: ObjectSlot, before: KubernetesObject): void {
    this.#sweep();
    for (const index of this.#indexesOf(slot.object, before)) {
      const values = index.valuesOf(before);
      if (sameValues(values, index.valuesOf(slot.object))) {
        for (const value of values) index.sorted.delete(value);
        continue;
      }
      this.#delete(index, slot, before);
      this.#insert(index, slot);
    }
  }

  remove(slot: ObjectSlot): void {
    for (const index of this.#indexesOf(slot.object)) this.#delete(index, slot, slot.object);
  }

  clear(): void {
    this.#indexes.clear();
    this.#byLabel.clear();
    this.#others.clear();
    this.#entries = 0;
  }

  #indexFor(lookup: IndexLookup): ObjectIndex {
    const name = nameOf(lookup);
    const index = this.#indexes.get(name) ?? this.#make(name, lookup);
    index.usedAtMs = this.#clock.monotonic();
    // A Map keeps the order of insertion, so the first index is the one that was not used for longest.
    this.#indexes.delete(name);
    this.#indexes.set(name, index);
    return index;
  }

  #make(name: string, lookup: IndexLookup): ObjectIndex {
    const label = lookup.by === 'label' ? lookup.key : undefined;
    const index: ObjectIndex = { label, valuesOf: valuesFor(lookup), buckets: new Map(), sorted: new Map(), usedAtMs: 0 };
    this.#indexes.set(name, index);
    if (label === undefined) this.#others.add(index);
    else this.#byLabel.set(label, index);
    let objects = 0;
    for (const slot of this.#all()) {
      this.#insert(index, slot);
      objects += 1;
    }
    this.#shrink(objects);
    return index;
  }

  /** Returns the indexes that may contain the object, or its predecessor: those of its labels, and all other indexes. */
  #indexesOf(object: KubernetesObject, before = object): readonly ObjectIndex[] {
    const found = [...this.#others];
    if (this.#byLabel.size === 0) return found;
    for (const label of new Set([...labelsOf(object), ...labelsOf(before)])) {
      const index = this.#byLabel.get(label);
      if (index !== undefined) found.push(index);
    }
    return found;
  }

  #insert(index: ObjectIndex, slot: ObjectSlot): void {
    for (const value of new Set(index.valuesOf(slot.object))) {
      const bucket = index.buckets.get(value);
      if (bucket === undefined) index.buckets.set(value, new Set([slot]));
      else bucket.add(slot);
      index.sorted.delete(value);
      this.#entries += 1;
    }
  }

  #delete(index: ObjectIndex, slot: ObjectSlot, object: KubernetesObject): void {
    for (const value of new Set(index.valuesOf(object))) {
      const bucket = index.buckets.get(value);
      if (bucket?.delete(slot)) this.#entries -= 1;
      index.sorted.delete(value);
      if (bucket?.size === 0) index.buckets.delete(value);
    }
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#sweptAtMs < sweepMs) return;
    this.#sweptAtMs = nowMs;
    for (const [name, index] of this.#indexes) if (nowMs - index.usedAtMs >= unusedMs) this.#drop(name, index);
  }

  /** Drops the indexes that were not used for longest until `maxIndexes` and `maxEntries` hold. The newest index always stays. */
  #shrink(objects: number): void {
    for (const [name, index] of this.#indexes) {
      if (this.#indexes.size === 1 || (this.#indexes.size <= maxIndexes && this.#entries <= maxEntries * objects)) return;
      this.#drop(name, index);
    }
  }

  #drop(name: string, index: ObjectIndex): void {
    for (const bucket of index.buckets.values()) this.#entries -= bucket.size;
    this.#indexes.delete(name);
    this.#others.delete(index);
    if (index.label !== undefined) this.#byLabel.delete(index.label);
  }
}

function compareNames({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): number {
  const [here, there] = [a.namespace ?? '', b.namespace ?? ''];
  if (here !== there) return here < there ? -1 : 1;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** Returns the uid of the owner that controls the object. Undefined if there is none. */
export function controllerUidOf({ metadata: { ownerReferences } }: KubernetesObject): string | undefined {
  if (!Array.isArray(ownerReferences)) return undefined;
  return ownerReferences.find((owner) => owner?.controller === true)?.uid;
}

function nameOf(lookup: IndexLookup): string {
  if (lookup.by === 'label') return `label ${lookup.key}`;
  return lookup.by === 'mention' ? `mention ${lookup.mention.name}` : lookup.by;
}

function wantedValues(lookup: IndexLookup): readonly string[] {
  switch (lookup.by) {
    case 'label':
    case 'mention':
      return lookup.values;
    case 'owner':
      return [lookup.uid];
    case 'node':
      return [lookup.name];
    default:
      return lookup satisfies never;
  }
}

function valuesFor(lookup: IndexLookup): ObjectIndex['valuesOf'] {
  switch (lookup.by) {
    case 'label': {
      const { key } = lookup;
      return ({ metadata: { labels } }) => (isJsonObject(labels) && Object.hasOwn(labels, key) ? textsOf(labels[key]) : none);
    }
    case 'owner':
      return ({ metadata: { ownerReferences } }) =>
        Array.isArray(ownerReferences) ? ownerReferences.flatMap((owner) => textsOf(owner?.uid)) : none;
    case 'node':
      return ({ spec }) => (isJsonObject(spec) && Object.hasOwn(spec, 'nodeName') ? textsOf(spec.nodeName) : none);
    case 'mention': {
      const { mention } = lookup;
      return (object) => mention.valuesOf(object);
    }
    default:
      return lookup satisfies never;
  }
}

function labelsOf({ metadata: { labels } }: KubernetesObject): readonly string[] {
  return isJsonObject(labels) ? Object.keys(labels) : none;
}

const none: readonly never[] = [];

function textsOf(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : none;
}

function sameValues(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
