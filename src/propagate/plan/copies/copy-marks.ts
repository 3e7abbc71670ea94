import type { JsonObject } from '../../../core/json.ts';
import { objectAt, textAt } from '../../../core/json-at.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { withValueAt } from '../../../manifests/json-edits.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { InventoryEntry, TakenOver } from '../../model/inventory.ts';
import { marks, musterGroup } from '../../model/propagation.ts';
import type { CopyOwner } from './copy-work.ts';
import { recordAnnotations } from './managed-keys.ts';
import { ownedPaths, printFieldPath } from './owned-fields.ts';

/** The marks that a copy carries. They are hints: only the inventory proves that a copy belongs to the Propagation. */
interface CopyMarks {
  /** The uid of the Propagation. Absent if the object does not have this mark. */
  readonly propagation?: string;
  /** `namespace/name` of the Propagation. */
  readonly source?: string;
  readonly generation?: number;
  readonly intent?: string;
}

/** The values of the marks that a write adds to a copy. */
interface MarksToWrite {
  readonly owner: CopyOwner;
  readonly generation: number;
  readonly intent?: string | undefined;
}

const annotations = [marks.source, marks.generation, marks.intent];

/** Returns the manifest with the marks of a copy. The marks replace labels and annotations of the same names. */
export function withMarks(manifest: Manifest, { owner, generation, intent }: MarksToWrite): Manifest {
  const { metadata } = manifest;
  return {
    ...manifest,
    metadata: {
      ...metadata,
      labels: { ...objectAt(metadata, 'labels'), [marks.propagation]: owner.uid },
      annotations: {
        ...objectAt(metadata, 'annotations'),
        [marks.source]: `${owner.namespace}/${owner.name}`,
        [marks.generation]: String(generation),
        ...(intent === undefined ? {} : { [marks.intent]: intent }),
      },
    },
  };
}

/** Reads the marks of an object. */
export function marksOf(object: KubernetesObject): CopyMarks {
  const values = objectAt(object, 'metadata', 'annotations');
  const propagation = textAt(object, 'metadata', 'labels', marks.propagation);
  const source = textAt(values, marks.source);
  const generation = Number(textAt(values, marks.generation) ?? Number.NaN);
  const intent = textAt(values, marks.intent);
  return {
    ...(propagation === undefined ? {} : { propagation }),
    ...(source === undefined ? {} : { source }),
    ...(Number.isSafeInteger(generation) ? { generation } : {}),
    ...(intent === undefined ? {} : { intent }),
  };
}

/** Returns the manifest with the marks and the records that another manifest of the copy has. */
export function withMarksOf(manifest: Manifest, marked: Manifest): Manifest {
  return [...[...annotations, ...recordAnnotations].map((name) => ['annotations', name]), ['labels', marks.propagation]].reduce(
    (copy, path) => {
      const mark = textAt(marked, 'metadata', ...path);
      return mark === undefined ? copy : withValueAt(copy, ['metadata', ...path], mark);
    },
    manifest,
  );
}

/**
 * Returns the members of a merge patch for `metadata` that remove Muster's marks from the object. The records of managed labels and
 * annotations are marks too, but not those that Karmada itself wrote.
 */
export function marksRemovalPatch(object: KubernetesObject): JsonObject {
  const { metadata } = object;
  const records = recordAnnotations.filter((name) => name.startsWith(`${musterGroup}/`) || isMarkOfMuster(object, ['annotations', name]));
  return {
    ...removalPatchOf('labels', metadata, [marks.propagation]),
    ...removalPatchOf('annotations', metadata, [...annotations, ...records]),
  };
}

/** Returns a merge patch that removes the names that exist. A null for a missing name would create the map. */
function removalPatchOf(field: 'labels' | 'annotations', metadata: JsonObject, names: readonly string[]): JsonObject {
  const present = names.filter((name) => textAt(metadata, field, name) !== undefined);
  return present.length === 0 ? {} : { [field]: Object.fromEntries(present.map((name) => [name, null])) };
}

/**
 * True if a later generation of the same Propagation wrote the object. The current generation then does not change it.
 *
 * A mark that another field manager set does not count: it is drift. An object from a mirror has no `managedFields`. For such an object,
 * true means "possibly".
 */
