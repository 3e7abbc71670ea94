import { type ClusterName, parseClusterName } from '../../../core/names.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../../manifests/object-key.ts';
import type { HubShares } from '../../hub/share-store.ts';
import type { ClusterShare, InventoryEntry } from '../../model/inventory.ts';
import type { Propagation } from '../../model/propagation.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import { createdKindOf, creationsOf, type TemplateCreations } from './template-creations.ts';

/**
 * An object to which a template refers, or on which it depends. Even in a cluster of the placement, Muster must not write or delete it as
 * if it were a copy.
 */
export interface SourceObject {
  readonly cluster: ClusterName;
  readonly key: ObjectKey;
  readonly uid?: string | undefined;
  /**
   * By cluster: a Propagation, as messages name it, that makes this source from the object with the same key in that cluster, directly or
   * through other Propagations. A copy in such a cluster would close a circle, because the source would be made from its own copy.
   */
  readonly madeFrom: ReadonlyMap<string, string>;
  /** True if it is not known whether the dependency was read from this cluster or from another one. Default: false. */
  readonly isGuess?: boolean;
}

/**
 * True if the object of the inventory entry is a source, or if its deletion would delete a source. The entry is then removed without a
 * write to the object.
 */
export function isSourceEntry(
  sources: readonly SourceObject[],
  { cluster, entry, creations }: { readonly cluster: string; readonly entry: InventoryEntry; readonly creations: TemplateCreations },
): boolean {
  const text = textOfKey(entry.key);
  const isTaken = entry.takenOver !== undefined;
  return sources.some((source) => {
    const isSameKey = textOfKey(source.key) === text;
    if (source.uid !== undefined && source.uid === entry.uid) return true;
    // In a circle (see `madeFrom`), only an object that was taken over counts as a source. A copy that Muster created may be deleted,
    // although another Propagation reads it.
    if (isSameKey && isTaken && source.madeFrom.has(cluster)) return true;
    if (source.cluster !== cluster || (source.isGuess === true && !isTaken)) return false;
    return isSameKey || containersOf(source.key, creations).includes(text);
  });
}

/** Returns the objects whose deletion also deletes this object: its Namespace, and the definition of its kind if the template has it. */
function containersOf(key: ObjectKey, creations: TemplateCreations): readonly string[] {
  const definition = createdKindOf(creations, key)?.definition;
  return [
    ...(key.namespace === undefined ? [] : [textOfKey({ apiVersion: 'v1', kind: 'Namespace', name: key.namespace })]),
    ...(definition === undefined ? [] : [textOfKey(definition)]),
  ];
}

/** The records of the hub about the objects of other Propagations. */
export interface HubRecords {
  readonly cluster: ClusterName;
  readonly shares: Pick<HubShares, 'read'>;
  /** All Propagations on the hub. Undefined until they have been read. */
  readonly propagations: { all(): readonly Propagation[] | undefined };
}

/** The namespace and the name of a Propagation. */
type PropagationRef = Pick<Propagation['metadata'], 'namespace' | 'name'>;

/**
 * Returns the clusters from which other Propagations make this object, directly or in several steps, each with one of these Propagations
 * (`SourceObject.madeFrom`). The Propagation `own`, which has this object as its source, is not counted.
 */
export function clustersOfMakers(
  { cluster, key }: Pick<SourceObject, 'cluster' | 'key'>,
  own: PropagationRef,
  { cluster: hub, shares, propagations }: HubRecords,
): ReadonlyMap<string, string> {
  const text = textOfKey(key);
  const isCopy = (metadata: Propagation['metadata'], at: string) =>
    shares.read(metadata, at)?.entries.some((entry) => entry.uid !== undefined && textOfKey(entry.key) === text) === true;
  const makers = (propagations.all() ?? []).flatMap(({ metadata, spec }) => {
    if ('problems' in spec || (metadata.namespace === own.namespace && metadata.name === own.name)) return [];
    const from = sourceClustersOf(spec, key, { namespace: metadata.namespace, hub });
    return from.length === 0 ? [] : [{ metadata, from }];
  });
  const found = new Map<string, string>();
  const places: string[] = [cluster];
  for (const at of places) {
    for (const { metadata, from } of makers) {
      const open = from.filter((one) => one !== at && one !== cluster && !found.has(one));
      if (open.length === 0 || !isCopy(metadata, at)) continue;
      for (const one of open) found.set(one, `${metadata.namespace}/${metadata.name}`);
      places.push(...open);
    }
  }
  return found;
}

/**
 * Returns the sources of a spec, derived from the spec and the inventory without a read. Every object of the inventory that is not in the
 * template counts as a dependency.
 */
export function sourcesIn(
  spec: PropagationSpec,
  { shares, own, hub }: { readonly shares: readonly ClusterShare[]; readonly own: PropagationRef; readonly hub: HubRecords },
): readonly SourceObject[] {
  const at = { namespace: own.namespace, hub: hub.cluster };
  const uids = new Map(spec.template.flatMap((source) => (source.type === 'ref' ? [[textOf(source.key, at), source.uid] as const] : [])));
  const refs = spec.template.flatMap((source) => (source.type === 'ref' ? [placedKey(source.key, own)] : []));
  const keys = new Map([...refs, ...shares.flatMap(({ entries }) => entries.map(({ key }) => key))].map((key) => [textOfKey(key), key]));
  return [...keys].flatMap(([text, key]) => {
    const clusters = sourceClustersOf(spec, key, at);
    return clusters.map((cluster): SourceObject => {
      const source = { cluster, key, uid: uids.get(text) };
      return { ...source, madeFrom: clustersOfMakers(source, own, hub), isGuess: clusters.length > 1 };
    });
  });
}

/** Returns the kinds and the namespaces that the manifests of a spec create. */
export function creationsIn({ template }: PropagationSpec): TemplateCreations {
  return creationsOf(template.flatMap((source) => (source.type === 'manifest' ? [source.manifest] : [])));
}

interface SpecPlace {
  readonly namespace: string;
  readonly hub: ClusterName;
}

/**
 * Returns the clusters from which a Propagation reads the object with this key. A dependency is read from the cluster of the object that
 * needs it. A dependency of a manifest is read from the hub.
 */
function sourceClustersOf({ template, dependencies }: PropagationSpec, key: ObjectKey, at: SpecPlace): readonly ClusterName[] {
  const text = textOfKey(key);
  const own = template.filter((source) => textsOf(source.type === 'ref' ? source.key : keyOfManifest(source.manifest), at).includes(text));
  const readers = own.length > 0 ? own : dependencies ? template : [];
  const clusters = readers.flatMap((source) => {
    if (source.type === 'ref') return parseClusterName(source.cluster) ?? [];
    return own.length > 0 ? [] : [at.hub];
  });
  return [...new Set(clusters)];
}

/** Returns the possible texts of a key. A key without a namespace is of a cluster-scoped kind, or of the namespace of the Propagation. */
function textsOf(key: ObjectKey, { namespace }: Pick<SpecPlace, 'namespace'>): readonly string[] {
  return key.namespace === undefined ? [textOfKey(key), textOfKey({ ...key, namespace })] : [textOfKey(key)];
}

function placedKey(key: ObjectKey, { namespace }: Pick<PropagationRef, 'namespace'>): ObjectKey {
  return key.namespace === undefined ? { ...key, namespace } : key;
}

function textOf(key: ObjectKey, at: Pick<SpecPlace, 'namespace'>): string {
  return textOfKey(placedKey(key, at));
}
