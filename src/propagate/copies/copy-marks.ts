import type { JsonObject } from '../../core/json.ts';
import { objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry, TakenOver } from '../inventory.ts';
import { marks, musterGroup } from '../propagation.ts';
import type { Manifest } from '../spec.ts';
import type { CopyOwner } from './copies.ts';
import { ownedPaths, spellPath } from './owned-fields.ts';

/** What a copy says of itself: hints, no proof. */
interface CopyMarks {
  /** uid of the Propagation. */
  readonly propagation?: string;
  /** `namespace/name` of it. */
  readonly source?: string;
  readonly generation?: number;
  readonly intent?: string;
}

/** What is written into a copy. */
interface MarksToWrite {
  readonly owner: CopyOwner;
  readonly generation: number;
  readonly intent?: string | undefined;
}

const annotations = [
  marks.source,
  marks.generation,
  marks.intent,
  // What a replacement records of itself.
  `${musterGroup}/managed-annotations`,
  `${musterGroup}/managed-labels`,
];

/** The manifest with the label and annotations of a copy; its own of the same names are replaced. */
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

/** What the object says of itself. */
export function marksOf(object: KubernetesObject): CopyMarks {
  const said = objectAt(object, 'metadata', 'annotations');
  const propagation = textAt(object, 'metadata', 'labels', marks.propagation);
  const source = textAt(said, marks.source);
  const generation = Number(textAt(said, marks.generation) ?? Number.NaN);
  const intent = textAt(said, marks.intent);
  return {
    ...(propagation === undefined ? {} : { propagation }),
    ...(source === undefined ? {} : { source }),
    ...(Number.isSafeInteger(generation) ? { generation } : {}),
    ...(intent === undefined ? {} : { intent }),
  };
}

/** The part of a merge patch of `metadata` that takes our marks away from the object. */
export function marksRemoved({ metadata }: KubernetesObject): JsonObject {
  return { ...removed('labels', metadata, [marks.propagation]), ...removed('annotations', metadata, annotations) };
}

/** Only what is there: a null makes the map that it is not in. */
function removed(field: 'labels' | 'annotations', metadata: JsonObject, names: readonly string[]): JsonObject {
  const present = names.filter((name) => textAt(metadata, field, name) !== undefined);
  return present.length === 0 ? {} : { [field]: Object.fromEntries(present.map((name) => [name, null])) };
}

/**
 * True if a later generation of the same Propagation wrote the object, which this generation then leaves alone. A mark that another manager set is no
 * proof: it is drift. Mirrors do not hold the owners of fields, so for their objects true means only that it may be so.
 */
export function isOfLater(object: KubernetesObject, { owner, generation }: Pick<MarksToWrite, 'owner' | 'generation'>): boolean {
  const said = marksOf(object);
  if (said.propagation !== owner.uid || said.generation === undefined || said.generation <= generation) return false;
  return isMarkOfMuster(object, ['annotations', marks.generation]);
}

/**
 * True if a Propagation of this namespace and name wrote the object last: this one, or one of another uid whose hub was lost. A hub has only one
 * Propagation of that name.
 */
export function isMarkedFor(object: KubernetesObject, { uid, namespace, name }: Partial<CopyOwner> & Omit<CopyOwner, 'uid'>): boolean {
  const { propagation, source } = marksOf(object);
  return propagation !== undefined && (propagation === uid || source === `${namespace}/${name}`);
}

/**
 * True if another Propagation wrote the object last: then this one must not delete it, whatever it wrote before. A label that another manager set is no
 * proof: it is drift. Mirrors do not hold the owners of fields, so for their objects true means only that it may be so.
 */
export function isOfAnother(object: KubernetesObject, { owner }: Pick<MarksToWrite, 'owner'>): boolean {
  const { propagation } = marksOf(object);
  return propagation !== undefined && propagation !== owner.uid && isMarkOfMuster(object, ['labels', marks.propagation]);
}

/** True if our field manager wrote the mark. True also for an object without `managedFields`, which does not show its owners. */
function isMarkOfMuster(object: KubernetesObject, path: readonly string[]): boolean {
  return object.metadata.managedFields === undefined || ownedPaths(object).includes(spellPath(['metadata', ...path]));
}

/** True if the entry does not know of our last write to the object: the process that did it has crashed. */
export function isBehind({ appliedGeneration = 0 }: Pick<InventoryEntry, 'appliedGeneration'>, object: KubernetesObject): boolean {
  return (marksOf(object).generation ?? 0) > appliedGeneration;
}

/** What is being deleted, since when; undefined if it is not. */
export function deletionOf(object: KubernetesObject): { readonly since: string; readonly finalizers: readonly string[] } | undefined {
  const since = textAt(object, 'metadata', 'deletionTimestamp');
  if (since === undefined) return undefined;
  const { finalizers } = object.metadata;
  const names = Array.isArray(finalizers) ? finalizers.filter((name): name is string => typeof name === 'string') : [];
  return { since, finalizers: names };
}

/** How an object that was there before us came into the inventory. Undefined of what we made. */
export function takenOverOf(
  { takenOver }: Pick<InventoryEntry, 'takenOver'>,
  { metadata: { uid } }: KubernetesObject,
): TakenOver | undefined {
  return takenOver?.uid === uid ? takenOver : undefined;
}

/**
 * True of what was somebody's before us and has nothing of ours any more: it was given back, and a crash came between that and the inventory, or others took
 * our marks away. A mirror does not hold who owns a field: of its objects it says only what may be.
 */
export function isLetGo(
  entry: Pick<InventoryEntry, 'takenOver'>,
  object: KubernetesObject,
  { owner }: Pick<MarksToWrite, 'owner'>,
): boolean {
  if (takenOverOf(entry, object) === undefined || marksOf(object).propagation === owner.uid) return false;
  return ownedPaths(object).length === 0;
}

/**
 * True if it is what the entry announced and nobody yet knows by its uid: it carries the intent that was saved before the first write, which no stranger's
 * object does.
 */
export function isAnnounced(
  { state, uid, intent }: Pick<InventoryEntry, 'state' | 'uid' | 'intent'>,
  object: KubernetesObject,
  { owner }: Pick<MarksToWrite, 'owner'>,
): boolean {
  if (intent === undefined || (uid !== undefined && state !== 'Intended')) return false;
  const said = marksOf(object);
  return said.intent === intent && said.propagation === owner.uid;
}
