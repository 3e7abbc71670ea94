import { isJsonObject, type Json } from '../../core/json.ts';
import { parseSimObject, type SimObject, simObjectOf } from '../kinds/sim-object.ts';
import type { KindStorage } from './kind-storage.ts';
import { dropObject, hasGeneration, patchMetadata } from './object-writes.ts';
import type { SimState } from './sim-state.ts';

export type DeletionPropagation = 'Background' | 'Foreground' | 'Orphan';

/** The result of a deletion. `terminating`: the object waits for finalizers, in this state. */
export type DeletionResult =
  | { readonly result: 'gone'; readonly object: SimObject }
  | { readonly result: 'terminating'; readonly object: SimObject };

/**
 * Deletes an object in one synchronous step, as a cluster with its controllers does. An object with finalizers is only marked as
 * terminating.
 *
 * `propagation` decides what happens to the objects that it owns and that have no other owner. `Foreground`: they are deleted first.
 * `Background`: they are deleted afterwards. `Orphan`: they stay. The content of a namespace is deleted before the namespace.
 */
export function deleteObject(
  state: SimState,
  storage: KindStorage,
  before: SimObject,
  propagation: DeletionPropagation = 'Background',
): DeletionResult {
  if (isNamespace(storage)) return deleteNamespace(state, storage, before);
  if (propagation === 'Orphan') orphan(state, before);
  const added = propagation === 'Foreground' && hasDependents(state, before) ? ['foregroundDeletion'] : [];
  const finalizers = [...new Set([...finalizersOf(storage, before), ...added])];
  if (finalizers.length === 0) return { result: 'gone', object: removeWithDependents(state, storage, before) };
  const object = before.terminating && added.length === 0 ? before : markTerminating(state, storage, { before, finalizers });
  if (added.length > 0) deleteDependents(state, object.uid, 'Foreground');
  // The deletion of the last dependent may already have removed the finalizer and the object.
  return storage.get(before.key) === undefined ? { result: 'gone', object } : { result: 'terminating', object };
}

/** Deletes an object despite its finalizers, with everything that it owns or contains. */
export function removeWithDependents(state: SimState, storage: KindStorage, before: SimObject): SimObject {
  if (isNamespace(storage))
    for (const { storage: kind, object } of contentOf(state, before.name)) removeWithDependents(state, kind, object);
  const current = storage.get(before.key);
  const gone = current === undefined ? before : dropObject(state, storage, current);
  deleteDependents(state, before.uid, 'Background');
  settleOwners(state, storage, before);
  settleNamespace(state, before.namespace);
  return gone;
}

/** Deletes a terminating object that has no finalizers left. Returns false for a namespace that still has content. */
export function finishDeletion(state: SimState, storage: KindStorage, object: SimObject): boolean {
  if (!isNamespace(storage)) {
    removeWithDependents(state, storage, object);
    return true;
  }
  if (contentOf(state, object.name).length > 0) return false;
  dropObject(state, storage, object);
  return true;
}

function deleteNamespace(state: SimState, storage: KindStorage, before: SimObject): DeletionResult {
  if (!before.terminating) {
    const old = parseSimObject(storage.kind, before);
    const status = { ...(isJsonObject(old.status) ? old.status : {}), phase: 'Terminating' };
    const make = (revision: number) => {
      const metadata = { ...old.metadata, resourceVersion: String(revision), deletionTimestamp: state.timestamp() };
      return simObjectOf(storage.kind, { ...old, metadata, status }, revision);
    };
    state.write(storage, { type: 'MODIFIED', before, make });
  }
  const marked = storage.get(before.key) ?? before;
  for (const { storage: kind, object } of contentOf(state, before.name)) deleteObject(state, kind, object);
  settleNamespace(state, before.name);
  return { result: storage.get(before.key) === undefined ? 'gone' : 'terminating', object: marked };
}

/** Deletes a terminating namespace once its last object is gone. */
function settleNamespace(state: SimState, name: string): void {
  const storage = name === '' ? undefined : state.storage('', 'namespaces');
  const namespace = storage?.get(name);
  if (storage === undefined || namespace?.terminating !== true || contentOf(state, name).length > 0) return;
  if (finalizersOf(storage, namespace).length === 0) dropObject(state, storage, namespace);
}

function deleteDependents(state: SimState, uid: string, propagation: DeletionPropagation): void {
  if (uid === '') return;
  for (const { storage, object } of [...state.ownedBy(uid)]) {
    const others = object.owners.filter((owner) => owner !== uid);
    if (others.some((owner) => state.hasUid(owner))) disown(state, storage, { object, uid });
    else if (!object.terminating) deleteObject(state, storage, object, propagation);
  }
}

function orphan(state: SimState, owner: SimObject): void {
  for (const { storage, object } of [...state.ownedBy(owner.uid)]) disown(state, storage, { object, uid: owner.uid });
}

function disown(state: SimState, storage: KindStorage, { object, uid }: { readonly object: SimObject; readonly uid: string }): void {
  const references = parseSimObject(storage.kind, object).metadata.ownerReferences ?? [];
  const ownerReferences = references.filter((reference) => reference.uid !== uid);
  patchMetadata(state, storage, object, { ownerReferences: ownerReferences.length === 0 ? undefined : ownerReferences });
}

/** Deletes owners in foreground deletion once their last dependent is gone. */
function settleOwners(state: SimState, storage: KindStorage, gone: SimObject): void {
  if (gone.owners.length === 0) return;
  for (const reference of parseSimObject(storage.kind, gone).metadata.ownerReferences ?? []) {
    const owners = state.storages().find(({ kind }) => kind.kind === reference.kind && reference.apiVersion?.startsWith(kind.group));
    const owner = owners?.get(owners.kind.namespaced ? `${gone.namespace}/${reference.name}` : (reference.name ?? ''));
    if (owners === undefined || owner?.terminating !== true || owner.uid !== reference.uid || hasDependents(state, owner)) continue;
    const finalizers = finalizersOf(owners, owner).filter((finalizer) => finalizer !== 'foregroundDeletion');
    if (finalizers.length === 0) removeWithDependents(state, owners, owner);
    else patchMetadata(state, owners, owner, { finalizers });
  }
}

function markTerminating(
  state: SimState,
  storage: KindStorage,
  { before, finalizers }: { readonly before: SimObject; readonly finalizers: readonly string[] },
): SimObject {
  const { generation } = parseSimObject(storage.kind, before).metadata;
  return patchMetadata(state, storage, before, {
    deletionTimestamp: state.timestamp(),
    deletionGracePeriodSeconds: 0,
    finalizers,
    generation: hasGeneration(storage.kind) && typeof generation === 'number' ? generation + 1 : generation,
  });
}

function hasDependents(state: SimState, owner: SimObject): boolean {
  if (owner.uid === '') return false;
  for (const _dependent of state.ownedBy(owner.uid)) return true;
  return false;
}

function contentOf(state: SimState, namespace: string): { readonly storage: KindStorage; readonly object: SimObject }[] {
  return state
    .storages()
    .filter(({ kind }) => kind.namespaced)
    .flatMap((storage) =>
      storage
        .sorted()
        .filter((object) => object.namespace === namespace)
        .map((object) => ({ storage, object })),
    );
}

function finalizersOf(storage: KindStorage, object: SimObject): readonly string[] {
  const { finalizers } = parseSimObject(storage.kind, object).metadata;
  return Array.isArray(finalizers) ? finalizers.filter((finalizer: Json): finalizer is string => typeof finalizer === 'string') : [];
}

function isNamespace({ kind }: KindStorage): boolean {
  return kind.group === '' && kind.resource === 'namespaces';
}