export function isWrittenByLaterGeneration(
  object: KubernetesObject,
  { owner, generation }: Pick<MarksToWrite, 'owner' | 'generation'>,
): boolean {
  const found = marksOf(object);
  if (found.propagation !== owner.uid || found.generation === undefined || found.generation <= generation) return false;
  return isMarkOfMuster(object, ['annotations', marks.generation]);
}

/**
 * True if the marks of the object have the uid of this Propagation, or its namespace and name. If only the name is equal, the marks come
 * from a Propagation on a hub that was lost, because one hub has only one Propagation of that name.
 */
export function isMarkedFor(object: KubernetesObject, { uid, namespace, name }: Partial<CopyOwner> & Omit<CopyOwner, 'uid'>): boolean {
  const { propagation, source } = marksOf(object);
  return propagation !== undefined && (propagation === uid || source === `${namespace}/${name}`);
}

/**
 * True if another Propagation wrote the object last. The current Propagation must then not delete it, even if it wrote the object earlier.
 *
 * A label that another field manager set does not count: it is drift. An object from a mirror has no `managedFields`. For such an object,
 * true means "possibly".
 */
export function isWrittenByAnotherPropagation(object: KubernetesObject, { owner }: Pick<MarksToWrite, 'owner'>): boolean {
  const { propagation } = marksOf(object);
  return propagation !== undefined && propagation !== owner.uid && isMarkOfMuster(object, ['labels', marks.propagation]);
}

/** True if Muster's field manager wrote the mark. True also for an object without `managedFields`, which does not show its owners. */
function isMarkOfMuster(object: KubernetesObject, path: readonly string[]): boolean {
  return object.metadata.managedFields === undefined || ownedPaths(object).includes(printFieldPath(['metadata', ...path]));
}

/** True if the inventory entry misses Muster's last write to the object, because the process crashed after that write. */
export function isEntryOutdated({ appliedGeneration = 0 }: Pick<InventoryEntry, 'appliedGeneration'>, object: KubernetesObject): boolean {
  return (marksOf(object).generation ?? 0) > appliedGeneration;
}

/** Returns when the deletion of the object began (RFC 3339) and its finalizers. Undefined if the object is not being deleted. */
export function deletionOf(object: KubernetesObject): { readonly since: string; readonly finalizers: readonly string[] } | undefined {
  const since = textAt(object, 'metadata', 'deletionTimestamp');
  if (since === undefined) return undefined;
  const { finalizers } = object.metadata;
  const names = Array.isArray(finalizers) ? finalizers.filter((name): name is string => typeof name === 'string') : [];
  return { since, finalizers: names };
}

/**
 * Returns the inventory's record of how Muster took this object over. Undefined if Muster created the object, or if the record has the uid
 * of another object.
 */
export function takenOverOf(
  { takenOver }: Pick<InventoryEntry, 'takenOver'>,
  { metadata: { uid } }: KubernetesObject,
): TakenOver | undefined {
  return takenOver?.uid === uid ? takenOver : undefined;
}

/**
 * True if an object that Muster had taken over has no marks and no fields of Muster any more. Either Muster gave it back and crashed before
 * it saved the inventory, or others removed the marks.
 *
 * An object from a mirror has no `managedFields`. For such an object, true means "possibly".
 */
export function isReleased(
  entry: Pick<InventoryEntry, 'takenOver'>,
  object: KubernetesObject,
  { owner }: Pick<MarksToWrite, 'owner'>,
): boolean {
  if (takenOverOf(entry, object) === undefined || marksOf(object).propagation === owner.uid) return false;
  return ownedPaths(object).length === 0;
}

/**
 * True if the object is the copy that the inventory entry announced, but whose uid the entry does not have yet.
 *
 * Such a copy carries the random intent token. The inventory saved that token before the first write, so no foreign object has it.
 */
export function hasAnnouncedIntent(
  { state, uid, intent }: Pick<InventoryEntry, 'state' | 'uid' | 'intent'>,
  object: KubernetesObject,
  { owner }: Pick<MarksToWrite, 'owner'>,
): boolean {
  if (intent === undefined || (uid !== undefined && state !== 'Intended')) return false;
  const found = marksOf(object);
  return found.intent === intent && found.propagation === owner.uid;
}
