import { randomUUID } from 'node:crypto';
import { describeFault } from '../../changes/describe-fault.ts';
import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { withValueAt } from '../../manifests/json-edits.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { isTokenSecret, withSecretContent } from '../../manifests/secret-content.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import { copyFault, copyReasonOf } from '../../propagate/plan/copies/copy-reason.ts';
import type { KeptManifest } from '../hub/app-revision-store.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { withoutNodePorts } from '../plan/movable-manifest.ts';
import { shownKey } from '../plan/preflight-app.ts';
import {
  type AppPass,
  addressIn,
  awayFault,
  clusterOf,
  entryOf,
  type MigrationSide,
  reachObject,
  type StepHold,
  withEntry,
} from './app-pass.ts';
import { withLost } from './app-state.ts';
import { createInCluster, readObject, unmarkObject } from './change-objects.ts';
import { withExistingOwners } from './restored-owners.ts';
import { siblingObjectOf } from './sibling-objects.ts';
import { filledAnnotations, isSecretKey } from './source-manifest.ts';

/** The result of several changes. `app` has the changes that were made, also if a later one failed. */
export type ChangedApp =
  | { readonly result: 'done'; readonly app: MigratedApp }
  /** The application must be saved before its objects are changed further. */
  | { readonly result: 'unsaved'; readonly app: MigratedApp }
  | { readonly result: 'failed'; readonly app: MigratedApp; readonly fault: Fault }
  /** Further objects must not be changed or deleted now. */
  | { readonly result: 'held'; readonly app: MigratedApp; readonly hold: StepHold }
  | { readonly result: 'stopped' };

/** The objects to create: those of one cluster in one stage. */
export interface CreatedStage {
  readonly side: MigrationSide;
  readonly stage: KeptManifest['stage'];
  /** Default: all. */
  readonly only?: (key: ObjectKey) => boolean;
}

/** The `action` of an entry whose object the migration or its undo would delete, but leaves in its cluster: see `removeObjects`. */
export const leftAction = 'Skipped';

/**
 * Creates the objects whose entries are `Intended`, in write order. In the target, stops at the first object that cannot be created. In the
 * source, continues with the next object, and returns the first fault at the end. An object that can never be restored in the source is
 * left out, with a note.
 */
export async function createCopies(
  pass: AppPass,
  given: MigratedApp,
  { side, stage, only = () => true }: CreatedStage,
): Promise<ChangedApp> {
  let app = given;
  let first: Fault | undefined;
  const kept = pass.kept.filter((one) => one.side === side && one.stage === stage);
  for (const { key, manifest } of inWriteOrder(kept.map(({ manifest }) => ({ key: keyOfManifest(manifest), manifest })))) {
    const entry = entryOf(app, side, key);
    if (entry?.state !== 'Intended' || entry.intent === undefined || !only(key)) continue;
    const created = await createCopy(pass, app, { side, stage, entry, manifest });
    if (created.result !== 'done' && created.result !== 'failed') return created;
    if (created.result === 'failed' && side === 'target') return created;
    if (created.result === 'failed') first ??= created.fault;
    app = created.app;
  }
  return first === undefined ? { result: 'done', app } : { result: 'failed', app, fault: first };
}

/**
 * Checks that the objects of the target that the plan found equal still exist. Returns the obstacle, or undefined if there is none. The
 * application would not work without these objects, and their manifests are not recorded.
 */
export async function findMissingShared(pass: AppPass, app: MigratedApp): Promise<ChangedApp | undefined> {
  for (const { key, state, intent } of app.target) {
    if (state !== 'Shared' || intent !== undefined) continue;
    const reached = reachObject(pass, 'target', key);
    if ('fault' in reached) return { result: 'failed', app, ...reached };
    const answer = await reached.client.get(reached.address);
    if (answer.result === 'failed') return { ...answer, app };
    if (answer.result === 'stopped') return answer;
    if (answer.result === 'answered') continue;
    const message = `${shownKey(key)} was deleted in ${clusterOf(pass, 'target')} after the plan: create it there again and continue, or undo the migration and plan it again`;
    return { result: 'held', app, hold: { reason: 'Conflict', message, isFailure: true } };
  }
  return undefined;
}

