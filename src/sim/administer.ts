import { groupOfApiVersion } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { EmbeddedCluster, KindName, SimChange } from './kinds/embedded-cluster.ts';
import { parseSimObject, type SimObject, storageKey } from './kinds/sim-object.ts';
import type { SimServer } from './requests/sim-server.ts';
import { isDefinitions } from './state/custom-definition.ts';
import { removeWithDependents } from './state/deletion.ts';
import type { KindStorage } from './state/kind-storage.ts';
import { createObject, findNamesake, replaceObject } from './state/object-writes.ts';
import { admittedNamespace } from './writes/admission.ts';
import { defineKind, withdrawKind } from './writes/define-kind.ts';

/** The methods that read and change a cluster directly. */
export type Administration = Pick<EmbeddedCluster, 'put' | 'get' | 'objects' | 'remove' | 'define' | 'observe'>;

/** The field manager of direct writes. */
const manager = 'kube-controller-manager';

/** Returns the methods that read and change a cluster without a request. They check no rights and accept every object. */
export function administer(server: SimServer): Administration {
  const { state } = server;
  const put = (object: KubernetesObject) => {
    const stored = putObject(server, object);
    return parseSimObject(storageFor(server, object).kind, stored);
  };
  return {
    put,
    objects(kind, namespace) {
      const storage = state.storageOf(kind);
      const chosen = storage.sorted().filter((object) => namespace === undefined || object.namespace === namespace);
      return chosen.map((object) => parseSimObject(storage.kind, object));
    },
    get(kind, name, namespace) {
      const { storage, object } = findObject(server, kind, { name, namespace });
      return object === undefined ? undefined : parseSimObject(storage.kind, object);
    },
    remove(kind, name, namespace) {
      const { storage, object } = findObject(server, kind, { name, namespace });
      if (object === undefined) return false;
      if (isDefinitions(storage)) withdrawKind(server, object);
      else removeWithDependents(state, storage, object);
      return true;
    },
    define: (definition) => put({ ...definition, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }),
    observe: (listener) =>
      state.onWrite(({ type, storage, object }) => listener(simChange(type, storage, () => parseSimObject(storage.kind, object)))),
  };
}

/** Creates or replaces the object, and creates its namespace if there is none. @throws {Error} if the kind is not served. */
export function putObject(server: SimServer, object: KubernetesObject): SimObject {
  const { state } = server;
  const storage = storageFor(server, object);
  if (isDefinitions(storage)) return defineKind(server, object, { manager });
  const home = storage.kind.namespaced ? (object.metadata.namespace ?? 'default') : '';
  if (home !== '' && state.storage('', 'namespaces')?.get(home) === undefined) {
    putObject(server, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } });
  }
  const before = findNamesake(storage, object);
  if (before !== undefined) return replaceObject(state, storage, { manager, before, object });
  const isNamespace = storage.kind.kind === 'Namespace' && storage.kind.group === '';
  return createObject(state, storage, isNamespace ? { ...admittedNamespace(object), ...bodyOf(object) } : object, { manager });
}

/** Finds the storage of a kind, and the object in it. @throws {Error} if the kind is not served. */
export function findObject({ state }: SimServer, kind: KindName, { name, namespace }: ObjectName): FoundObject {
  const storage = state.storageOf(kind);
  return { storage, object: storage.get(storageKey(storage.kind.namespaced ? (namespace ?? 'default') : '', name)) };
}

interface ObjectName {
  readonly name: string;
  readonly namespace: string | undefined;
}

interface FoundObject {
  readonly storage: KindStorage;
  readonly object: SimObject | undefined;
}

function simChange(type: SimChange['type'], { kind }: KindStorage, make: () => KubernetesObject): SimChange {
  let object: KubernetesObject | undefined;
  return {
    type,
    kind: { group: kind.group, kind: kind.kind },
    get object() {
      object ??= make();
      return object;
    },
  };
}

/** Finds the storage for an object. @throws {Error} if the kind is not served. */
export function storageFor({ state }: SimServer, { apiVersion, kind }: KubernetesObject): KindStorage {
  if (apiVersion === undefined || kind === undefined) throw new Error('expected an object with apiVersion and kind');
  return state.storageOf({ group: groupOfApiVersion(apiVersion), kind });
}

function bodyOf({ metadata: _metadata, ...body }: KubernetesObject): Omit<KubernetesObject, 'metadata'> {
  return body;
}
