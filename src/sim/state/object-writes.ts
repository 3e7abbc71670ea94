import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { equalJson } from '../../core/json/json-values.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { KubernetesObject, ObjectMetadata } from '../../core/objects.ts';
import { managedAfterUpdate, type Writer } from '../fields/managed-fields.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { parseSimObject, type SimObject, simObjectOf, storageKey } from '../kinds/sim-object.ts';
import type { KindStorage } from './kind-storage.ts';
import { withServiceAddress, withServiceDefaults } from './service-fields.ts';
import type { SimState } from './sim-state.ts';

/** The author of a write, and how its managedFields are set. */
export interface WriteOptions extends Writer {
  /** `given`: the object's managedFields are stored as they are. `tracked`: they are computed from the changes. Default: `tracked`. */
  readonly managedFields?: 'tracked' | 'given';
}

/** A stored object and its replacement. */
export interface Replacement extends WriteOptions {
  readonly before: SimObject;
  readonly object: KubernetesObject;
}

/** Built-in kinds with a generation. Every custom kind has one. */
const generations = new Set([
  ...['Pod', 'ReplicationController', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet', 'CronJob', 'Job', 'Ingress', 'IngressClass'],
  ...['NetworkPolicy', 'PodDisruptionBudget', 'CustomResourceDefinition', 'FlowSchema', 'PriorityLevelConfiguration'],
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'],
]);

/** Creates an object. The cluster sets missing metadata. */
export function createObject(state: SimState, storage: KindStorage, object: KubernetesObject, options: WriteOptions): SimObject {
  const { kind } = storage;
  const complete = newObject(state, kind, object, options);
  return state.write(storage, { type: 'ADDED', make: (revision) => versioned(kind, complete, revision) });
}

/** Returns the object as it would be created, without a version. */
export function newObject(state: SimState, kind: SimKind, object: KubernetesObject, options: WriteOptions): KubernetesObject {
  const owned = newOwnedObject(state, kind, withServiceDefaults(kind, object), options);
  return withServiceAddress(kind, { object: owned, random: () => state.clock.random() });
}

/** Returns a new object with its managedFields. Fields that the server assigns later have no owner. */
function newOwnedObject(state: SimState, kind: SimKind, object: KubernetesObject, options: WriteOptions): KubernetesObject {
  const { resourceVersion: _version, ...given } = object.metadata;
  const metadata = compact({
    ...given,
    namespace: kind.namespaced ? (given.namespace ?? 'default') : undefined,
    uid: kind.anonymous ? undefined : (given.uid ?? randomUUID()),
    creationTimestamp: given.creationTimestamp ?? state.timestamp(),
    generation: given.generation ?? (hasGeneration(kind) ? 1 : undefined),
  });
  const body = { ...object, metadata };
  if (kind.anonymous || metadata.managedFields !== undefined) return body;
  return withManagedFields(body, managedAfterUpdate(kind, { before: undefined, after: body }, { ...options, time: state.timestamp() }));
}

/**
 * Replaces an object. Uid, creation and deletion times are kept. Changes outside of metadata and status increase the generation. Returns
 * the stored state, which is the old one if nothing changed.
 */
export function replaceObject(state: SimState, storage: KindStorage, replacement: Replacement): SimObject {
  const { kind } = storage;
  const { before } = replacement;
  const next = nextObject(state, kind, replacement);
  if (next === undefined) return before;
  return state.write(storage, { type: 'MODIFIED', before, make: (revision) => versioned(kind, next, revision) });
}

/** Returns the object as it would be stored, with the old version. Undefined if nothing would change. */
export function nextObject(
  state: SimState,
  kind: SimKind,
  { before, object: wanted, ...options }: Replacement,
): KubernetesObject | undefined {
  const old = parseSimObject(kind, before);
  const object = withServiceAddress(kind, { old, object: withServiceDefaults(kind, wanted), random: () => state.clock.random() });
  const { resourceVersion: _version, ...given } = object.metadata;
  const kept = compact({
    ...given,
    namespace: old.metadata.namespace,
    uid: kind.anonymous ? undefined : (given.uid ?? old.metadata.uid),
    creationTimestamp: given.creationTimestamp ?? old.metadata.creationTimestamp,
    deletionTimestamp: given.deletionTimestamp ?? old.metadata.deletionTimestamp,
    deletionGracePeriodSeconds: given.deletionGracePeriodSeconds ?? old.metadata.deletionGracePeriodSeconds,
    generation: old.metadata.generation,
    managedFields: given.managedFields ?? (options.managedFields === 'given' ? undefined : old.metadata.managedFields),
  });
  const same = versioned(kind, { ...object, metadata: kept }, before.revision);
  if (same.text === before.text || isSame(old, { ...object, metadata: kept })) return undefined;
  // An object that is read and written back contains the old generation, so only a different generation is used.
  const isGiven = given.generation !== undefined && given.generation !== old.metadata.generation;
  const generation = isGiven ? given.generation : nextGeneration(old, object);
  const body = { ...object, metadata: compact({ ...kept, generation, resourceVersion: old.metadata.resourceVersion }) };
  if (options.managedFields === 'given' || kind.anonymous) return body;
  return withManagedFields(body, managedAfterUpdate(kind, { before: old, after: body }, { ...options, time: state.timestamp() }));
}

/** Writes the object with the members of `change` in its metadata. An undefined member is removed. */
export function patchMetadata(state: SimState, storage: KindStorage, before: SimObject, change: JsonObject): SimObject {
  const old = parseSimObject(storage.kind, before);
  const object = { ...old, metadata: compact({ ...old.metadata, ...change }) };
  return state.write(storage, { type: 'MODIFIED', before, make: (revision) => versioned(storage.kind, object, revision) });
}

/** Deletes an object from its storage. Its last state has the revision of the deletion, as in a watch event. */
export function dropObject(state: SimState, storage: KindStorage, before: SimObject): SimObject {
  const last = parseSimObject(storage.kind, before);
  return state.write(storage, { type: 'DELETED', before, make: (revision) => versioned(storage.kind, last, revision) });
}

/** True for a kind with `metadata.generation`. */
export function hasGeneration(kind: SimKind): boolean {
  return kind.source === 'custom' || (kind.source === 'builtIn' && generations.has(kind.kind));
}

/** Returns the stored object with the same namespace and name, or undefined. */
export function findNamesake(storage: KindStorage, { metadata }: { readonly metadata: ObjectMetadata }): SimObject | undefined {
  return storage.get(storageKey(storage.kind.namespaced ? (metadata.namespace ?? 'default') : '', metadata.name));
}

function versioned(kind: SimKind, object: KubernetesObject, revision: number): SimObject {
  const metadata = kind.anonymous ? object.metadata : { ...object.metadata, resourceVersion: String(revision) };
  return simObjectOf(kind, { ...object, metadata }, revision);
}

function withManagedFields(object: KubernetesObject, managedFields: readonly JsonObject[] | undefined): KubernetesObject {
  const { managedFields: _old, ...metadata } = object.metadata;
  return { ...object, metadata: compact({ ...(metadata as ObjectMetadata), managedFields }) };
}

/** True if two objects differ at most in kind, apiVersion, resourceVersion and the order of keys. */
function isSame(old: KubernetesObject, next: KubernetesObject): boolean {
  const contentOf = ({
    kind: _kind,
    apiVersion: _apiVersion,
    metadata: { resourceVersion: _version, ...metadata },
    ...body
  }: KubernetesObject) => ({
    ...body,
    metadata,
  });
  return equalJson(contentOf(old), contentOf(next));
}

function nextGeneration(old: KubernetesObject, next: KubernetesObject): Json | undefined {
  const generation = old.metadata.generation;
  if (typeof generation !== 'number') return generation;
  return canonicalJson(bodyOf(old)) === canonicalJson(bodyOf(next)) ? generation : generation + 1;
}

/** Returns the fields whose changes increase the generation. */
function bodyOf({ metadata: _metadata, status: _status, kind: _kind, apiVersion: _apiVersion, ...body }: KubernetesObject): JsonObject {
  return body;
}

/** Removes members that are undefined. */
function compact(metadata: JsonObject & { readonly name: string }): ObjectMetadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined)) as unknown as ObjectMetadata;
}
