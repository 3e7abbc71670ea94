import { answerJson, answerRefusal, type ResourceContext } from './answer-context.ts';
import { answerObject } from './answer-write.ts';
import { conflict, forbidden, isRefusal, notFound, type Refusal } from './api-status.ts';
import { isDefinitions } from './custom-definition.ts';
import { withdrawKind } from './define-kind.ts';
import { deleteObject, type Propagation } from './deletion.ts';
import type { KindStorage } from './kind-storage.ts';
import { isSelected, readSelection } from './list-options.ts';
import { keyOf, type StoredObject, wireText } from './stored-object.ts';
import { listFrame } from './wire-list.ts';
import { type DeleteRequest, readDeleteRequest } from './write-request.ts';

/** Kinds whose deletion is answered with the object, where all others get a Status. */
const returned = new Set([
  'Pod',
  'Service',
  'ServiceAccount',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'PodTemplate',
  'ResourceQuota',
  'Namespace',
]);
const immortal = new Set(['default', 'kube-system', 'kube-public']);

/** Answers a DELETE of one object. */
export async function answerDelete(context: ResourceContext): Promise<void> {
  const { storage, resource } = context.asked;
  const { kind } = storage;
  const wanted = await readDeleteRequest(context);
  if (isRefusal(wanted)) return answerRefusal(context, wanted);
  const name = resource.name ?? '';
  const before = storage.get(keyOf(resource.namespace ?? '', name));
  if (before === undefined) return answerRefusal(context, notFound(kind, name));
  const refused = refuseDeletion(storage, before, wanted);
  if (refused !== undefined) return answerRefusal(context, refused);
  if (wanted.isDry) return answerObject(context, 200, before);
  if (isDefinitions(storage)) {
    withdrawKind(context.server, before);
    return answerObject(context, 200, before);
  }
  const deleted = deleteObject(context.server.state, storage, before, propagationOf(wanted));
  if (deleted.result === 'terminating' || returned.has(kind.kind)) return answerObject(context, 200, deleted.object);
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.resource, uid: before.uid };
  answerJson(context, 200, JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }));
}

/** Answers a DELETE of all that is selected: with the objects as they were. */
export async function answerDeleteCollection(context: ResourceContext): Promise<void> {
  const { storage, resource } = context.asked;
  const { state } = context.server;
  const wanted = await readDeleteRequest(context);
  if (isRefusal(wanted)) return answerRefusal(context, wanted);
  const selection = readSelection(context.query, storage.kind, resource);
  if (isRefusal(selection)) return answerRefusal(context, selection);
  const chosen = storage.sorted().filter((object) => isSelected(storage.kind, object, selection));
  const version = String(state.revision);
  if (!wanted.isDry) for (const object of chosen) deleteObject(state, storage, object, propagationOf(wanted));
  const form = { shape: 'item', version: resource.version } as const;
  const [start, end] = listFrame(storage.kind, form, { version, isEmpty: chosen.length === 0 });
  answerJson(context, 200, `${start}${chosen.map((object) => wireText(storage.kind, object, form)).join(',')}${end}`);
}

function refuseDeletion({ kind }: KindStorage, before: StoredObject, { uid, resourceVersion }: DeleteRequest): Refusal | undefined {
  const { name } = before;
  if (kind.group === '' && kind.resource === 'namespaces' && immortal.has(name))
    return forbidden(kind, 'this namespace may not be deleted', name);
  if (uid !== undefined && uid !== before.uid) {
    return conflict(kind, name, `the UID in the precondition (${uid}) does not match the UID in record (${before.uid})`);
  }
  if (resourceVersion === undefined || resourceVersion === String(before.revision)) return undefined;
  return conflict(
    kind,
    name,
    `the ResourceVersion in the precondition (${resourceVersion}) does not match the one in record (${before.revision})`,
  );
}

function propagationOf({ propagation }: DeleteRequest): Propagation {
  return propagation === 'Foreground' || propagation === 'Orphan' ? propagation : 'Background';
}