interface CreatedCopy {
  readonly side: MigrationSide;
  readonly stage: KeptManifest['stage'];
  readonly entry: InventoryEntry;
  readonly manifest: Manifest;
}

async function createCopy(pass: AppPass, given: MigratedApp, copy: CreatedCopy): Promise<ChangedApp> {
  const { side, entry, manifest } = copy;
  const { key, intent = '' } = entry;
  const client = pass.client(side);
  const address = addressIn(pass, side, key);
  if (client === undefined) return { result: 'failed', app: given, fault: awayFault(pass, side) };
  if ('fault' in address) return withRefused(pass, given, { ...copy, fault: address.fault });
  const filled = await withSecretData(pass, given, { side, manifest });
  if (filled.result === 'failed') return { result: 'failed', app: given, fault: filled.fault };
  if (filled.result === 'lost') return { result: 'done', app: withLostObject(given, key, filled.message) };
  const { version } = filled;
  const owned = await withExistingOwners(pass, side, filled.value);
  if ('fault' in owned) return { result: 'failed', app: given, fault: owned.fault };
  const lost = [...owned.lost, ...(filled.changed === undefined ? [] : [filled.changed])];
  const create = (one: Manifest) => createInCluster(client, address, { manifest: one, intent, owner: pass.migration.metadata.uid });
  const first = await create(owned.manifest);
  // The node port of a Service may belong to another Service by now.
  const portless = withoutNodePorts(owned.manifest);
  const isRepeated =
    side === 'source' && portless !== owned.manifest && first.result === 'failed' && copyReasonOf(first.fault) === 'Invalid';
  const change = isRepeated ? await create(portless) : first;
  if (isRepeated && change.result === 'created') lost.push(`${shownKey(key)} has other node ports than before in ${clusterOf(pass, side)}`);
  const app = lost.reduce(withLost, given);
  switch (change.result) {
    case 'created': {
      const { uid } = change.object.metadata;
      const owner = { ...entry, state: 'Owned', action: 'Created', ...(uid === undefined ? {} : { uid }) } as const;
      const created = withCopyVersion(withEntry(app, side, key, owner), { side, key, object: change.object });
      // An earlier attempt may have created the object with older data.
      const isCopied = canonicalJson(objectAt(change.object, 'data')) === canonicalJson(objectAt(owned.manifest, 'data'));
      return { result: 'done', app: isCopied ? withCopiedVersion(created, key, version) : created };
    }
    case 'foreign':
      return withForeign(pass, app, { side, key, object: change.object });
    case 'failed':
      return withRefused(pass, given, { ...copy, fault: change.fault });
    case 'stopped':
      return change;
    default:
      return { result: 'failed', app: given, fault: deletionFault(pass, side, key) };
  }
}

/** Records the version of the Secret in the source from which the data of a copy were read. It shows later edits of the data. */
function withCopiedVersion(app: MigratedApp, key: ObjectKey, version: string | undefined): MigratedApp {
  const entry = entryOf(app, 'source', key);
  return entry === undefined || version === undefined ? app : withEntry(app, 'source', key, { ...entry, observedHash: version });
}

/**
 * Returns the result for an object that the cluster refused. In the source, an object is left out with a note if no later attempt can
 * succeed. The workload is never left out, and neither are traffic objects that are not valid: traffic would go to a source that cannot
 * receive it. A user who creates such an object lets the undo continue.
 */
