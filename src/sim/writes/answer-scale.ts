import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { labelsAt, numberAt, objectAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { scaleType } from '../fields/built-in-types.ts';
import { typeOfKind } from '../fields/kind-types.ts';
import { managerOfWrite } from '../fields/managed-fields.ts';
import { printManagers } from '../fields/managers.ts';
import { applyFields } from '../fields/track-fields.ts';
import { type ApiRefusal, apiRefusal, conflict, invalidObject, isApiRefusal, modifiedMessage, notFound } from '../kinds/api-status.ts';
import { parseSimObject, type SimObject, storageKey } from '../kinds/sim-object.ts';
import { answerJson, answerRefusal } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { refuseObject } from './admission.ts';
import { fieldManagersOf, ownershipConflict, type SimApplyRequest } from './answer-apply.ts';
import { decodedObject, warningHeader } from './decode-object.ts';
import { patchedValue, type SimPatchRequest } from './patch-object.ts';
import { refuseOtherName } from './refuse-write.ts';
import { storeChanged } from './store-write.ts';
import { readWriteRequest, type WriteRequest } from './write-options.ts';
import { readBody } from './write-request.ts';

/** Answers a GET of a scale. */
export function answerGetScale(context: ResourceContext): void {
  const found = findScaled(context);
  if (isApiRefusal(found)) answerRefusal(context, found);
  else answerJson(context, 200, JSON.stringify(scaleOf(context, found.old)));
}

/** Answers a PUT of a scale: sets the replicas of the object. */
export async function answerUpdateScale(context: ResourceContext): Promise<void> {
  const request = readWriteRequest(context);
  if (isApiRefusal(request)) return answerRefusal(context, request);
  const body = await readBody(context);
  if (isApiRefusal(body)) return answerRefusal(context, body);
  await keepScale(context, { request, scale: body, from: 'body' });
}

/** Answers a JSON or merge patch of a scale. */
export async function answerPatchScale(context: ResourceContext, wanted: SimPatchRequest): Promise<void> {
  const found = findScaled(context);
  if (isApiRefusal(found)) return answerRefusal(context, found);
  const scale = patchedValue(scaleOf(context, found.old), wanted);
  if (isApiRefusal(scale)) return answerRefusal(context, scale);
  await keepScale(context, { request: wanted.request, scale, from: 'patch' });
}

/** Answers a server-side apply of a scale. The manager then owns the replicas through the scale. */
export async function answerApplyScale(context: ResourceContext, { request, applied }: SimApplyRequest): Promise<void> {
  const found = findScaled(context);
  if (isApiRefusal(found)) return answerRefusal(context, found);
  const { storage, resource } = context.target;
  const { before, old, path } = found;
  const count = numberAt(applied, 'spec', 'replicas');
  const by = managerOfWrite(storage.kind, 'Apply', { manager: request.manager, version: resource.version, subresource: 'scale' });
  const result = applyFields(
    fieldManagersOf(context, old),
    { live: old, applied: count === undefined ? { metadata: {} } : withValue({ metadata: {} }, path, count), force: request.isForced },
    { type: typeOfKind(storage.kind, resource.version), by, time: undefined },
  );
  if (result.result === 'conflicts') return answerRefusal(context, ownershipConflict(result.conflicts));
  const managedFields = printManagers(result.managers);
  const metadata = { ...old.metadata, ...(managedFields === undefined ? {} : { managedFields }) };
  const object = { ...(count === undefined ? old : withValue(old, path, count)), metadata } as KubernetesObject;
  const refused = refuseCount(context, count) ?? refuseObject(context, { old, next: object });
  if (refused !== undefined) return answerRefusal(context, refused);
  const options = { subresource: 'scale', managedFields: 'given' } as const;
  const answer = answeringScale(context);
  await storeChanged(context, { request, before, object, warnings: [], options, answer });
}

interface ScaleWrite {
  readonly request: WriteRequest;
  readonly scale: JsonObject;
  readonly from: 'body' | 'patch';
}

async function keepScale(context: ResourceContext, { request, scale, from }: ScaleWrite): Promise<void> {
  const decoding = {
    kind: 'Scale',
    version: 'v1',
    type: scaleType,
    fieldValidation: request.fieldValidation,
    from,
    isCustom: false,
  } as const;
  const decoded = decodedObject(scale, decoding);
  if (isApiRefusal(decoded)) return answerRefusal(context, decoded);
  const found = findScaled(context);
  if (isApiRefusal(found)) return answerRefusal(context, found);
  const { before, old, path } = found;
  const given = decoded.object as KubernetesObject;
  const count = numberAt(given, 'spec', 'replicas') ?? 0;
  const object = withValue(old, path, count) as KubernetesObject;
  const refused =
    refuseScale(context, { old, scale: given }) ?? refuseCount(context, count) ?? refuseObject(context, { old, next: object });
  if (refused !== undefined) return answerRefusal(context, refused);
  const { warnings } = decoded;
  const answer = answeringScale(context, warnings);
  await storeChanged(context, { request, before, object, warnings, options: { subresource: 'scale' }, answer });
}

interface ScaledObject {
  readonly before: SimObject;
  readonly old: KubernetesObject;
  readonly path: readonly string[];
}

function findScaled({ target }: ResourceContext): ScaledObject | ApiRefusal {
  const { storage, resource } = target;
  const { name = '', namespace = '' } = resource;
  const before = storage.get(storageKey(namespace, name));
  if (before === undefined) return notFound(storage.kind, name);
  return { before, old: parseSimObject(storage.kind, before), path: (storage.kind.scale?.spec ?? 'spec.replicas').split('.') };
}

function answeringScale(context: ResourceContext, warnings: readonly string[] = []): (stored: SimObject) => void {
  return (stored) => {
    const scale = scaleOf(context, parseSimObject(context.target.storage.kind, stored));
    answerJson(context, 200, JSON.stringify(scale), warningHeader(warnings));
  };
}

function scaleOf({ target }: ResourceContext, object: KubernetesObject): JsonObject {
  const { spec = '', status = '' } = target.storage.kind.scale ?? {};
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = Object.entries(labelsAt(object.spec, 'selector', 'matchLabels')).map(([key, value]) => `${key}=${value}`);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: valueAt(object, ...spec.split('.')) ?? 1 },
    status: {
      replicas: valueAt(object, ...status.split('.')) ?? 0,
      ...(selector.length === 0 ? {} : { selector: selector.toSorted().join(',') }),
    },
  };
}

function refuseScale(
  { target }: ResourceContext,
  { old, scale }: { readonly old: KubernetesObject; readonly scale: KubernetesObject },
): ApiRefusal | undefined {
  const { kind } = target.storage;
  const { name } = old.metadata;
  const metadata = objectAt(scale.metadata);
  if (metadata.name === undefined)
    return apiRefusal(400, `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  const { resourceVersion = '', uid = old.metadata.uid } = metadata;
  if (uid !== old.metadata.uid) {
    return conflict(kind, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`);
  }
  if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion) return conflict(kind, name, modifiedMessage);
  return refuseOtherName(scale, name);
}

function refuseCount({ target }: ResourceContext, count: number | undefined): ApiRefusal | undefined {
  if (count === undefined || count >= 0) return undefined;
  const message = `Invalid value: ${count}: must be greater than or equal to 0`;
  const subject = { kind: 'Scale', group: 'autoscaling', name: target.resource.name ?? '' };
  return invalidObject(subject, [{ reason: 'FieldValueInvalid', message, field: 'spec.replicas' }]);
}

function withValue(object: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  const inner = object[key];
  return { ...object, [key]: rest.length === 0 ? value : withValue(isJsonObject(inner) ? inner : {}, rest, value) };
}
