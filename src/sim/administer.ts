import { isJsonObject, type Json } from '../core/json.ts';
import { numberAt } from '../core/json-at.ts';
import { apiVersionOf } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { admittedNamespace } from './admission.ts';
import type { SimServer } from './answer-context.ts';
import { containerStatusOf } from './container-status.ts';
import { isDefinitions } from './custom-definition.ts';
import { aggregateApi, defineKind, withdrawKind } from './define-kind.ts';
import { removeNow } from './deletion.ts';
import type { KindStorage } from './kind-storage.ts';
import { createObject, replaceObject, storedAs } from './object-writes.ts';
import type { KindName, SimChange, SimCluster } from './sim-cluster.ts';
import { keyOf, parsed, type StoredObject } from './stored-object.ts';

/** The cluster's own hands: its state, without rights, requests or admission. */
export type Administration = Pick<
  SimCluster,
  | 'put'
  | 'putRaw'
  | 'get'
  | 'list'
  | 'objects'
  | 'remove'
  | 'fill'
  | 'define'
  | 'withdraw'
  | 'aggregate'
  | 'backup'
  | 'writeLog'
  | 'observe'
>;

/** The manager of what the cluster writes itself. */
const manager = 'kube-controller-manager';
const definitionKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** The methods by which a cluster is filled, read and changed without a request. */
export function administer(server: SimServer): Administration {
  const { state } = server;
  const writer = createWriter(server);
  const objects = (kind: KindName, namespace?: string) => {
    const storage = state.storageOf(kind);
    const chosen = storage.sorted().filter((object) => namespace === undefined || object.namespace === namespace);
    return chosen.map((object) => parsed(storage.kind, object));
  };
  return {
    ...writer,
    objects,
    get(kind, name, namespace) {
      const storage = state.storageOf(kind);
      const stored = storage.get(keyIn(storage, name, namespace));
      return stored === undefined ? undefined : parsed(storage.kind, stored);
    },
    list: (kind, namespace) => ({ version: String(state.revision), items: objects(kind, namespace) }),
    remove(kind, name, namespace) {
      const storage = state.storageOf(kind);
      const stored = storage.get(keyIn(storage, name, namespace));
      if (stored === undefined) return false;
      if (isDefinitions(storage)) withdrawKind(server, stored);
      else removeNow(state, storage, stored);
      return true;
    },
    withdraw(name) {
      const stored = state.storageOf(definitionKind).get(name);
      if (stored === undefined) return false;
      withdrawKind(server, stored);
      return true;
    },
    aggregate: (api) => aggregateApi(server, api),
    backup: () => ({ version: state.save() }),
    writeLog({ namespace = 'default', pod: name, container }, ...lines) {
      const storage = state.storageOf('Pod');
      const stored = storage.get(keyIn(storage, name, namespace));
      if (stored === undefined) throw new Error(`no Pod ${namespace}/${name}`);
      const run = numberAt(containerStatusOf(parsed(storage.kind, stored), container), 'restartCount') ?? 0;
      server.logs.write({ uid: stored.uid, container, run }, lines);
    },
    observe: (listener) => state.onWrite(({ type, storage, object }) => listener(told(type, storage, () => parsed(storage.kind, object)))),
  };
}

function createWriter(server: SimServer): Pick<SimCluster, 'put' | 'putRaw' | 'fill' | 'define'> {
  const { state } = server;

  function write(object: KubernetesObject, members?: string): StoredObject {
    const storage = storageFor(server, object);
    if (isDefinitions(storage)) return defineKind(server, object, { manager });
    const home = storage.kind.namespaced ? (object.metadata.namespace ?? 'default') : '';
    if (home !== '' && state.storage('', 'namespaces')?.get(home) === undefined) {
      write({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } });
    }
    const before = storedAs(storage, object);
    const options = { manager, ...(members === undefined ? {} : { members }) };
    if (before !== undefined) return replaceObject(state, storage, { ...options, before, object });
    const isNamespace = storage.kind.kind === 'Namespace' && storage.kind.group === '';
    return createObject(state, storage, isNamespace ? { ...admittedNamespace(object), ...bodyOf(object) } : object, options);
  }

  function writeAndRead(object: KubernetesObject, members?: string): KubernetesObject {
    const stored = write(object, members);
    return parsed(storageFor(server, object).kind, stored);
  }

  return {
    put: (object) => writeAndRead(object),
    putRaw: (object, members) => writeAndRead(object, members),
    define: (definition) => writeAndRead({ ...definition, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }),
    fill(kind, count, template = {}) {
      const { kind: filled } = state.storageOf(kind);
      const identity = { apiVersion: apiVersionOf({ group: filled.group, version: filled.versions[0] ?? '' }), kind: filled.kind };
      let managedFields: Json | undefined;
      for (let index = 0; index < count; index++) {
        const given = typeof template === 'function' ? template(index) : template;
        const metadata = isJsonObject(given.metadata) ? given.metadata : {};
        const name = `${typeof metadata.name === 'string' ? metadata.name : filled.singular}-${index}`;
        // Who fills, makes objects of one shape: their managedFields are alike, and a third of the work.
        const own = managedFields === undefined ? metadata : { managedFields, ...metadata };
        const stored = write({ ...identity, ...given, metadata: { ...own, name } });
        managedFields ??= parsed(filled, stored).metadata.managedFields;
      }
    },
  };
}

function told(type: SimChange['type'], { kind }: KindStorage, make: () => KubernetesObject): SimChange {
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

/** @throws {Error} if the kind is not served. */
function storageFor({ state }: SimServer, { apiVersion, kind }: KubernetesObject): KindStorage {
  if (apiVersion === undefined || kind === undefined) throw new Error('expected an object with apiVersion and kind');
  const slash = apiVersion.lastIndexOf('/');
  return state.storageOf({ group: slash < 0 ? '' : apiVersion.slice(0, slash), kind });
}

function keyIn({ kind }: KindStorage, name: string, namespace: string | undefined): string {
  return keyOf(kind.namespaced ? (namespace ?? 'default') : '', name);
}

function bodyOf({ metadata: _metadata, ...body }: KubernetesObject): Omit<KubernetesObject, 'metadata'> {
  return body;
}