function withRefused(
  pass: AppPass,
  app: MigratedApp,
  { side, stage, entry: { key }, fault }: CreatedCopy & { readonly fault: Fault },
): ChangedApp {
  const reason = copyReasonOf(fault);
  const isLost = reason === 'ApiMissing' || (reason === 'Invalid' && stage === 'Surge');
  const isWorkload = textOfKey(key) === textOfKey(app.key);
  if (side === 'target' || isWorkload || !(isLost || reason === 'Invalid' || reason === 'Denied')) return { result: 'failed', app, fault };
  const message = `${shownKey(key)} cannot be created in ${clusterOf(pass, side)}: ${describeFault(fault)}`;
  if (isLost) return { result: 'done', app: withLostObject(app, key, message.slice(0, maxMessage)) };
  const remedy = `${message.slice(0, maxMessage - 80)}. If you create it there yourself, the undo continues`;
  return { result: 'failed', app, fault: copyFault(fault.cluster, fault.code, remedy) };
}

/** Maximum length of a message of an application. */
const maxMessage = 1_000;

/**
 * Returns the result for an object that exists already. If another application of the migration created it, it is used. Otherwise it is a
 * fault in the target, and in the source a note that the object was not restored.
 */
function withForeign(pass: AppPass, app: MigratedApp, { side, key, object }: FoundObject): ChangedApp {
  const sibling = siblingObjectOf(pass, app, { side, key, object });
  const { uid } = object.metadata;
  if (sibling === undefined && side === 'source') {
    const message = `${shownKey(key)} was created in ${clusterOf(pass, side)} by another client, and stays as it is`;
    return { result: 'done', app: withLostObject(app, key, message, uid) };
  }
  if (sibling === undefined || uid === undefined) return { result: 'failed', app, fault: takenFault(pass, side, key) };
  if (sibling.isLeaving) return { result: 'failed', app, fault: deletionFault(pass, side, key) };
  // The intent token of its creator proves that an undo may delete the object once no application needs it.
  const made = side === 'source' || sibling.entry.intent === undefined ? {} : { intent: sibling.entry.intent };
  return {
    result: 'done',
    app: withCopyVersion(withEntry(app, side, key, { key, state: 'Shared', action: 'Unchanged', health: 'Unknown', uid, ...made }), {
      ...{ side, key, object },
    }),
  };
}

interface FoundObject {
  readonly side: MigrationSide;
  readonly key: ObjectKey;
  readonly object: KubernetesObject;
}

/** Records the version of the copy of a Secret in the target. It shows later changes of the copy. */
function withCopyVersion(app: MigratedApp, { side, key, object }: FoundObject): MigratedApp {
  const { resourceVersion } = object.metadata;
  const entry = entryOf(app, side, key);
  if (side === 'source' || !isSecretKey(key) || entry === undefined || resourceVersion === undefined) return app;
  return withEntry(app, side, key, { ...entry, observedHash: resourceVersion });
}

/** Returns the application with an object of the source that its undo does not restore, and the reason as a note. */
function withLostObject(app: MigratedApp, key: ObjectKey, message: string, uid?: string): MigratedApp {
  const entry = { key, state: 'Shared', action: 'Failed', health: 'Unknown', ...(uid === undefined ? {} : { uid }) } as const;
  return withLost(withEntry(app, 'source', key, entry), message);
}

/**
 * Looks up the objects of the source. An object that does not exist any more gets an `Intended` entry, so that `createCopies` creates it again.
 * An object that another client has replaced gets a note, and stays. The returned application must be recorded before objects are created.
 */
