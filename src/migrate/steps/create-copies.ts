import { randomUUID } from 'node:crypto';
import type { Fault } from '../../core/faults.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest } from '../../manifests/object-key.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import { copyFault } from '../../propagate/plan/copies/copy-reason.ts';
import type { KeptManifest } from '../hub/app-revision-store.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, addressIn, awayFault, clusterOf, entryOf, type Side, withEntry } from './app-pass.ts';
import { createInCluster, readObject, unmarkObject } from './change-objects.ts';
import type { SourceHold } from './leave-source.ts';
import { siblingObjectOf } from './sibling-objects.ts';
import { isSecretKey } from './source-manifest.ts';

/** The result of several changes. `app` has the changes that were made, also if a later one failed. */
export type ChangedApp =
  | { readonly result: 'done'; readonly app: MigratedApp }
  /** The application must be saved before its objects are changed further. */
  | { readonly result: 'unsaved'; readonly app: MigratedApp }
  | { readonly result: 'failed'; readonly app: MigratedApp; readonly fault: Fault }
  /** The source must not be changed now. */
  | { readonly result: 'held'; readonly app: MigratedApp; readonly hold: SourceHold }
  | { readonly result: 'stopped' };

/** The objects to create: those of one cluster in one stage. */
export interface CreatedStage {
  readonly side: Side;
  readonly stage: KeptManifest['stage'];
}

/** The `action` of an entry whose object stays in the cluster although the application has left it. */
export const leftAction = 'Skipped';

/** Creates the objects whose entries are `Intended`, in write order. Stops at the first that cannot be created. */
export async function createCopies(pass: AppPass, given: MigratedApp, { side, stage }: CreatedStage): Promise<ChangedApp> {
  let app = given;
  const kept = pass.kept.filter((one) => one.side === side && one.stage === stage);
  for (const { key, manifest } of inWriteOrder(kept.map(({ manifest }) => ({ key: keyOfManifest(manifest), manifest })))) {
    const entry = entryOf(app, side, key);
    if (entry?.state !== 'Intended' || entry.intent === undefined) continue;
    const { intent } = entry;
    const client = pass.client(side);
    const address = addressIn(pass, side, key);
    if (client === undefined) return { result: 'failed', app, fault: awayFault(pass, side) };
    if ('fault' in address) return { result: 'failed', app, fault: address.fault };
    const filled = await withSecretData(pass, app, { side, manifest });
    if (filled.result === 'failed') return { result: 'failed', app, fault: filled.fault };
    const change = await createInCluster(client, address, { manifest: filled.value, intent, owner: pass.migration.metadata.uid });
    switch (change.result) {
      case 'created': {
        const { uid } = change.object.metadata;
        app = withEntry(app, side, key, { ...entry, state: 'Owned', action: 'Created', ...(uid === undefined ? {} : { uid }) });
        break;
      }
      case 'foreign': {
        const sibling = siblingObjectOf(pass, app, { side, key, object: change.object });
        const { uid } = change.object.metadata;
        if (sibling === undefined || uid === undefined) return { result: 'failed', app, fault: takenFault(pass, side, key) };
        if (sibling.isLeaving) return { result: 'failed', app, fault: deletionFault(pass, side, key) };
        // The intent of its creator proves that an undo may delete the object once no application needs it.
        const made = side === 'source' || sibling.entry.intent === undefined ? {} : { intent: sibling.entry.intent };
        app = withEntry(app, side, key, { key, state: 'Shared', action: 'Unchanged', health: 'Unknown', uid, ...made });
        break;
      }
      case 'failed':
        return { result: 'failed', app, fault: change.fault };
      case 'stopped':
        return change;
      default:
        return { result: 'failed', app, fault: deletionFault(pass, side, key) };
    }
  }
  return { result: 'done', app };
}

/**
 * Looks up the objects of the source. An object that does not exist any more gets an `Intended` entry, so that it is created again. The
 * returned application must be recorded before.
 */
