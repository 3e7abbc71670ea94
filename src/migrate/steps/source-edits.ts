import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, numberAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { shortenedList } from '../../core/text.ts';
import { withoutMembers, withValueAt } from '../../manifests/json-edits.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { isTokenSecret } from '../../manifests/secret-content.ts';
import { deletionOf } from '../../propagate/plan/copies/copy-marks.ts';
import { kindsToRead } from '../discover/app-kinds.ts';
import { partsOf } from '../discover/app-parts.ts';
import { isClaimKey } from '../discover/owned-objects.ts';
import { readLiveSource } from '../discover/source-objects.ts';
import type { AppRevisionStore, KeptManifest } from '../hub/app-revision-store.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { movableManifest, withMovedBounds } from '../plan/movable-manifest.ts';
import { shownKey } from '../plan/preflight-app.ts';
import {
  type AppPass,
  clusterOf,
  countIn,
  countPathIn,
  entryOf,
  type LiveObjectRead,
  type MigrationSide,
  mirroredIn,
  readInCluster,
  type StepHold,
} from './app-pass.ts';
import { withDiffering } from './app-state.ts';
import type { ChangedApp } from './create-copies.ts';
import { patchOfClaimPolicy } from './keep-owned.ts';
import { filledAnnotations, isSameManifest, isSecretKey, sourceManifestOf, withOwners, withoutSecretData } from './source-manifest.ts';

/** An object of the source that was just read. */
export interface ReadObject {
  readonly key: ObjectKey;
  readonly object: KubernetesObject;
}

/**
 * Decides whether an object of the source may be deleted or scaled down: only if an undo can restore it as it is now.
 *
 * - `record`: the object was edited after the plan. `recordEdited` must be called first.
 * - `keep`: the object is a Secret, and its data or annotations could be lost: the copy in the target differs, or the target had an equal Secret of
 *   its own before the migration.
 */
export async function judgeSourceChange(
  pass: AppPass,
  app: MigratedApp,
  read: ReadObject,
): Promise<'change' | 'record' | 'keep' | { readonly fault: Fault }> {
  const recorded = recordedIn(pass, read.key);
  if (recorded === undefined || !isSameManifest(recorded.manifest, manifestBeforeDrain(pass, app, read))) {
    const now = await recordNow(pass, app, read);
    if ('fault' in now) return now;
    // Manifests can differ without an edit, because the hub may store them without their empty members. The name of a revision is a hash of
    // the manifests as they were given. If the name is equal, nothing was edited.
    if (now.name !== app.undo?.revision) return 'record';
  }
  return isSecretKey(read.key) && !isTokenSecret(asJson(read.object)) ? await judgeSecret(pass, app, read) : 'change';
}

/**
 * Records an object of the source as it is now. The result must be saved before the object is changed. `held`: the content of the object was
 * edited after the plan, and its copy does not have the edit, so the object must stay. An edit of labels and annotations is noted.
 */
export async function recordEdited(pass: AppPass, given: MigratedApp, read: ReadObject): Promise<ChangedApp> {
  const found = await uncopiedEditOf(pass, given, read);
  if (found.result !== 'read') return found.result === 'failed' ? { ...found, app: given } : found;
  if (found.content.length > 0) return { result: 'held', app: given, hold: holdOf(pass, read.key, found.content) };
  const app = found.metadata.length === 0 ? given : withDiffering(given, differenceOf(pass, read.key, found.metadata));
  const recorded = await recordNow(pass, app, read);
  if ('fault' in recorded) return { result: 'failed', app, fault: recorded.fault };
  const replicas = isWorkload(app, read.key) ? countIn(pass, app, manifestBeforeDrain(pass, app, read)) : undefined;
  const undo = { ...app.undo, revision: recorded.name, ...(replicas === undefined ? {} : { replicas }) };
  return { result: 'unsaved', app: { ...app, undo } };
}

/**
 * Looks for edits after the plan in all objects of the source, before the first of them is changed. The mirrors show which objects to read.
 *
 * - `held`: an object that leaves the source was replaced, or has other content than its copy.
 * - `done`: the application has a note for each object whose labels or annotations differ, for each object that stays and differs, and for
 *   each object that belongs to it only since the plan.
 */