export async function findRemoved(pass: AppPass, given: MigratedApp): Promise<ChangedApp> {
  let app = given;
  for (const { manifest, side } of pass.kept) {
    const key = keyOfManifest(manifest);
    const entry = entryOf(app, 'source', key);
    const isLeft = entry?.state === 'Shared' && entry.action === leftAction;
    if (side !== 'source' || entry?.state === 'Intended' || (entry?.state === 'Shared' && !isLeft)) continue;
    const reached = reachObject(pass, 'source', key);
    if ('fault' in reached) return { result: 'failed', app, ...reached };
    const intended = { key, state: 'Intended', health: 'Unknown', intent: randomUUID() } as const;
    const change = entry === undefined ? ({ result: 'gone' } as const) : await readObject(reached.client, reached.address, entry);
    switch (change.result) {
      case 'gone':
        app = withEntry(app, 'source', key, intended);
        break;
      case 'changed':
        if (!isLeft && entry?.state !== 'Owned') app = withEntry(app, 'source', key, { ...entry, key, health: 'Unknown', state: 'Owned' });
        break;
      case 'foreign':
        app = withReplacedObject(pass, app, { side: 'source', key, object: change.object });
        break;
      case 'failed':
        return { result: 'failed', app, fault: change.fault };
      case 'stopped':
        return change;
      default:
        return { result: 'failed', app, fault: deletionFault(pass, 'source', key) };
    }
  }
  return { result: 'done', app };
}

/** Returns the application with an object of the source that another client has replaced: it stays, and a note says so. */
function withReplacedObject(pass: AppPass, app: MigratedApp, found: FoundObject): MigratedApp {
  const { key } = found;
  const shared = withEntry(app, 'source', key, { key, state: 'Shared', health: 'Unknown' });
  if (siblingObjectOf(pass, app, found) !== undefined) return shared;
  return withLost(shared, `${shownKey(key)} was replaced in ${clusterOf(pass, 'source')} by another client, and stays as it is`);
}

/**
 * Removes the marks of the migration from the objects that were created in the source, and their intent tokens from the inventory. The uids
 * must be saved before: without marks, only the uid proves that an object is the one that was created.
 */
export async function unmarkRestored(pass: AppPass, given: MigratedApp): Promise<ChangedApp> {
  let app = given;
  for (const { manifest, side } of pass.kept) {
    const key = keyOfManifest(manifest);
    const entry = side === 'source' ? entryOf(app, 'source', key) : undefined;
    if (entry?.state !== 'Owned' || entry.intent === undefined) continue;
    const reached = reachObject(pass, 'source', key);
    if ('fault' in reached) return { result: 'failed', app, ...reached };
    const change = await unmarkObject(reached.client, reached.address, { entry, manifest });
    if (change.result === 'failed') return { ...change, app };
    if (change.result === 'stopped') return change;
    const { intent: _intent, action: _action, ...unmarked } = entry;
    app = withEntry(app, 'source', key, unmarked);
  }
  return { result: 'done', app };
}

function takenFault(pass: AppPass, side: MigrationSide, key: ObjectKey): Fault {
  return copyFault(clusterOf(pass, side), 'CONFLICT', `${shownKey(key)} exists already, and was not created by this migration`);
}

function deletionFault(pass: AppPass, side: MigrationSide, key: ObjectKey): Fault {
  return copyFault(clusterOf(pass, side), 'TIMED_OUT', `${shownKey(key)} is being deleted`);
}

/**
 * Adds the content and the values of the annotations to the manifest of a Secret. For the target, they are read from the source or its backup.
 * For the source, they are read from the copy in the target. Returns other manifests unchanged. The data go to the API server only. They
 * are never stored, hashed or logged.
 */
async function withSecretData(
  pass: AppPass,
  app: MigratedApp,
  { side, manifest }: { readonly side: MigrationSide; readonly manifest: Manifest },
): Promise<FilledManifest | LostSecret> {
  if (!isSecretKey(manifest)) return { result: 'read', value: manifest };
  const key = keyOfManifest(manifest);
  const other: MigrationSide = side === 'target' ? 'source' : 'target';
  const isFromBackup = side === 'target' && pass.migration.spec.source === 'Velero';
  const found = isFromBackup ? await secretInBackup(pass, key) : await liveSecret(pass, app, { side: other, key });
  if (found.result !== 'read') return found.result === 'lost' && side === 'target' ? unread(lostFault(pass, key)) : found;
  const { immutable }: JsonObject = found.value;
  const annotated = withValueAt(manifest, ['metadata', 'annotations'], filledAnnotations(manifest, found.value));
  const value = withSecretContent(annotated, found.value);
  const version = side === 'target' && !isFromBackup ? textAt(found.value, 'metadata', 'resourceVersion') : undefined;
  const changed = side === 'source' ? changedCopy(pass, app, { key, copy: found.value as KubernetesObject & JsonObject }) : undefined;
  return { result: 'read', value: typeof immutable === 'boolean' ? { ...value, immutable } : value, version, changed };
}

