import type { KubernetesObject } from '../../core/objects.ts';
import type { IndexLookup, StoreReader } from '../mirror-store.ts';
import type { QueryVisibility } from '../query-source.ts';
import type { IndexHint } from './index-hints.ts';

/** The namespaces a query looks into: those asked for that are in sight. Undefined: all. */
export function visibleNamespaces(asked: readonly string[] | undefined, sight: QueryVisibility): ReadonlySet<string> | undefined {
  if (sight.type === 'all') return asked === undefined ? undefined : new Set(asked);
  return asked === undefined ? sight.namespaces : new Set(asked.filter((namespace) => sight.namespaces.has(namespace)));
}

/**
 * Objects among which are all that the hints allow, in these namespaces or in all: found by the shortest way there is. Each once, in no order, all of this
 * moment.
 *
 * What the hints say is not promised of each of them, but that it lies in one of the namespaces is.
 */
export function candidatesIn(
  store: StoreReader,
  namespaces: ReadonlySet<string> | undefined,
  hints: readonly IndexHint[],
): readonly (readonly KubernetesObject[])[] {
  const within = narrowed(namespaces, hints);
  const names = hints.find((hint) => hint.by === 'name');
  if (names !== undefined) {
    const places = within ?? store.namespaces();
    return [byName(store, places, new Set(names.values))];
  }
  const lookup = holds(store, within, fewObjects) ? shortest(store, hints) : undefined;
  // More than lies in sight is never looked at: how much of what is hidden has a label would be told by the time that it takes.
  const isShorter = lookup !== undefined && (within === undefined || holds(store, within, lookup.count));
  const found = isShorter ? store.indexed(lookup.by) : undefined;
  if (found !== undefined) return [within === undefined ? found : found.filter(({ metadata }) => within.has(metadata.namespace ?? ''))];
  return store.lists(within);
}

/** Makes the indexes that `candidatesIn` asks for, unless they are there. */
export function prepareIndexes(store: StoreReader, namespaces: ReadonlySet<string> | undefined, hints: readonly IndexHint[]): void {
  if (!hints.some(({ by }) => by === 'name') && holds(store, narrowed(namespaces, hints), fewObjects)) shortest(store, hints);
}

function narrowed(namespaces: ReadonlySet<string> | undefined, hints: readonly IndexHint[]): ReadonlySet<string> | undefined {
  return hints.reduce((left, hint) => (hint.by === 'namespace' ? intersect(left, hint.values) : left), namespaces);
}

/** Where looking at each costs less than an index of them. */
export const fewObjects = 64;
/** An index for each of many requirements costs more than what they leave out. */
const maxLookups = 3;

/** True if at least so many objects lie in these namespaces, or in all. */
function holds(store: StoreReader, namespaces: ReadonlySet<string> | undefined, least: number): boolean {
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
  /** At most so many are found. */
  readonly count: number;
}

/** Of the ways that there is an index for, the one that finds fewest. */
function shortest(store: StoreReader, hints: readonly IndexHint[]): CountedLookup | undefined {
  const lookups = hints.filter((hint): hint is IndexLookup => hint.by !== 'name' && hint.by !== 'namespace');
  let best: CountedLookup | undefined;
  for (const by of lookups.slice(0, maxLookups)) {
    const count = store.countIndexed(by);
    if (count !== undefined && (best === undefined || count < best.count)) best = { by, count };
    if (best !== undefined && best.count < fewObjects) break;
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