export async function findUncopiedEdits(pass: AppPass, given: MigratedApp): Promise<ChangedApp> {
  let app = given;
  for (const entry of given.source) {
    const { key, state } = entry;
    const mirrored = mirroredIn(pass, 'source', key);
    if (isClaimKey(key) || mirrored.result !== 'held' || !mayDiffer(pass, app, { key, object: mirrored.object })) continue;
    const live = await readInCluster(pass, 'source', key);
    if (live.result !== 'read') return live.result === 'failed' ? { ...live, app } : live;
    if (live.object === undefined || deletionOf(live.object) !== undefined) continue;
    const found = await uncopiedEditOf(pass, app, { key, object: live.object });
    if (found.result !== 'read') return found.result === 'failed' ? { ...found, app } : found;
    if (found.content.length > 0 && state !== 'Shared') return { result: 'held', app, hold: holdOf(pass, key, found.content) };
    const fields = [...found.content, ...found.metadata];
    if (fields.length > 0) app = withDiffering(app, differenceOf(pass, key, fields));
  }
  return withNewParts(pass, app);
}

/** Adds a note for each object that belongs to the application since the plan, such as another Service. It does not exist in the target. */
async function withNewParts(pass: AppPass, given: MigratedApp): Promise<ChangedApp> {
  const workload = mirroredIn(pass, 'source', given.key);
  if (pass.migration.spec.source !== 'Live' || workload.result !== 'held' || workload.object.metadata.uid !== given.uid)
    return { result: 'done', app: given };
  const { namespace } = given.key;
  const request = { cluster: clusterOf(pass, 'source'), kinds: kindsToRead([]), ...(namespace === undefined ? {} : { namespace }) };
  const { objects } = await readLiveSource(pass.ports.hub.members, request, pass.signal);
  const { apiVersion, kind } = given.key;
  const parts = partsOf({ key: given.key, object: { ...workload.object, apiVersion, kind } }, objects);
  const isNew = ({ key, object }: ReadObject) =>
    recordedIn(pass, key) === undefined && entryOf(given, 'source', key) === undefined && deletionOf(object) === undefined;
  const { from, to } = pass.migration.spec;
  const messageOf = ({ key }: ReadObject) => `${shownKey(key)} was created in ${from} after the plan, and is not copied to ${to}`;
  return { result: 'done', app: parts.filter(isNew).map(messageOf).reduce(withDiffering, given) };
}

/**
 * Returns why the workload of the source must not be changed: it was replaced after the plan, or its spec was edited, and its copy does not
 * have the edit. Undefined if it may be changed.
 */
export async function sourceHoldOf(
  pass: AppPass,
  app: MigratedApp,
  read: ReadObject,
): Promise<
  | { readonly result: 'held'; readonly hold: StepHold }
  | { readonly result: 'failed'; readonly fault: Fault }
  | { readonly result: 'stopped' }
  | undefined
> {
  const { from, source } = pass.migration.spec;
  const uid = entryOf(app, 'source', read.key)?.uid;
  if (source !== 'Live' || uid === undefined) return undefined;
  if (read.object.metadata.uid !== uid) {
    const message = `${shownKey(read.key)} in ${from} has another uid than in the plan: delete it there and continue, or undo the migration and plan it again`;
    return { result: 'held', hold: { reason: 'Conflict', message, isFailure: true } };
  }
  const found = await uncopiedEditOf(pass, app, read);
  if (found.result !== 'read') return found;
  return found.content.length === 0 ? undefined : { result: 'held', hold: holdOf(pass, read.key, found.content) };
}

/** The fields of an object of the source that were edited after the plan, and that its copy has with other values. */
type UncopiedEdit =
  | { readonly result: 'read'; readonly content: readonly string[]; readonly metadata: readonly string[] }
  | Exclude<LiveObjectRead, { readonly result: 'read' }>;

/**
 * Compares an object of the source with the plan, and each edited field with the copy. The number of replicas is not compared here, but in
 * `checkLeave`. No field is edited if the plan comes from a backup: it may be older than the object.
 */
async function uncopiedEditOf(pass: AppPass, app: MigratedApp, read: ReadObject): Promise<UncopiedEdit> {
  const { key } = read;
  if (!mayDiffer(pass, app, read)) return { result: 'read', content: [], metadata: [] };
  const live = await readInCluster(pass, 'target', key);
  if (live.result !== 'read') return live;
  const copy = live.object?.metadata.uid === entryOf(app, 'target', key)?.uid ? live.object : undefined;
  const now = comparedManifest(pass, 'source', read);
  const copied = copy === undefined ? {} : comparedManifest(pass, 'target', { key, object: copy });
  const fields = editedFields(pass, read).filter((path) => textOf(valueAt(now, ...path)) !== textOf(valueAt(copied, ...path)));
  return {
    result: 'read',
    content: [
      ...fields.filter(([first]) => first !== 'metadata').map(pathText),
      ...(isDataEdited(pass, app, { read, copy }) ? ['data'] : []),
    ],
    metadata: fields.filter(([first]) => first === 'metadata').map(pathText),
  };
}

