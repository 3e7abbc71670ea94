import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { prunedValue, typeErrorsOf } from '../fields/check-fields.ts';
import { pathText } from '../fields/field-set.ts';
import { typeOfKind } from '../fields/kind-types.ts';
import { managerOfWrite } from '../fields/managed-fields.ts';
import { managerText, type Ownership, parseManagers, printManagers } from '../fields/managers.ts';
import { fieldSetOf } from '../fields/owned-fields.ts';
import { applyFields, type OwnershipConflict, type Tracking } from '../fields/track-fields.ts';
import { firstFormatError } from '../fields/value-formats.ts';
import { type ApiRefusal, apiRefusal, conflict, isApiRefusal, modifiedMessage, notFound } from '../kinds/api-status.ts';
import { parseSimObject, storageKey } from '../kinds/sim-object.ts';
import { answerRefusal } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { refuseObject, withDefaults, withoutServerMetadata, withServerFields } from './admission.ts';
import { isGuard, refuseCreation, refuseFinalizers, refuseOtherName, refuseOtherUid } from './refuse-write.ts';
import { storeChanged, storeCreated } from './store-write.ts';
import type { WriteRequest } from './write-options.ts';

/** A server-side apply. */
export interface SimApplyRequest {
  readonly request: WriteRequest;
  readonly applied: JsonObject;
}

/** Answers a server-side apply of an object or of its status. The object is created, changed or unchanged. */
export async function answerApply(context: ResourceContext, wanted: SimApplyRequest): Promise<void> {
  const { storage, resource } = context.target;
  const { kind } = storage;
  const refused = refuseApplied(context, wanted.applied);
  if (refused !== undefined) return answerRefusal(context, refused);
  const name = resource.name ?? '';
  const before = storage.get(storageKey(resource.namespace ?? '', name));
  const old = before === undefined ? undefined : parseSimObject(kind, before);
  const next = old === undefined ? created(context, wanted) : changed(context, wanted, old);
  if (isApiRefusal(next)) return answerRefusal(context, next);
  const { request } = wanted;
  const options = { managedFields: 'given', ...(resource.subresource === undefined ? {} : { subresource: resource.subresource }) } as const;
  const write = { request, object: next, warnings: [], options };
  await (before === undefined ? storeCreated(context, write) : storeChanged(context, { ...write, before }));
}

/** Returns a 409 for fields of other managers. */
export function ownershipConflict(conflicts: readonly OwnershipConflict[]): ApiRefusal {
  const spelled = conflicts.map(({ manager, path }) => ({ by: managerText(manager), field: pathText(path) }));
  const causes = spelled.map(({ by, field }) => ({ reason: 'FieldManagerConflict', message: `conflict with ${by}`, field }));
  const [first] = spelled;
  if (spelled.length === 1)
    return { ...apiRefusal(409, `Apply failed with 1 conflict: conflict with ${first?.by}: ${first?.field}`), details: { causes } };
  const lines = [...Map.groupBy(spelled, ({ by }) => by)]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([by, fields]) => [`conflicts with ${by}:`, ...fields.map(({ field }) => `- ${field}`)]);
  return { ...apiRefusal(409, `Apply failed with ${spelled.length} conflicts: ${lines.join('\n')}`), details: { causes } };
}

/**
 * Returns the owners of an object's fields before an apply. If the object has no managedFields, its fields belong to the manager
 * `before-first-apply`, as in Kubernetes.
 */
export function fieldManagersOf(context: ResourceContext, old: KubernetesObject): readonly Ownership[] {
  const { kind } = context.target.storage;
  const managers = parseManagers(old.metadata.managedFields);
  if (managers !== undefined) return managers;
  const by = managerOfWrite(kind, 'Update', { manager: 'before-first-apply', version: context.target.resource.version });
  return [{ ...by, time: context.server.state.timestamp(), fields: fieldSetOf(typeOfKind(kind), withoutIdentity(old)) }];
}

