import type { Clock } from '../../core/clock.ts';
import { isJsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { IndexLookup } from '../mirror-store.ts';
import type { ObjectSlot } from './object-map.ts';

/** Ways from a label, an owner, a node or what else they mention to the objects that have it. Each is made when first asked for, and goes 10 minutes after the last time. */
export interface ObjectIndexes {
  /** Estimated bytes held. */
  readonly bytes: number;
  find(lookup: IndexLookup): readonly KubernetesObject[];
  /** How many `find` would give at most, at no cost that grows with them. */
  count(lookup: IndexLookup): number;
  /** The same by namespace and name; undefined where sorting them anew after each change would cost too much. */
  findInOrder(lookup: IndexLookup): readonly KubernetesObject[] | undefined;
  add(held: ObjectSlot): void;
  /** After `held.object` has taken the place of `before`. */
  replace(held: ObjectSlot, before: KubernetesObject): void;
  remove(held: ObjectSlot): void;
  clear(): void;
}

interface Index {
  /** Of which label it is, if it is one of a label. */
  readonly label: string | undefined;
  /** What the object is found by: none, one, or several values. */
  readonly valuesOf: (object: KubernetesObject) => readonly string[];
  readonly buckets: Map<string, Set<ObjectSlot>>;
  /** Of buckets that were asked for in order and have not changed since. */
  readonly sorted: Map<string, readonly KubernetesObject[]>;
  usedAtMs: number;
}

const unusedMs = 10 * 60_000;
const sweepMs = 60_000;
/** A client can ask for any label: those asked for longest ago go. What lacks a label is nothing to its index, nor are changes of it. */
const maxIndexes = 1_024;
/** Of an object, on the average. */
const maxEntries = 32;
const bytesPerEntry = 48;
/** A page of more objects than this is looked for among all of them. */
const maxSorted = 2_000;

/** Indexes over what `all` gives when one of them is made. */
export function createObjectIndexes(all: () => Iterable<ObjectSlot>, clock: Clock): ObjectIndexes {
  const indexes = new Map<string, Index>();
  const ofLabels = new Map<string, Index>();
  const others = new Set<Index>();
  let entries = 0;
  let sweptAtMs = clock.monotonic();

  const drop = (name: string, index: Index): void => {
    for (const bucket of index.buckets.values()) entries -= bucket.size;
    indexes.delete(name);
    others.delete(index);
    if (index.label !== undefined) ofLabels.delete(index.label);
  };

  /** Drops what was used longest ago, down to the bounds, but never the last one. */
  const shrink = (objects: number): void => {
    for (const [name, index] of indexes) {
      if (indexes.size === 1 || (indexes.size <= maxIndexes && entries <= maxEntries * objects)) return;
      drop(name, index);
    }
  };

  const make = (name: string, lookup: IndexLookup): Index => {
    const label = lookup.by === 'label' ? lookup.key : undefined;
    const index: Index = { label, valuesOf: valuesFor(lookup), buckets: new Map(), sorted: new Map(), usedAtMs: 0 };
    indexes.set(name, index);
    if (label === undefined) others.add(index);
    else ofLabels.set(label, index);
    let objects = 0;
    for (const held of all()) {
      insert(index, held);
      objects += 1;
    }
    shrink(objects);
    return index;
  };

  /** Those that the object, or what stood there before it, may stand in: of indexes of labels those of its own. */
  const concerned = (object: KubernetesObject, before = object): readonly Index[] => {
    const found = [...others];
    if (ofLabels.size === 0) return found;
    for (const label of new Set([...labelsOf(object), ...labelsOf(before)])) {
      const index = ofLabels.get(label);
      if (index !== undefined) found.push(index);
    }
    return found;
  };

  const sweep = (): void => {
    const now = clock.monotonic();
    if (now - sweptAtMs < sweepMs) return;
    sweptAtMs = now;
    for (const [name, index] of indexes) if (now - index.usedAtMs >= unusedMs) drop(name, index);
  };

  const insert = (index: Index, held: ObjectSlot): void => {
    for (const value of new Set(index.valuesOf(held.object))) {
      const bucket = index.buckets.get(value);
      if (bucket === undefined) index.buckets.set(value, new Set([held]));
      else bucket.add(held);
      index.sorted.delete(value);
      entries += 1;
    }
  };

  const take = (index: Index, held: ObjectSlot, object: KubernetesObject): void => {
    for (const value of new Set(index.valuesOf(object))) {
      const bucket = index.buckets.get(value);
      if (bucket?.delete(held)) entries -= 1;
      index.sorted.delete(value);
      if (bucket?.size === 0) index.buckets.delete(value);
    }
  };

  const indexFor = (lookup: IndexLookup): Index => {
    const name = nameOf(lookup);
    const index = indexes.get(name) ?? make(name, lookup);
    index.usedAtMs = clock.monotonic();
    // A Map keeps the order of insertion: so the first is the one used longest ago.
    indexes.delete(name);
    indexes.set(name, index);
    return index;
  };

  return {
    get bytes() {
      return entries * bytesPerEntry;
    },
    find(lookup) {
      sweep();
      const { buckets } = indexFor(lookup);
      const found = [...new Set(soughtBy(lookup))].flatMap((value) => buckets.get(value) ?? none);
      const [only = none, ...others] = found;
      if (others.length === 0) return Array.from(only, ({ object }) => object);
      const each = new Set<ObjectSlot>();
      for (const bucket of found) for (const held of bucket) each.add(held);
      return Array.from(each, ({ object }) => object);
    },
    count(lookup) {
      sweep();
      const { buckets } = indexFor(lookup);
      let count = 0;
      for (const value of new Set(soughtBy(lookup))) count += buckets.get(value)?.size ?? 0;
      return count;
    },
    findInOrder(lookup) {
      sweep();
      const { buckets, sorted } = indexFor(lookup);
      const [value, ...others] = new Set(soughtBy(lookup));
      if (value === undefined || others.length > 0) return undefined;
      const bucket = buckets.get(value);
      if (bucket === undefined) return none;
      const known = sorted.get(value);
      if (known !== undefined || bucket.size > maxSorted) return known;
      const made = Array.from(bucket, ({ object }) => object).sort(byPlace);
      sorted.set(value, made);
      return made;
    },
    add(held) {
      sweep();
      for (const index of concerned(held.object)) insert(index, held);
    },
    replace(held, before) {
      sweep();
      for (const index of concerned(held.object, before)) {
        const values = index.valuesOf(before);
        if (sameValues(values, index.valuesOf(held.object))) {
          for (const value of values) index.sorted.delete(value);
          continue;
        }
        take(index, held, before);
        insert(index, held);
      }
    },
    remove(held) {
      for (const index of concerned(held.object)) take(index, held, held.object);
    },
    clear() {
      indexes.clear();
      ofLabels.clear();
      others.clear();
      entries = 0;
    },
  };
}

function byPlace({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): number {
  const [here, there] = [a.namespace ?? '', b.namespace ?? ''];
  if (here !== there) return here < there ? -1 : 1;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** The uid of the owner that controls the object. */
export function controllerUidOf({ metadata: { ownerReferences } }: KubernetesObject): string | undefined {
  if (!Array.isArray(ownerReferences)) return undefined;
  return ownerReferences.find((owner) => owner?.controller === true)?.uid;
}

function nameOf(lookup: IndexLookup): string {
  if (lookup.by === 'label') return `label ${lookup.key}`;
  return lookup.by === 'mention' ? `mention ${lookup.mention.name}` : lookup.by;
}

function soughtBy(lookup: IndexLookup): readonly string[] {
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

function valuesFor(lookup: IndexLookup): Index['valuesOf'] {
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
