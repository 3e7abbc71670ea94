import type { Json } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import {
  type ApiRefusal,
  alreadyExists,
  apiRefusal,
  conflict,
  forbidden,
  invalidObject,
  modifiedMessage,
  notFound,
} from '../kinds/api-status.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { storageKey } from '../kinds/sim-object.ts';
import type { ResourceContext } from '../requests/sim-server.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Returns a 400 if the name in the object is not the name in the path, else undefined. */
export function refuseOtherName({ metadata }: KubernetesObject, name: string): ApiRefusal | undefined {
  if (metadata.name === undefined || metadata.name === name) return undefined;
  return apiRefusal(400, `the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
}

/**
 * Returns a refusal if the object cannot be created: it exists, its name is invalid, it has a resourceVersion, or its namespace is missing
 * or terminating. Undefined if it can be created.
 */
export function refuseCreation({ target, server }: ResourceContext, { metadata }: KubernetesObject): ApiRefusal | undefined {
  const { kind } = target.storage;
  const { namespace } = target.resource;
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
  return target.storage.get(storageKey(namespace ?? '', metadata.name)) === undefined ? undefined : alreadyExists(kind, metadata.name);
}

/**
 * Returns a 422 for another uid in a patch, else undefined. A real server reports this cause twice, because the server and the kind both
 * check it.
 */
export function refuseOtherUid(kind: SimKind, { metadata }: KubernetesObject, uid: string | undefined): ApiRefusal | undefined {
  if (uid === undefined || uid === metadata.uid) return undefined;
  const cause = {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(uid)}: field is immutable`,
    field: 'metadata.uid',
  };
  return invalidObject({ kind: kind.kind, group: kind.group, name: metadata.name }, [cause, cause]);
}

function refuseName(kind: SimKind, name: string | undefined): ApiRefusal | undefined {
  const field = 'metadata.name';
  if (name === undefined || name === '') {
    const cause = { reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field };
    return invalidObject({ kind: kind.kind, group: kind.group, name: '' }, [cause]);
  }
  // Names of RBAC kinds only need to be one segment of a path.
  const isValid = kind.group === 'rbac.authorization.k8s.io' ? !/^\.{1,2}$|[/%]/.test(name) : subdomain.test(name) && name.length <= 253;
  if (isValid) return undefined;
  const cause = {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(name)}: must be a lowercase RFC 1123 subdomain`,
    field,
  };
  return invalidObject({ kind: kind.kind, group: kind.group, name }, [cause]);
}

function terminating(kind: SimKind, name: string, namespace: string): ApiRefusal {
  const refused = forbidden(kind, `unable to create new content in namespace ${namespace} because it is being terminated`, name);
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' };
  return { ...refused, details: { ...refused.details, causes: [cause] } };
}

/** True if the version is a precondition. An absent version, `""` and `"0"` are no precondition. */
export function isGuard(resourceVersion: string | undefined): resourceVersion is string {
  return resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0';
}

/**
 * Returns a refusal if the update is based on another version or another object, or adds finalizers to a terminating object. An update
 * without version is refused for custom kinds only. Undefined if the update is accepted.
 */
export function refuseUpdate(
  kind: SimKind,
  { old, object }: { readonly old: KubernetesObject; readonly object: KubernetesObject },
): ApiRefusal | undefined {
  const { name } = old.metadata;
  const { uid, resourceVersion } = object.metadata;
  if (!isGuard(resourceVersion)) {
    if (kind.source === 'custom') {
      const message = 'Invalid value: 0: must be specified for an update';
      const subject = { kind: kind.resource, group: kind.group, name };
      return invalidObject(subject, [{ reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }]);
    }
  } else if (resourceVersion !== old.metadata.resourceVersion) return conflict(kind, name, modifiedMessage);
  if (uid !== undefined && uid !== old.metadata.uid) {
    return conflict(kind, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`);
  }
  return refuseFinalizers(kind, { old, object });
}

/** Returns a 422 if finalizers are added to a terminating object, else undefined. A real server reports this cause twice. */
export function refuseFinalizers(
  kind: SimKind,
  { old, object }: { readonly old: KubernetesObject; readonly object: KubernetesObject },
): ApiRefusal | undefined {
  if (old.metadata.deletionTimestamp === undefined) return undefined;
  const added = list(object.metadata.finalizers).filter((finalizer) => !list(old.metadata.finalizers).includes(finalizer));
  if (added.length === 0) return undefined;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  const subject = { kind: kind.kind, group: kind.group, name: old.metadata.name };
  const cause = { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' };
  return invalidObject(subject, [cause, cause]);
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
