import { type ApiRefusal, apiRefusal, forbidden, isApiRefusal, notFound } from '../kinds/api-status.ts';
import { type SimObject, storageKey, wireText } from '../kinds/sim-object.ts';
import { isListed, parseListSelection } from '../requests/list-options.ts';
import { answerJson, answerObject, answerRefusal } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { listFrame } from '../requests/wire-list.ts';
import { isDefinitions } from '../state/custom-definition.ts';
import { type DeletionPropagation, type DeletionResult, deleteObject } from '../state/deletion.ts';
import type { KindStorage } from '../state/kind-storage.ts';
import { warningHeader } from './decode-object.ts';
import { withdrawKind } from './define-kind.ts';
import { answerWrite } from './store-write.ts';
import { readDeleteRequest, type SimDeleteRequest } from './write-request.ts';

/** Kinds whose deletion returns the object. All others return a Status. */
const returnedKinds = new Set([
  'Pod',
  'Service',
  'ServiceAccount',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'PodTemplate',
  'ResourceQuota',
  'Namespace',
]);
const undeletable = new Set(['default', 'kube-system', 'kube-public']);

/** Answers a DELETE of one object. */
export async function answerDelete(context: ResourceContext): Promise<void> {
  const { storage, resource } = context.target;
  const { kind } = storage;
  const wanted = await readDeleteRequest(context);
  if (isApiRefusal(wanted)) return answerRefusal(context, wanted);
  const name = resource.name ?? '';
  const before = storage.get(storageKey(resource.namespace ?? '', name));
  if (before === undefined) return answerRefusal(context, notFound(kind, name));
  const refused = refuseDeletion(storage, before, wanted);
  if (refused !== undefined) return answerRefusal(context, refused);
  const { result, object } = wanted.isDry ? ({ result: 'gone', object: before } as const) : deleted(context, before, wanted);
  const headers = warningHeader(warningsFor(storage, wanted));
  await answerWrite(context, { result: result === 'gone' ? 'deleted' : 'marked', object }, () => {
    const isReturned = result === 'terminating' || returnedKinds.has(kind.kind) || isDefinitions(storage);
    if (isReturned) return answerObject(context, object, { headers });
    const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.resource, uid: before.uid };
    answerJson(context, 200, JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }), headers);
  });
}

function deleted(context: ResourceContext, before: SimObject, wanted: SimDeleteRequest): DeletionResult {
  const { storage } = context.target;
  if (!isDefinitions(storage)) return deleteObject(context.server.state, storage, before, propagationOf(storage, wanted));
  withdrawKind(context.server, before);
  return { result: 'gone', object: before };
}

/** Answers a DELETE of all selected objects with the objects before their deletion. */
export async function answerDeleteCollection(context: ResourceContext): Promise<void> {
  const { storage, resource } = context.target;
  const { state, hooks } = context.server;
  const wanted = await readDeleteRequest(context);
  if (isApiRefusal(wanted)) return answerRefusal(context, wanted);
  const selection = parseListSelection(context.query, storage.kind, resource);
  if (isApiRefusal(selection)) return answerRefusal(context, selection);
  const chosen = storage.sorted().filter((object) => isListed(storage.kind, object, selection));
  const version = String(state.revision);
  const hookResults = chosen.map((object) => {
    const propagation = propagationOf(storage, wanted);
    const { result } = wanted.isDry ? { result: 'gone' } : deleteObject(state, storage, object, propagation);
    return hooks.onWrite?.(context, { result: result === 'gone' ? 'deleted' : 'marked', object });
  });
  if ((await Promise.all(hookResults)).includes('lost')) return context.outlet.reset();
  const form = { shape: 'item', version: resource.version } as const;
  const [start, end] = listFrame(storage.kind, form, { version, isEmpty: chosen.length === 0 });
  answerJson(context, 200, `${start}${chosen.map((object) => wireText(storage.kind, object, form)).join(',')}${end}`);
}

/** Returns the warning for a Job that is deleted without a policy. Jobs are the only kind whose dependents stay by default. */
function warningsFor(storage: KindStorage, { propagation }: SimDeleteRequest): readonly string[] {
  if (!isJobs(storage) || propagation !== undefined) return [];
  const how = 'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';
  return [`child pods are preserved by default when jobs are deleted; ${how}`];
}

function isJobs({ kind }: KindStorage): boolean {
  return kind.group === 'batch' && kind.kind === 'Job';
}

function refuseDeletion({ kind }: KindStorage, before: SimObject, { uid, resourceVersion }: SimDeleteRequest): ApiRefusal | undefined {
  const { name } = before;
  if (kind.group === '' && kind.resource === 'namespaces' && undeletable.has(name))
    return forbidden(kind, 'this namespace may not be deleted', name);
  const refused = (what: string, wanted: string, held: string): ApiRefusal => {
    const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${held})`;
    // Only in this message a real server names the kind instead of the resource.
    return { ...apiRefusal(409, `Operation cannot be fulfilled on ${kind.kind} "${name}": ${why}`), details: { name, kind: kind.kind } };
  };
  if (uid !== undefined && uid !== before.uid) return refused('UID', uid, before.uid);
  if (resourceVersion === undefined || resourceVersion === String(before.revision)) return undefined;
  return refused('ResourceVersion', resourceVersion, String(before.revision));
}

function propagationOf(storage: KindStorage, { propagation }: SimDeleteRequest): DeletionPropagation {
  return propagation ?? (isJobs(storage) ? 'Orphan' : 'Background');
}
