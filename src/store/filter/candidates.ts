import type { KubernetesObject } from '../../core/objects.ts';
import type { IndexLookup, StoreReader } from '../mirror-store.ts';
import type { QueryVisibility } from '../query-source.ts';
import type { IndexHint } from './index-hints.ts';

/** Returns the requested namespaces that are visible to the caller. Undefined: all namespaces. */
export function visibleNamespaces(requested: readonly string[] | undefined, visibility: QueryVisibility): ReadonlySet<string> | undefined {
  if (visibility.type === 'all') return requested === undefined ? undefined : new Set(requested);
  return requested === undefined ? visibility.namespaces : new Set(requested.filter((namespace) => visibility.namespaces.has(namespace)));
}

/**
 * Finds candidates in these namespaces, or in all, by the cheapest way. Each candidate is found once, in no order, and all are of one
 * moment.
 *
 * The candidates include every object in the namespaces that fits the hints. They may also include objects in the namespaces that do not
 * fit, so the caller must check each candidate.
 */
export function findCandidates(
  store: StoreReader,
  namespaces: ReadonlySet<string> | undefined,
  hints: readonly IndexHint[],
): readonly (readonly KubernetesObject[])[] {
  const within = narrowed(namespaces, hints);
  const names = hints.find((hint) => hint.by === 'name');
  if (names !== undefined) {
    const searched = within ?? store.namespaces();
    return [byName(store, searched, new Set(names.values))];
  }
  const lookup = hasAtLeast(store, within, minIndexedObjects) ? fewestObjects(store, hints) : undefined;
  // An index also finds objects in hidden namespaces. It is used only if it finds at most as many objects as the namespaces have. Otherwise
  // the time of a query would reveal how many hidden objects have a label.
  const isShorter = lookup !== undefined && (within === undefined || hasAtLeast(store, within, lookup.count));
  const found = isShorter ? store.indexed(lookup.by) : undefined;
  if (found !== undefined) return [within === undefined ? found : found.filter(({ metadata }) => within.has(metadata.namespace ?? ''))];
  return store.lists(within);
}

/** Makes the indexes that `findCandidates` needs, unless they exist. */
export function prepareIndexes(store: StoreReader, namespaces: ReadonlySet<string> | undefined, hints: readonly IndexHint[]): void {
  if (!hints.some(({ by }) => by === 'name') && hasAtLeast(store, narrowed(namespaces, hints), minIndexedObjects))
    fewestObjects(store, hints);
}

function narrowed(namespaces: ReadonlySet<string> | undefined, hints: readonly IndexHint[]): ReadonlySet<string> | undefined {
  return hints.reduce((left, hint) => (hint.by === 'namespace' ? intersect(left, hint.values) : left), namespaces);
}

/** Minimum number of objects for which an index is used. Reading fewer objects costs less than an index. */
export const minIndexedObjects = 64;
/** Maximum number of indexes that one query compares. More of them cost more than they save. */
const maxLookups = 3;

/** True if these namespaces, or all, have at least this many objects. */
function hasAtLeast(store: StoreReader, namespaces: ReadonlySet<string> | undefined, least: number): boolean {
  if (namespaces === undefined) return store.size >= least;
  let missing = least;
  for (const namespace of namespaces) {
    if (missing <= 0) break;
    missing -= store.countIn(namespace);
  }
  return missing <= 0;
}

interface CountedLookup {
  readonly by: IndexLookup;
  /** Maximum number of objects that the lookup finds. */
  readonly count: number;
}

/**
 * Returns the lookup that finds the fewest objects, among the first `maxLookups` hints. Stops at the first one that finds fewer than
 * `minIndexedObjects`. Undefined if no hint has an index.
 */
function fewestObjects(store: StoreReader, hints: readonly IndexHint[]): CountedLookup | undefined {
  const lookups = hints.filter((hint): hint is IndexLookup => hint.by !== 'name' && hint.by !== 'namespace');
  let best: CountedLookup | undefined;
  for (const by of lookups.slice(0, maxLookups)) {
    const count = store.countIndexed(by);
    if (count !== undefined && (best === undefined || count < best.count)) best = { by, count };
    if (best !== undefined && best.count < minIndexedObjects) break;
  }
  return best;
}

function byName(store: StoreReader, namespaces: Iterable<string>, names: ReadonlySet<string>): readonly KubernetesObject[] {
  const found: KubernetesObject[] = [];
  for (const namespace of namespaces) {
    for (const name of names) {
      const object = store.get(namespace, name);
      if (object !== undefined) found.push(object);
    }
  }
  return found;
}

function intersect(set: ReadonlySet<string> | undefined, values: readonly string[]): ReadonlySet<string> {
  return new Set(set === undefined ? values : values.filter((value) => set.has(value)));
}