/** Returns a message if the copy of a Secret was changed in the target after it was created. Tokens are filled in by their cluster. */
function changedCopy(
  pass: AppPass,
  app: MigratedApp,
  { key, copy }: { readonly key: ObjectKey; readonly copy: KubernetesObject & JsonObject },
): string | undefined {
  const version = entryOf(app, 'target', key)?.observedHash;
  if (version === undefined || version === copy.metadata.resourceVersion || isTokenSecret(copy)) return undefined;
  const { from, to } = pass.migration.spec;
  return `${shownKey(key)} was changed in ${to} after it was copied: ${from} has the data of the copy, which may differ from the data before the migration`;
}

/**
 * A manifest to create. For a Secret, `version` is the version of the Secret in the source that has the data, and `changed` a message if the
 * data come from a copy that was changed.
 */
type FilledManifest =
  | {
      readonly result: 'read';
      readonly value: Manifest;
      readonly version?: string | undefined;
      readonly changed?: string | undefined;
    }
  | { readonly result: 'failed'; readonly fault: Fault };

/** The Secret that has the data does not exist any more. */
interface LostSecret {
  readonly result: 'lost';
  readonly message: string;
}

/** The result of reading an object. */
type ReadResult<T> = { readonly result: 'read'; readonly value: T } | { readonly result: 'failed'; readonly fault: Fault };

function unread(fault: Fault): { readonly result: 'failed'; readonly fault: Fault } {
  return { result: 'failed', fault };
}

/** Reads a Secret of the source from the backup from which the Migration was planned. */
async function secretInBackup(pass: AppPass, key: ObjectKey): Promise<ReadResult<JsonObject>> {
  const read = await pass.backup();
  const missing = (message: string) => unread(copyFault(clusterOf(pass, 'source'), 'INVALID', message));
  if (read.result === 'failed') return read.fault === undefined ? missing(read.note.message) : unread(read.fault);
  const data = read.objects.backup?.secretData(key);
  const found = read.objects.all(groupKindOfKey(key), key.namespace).find((one) => one.key.name === key.name);
  if (found === undefined || data === undefined) return missing(`the backup does not have ${shownKey(key)}`);
  return { result: 'read', value: { ...found.object, data } };
}

async function liveSecret(
  pass: AppPass,
  app: MigratedApp,
  { side, key }: { readonly side: MigrationSide; readonly key: ObjectKey },
): Promise<ReadResult<KubernetesObject> | LostSecret> {
  const reached = reachObject(pass, side, key);
  if ('fault' in reached) return unread(reached.fault);
  const answer = await reached.client.get(reached.address);
  const uid = entryOf(app, side, key)?.uid;
  if (answer.result === 'answered' && (uid === undefined || answer.object.metadata.uid === uid))
    return { result: 'read', value: answer.object };
  if (answer.result === 'failed') return answer;
  const cluster = clusterOf(pass, side);
  return { result: 'lost', message: `${shownKey(key)} does not exist any more in ${cluster}, so its data cannot be restored` };
}

function lostFault(pass: AppPass, key: ObjectKey): Fault {
  const message = `${shownKey(key)} does not exist any more, so its data cannot be copied`;
  return copyFault(clusterOf(pass, 'source'), 'INVALID', message);
}
