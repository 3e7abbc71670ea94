import type { ObjectAddress } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import type { JsonObject } from '../../core/json.ts';
import { numberAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { itemsOf } from '../../core/stored.ts';
import { withValueAt } from '../../manifests/json-edits.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { GuardedAnswer, GuardedClient } from '../../propagate/apply/guarded-client.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import { deletionOf } from '../../propagate/plan/copies/copy-marks.ts';
import { copyFault } from '../../propagate/plan/copies/copy-reason.ts';
import { isRaceFault } from '../../propagate/plan/copies/copy-task.ts';
import { withoutMusterFields } from '../../propagate/plan/copies/owned-fields.ts';
import { migrationMarks } from '../model/migration.ts';

/** Maximum number of attempts to change an object that other clients change at the same time. */
const maxAttempts = 4;

/**
 * Decides about the change of an object that was just read. `change`: it may be changed. `record`: its manifest must be recorded first.
 * `keep`: it stays as it is. `needed`: it stays, because an object outside the migration needs it. `later`: its controller must see another
 * change first. `wait`: check again later. A fault means that nothing can be decided now.
 */
export type JudgeChange = (object: KubernetesObject) => Promise<'change' | RefusedChange['why'] | { readonly fault: Fault }>;

interface RefusedChange {
  readonly result: 'refused';
  readonly why: 'record' | 'keep' | 'needed' | 'later' | 'wait';
  readonly object: KubernetesObject;
}

/** The result of a change of one object. `stopped`: this process does not lead any more. */
export type StepChange =
  | { readonly result: 'created' | 'changed'; readonly object: KubernetesObject }
  /** The object does not exist any more. */
  | { readonly result: 'gone' }
  /** The object is being deleted, and waits for its finalizers. */
  | { readonly result: 'deleting' }
  /** The `JudgeChange` of the caller did not allow the change. */
  | RefusedChange
  /** The object of this name is not the object of the entry. It was not changed. */
  | { readonly result: 'foreign'; readonly object: KubernetesObject }
  | { readonly result: 'failed'; readonly fault: Fault }
  | { readonly result: 'stopped' };

/**
 * Creates an object with the marks of the migration. Never changes an existing object. An existing object with the intent token was created
 * by an earlier attempt, and counts as created.
 */
export async function createInCluster(
  client: GuardedClient,
  address: ObjectAddress,
  { manifest, intent, owner }: { readonly manifest: Manifest; readonly intent: string; readonly owner: string },
): Promise<StepChange> {
  const marked = withMigrationMarks(manifest, { intent, owner });
  const answer = await client.write((cluster, signal) =>
    cluster.apply({ ...address, manifest: marked, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal),
  );
  switch (answer.result) {
    case 'answered':
      return { result: 'created', object: answer.object };
    case 'absent':
      return { result: 'failed', fault: copyFault(client.cluster, 'NOT_FOUND', 'the namespace does not exist') };
    case 'failed':
      return answer.fault.code === 'CONFLICT' || isRaceFault(answer.fault) ? await existingObject(client, address, intent) : answer;
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

async function existingObject(client: GuardedClient, address: ObjectAddress, intent: string): Promise<StepChange> {
  const found = await client.get(address);
  if (found.result === 'absent') {
    return { result: 'failed', fault: copyFault(client.cluster, 'TIMED_OUT', 'it changed while it was created') };
  }
  if (found.result !== 'answered') return found;
  return hasIntent(found.object, intent) ? { result: 'created', object: found.object } : { result: 'foreign', object: found.object };
}

/**
 * Deletes the object of an entry. A live read must confirm its uid, or its intent token if the uid was not saved. The deletion is guarded by
 * the uid and the version that was read.
 *
 * @param judge Decides about the object that was read. Default: it may be deleted.
 */
export async function deleteFromCluster(
  client: GuardedClient,
  address: ObjectAddress,
  { entry, judge }: { readonly entry: InventoryEntry; readonly judge?: JudgeChange | undefined },
): Promise<StepChange> {
  return changeObject(client, address, entry, async (object) => {
    const { uid, resourceVersion } = object.metadata;
    const refused = await refusedChange(object, judge);
    if (refused !== undefined) return refused;
    const answer = await client.write((cluster, signal) =>
      cluster.delete({ ...address, preconditions: { uid, resourceVersion }, cascade: 'Background', run: 'real' }, signal),
    );
    return answer.result === 'answered' && deletionOf(answer.object) === undefined ? { result: 'absent' } : answer;
  });
}

async function refusedChange(
  object: KubernetesObject,
  judge: JudgeChange | undefined,
): Promise<RefusedChange | { readonly result: 'failed'; readonly fault: Fault } | undefined> {
  const verdict = await judge?.(object);
  if (verdict === undefined || verdict === 'change') return undefined;
  return typeof verdict === 'string' ? { result: 'refused', why: verdict, object } : { result: 'failed', fault: verdict.fault };
}

/** A change of the spec of a workload. */
interface WorkloadSpecChange {
  readonly entry: InventoryEntry;
  /** Returns the merge patch for `spec` of the object that was read. No request is sent for an empty patch. */
  readonly patchOf: (object: KubernetesObject) => JsonObject;
  /** Decides about the object that was read. Default: it may be changed. */
  readonly judge?: JudgeChange | undefined;
}

/** Changes `spec` of the workload of an entry with one patch, guarded by its uid and version. */
export async function changeSpec(
  client: GuardedClient,
  address: ObjectAddress,
  { entry, patchOf, judge }: WorkloadSpecChange,
): Promise<StepChange> {
  return changeObject(client, address, entry, async (object) => {
    const spec = patchOf(object);
    if (Object.keys(spec).length === 0) return { result: 'answered', object, isNew: false, warnings: [] };
    const refused = await refusedChange(object, judge);
    if (refused !== undefined) return refused;
    const patch = { metadata: guardOf(object), spec };
    return await client.write((cluster, signal) => cluster.patch({ ...address, type: 'merge', patch, run: 'real' }, signal));
  });
}

/**
 * Returns the merge patch for `spec` that sets the count of a workload. Empty if the object has this count, or no such field.
 *
 * @param countPath Begins with `spec`. Undefined: the patch is empty.
 */
export function patchOfReplicas(object: KubernetesObject, countPath: readonly string[] | undefined, replicas: number): JsonObject {
  const now = countPath === undefined ? undefined : numberAt(object, ...countPath);
  if (countPath === undefined || now === undefined || now === replicas) return {};
  return objectAt(withValueAt({}, countPath, replicas), 'spec');
}

/** Removes the references to an owner from an object, guarded by the uid and version of the object. */
export async function disownObject(
  client: GuardedClient,
  address: ObjectAddress,
  { uid, owner }: { readonly uid: string; readonly owner: string },
): Promise<StepChange> {
  return changeObject(client, address, { uid }, async (object) => {
    const references = itemsOf(object.metadata.ownerReferences);
    const left = references.filter((one) => one.uid !== owner);
    if (left.length === references.length) return { result: 'answered', object, isNew: false, warnings: [] };
    const ownerReferences = left.length === 0 ? null : left.map((one): JsonObject => ({ ...one }) as JsonObject);
    const patch = { metadata: { ...guardOf(object), ownerReferences } };
    return await client.write((cluster, signal) => cluster.patch({ ...address, type: 'merge', patch, run: 'real' }, signal));
  });
}

function guardOf({ metadata: { uid, resourceVersion } }: KubernetesObject): JsonObject {
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

/**
 * Removes the marks and the field ownership of the migration from an object that an undo created. Labels and annotations of the same name
 * that the manifest has get their values back. The patch is guarded by uid and version.
 */
export async function unmarkObject(
  client: GuardedClient,
  address: ObjectAddress,
  { entry, manifest }: { readonly entry: InventoryEntry; readonly manifest: Manifest },
): Promise<StepChange> {
  return changeObject(client, address, entry, async (object) => {
    const { uid, resourceVersion } = object.metadata;
    const labels = patchOfMark('labels', migrationMarks.migration, { object, manifest });
    const annotations = patchOfMark('annotations', migrationMarks.intent, { object, manifest });
    const patch = { metadata: { uid, resourceVersion, labels, annotations, managedFields: withoutMusterFields(object) } };
    return await client.write((cluster, signal) => cluster.patch({ ...address, type: 'merge', patch, run: 'real' }, signal));
  });
}

/**
 * Returns the merge patch that sets a mark back to its value in the manifest, or removes the mark if the manifest has none. A map that
 * becomes empty is removed.
 */
function patchOfMark(
  map: 'labels' | 'annotations',
  mark: string,
  { object, manifest }: { readonly object: KubernetesObject; readonly manifest: Manifest },
): JsonObject | null {
  const before = textAt(manifest, 'metadata', map, mark);
  const isLast = Object.keys(object.metadata[map] ?? {}).every((name) => name === mark);
  return before === undefined && isLast ? null : { [mark]: before ?? null };
}

/** Reads the object of an entry. `changed`: it exists, and its uid is that of the entry. */
export async function readObject(client: GuardedClient, address: ObjectAddress, entry: InventoryEntry): Promise<StepChange> {
  return changeObject(client, address, entry, async (object) => ({ result: 'answered', object, isNew: false, warnings: [] }));
}

async function changeObject(
  client: GuardedClient,
  address: ObjectAddress,
  entry: Pick<InventoryEntry, 'uid' | 'intent'>,
  change: (object: KubernetesObject) => Promise<GuardedAnswer | RefusedChange>,
): Promise<StepChange> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const found = await client.get(address);
    if (found.result === 'absent') return { result: 'gone' };
    if (found.result !== 'answered') return found;
    if (!isObjectOf(entry, found.object)) return { result: 'foreign', object: found.object };
    if (deletionOf(found.object) !== undefined) return { result: 'deleting' };
    const answer = await change(found.object);
    if (answer.result === 'absent') return { result: 'gone' };
    if (answer.result === 'failed' && isRaceFault(answer.fault)) continue;
    if (answer.result !== 'answered') return answer;
    return deletionOf(answer.object) === undefined ? { result: 'changed', object: answer.object } : { result: 'deleting' };
  }
  return { result: 'failed', fault: copyFault(client.cluster, 'TIMED_OUT', 'it changed each time before it could be written') };
}

/**
 * True if the object is the object of the entry: their uids are equal. If the entry has no uid, the object must have the intent token of
 * the entry.
 */
function isObjectOf({ uid, intent }: Pick<InventoryEntry, 'uid' | 'intent'>, object: KubernetesObject): boolean {
  if (uid !== undefined) return uid === object.metadata.uid;
  return intent !== undefined && hasIntent(object, intent);
}

function hasIntent({ metadata }: KubernetesObject, intent: string): boolean {
  return metadata.annotations?.[migrationMarks.intent] === intent;
}

function withMigrationMarks(manifest: Manifest, { intent, owner }: { readonly intent: string; readonly owner: string }): Manifest {
  const { labels, annotations, ...metadata } = manifest.metadata;
  return {
    ...manifest,
    metadata: {
      ...metadata,
      name: manifest.metadata.name,
      labels: { ...asTexts(labels), [migrationMarks.migration]: owner },
      annotations: { ...asTexts(annotations), [migrationMarks.intent]: intent },
    },
  };
}

function asTexts(value: unknown): Record<string, string> {
  return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
}
