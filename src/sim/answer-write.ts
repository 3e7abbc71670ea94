import { randomInt } from 'node:crypto';
import { isJsonObject, type Json, parseJsonExactly } from '../core/json.ts';
import type { KubernetesObject, ObjectMetadata } from '../core/objects.ts';
import { answerJson, answerRefusal, type ResourceContext } from './answer-context.ts';
import { alreadyExists, conflict, forbidden, invalid, isRefusal, modified, notFound, type Refusal, refusal } from './api-status.ts';
import type { SimKind } from './built-in-kinds.ts';
import { isDefinitions } from './custom-definition.ts';
import { defineKind } from './define-kind.ts';
import { settle } from './deletion.ts';
import { acceptedShape } from './media-type.ts';
import { createObject, replaceObject } from './object-writes.ts';
import { keyOf, parsed, type StoredObject, storedOf, wireText } from './stored-object.ts';
import { isDry, managerOf, readObject } from './write-request.ts';

/** The letters of generated names: no vowels, so that no words come of it. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Answers a POST: the object as it was created. */
export async function answerCreate(context: ResourceContext): Promise<void> {
  const { storage } = context.asked;
  const object = await readObject(context);
  if (isRefusal(object)) return answerRefusal(context, object);
  const named = withName(object);
  const refused = refuseCreation(context, named);
  if (refused !== undefined) return answerRefusal(context, refused);
  const admitted = admit(storage.kind, named);
  const created = isDry(context)
    ? undefined
    : isDefinitions(storage)
      ? defineKind(context.server, admitted, { manager: managerOf(context) })
      : createObject(context.server.state, storage, admitted, { manager: managerOf(context) });
  if (created === undefined) return answerJson(context, 201, JSON.stringify(admitted));
  answerObject(context, 201, created);
}

/** Answers a PUT of an object, or of its status. */
export async function answerUpdate(context: ResourceContext): Promise<void> {
  const { storage, resource } = context.asked;
  const { state } = context.server;
  const object = await readObject(context);
  if (isRefusal(object)) return answerRefusal(context, object);
  const name = resource.name ?? '';
  if (object.metadata.name !== undefined && object.metadata.name !== name) {
    return answerRefusal(
      context,
      refusal(400, `the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`),
    );
  }
  // What stands there now, not before the body had arrived.
  const before = storage.get(keyOf(resource.namespace ?? '', name));
  if (before === undefined) return answerRefusal(context, notFound(storage.kind, name));
  const old = parsed(storage.kind, before);
  const refused = refuseUpdate(storage.kind, { old, object });
  if (refused !== undefined) return answerRefusal(context, refused);
  const next = merged(storage.kind, { old, object, isStatus: resource.subresource === 'status' });
  if (isDry(context)) return answerJson(context, 200, JSON.stringify(next));
  // Who takes the last finalizer of what is being deleted deletes it: no change is told before.
  if (before.terminating && next.metadata.finalizers === undefined && settle(state, storage, before)) {
    return answerObject(
      context,
      200,
      storedOf(storage.kind, { ...next, metadata: { ...old.metadata, ...next.metadata } }, before.revision),
    );
  }
  const options = { manager: managerOf(context) };
  const stored = isDefinitions(storage)
    ? defineKind(context.server, next, options)
    : replaceObject(state, storage, { ...options, before, object: next });
  answerObject(context, 200, stored);
}

/** Sends one object in the form asked for. */
export function answerObject(context: ResourceContext, status: number, stored: StoredObject): void {
  const { storage, resource } = context.asked;
  const shape = acceptedShape(context.request.headers.accept, storage.kind, 'object');
  if (typeof shape === 'string') answerJson(context, status, wireText(storage.kind, stored, { shape, version: resource.version }));
  else answerRefusal(context, shape);
}

function withName(object: KubernetesObject): KubernetesObject {
  const { name, generateName } = object.metadata;
  if ((name !== undefined && name !== '') || typeof generateName !== 'string' || generateName === '') return object;
  const suffix = Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return { ...object, metadata: { ...object.metadata, name: `${generateName}${suffix}` } };
}