export async function findRemoved(pass: AppPass, given: MigratedApp): Promise<ChangedApp> {
  let app = given;
  for (const { manifest, side } of pass.kept) {
    const key = keyOfManifest(manifest);
    const entry = entryOf(app, 'source', key);
    const isLeft = entry?.state === 'Shared' && entry.action === leftAction;
    if (side !== 'source' || entry?.state === 'Intended' || (entry?.state === 'Shared' && !isLeft)) continue;
    const client = pass.client('source');
    const address = addressIn(pass, 'source', key);
    if (client === undefined) return { result: 'failed', app, fault: awayFault(pass, 'source') };
    if ('fault' in address) return { result: 'failed', app, fault: address.fault };
    const intended = { key, state: 'Intended', health: 'Unknown', intent: randomUUID() } as const;
    const change = entry === undefined ? ({ result: 'gone' } as const) : await readObject(client, address, entry);
    switch (change.result) {
      case 'gone':
        app = withEntry(app, 'source', key, intended);
        break;
      case 'changed':
        if (!isLeft) app = withEntry(app, 'source', key, { ...entry, key, health: 'Unknown', state: 'Owned' });
        break;
      case 'foreign':
        app = withEntry(app, 'source', key, { key, state: 'Shared', health: 'Unknown' });
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

/**
 * Removes the marks of the migration from the objects that were created in the source, and their intents from the inventory. The uids must be
 * saved before: without marks, only the uid proves that an object is the one that was created.
 */
export async function unmarkRestored(pass: AppPass, given: MigratedApp): Promise<ChangedApp> {
  let app = given;
  for (const { manifest, side } of pass.kept) {
    const key = keyOfManifest(manifest);
    const entry = side === 'source' ? entryOf(app, 'source', key) : undefined;
    if (entry?.state !== 'Owned' || entry.intent === undefined) continue;
    const client = pass.client('source');
    const address = addressIn(pass, 'source', key);
    if (client === undefined) return { result: 'failed', app, fault: awayFault(pass, 'source') };
    if ('fault' in address) return { result: 'failed', app, fault: address.fault };
    const change = await unmarkObject(client, address, { entry, manifest });
    if (change.result === 'failed') return { ...change, app };
    if (change.result === 'stopped') return change;
    const { intent: _intent, action: _action, ...unmarked } = entry;
    app = withEntry(app, 'source', key, unmarked);
  }
  return { result: 'done', app };
}

/** Returns the name of an object for messages. */
function textOfObjectName({ kind, namespace, name }: ObjectKey): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

function takenFault(pass: AppPass, side: Side, key: ObjectKey): Fault {
  return copyFault(clusterOf(pass, side), 'CONFLICT', `${textOfObjectName(key)} exists already, and was not created by this migration`);
}

function deletionFault(pass: AppPass, side: Side, key: ObjectKey): Fault {
  return copyFault(clusterOf(pass, side), 'TIMED_OUT', `${textOfObjectName(key)} is being deleted`);
}

/**
 * Adds the data of a Secret, read live: for the target those of the source, or of its backup; for the source those of the copy. The data
 * go to the API server only. They are never stored, hashed or logged.
 */
async function withSecretData(
  pass: AppPass,
  app: MigratedApp,
  { side, manifest }: { readonly side: Side; readonly manifest: Manifest },
): Promise<Read<Manifest>> {
  if (!isSecretKey(manifest)) return { result: 'read', value: manifest };
  const key = keyOfManifest(manifest);
  const other: Side = side === 'target' ? 'source' : 'target';
  const isFromBackup = side === 'target' && pass.migration.spec.source === 'Velero';
  const found = isFromBackup ? await secretInBackup(pass, key) : await liveSecret(pass, app, { side: other, key });
  if (found.result === 'failed') return found;
  const { data, type, immutable }: JsonObject = found.value;
  const value = {
    ...manifest,
    ...(isJsonObject(data) ? { data } : {}),
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof immutable === 'boolean' ? { immutable } : {}),
  };
  return { result: 'read', value };
}

/** The result of reading an object. */
type Read<T> = { readonly result: 'read'; readonly value: T } | { readonly result: 'failed'; readonly fault: Fault };

function unread(fault: Fault): { readonly result: 'failed'; readonly fault: Fault } {
  return { result: 'failed', fault };
}

/** Reads a Secret of the source from the backup from which the Migration was planned. */
async function secretInBackup(pass: AppPass, key: ObjectKey): Promise<Read<JsonObject>> {
  const read = await pass.backup();
  const missing = (message: string) => unread(copyFault(clusterOf(pass, 'source'), 'INVALID', message));
  if (read.result === 'failed') return read.fault === undefined ? missing(read.note.message) : unread(read.fault);
  const data = read.objects.backup?.secretData(key);
  const found = read.objects.all(groupKindOfKey(key), key.namespace).find((one) => one.key.name === key.name);
  if (found === undefined || data === undefined) return missing(`the backup does not have ${textOfObjectName(key)}`);
  return { result: 'read', value: { ...found.object, data } };
}

async function liveSecret(
  pass: AppPass,
  app: MigratedApp,
  { side, key }: { readonly side: Side; readonly key: ObjectKey },
): Promise<Read<KubernetesObject>> {
  const client = pass.client(side);
  const address = addressIn(pass, side, key);
  if (client === undefined) return unread(awayFault(pass, side));
  if ('fault' in address) return unread(address.fault);
  const answer = await client.get(address);
  const uid = entryOf(app, side, key)?.uid;
  if (answer.result === 'answered' && (uid === undefined || answer.object.metadata.uid === uid))
    return { result: 'read', value: answer.object };
  if (answer.result === 'failed') return answer;
  return unread(
    copyFault(clusterOf(pass, side), 'INVALID', `${textOfObjectName(key)} does not exist any more, so its data cannot be copied`),
  );
}
