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

/** What only the server says of an object. */
const ownedByServer = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation', 'selfLink'];

/** What the server itself puts into a new object, and does not take from it. */
export function withServerFields(kind: SimKind, object: KubernetesObject): KubernetesObject {
  const own = withDefaults(kind, { ...object, metadata: withoutKeys(object.metadata, ownedByServer) });
  if (kind.source === 'builtIn' && kind.kind === 'Namespace') return admittedNamespace(own);
  if (!kind.hasStatus) return own;
  return replaceStatus(own, kind.kind === 'Pod' ? { phase: 'Pending' } : zeroValueOfKind(kind).status);
}

/** The object without what only the server says of it, as what is to stand under that name. */
export function withoutServerFields(object: KubernetesObject, name: string): KubernetesObject {
  const { finalizers } = object.metadata;
  const empty = Array.isArray(finalizers) && finalizers.length === 0 ? ['finalizers'] : [];
  return { ...object, metadata: { ...withoutKeys(object.metadata, [...ownedByServer, ...empty]), name } };
}

/** The object with that status, or without any. */
export function replaceStatus({ status: _status, ...body }: KubernetesObject, status: Json | undefined): KubernetesObject {
  return status === undefined ? body : { ...body, status };
}

/** A namespace is active, held by its finalizer, and labelled with its own name. */
export function admittedNamespace({ metadata, ...rest }: KubernetesObject): KubernetesObject {
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  const spec = isJsonObject(rest.spec) ? rest.spec : {};
  return { ...rest, metadata: { ...metadata, labels }, spec: { ...spec, finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}

/** What the kind makes of what it is given: defaults of custom resources, the data of a Secret that came as text, a namespace's own label. */
export function withDefaults(kind: SimKind, object: KubernetesObject, version = kind.versions[0] ?? ''): KubernetesObject {
  if (kind.source === 'custom') {
    // A schema says nothing of metadata: what stands there of it is no default of ours.
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

/** Why an object may not be created as it is, or not become what it would, if so. */
export function refuseObject(
  context: ResourceContext,
  { old, next }: { readonly old: KubernetesObject | undefined; readonly next: KubernetesObject },
): ApiRefusal | undefined {
  const { kind } = context.target.storage;
  // What was wrong before, as what was put in by hand may be, is no reason to refuse a change of something else.
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
