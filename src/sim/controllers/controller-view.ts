import type * as k8s from '@kubernetes/client-node';
import { type GroupKind, groupOfApiVersion, keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject, TypedObject } from '../../core/objects.ts';
import type { EmbeddedCluster } from '../kinds/embedded-cluster.ts';

/** A view of a cluster for its controllers: current objects of the kinds they work on, without managedFields. */
export interface ControllerView extends Disposable {
  /** Returns the objects in order of creation. */
  objects<Kind extends ControlledKind>(kind: Kind): Iterable<ControlledKinds[Kind]>;
  find<Kind extends ControlledKind>(kind: Kind, name: string, namespace?: string): ControlledKinds[Kind] | undefined;
  /** Returns the objects of a kind whose controller has that uid, in order of creation. */
  owned<Kind extends ControlledKind>(kind: Kind, uid: string | undefined): ControlledKinds[Kind][];
  count(kind: ControlledKind): number;
  /** Returns true if an object has changed since the last call. */
  consumeChanged(): boolean;
  /** Adds the object to the view as a draft, without writing it to the cluster. `flush` writes all drafts. */
  draft(object: KubernetesObject): void;
  /** Removes a draft that `flush` has not written yet. */
  undraft(kind: ControlledKind, object: KubernetesObject): void;
  flush(): void;
}

export type Pod = TypedObject<k8s.V1Pod>;
export type Node = TypedObject<k8s.V1Node>;
export type Service = TypedObject<k8s.V1Service>;
export type Deployment = TypedObject<k8s.V1Deployment>;
export type ReplicaSet = TypedObject<k8s.V1ReplicaSet>;
export type StatefulSet = TypedObject<k8s.V1StatefulSet>;
export type DaemonSet = TypedObject<k8s.V1DaemonSet>;
export type Job = TypedObject<k8s.V1Job>;
export type CronJob = TypedObject<k8s.V1CronJob>;

/** The kinds that controllers work on. */
export interface ControlledKinds {
  Namespace: KubernetesObject;
  Node: Node;
  Pod: Pod;
  Service: Service;
  Event: TypedObject<k8s.CoreV1Event>;
  ServiceAccount: KubernetesObject;
  ConfigMap: KubernetesObject;
  'Deployment.apps': Deployment;
  'ReplicaSet.apps': ReplicaSet;
  'StatefulSet.apps': StatefulSet;
  'DaemonSet.apps': DaemonSet;
  'Job.batch': Job;
  'CronJob.batch': CronJob;
  'EndpointSlice.discovery.k8s.io': TypedObject<k8s.V1EndpointSlice>;
  'Lease.coordination.k8s.io': TypedObject<k8s.V1Lease>;
}

export type ControlledKind = keyof ControlledKinds;

const controlledKinds = [
  'Namespace',
  'Node',
  'Pod',
  'Service',
  'Event',
  'ServiceAccount',
  'ConfigMap',
  'Deployment.apps',
  'ReplicaSet.apps',
  'StatefulSet.apps',
  'DaemonSet.apps',
  'Job.batch',
  'CronJob.batch',
  'EndpointSlice.discovery.k8s.io',
  'Lease.coordination.k8s.io',
] as const satisfies readonly ControlledKind[];

const kinds: ReadonlySet<string> = new Set(controlledKinds);

/** Creates a view that follows the cluster until it is disposed. */
export function createControllerView(cluster: EmbeddedCluster): ControllerView {
  const index = new ObjectsByKind();
  const drafted = new Map<string, { readonly kind: ControlledKind; readonly object: KubernetesObject }>();
  let changed = true;
  for (const kind of controlledKinds) for (const object of cluster.objects(parseGroupKind(kind))) index.keep(kind, object);
  const subscription = cluster.observe((change) => {
    const kind = keyOfKind(change.kind);
    if (!isControlledKind(kind)) return;
    changed = true;
    if (change.type === 'DELETED') index.drop(kind, change.object);
    else index.keep(kind, change.object);
  });
  return {
    objects: (kind) => index.all(kind).values(),
    find: (kind, name, namespace) => index.all(kind).get(keyOf(name, namespace)),
    owned: (kind, uid) => index.owned(kind, uid),
    count: (kind) => index.all(kind).size,
    consumeChanged() {
      const was = changed;
      changed = false;
      return was;
    },
    draft(object) {
      const kind = controlledKindOf(object);
      if (kind === undefined) throw new Error(`expected a kind with a controller, got ${object.apiVersion} ${object.kind}`);
      changed = true;
      drafted.set(placeOf(kind, object), { kind, object });
      index.keep(kind, object);
    },
    undraft(kind, object) {
      changed = true;
      drafted.delete(placeOf(kind, object));
      index.drop(kind, object);
    },
    flush() {
      const objects = Array.from(drafted.values(), ({ object }) => object);
      drafted.clear();
      for (const object of objects) cluster.put(object);
    },
    [Symbol.dispose]: () => subscription[Symbol.dispose](),
  };
}

/** Indexes objects by kind and name, and by their controller. */
class ObjectsByKind {
  readonly #byKind = new Map<ControlledKind, Map<string, KubernetesObject>>(controlledKinds.map((kind) => [kind, new Map()]));
  readonly #owned = new Map<string, Map<string, KubernetesObject>>();

  all<Kind extends ControlledKind>(kind: Kind): ReadonlyMap<string, ControlledKinds[Kind]> {
    return (this.#byKind.get(kind) ?? new Map()) as ReadonlyMap<string, ControlledKinds[Kind]>;
  }

  owned<Kind extends ControlledKind>(kind: Kind, uid: string | undefined): ControlledKinds[Kind][] {
    return [...((this.#owned.get(`${kind} ${uid}`)?.values() ?? []) as Iterable<ControlledKinds[Kind]>)];
  }

  keep(kind: ControlledKind, object: KubernetesObject): void {
    const bare = withoutManagedFields(object);
    const key = keyOf(object.metadata.name, object.metadata.namespace);
    this.#byKind.get(kind)?.set(key, bare);
    const owner = controllerOf(bare);
    if (owner === undefined) return;
    const place = `${kind} ${owner}`;
    const siblings = this.#owned.get(place) ?? new Map<string, KubernetesObject>();
    this.#owned.set(place, siblings);
    siblings.set(key, bare);
  }

  drop(kind: ControlledKind, object: KubernetesObject): void {
    const key = keyOf(object.metadata.name, object.metadata.namespace);
    this.#byKind.get(kind)?.delete(key);
    const place = `${kind} ${controllerOf(object)}`;
    const siblings = this.#owned.get(place);
    siblings?.delete(key);
    if (siblings?.size === 0) this.#owned.delete(place);
  }
}

/** Returns the kind of the object if a controller works on that kind, else undefined. */
export function controlledKindOf({ apiVersion = '', kind = '' }: KubernetesObject): ControlledKind | undefined {
  const key = keyOfKind({ group: groupOfApiVersion(apiVersion), kind });
  return isControlledKind(key) ? key : undefined;
}

function controllerOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function isControlledKind(kind: string): kind is ControlledKind {
  return kinds.has(kind);
}

/** Splits a key such as `Deployment.apps`. */
export function parseGroupKind(key: string): GroupKind {
  const [kind = key, ...group] = key.split('.');
  return { kind, group: group.join('.') };
}

function placeOf(kind: ControlledKind, { metadata }: KubernetesObject): string {
  return `${kind} ${keyOf(metadata.name, metadata.namespace)}`;
}

function keyOf(name: string, namespace = ''): string {
  return `${namespace}/${name}`;
}

function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