function refuseCreation({ asked, server }: ResourceContext, { metadata }: KubernetesObject): Refusal | undefined {
  const { kind } = asked.storage;
  const { namespace } = asked.resource;
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
    return { code: 500, message: 'resourceVersion should not be set on objects to be created' };
  }
  const misnamed = refuseName(kind, metadata.name);
  if (misnamed !== undefined) return misnamed;
  if (namespace !== undefined) {
    const home = server.state.storage('', 'namespaces')?.get(namespace);
    if (home === undefined) return notFound({ group: '', resource: 'namespaces' }, namespace);
    if (home.terminating) return terminating(kind, metadata.name, namespace);
  }
  return asked.storage.get(keyOf(namespace ?? '', metadata.name)) === undefined ? undefined : alreadyExists(kind, metadata.name);
}

function refuseName(kind: SimKind, name: string | undefined): Refusal | undefined {
  const field = 'metadata.name';
  if (name === undefined || name === '') {
    const cause = { reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field };
    return invalid({ kind: kind.kind, group: kind.group, name: '' }, [cause]);
  }
  // Names of roles and their like need only be one segment of a path.
  const isValid = kind.group === 'rbac.authorization.k8s.io' ? !/^\.{1,2}$|[/%]/.test(name) : subdomain.test(name) && name.length <= 253;
  if (isValid) return undefined;
  const cause = {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(name)}: must be a lowercase RFC 1123 subdomain`,
    field,
  };
  return invalid({ kind: kind.kind, group: kind.group, name }, [cause]);
}

function terminating(kind: SimKind, name: string, namespace: string): Refusal {
  const refused = forbidden(kind, `unable to create new content in namespace ${namespace} because it is being terminated`, name);
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' };
  return { ...refused, details: { ...refused.details, causes: [cause] } };
}

function refuseUpdate(
  kind: SimKind,
  { old, object }: { readonly old: KubernetesObject; readonly object: KubernetesObject },
): Refusal | undefined {
  const { name } = old.metadata;
  const { uid, resourceVersion, finalizers } = object.metadata;
  const subject = { kind: kind.resource, group: kind.group, name };
  if (resourceVersion === undefined || resourceVersion === '') {
    if (kind.source === 'custom') {
      const message = 'Invalid value: 0: must be specified for an update';
      return invalid(subject, [{ reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }]);
    }
  } else if (resourceVersion !== old.metadata.resourceVersion) return conflict(kind, name, modified);
  if (uid !== undefined && uid !== old.metadata.uid) {
    return conflict(kind, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`);
  }
  if (old.metadata.deletionTimestamp === undefined) return undefined;
  const added = list(finalizers).filter((finalizer) => !list(old.metadata.finalizers).includes(finalizer));
  if (added.length === 0) return undefined;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  return invalid(subject, [{ reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' }]);
}

/** A PUT changes all but the status, one of the status nothing else. */
function merged(
  kind: SimKind,
  { old, object, isStatus }: { readonly old: KubernetesObject; readonly object: KubernetesObject; readonly isStatus: boolean },
): KubernetesObject {
  if (isStatus) return withStatus({ ...old, metadata: without(old.metadata, ['managedFields']) }, object.status);
  const empty = list(object.metadata.finalizers).length === 0 ? ['finalizers'] : [];
  const next = { ...object, metadata: { ...without(object.metadata, [...ownedByServer, ...empty]), name: old.metadata.name } };
  return kind.hasStatus ? withStatus(next, old.status) : next;
}

function withStatus({ status: _status, ...body }: KubernetesObject, status: Json | undefined): KubernetesObject {
  return status === undefined ? body : { ...body, status };
}

function without(metadata: ObjectMetadata, keys: readonly string[]): ObjectMetadata {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !keys.includes(key))) as unknown as ObjectMetadata;
}

/** What only the server says of an object. */
const ownedByServer = [
  'managedFields',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'selfLink',
];

/** What the server itself puts into a new object, and does not take from it. */
function admit(kind: SimKind, object: KubernetesObject): KubernetesObject {
  const own = { ...object, metadata: without(object.metadata, ownedByServer) };
  if (kind.source === 'builtIn' && kind.kind === 'Namespace') return admittedNamespace(own);
  if (!kind.hasStatus) return own;
  if (kind.kind === 'Pod') return withStatus(own, { phase: 'Pending' });
  const zero = parseJsonExactly(`{${kind.zero}}`);
  return withStatus(own, isJsonObject(zero) ? zero.status : undefined);
}

/** A namespace is active, held by its finalizer, and labelled with its own name. */
export function admittedNamespace({ metadata, ...rest }: KubernetesObject): KubernetesObject {
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  const spec = isJsonObject(rest.spec) ? rest.spec : {};
  return { ...rest, metadata: { ...metadata, labels }, spec: { ...spec, finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
