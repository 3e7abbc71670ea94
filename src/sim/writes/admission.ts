import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import type { KubernetesObject, ObjectMetadata } from '../../core/objects.ts';
import { defaultedValue, schemaFaults } from '../fields/custom-schema.ts';
import { zeroValueOfKind } from '../fields/kind-types.ts';
import { type ApiRefusal, invalidObject, type StatusCause } from '../kinds/api-status.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { forbiddenChanges, missingFields } from './builtin-rules.ts';

/** Metadata that only the server sets. */
const ownedByServer = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation', 'selfLink'];

/** Sets the fields that a server sets on a new object, instead of the fields in the request. */
export function withServerFields(kind: SimKind, object: KubernetesObject): KubernetesObject {
  const own = withDefaults(kind, { ...object, metadata: withoutKeys(object.metadata, ownedByServer) });
  if (kind.source === 'builtIn' && kind.kind === 'Namespace') return admittedNamespace(own);
  if (!kind.hasStatus) return own;
  return replaceStatus(own, kind.kind === 'Pod' ? { phase: 'Pending' } : zeroValueOfKind(kind).status);
}

/** Removes fields that only the server sets, and sets the name. */
export function withoutServerMetadata(object: KubernetesObject, name: string): KubernetesObject {
  const { finalizers } = object.metadata;
  const empty = Array.isArray(finalizers) && finalizers.length === 0 ? ['finalizers'] : [];
  return { ...object, metadata: { ...withoutKeys(object.metadata, [...ownedByServer, ...empty]), name } };
}

/** Returns the object with the given status instead of its own. Undefined removes the status. */
export function replaceStatus({ status: _status, ...body }: KubernetesObject, status: Json | undefined): KubernetesObject {
  return status === undefined ? body : { ...body, status };
}

/** Returns an active namespace with its finalizer and the label of its name. */
export function admittedNamespace({ metadata, ...rest }: KubernetesObject): KubernetesObject {
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  const spec = isJsonObject(rest.spec) ? rest.spec : {};
  return { ...rest, metadata: { ...metadata, labels }, spec: { ...spec, finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}

/** Sets the defaults of custom resources, encodes `stringData` of Secrets, and labels namespaces with their names. */
export function withDefaults(kind: SimKind, object: KubernetesObject, version = kind.versions[0] ?? ''): KubernetesObject {
  if (kind.source === 'custom') {
    // A schema does not describe metadata, so metadata gets no defaults.
    const value = defaultedValue(kind.schemas[version] ?? {}, { ...object, metadata: {} });
    return { ...objectAt(value), metadata: object.metadata };
  }
  if (kind.source !== 'builtIn' || kind.group !== '') return object;
  if (kind.kind === 'Namespace') {
    const labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name };
    return { ...object, metadata: { ...object.metadata, labels } };
  }
  const { stringData, ...secret } = object;
  if (kind.kind !== 'Secret' || !isJsonObject(stringData)) return object;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')] as const);
  return { ...secret, metadata: object.metadata, data: { ...objectAt(secret.data), ...Object.fromEntries(encoded) } };
}

/** Returns a refusal if the new object is invalid, or the change is forbidden, else undefined. */
export function refuseObject(
  context: ResourceContext,
  { old, next }: { readonly old: KubernetesObject | undefined; readonly next: KubernetesObject },
): ApiRefusal | undefined {
  const { kind } = context.target.storage;
  // An object that was put directly may already be invalid. Old faults do not prevent other changes.
  const before = new Set(old === undefined ? [] : contentFaults(context, old).map(({ field }) => field));
  const wrong = contentFaults(context, next).filter(({ field }) => !before.has(field));
  const causes = [...(old === undefined ? [] : changeFaults(kind, old, next)), ...wrong];
  const { name } = next.metadata;
  if (causes.length > 0) return invalidObject({ kind: kind.kind, group: kind.group, name }, causes);
  return context.server.hooks.refuseWrite?.(context, next);
}

function changeFaults(kind: SimKind, old: KubernetesObject, next: KubernetesObject): readonly StatusCause[] {
  return kind.source === 'builtIn' ? forbiddenChanges(kind, old, next) : [];
}

function contentFaults({ target }: ResourceContext, next: KubernetesObject): readonly StatusCause[] {
  const { kind } = target.storage;
  if (kind.source === 'builtIn') return missingFields(kind, next);
  return schemaFaults(kind.schemas[target.resource.version] ?? {}, next);
}

function withoutKeys(metadata: ObjectMetadata, keys: readonly string[]): ObjectMetadata {
  const kept: JsonObject = Object.fromEntries(Object.entries(metadata).filter(([key]) => !keys.includes(key)));
  return { ...kept, name: metadata.name };
}