/** True if an object of the source may have been edited after the plan. For a Secret, another resourceVersion is enough. */
function mayDiffer(pass: AppPass, app: MigratedApp, read: ReadObject): boolean {
  if (pass.migration.spec.source !== 'Live') return false;
  return editedFields(pass, read).length > 0 || (isSecretKey(read.key) && hasOtherVersion(app, read));
}

/** True if the Secret was written after its data were copied. Also true if the version of that time is not known. */
function hasOtherVersion(app: MigratedApp, { key, object }: ReadObject): boolean {
  const version = entryOf(app, 'source', key)?.observedHash;
  return version === undefined || version !== object.metadata.resourceVersion;
}

/** Returns the paths of the fields in which an object of the source differs from the plan. */
function editedFields(pass: AppPass, read: ReadObject): readonly Path[] {
  const text = textOfKey(read.key);
  const planned = (side: MigrationSide) => pass.kept.find((one) => one.side === side && textOfKey(keyOfManifest(one.manifest)) === text);
  const { manifest, side } = planned('target') ?? planned('source') ?? {};
  if (manifest === undefined || side === undefined) return [];
  const before = comparedManifest(pass, side, { key: read.key, object: manifest as unknown as KubernetesObject });
  const countPath = countPathIn(pass, read);
  const ignored = [['spec', 'persistentVolumeClaimRetentionPolicy'], ...(countPath === undefined ? [] : [countPath])];
  const isIgnored = (path: Path) => ignored.some((one) => one.every((part, index) => path[index] === part));
  return changedPaths(before, comparedManifest(pass, 'source', read), []).filter((path) => !isIgnored(path));
}

/** Returns an object as a manifest for the target, so that objects of both clusters can be compared. Secrets have no data. */
function comparedManifest(pass: AppPass, side: MigrationSide, { key, object }: ReadObject): Manifest {
  const { manifest } = movableManifest({ key, object }, clusterOf(pass, side));
  const bounded = side === 'source' ? withMovedBounds(manifest, pass.migration.spec.copies) : manifest;
  return isSecretKey(key) ? withoutMembers(withoutSecretData(bounded), ['type', 'immutable']) : bounded;
}

type Path = readonly string[];

/** Returns the paths of the values that differ. Lists are compared as a whole. */
function changedPaths(before: Json | undefined, after: Json | undefined, path: Path): readonly Path[] {
  if (!isJsonObject(before) || !isJsonObject(after)) return textOf(before) === textOf(after) ? [] : [path];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.flatMap((name) => changedPaths(before[name], after[name], [...path, name]));
}

/** Maps and lists that are empty count as absent: the hub may leave them out. */
function textOf(value: Json | undefined): string {
  const text = canonicalJson(value ?? null);
  return text === '{}' || text === '[]' ? 'null' : text;
}

function asJson(object: KubernetesObject): JsonObject {
  return object as unknown as JsonObject;
}

function pathText(path: Path): string {
  return path.join('.');
}

/** Maximum number of changed fields that a message names. */
const maxFields = 3;

function holdOf({ migration: { spec } }: AppPass, key: ObjectKey, fields: readonly string[]): StepHold {
  const edit = `${shownKey(key)} was edited in ${spec.from} after the plan, and its copy does not have the edit: ${shortenedList(fields, maxFields)}`;
  const remedy = `Revert the edit, or make it in ${spec.to} too, and continue. Or undo the migration and plan it again`;
  return { reason: 'Conflict', message: `${edit}. ${remedy}`.slice(0, 1_024), isFailure: true };
}

function differenceOf({ migration: { spec } }: AppPass, key: ObjectKey, fields: readonly string[]): string {
  const edited = shortenedList(fields, maxFields);
  return `${shownKey(key)} was edited in ${spec.from} after the plan, and its copy in ${spec.to} does not have the edit: ${edited}`;
}

function recordNow(pass: AppPass, app: MigratedApp, read: ReadObject): ReturnType<AppRevisionStore['record']> {
  const known = recordedIn(pass, read.key);
  const edited: KeptManifest = { side: 'source', stage: known?.stage ?? 'Surge', manifest: manifestBeforeDrain(pass, app, read) };
  const kept = known === undefined ? [...pass.kept, edited] : pass.kept.map((one) => (one === known ? edited : one));
  return pass.ports.revisions.record(pass.migration, kept, pass.signal);
}