/** Returns a refusal if the applied object is invalid on its own, else undefined. */
function refuseApplied({ target }: ResourceContext, applied: JsonObject): ApiRefusal | undefined {
  const { storage, resource } = target;
  const { kind } = storage;
  const { group, version, namespace, name = '' } = resource;
  const [apiVersion, given] = [textAt(applied, 'apiVersion') ?? '', textAt(applied, 'kind') ?? ''];
  const versionName = apiVersionOf({ group, version });
  if (given !== kind.kind || apiVersion !== versionName) {
    return apiRefusal(400, `invalid object type: ${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${given}`);
  }
  const { metadata = {} } = applied;
  if (isJsonObject(metadata) && metadata.managedFields !== undefined) return apiRefusal(400, 'metadata.managedFields must be nil');
  const type = typeOfKind(kind, version);
  const called = `${group === '' ? `/${version}` : versionName}, Kind=${kind.kind}`;
  const subject = `${textAt(metadata, 'namespace') ?? ''}/${textAt(metadata, 'name') ?? ''}; ${called}`;
  const errors = typeErrorsOf(type, applied);
  if (errors.length > 0) {
    const what = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join('\n')}`;
    return { code: 500, message: `failed to create typed patch object (${subject}): ${what}` };
  }
  const misformed = firstFormatError(type, applied);
  if (misformed !== undefined) {
    const why = `unable to convert unstructured object to ${called}: ${misformed}`;
    return { code: 500, message: `failed to convert new object (${subject}) to proper version: ${why}` };
  }
  const own = metadataOf(applied);
  if (own.namespace !== undefined && own.namespace !== namespace) {
    return apiRefusal(400, 'the namespace of the provided object does not match the namespace sent on the request');
  }
  const guard = own.resourceVersion ?? '';
  if (!/^\d*$/.test(guard)) return { code: 500, message: `strconv.ParseUint: parsing ${JSON.stringify(guard)}: invalid syntax` };
  return own.name === '' ? undefined : refuseOtherName({ metadata: own }, name);
}

function created(context: ResourceContext, { request, applied }: SimApplyRequest): KubernetesObject | ApiRefusal {
  const { storage, resource } = context.target;
  const { kind } = storage;
  const { name = '', namespace } = resource;
  const { uid } = metadataOf(applied);
  if (resource.subresource !== undefined) return notFound(kind, name);
  if (metadataOf(applied).name === '')
    return apiRefusal(400, `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (uid !== undefined) {
    return conflict(kind, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
  }
  const metadata = { ...metadataOf(applied), name, ...(namespace === undefined ? {} : { namespace }) };
  const { resourceVersion: _version, ...own } = metadata;
  const object: KubernetesObject = { ...applied, metadata: own };
  const refused = refuseCreation(context, object);
  if (refused !== undefined) return refused;
  const tracked = applyFields([], { live: { metadata: {} }, applied: object, force: request.isForced }, trackingOf(context, request));
  const managers = tracked.result === 'applied' ? tracked.managers : [];
  const next = withServerFields(kind, cleaned(context, object));
  return refuseObject(context, { old: undefined, next }) ?? withManagers(next, managers);
}

function changed(context: ResourceContext, { request, applied }: SimApplyRequest, old: KubernetesObject): KubernetesObject | ApiRefusal {
  const { storage, resource } = context.target;
  const { kind } = storage;
  const { name } = old.metadata;
  const { uid, resourceVersion } = metadataOf(applied);
  const live = withoutIdentity(old);
  const result = applyFields(
    fieldManagersOf(context, old),
    { live, applied: appliedPart(context, applied), force: request.isForced },
    trackingOf(context, request),
  );
  if (result.result === 'conflicts') return ownershipConflict(result.conflicts);
  if (isGuard(resourceVersion) && resourceVersion !== old.metadata.resourceVersion) return conflict(kind, name, modifiedMessage);
  const other = refuseOtherUid(kind, old, uid);
  if (other !== undefined) return other;
  const merged = { ...result.object, metadata: { ...metadataOf(result.object), name } } as KubernetesObject;
  const next = withDefaults(kind, withoutServerMetadata(cleaned(context, merged), name), resource.version);
  const refused = refuseFinalizers(kind, { old, object: next }) ?? refuseObject(context, { old, next });
  return refused ?? withManagers(next, result.managers);
}

/** Removes nulls: an applied null gives the manager the field, but is not stored. Also removes undeclared fields. */
function cleaned({ target }: ResourceContext, object: KubernetesObject): KubernetesObject {
  const { value } = prunedValue(typeOfKind(target.storage.kind, target.resource.version), object);
  return value as KubernetesObject;
}

/**
 * Returns the part of the manifest that is applied: through the status subresource only the status. In all other cases the whole manifest,
 * without its status if the kind has a status subresource.
 */
function appliedPart({ target }: ResourceContext, applied: JsonObject): JsonObject {
  const { metadata, status, ...body } = applied;
  if (target.resource.subresource === 'status') return { metadata: {}, ...(status === undefined ? {} : { status }) };
  const rest = { ...body, metadata: withoutServers(metadataOf(applied)) };
  return target.storage.kind.hasStatus || status === undefined ? rest : { ...rest, status };
}

function trackingOf({ target, server }: ResourceContext, { manager }: WriteRequest): Tracking {
  const { storage, resource } = target;
  const { subresource, version } = resource;
  const by = managerOfWrite(storage.kind, 'Apply', { manager, version, ...(subresource === undefined ? {} : { subresource }) });
  const except = subresource === undefined && storage.kind.hasStatus ? ['status'] : [];
  return { type: typeOfKind(storage.kind, version), by, time: server.state.timestamp(), except };
}

function withManagers(object: KubernetesObject, managers: readonly Ownership[]): KubernetesObject {
  const { managedFields: _old, ...metadata } = object.metadata;
  const managedFields = printManagers(managers);
  const own: KubernetesObject['metadata'] = { ...metadata, name: object.metadata.name };
  return { ...object, metadata: managedFields === undefined ? own : { ...own, managedFields } };
}

function withoutIdentity(object: KubernetesObject): KubernetesObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, name: object.metadata.name } };
}

function withoutServers(metadata: KubernetesObject['metadata']): JsonObject {
  const { uid: _uid, resourceVersion: _version, ...rest } = metadata;
  return rest;
}

function metadataOf({ metadata }: JsonObject): KubernetesObject['metadata'] {
  return { name: '', ...(isJsonObject(metadata) ? metadata : {}) } as KubernetesObject['metadata'];
}
