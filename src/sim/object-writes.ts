import { randomUUID } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { apiVersionOf } from '../core/kinds.ts';
import type { KubernetesObject, ObjectMetadata } from '../core/objects.ts';
import type { SimKind } from './built-in-kinds.ts';
import type { ClusterState } from './cluster-state.ts';
import type { KindStorage } from './kind-storage.ts';
import { managedFieldsOf } from './managed-fields.ts';
import { keyOf, parsed, type StoredObject, storedOf } from './stored-object.ts';

/** Who writes, and what of the object may not be parsed and printed again. */
export interface WriteOptions {
  /** The field manager: the first word of the User-Agent, as a real server has it. */
  readonly manager: string;
  /** The text of all members but kind, apiVersion and metadata. */
  readonly members?: string;
}

/** Built-in kinds whose objects count generations; custom resources all do. */
const generations = new Set([
  ...['Pod', 'ReplicationController', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet', 'CronJob', 'Job', 'Ingress', 'IngressClass'],
  ...['NetworkPolicy', 'PodDisruptionBudget', 'CustomResourceDefinition', 'FlowSchema', 'PriorityLevelConfiguration'],
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'],
]);

/** Creates an object that is not there. What its metadata does not say, the cluster gives. */
export function createObject(state: ClusterState, storage: KindStorage, object: KubernetesObject, options: WriteOptions): StoredObject {
  const { kind } = storage;
  const metadata = compact({
    ...object.metadata,
    namespace: kind.namespaced ? (object.metadata.namespace ?? 'default') : undefined,
    uid: kind.anonymous ? undefined : (object.metadata.uid ?? randomUUID()),
    creationTimestamp: object.metadata.creationTimestamp ?? state.timestamp(),
    generation: object.metadata.generation ?? (hasGeneration(kind) ? 1 : undefined),
  });
  const body = { ...object, metadata };
  const complete = kind.anonymous || metadata.managedFields !== undefined ? body : withManagedFields(state, kind, body, options);
  return state.write(storage, { type: 'ADDED', make: (revision) => versioned(kind, complete, revision, options.members) });
}

/**
 * Replaces an object. Uid, creation and deletion stand as they are; the generation counts what changed outside of metadata and status.
 *
 * Answers the state it has then: the one before if nothing changed.
 */
export function replaceObject(
  state: ClusterState,
  storage: KindStorage,
  { before, object, ...options }: WriteOptions & { readonly before: StoredObject; readonly object: KubernetesObject },
): StoredObject {
  const { kind } = storage;
  const old = parsed(kind, before);
  const { resourceVersion: _version, ...given } = object.metadata;
  const kept = compact({
    ...given,
    namespace: old.metadata.namespace,
    uid: kind.anonymous ? undefined : (given.uid ?? old.metadata.uid),
    creationTimestamp: given.creationTimestamp ?? old.metadata.creationTimestamp,
    deletionTimestamp: given.deletionTimestamp ?? old.metadata.deletionTimestamp,
    deletionGracePeriodSeconds: given.deletionGracePeriodSeconds ?? old.metadata.deletionGracePeriodSeconds,
    generation: old.metadata.generation,
    managedFields: given.managedFields ?? old.metadata.managedFields,
  });
  const same = versioned(kind, { ...object, metadata: kept }, before.revision, options.members);
  if (same.text === before.text) return before;
  // Who writes back what was read changes no generation: only one that differs is meant.
  const isGiven = given.generation !== undefined && given.generation !== old.metadata.generation;
  const generation = isGiven ? given.generation : nextGeneration(old, object);
  const body = { ...object, metadata: compact({ ...kept, generation }) };
  const complete = given.managedFields !== undefined || kind.anonymous ? body : withManagedFields(state, kind, body, options);
  return state.write(storage, { type: 'MODIFIED', before, make: (revision) => versioned(kind, complete, revision, options.members) });
}

/** Changes some of an object's metadata. */
export function patchMetadata(state: ClusterState, storage: KindStorage, before: StoredObject, change: JsonObject): StoredObject {
  const old = parsed(storage.kind, before);
  const object = { ...old, metadata: compact({ ...old.metadata, ...change }) };
  return state.write(storage, { type: 'MODIFIED', before, make: (revision) => versioned(storage.kind, object, revision) });
}

/** Takes the object out. Its last state carries the revision of its deletion, as on the wire. */
export function dropObject(state: ClusterState, storage: KindStorage, before: StoredObject): StoredObject {
  const last = parsed(storage.kind, before);
  return state.write(storage, { type: 'DELETED', before, make: (revision) => versioned(storage.kind, last, revision) });
}

/** True for a kind whose objects carry `metadata.generation`. */
export function hasGeneration(kind: SimKind): boolean {
  return kind.source === 'custom' || (kind.source === 'builtIn' && generations.has(kind.kind));
}

/** The state stored under the names in the metadata. */
export function storedAs(storage: KindStorage, { metadata }: { readonly metadata: ObjectMetadata }): StoredObject | undefined {
  return storage.get(keyOf(storage.kind.namespaced ? (metadata.namespace ?? 'default') : '', metadata.name));
}

function versioned(kind: SimKind, object: KubernetesObject, revision: number, members?: string): StoredObject {
  const metadata = kind.anonymous ? object.metadata : { ...object.metadata, resourceVersion: String(revision) };
  return storedOf(kind, { ...object, metadata }, revision, members);
}

function withManagedFields(state: ClusterState, kind: SimKind, object: KubernetesObject, { manager }: WriteOptions): KubernetesObject {
  const apiVersion = apiVersionOf({ group: kind.group, version: kind.versions[0] ?? '' });
  const { managedFields: _old, ...metadata } = object.metadata;
  const managedFields = managedFieldsOf({ ...object, metadata }, { manager, apiVersion, time: state.timestamp() });
  return { ...object, metadata: { ...(metadata as ObjectMetadata), managedFields } };
}

function nextGeneration(old: KubernetesObject, next: KubernetesObject): Json | undefined {
  const generation = old.metadata.generation;
  if (typeof generation !== 'number') return generation;
  return bodyText(old) === bodyText(next) ? generation : generation + 1;
}

/** What a generation counts, in a form to compare. Keys in the order of the alphabet, as two writers seldom agree on another. */
function bodyText(object: KubernetesObject): string {
  const { metadata: _metadata, status: _status, kind: _kind, apiVersion: _apiVersion, ...body } = object;
  return JSON.stringify(body, (_key, value: unknown) => {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

/** Without the members that are undefined. */
function compact(metadata: JsonObject & { readonly name: string }): ObjectMetadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined)) as unknown as ObjectMetadata;
}
