import type { KubernetesObject } from '../core/objects.ts';
import type { Hint } from './hints.ts';
import type { IndexLookup, StoreReader } from './mirror-store.ts';
import type { QuerySight } from './query-source.ts';

/** The namespaces a query looks into: those asked for that are in sight. Undefined: all. */
export function namespacesInSight(asked: readonly string[] | undefined, sight: QuerySight): ReadonlySet<string> | undefined {
  if (sight.type === 'all') return asked === undefined ? undefined : new Set(asked);
  return asked === undefined ? sight.namespaces : new Set(asked.filter((namespace) => sight.namespaces.has(namespace)));
}

/**
 * Objects among which are all that the hints allow, in these namespaces or in all: found by the shortest way there is. Each once, in no order.
 *
 * What the hints say is not promised of each of them, but that it lies in one of the namespaces is.
 */
export function candidatesIn(
  store: StoreReader,
  namespaces: ReadonlySet<string> | undefined,
  hints: readonly Hint[],
): Iterable<KubernetesObject> {
  const within = hints.reduce((left, hint) => (hint.by === 'namespace' ? intersect(left, hint.values) : left), namespaces);
  const names = hints.find((hint) => hint.by === 'name');
  if (names !== undefined) {
    const places = within ?? store.namespaces();
    return byName(store, places, new Set(names.values));
  }
  const found = store.size < fewObjects ? undefined : shortest(store, hints);
  if (found !== undefined) return within === undefined ? found : found.filter(({ metadata }) => within.has(metadata.namespace ?? ''));
  return within === undefined ? store.objects() : inEach(store, within);
}

/** Where looking at each costs less than an index of them. */
export const fewObjects = 64;
/** An index for each of many requirements costs more than what they leave out. */
const maxLookups = 3;

function shortest(store: StoreReader, hints: readonly Hint[]): readonly KubernetesObject[] | undefined {
  const lookups = hints.filter((hint): hint is IndexLookup => hint.by !== 'name' && hint.by !== 'namespace');
  let best: readonly KubernetesObject[] | undefined;
  for (const lookup of lookups.slice(0, maxLookups)) {
    const found = store.indexed(lookup);
    if (found !== undefined && (best === undefined || found.length < best.length)) best = found;
    if (best !== undefined && best.length < fewObjects) break;
  }
  return best;
}

function* byName(store: StoreReader, namespaces: Iterable<string>, names: ReadonlySet<string>): Iterable<KubernetesObject> {
  for (const namespace of namespaces) {
    for (const name of names) {
      const object = store.get(namespace, name);
      if (object !== undefined) yield object;
    }
  }
}

function* inEach(store: StoreReader, namespaces: Iterable<string>): Iterable<KubernetesObject> {
  for (const namespace of namespaces) yield* store.inNamespace(namespace);
}

function intersect(set: ReadonlySet<string> | undefined, values: readonly string[]): ReadonlySet<string> {
  return new Set(set === undefined ? values : values.filter((value) => set.has(value)));
}