/** Returns the recorded manifest of an object of the source. Undefined if none is recorded. */
export function recordedIn({ kept }: Pick<AppPass, 'kept'>, key: ObjectKey): KeptManifest | undefined {
  const text = textOfKey(key);
  return kept.find(({ side, manifest }) => side === 'source' && textOfKey(keyOfManifest(manifest)) === text);
}

/**
 * Returns the manifest of an object as it was before the step Drain. A workload without replicas gets the replicas and the retention policy
 * of claims that it had before the migration scaled it down.
 */
function manifestBeforeDrain(pass: AppPass, app: MigratedApp, { key, object }: ReadObject): Manifest {
  const manifest = withDeletedOwners(pass, key, sourceManifestOf(key, object));
  const countPath = isWorkload(app, key) ? countPathIn(pass, app) : undefined;
  if (countPath === undefined || numberAt(manifest, ...countPath) !== 0) return manifest;
  const recorded = recordedIn(pass, key)?.manifest;
  const policy = recorded === undefined ? {} : patchOfClaimPolicy(object, recorded);
  const before = withValueAt(manifest, ['spec'], { ...objectAt(manifest, 'spec'), ...policy });
  return withValueAt(before, countPath, app.undo?.replicas ?? app.from);
}

/** Adds the recorded owners that the migration itself deletes: their references were removed so that the object stays. */
function withDeletedOwners(pass: AppPass, key: ObjectKey, manifest: Manifest): Manifest {
  const recorded = listAt(recordedIn(pass, key)?.manifest, 'metadata', 'ownerReferences');
  const now = listAt(manifest, 'metadata', 'ownerReferences');
  const isOf = (a: Json, b: Json) => textAt(a, 'uid') === textAt(b, 'uid');
  const kept = recorded.filter((one) => now.some((other) => isOf(one, other)) || isLeaving(pass, key, one));
  const added = now.filter((one) => !kept.some((other) => isOf(one, other)));
  return withOwners(
    manifest,
    [...kept, ...added].map((one) => now.find((other) => isOf(one, other)) ?? one),
  );
}

function isLeaving({ kept }: AppPass, { namespace }: ObjectKey, owner: Json): boolean {
  const [apiVersion, kind, name] = ['apiVersion', 'kind', 'name'].map((member) => textAt(owner, member) ?? '') as [string, string, string];
  const text = textOfKey({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
  return kept.some(({ side, manifest }) => side === 'source' && textOfKey(keyOfManifest(manifest)) === text);
}

function isWorkload(app: MigratedApp, key: ObjectKey): boolean {
  return textOfKey(app.key) === textOfKey(key);
}

async function judgeSecret(
  pass: AppPass,
  app: MigratedApp,
  read: ReadObject,
): Promise<'change' | 'record' | 'keep' | { readonly fault: Fault }> {
  const { key, object } = read;
  const entry = entryOf(app, 'target', key);
  // The target had an equal Secret of its own. Its owner may change the data at any time.
  if (entry?.state === 'Shared' && entry.intent === undefined) return 'keep';
  const copy = await readInCluster(pass, 'target', key);
  if (copy.result === 'failed') return { fault: copy.fault };
  if (copy.result !== 'read' || copy.object === undefined || copy.object.metadata.uid !== entry?.uid) return 'keep';
  if (isDataEdited(pass, app, { read, copy: copy.object })) return 'record';
  return canonicalJson(restoredPart(key, object, copy.object)) === canonicalJson(restoredPart(key, object, object)) ? 'change' : 'keep';
}

/** True if the data of a Secret of the source were changed after they were copied, and the copy has other data. */
function isDataEdited(
  { migration }: AppPass,
  app: MigratedApp,
  { read, copy }: { readonly read: ReadObject; readonly copy: KubernetesObject | undefined },
): boolean {
  if (!isSecretKey(read.key) || isTokenSecret(asJson(read.object)) || migration.spec.source !== 'Live') return false;
  return hasOtherVersion(app, read) && textOf(valueAt(copy, 'data')) !== textOf(valueAt(read.object, 'data'));
}

/** Returns the data and annotations that a Secret of the source would have after an undo. An undo takes the values from `from`. */
function restoredPart(key: ObjectKey, secret: KubernetesObject, from: KubernetesObject): JsonObject {
  return { data: objectAt(from, 'data'), annotations: filledAnnotations(sourceManifestOf(key, secret), from as unknown as JsonObject) };
}
