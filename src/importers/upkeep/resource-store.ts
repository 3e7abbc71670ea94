import type { ObjectAddress, ObjectCallResult, ObjectClient } from '../../changes/object-client.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { type Hub, type HubKind, type HubObjectAnswer, type HubObjectName, requestOnHub } from '../../propagate/hub/hub.ts';
import type { MirroredObject } from '../../store/member-objects.ts';

/** The kind of the resources that are kept in sync. The operator spells its group so. */
export const resourceKind = {
  apiVersion: 'mulitcluster.practice.com/v1alpha1',
  group: 'mulitcluster.practice.com',
  kind: 'MultiClusterResource',
} as const satisfies HubKind;

/** Reads and writes the MultiClusterResources of the hub. Each write is one request with the gateway's own account. */
export interface ResourceStore {
  /** Keeps the mirror of the resources until the signal aborts. The hub need not serve their kind yet. */
  hold(signal: AbortSignal): void;
  /** Reads one resource from the mirror, without waiting. */
  read(name: HubObjectName): MirroredObject;
  /** Returns all resources of the mirror. Undefined while it has no first list, or the hub does not serve the kind. */
  all(): readonly KubernetesObject[] | undefined;
  /** Fetches one resource from the hub itself. The answer `absent` proves that it does not exist although its kind is served. */
  fetch(name: HubObjectName, signal: AbortSignal): Promise<HubObjectAnswer>;
  /** Merges a patch into the status, through the subresource. Guarded by the uid. The fault is `NOT_SERVED` without the subresource. */
  patchStatus(before: KubernetesObject, status: JsonObject, signal: AbortSignal): Promise<HubObjectAnswer>;
  /** Adds annotations, and keeps the others. Guarded by the version. */
  annotate(before: KubernetesObject, annotations: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HubObjectAnswer>;
  /** Replaces the finalizers. Guarded by the version. */
  setFinalizers(before: KubernetesObject, finalizers: readonly string[], signal: AbortSignal): Promise<HubObjectAnswer>;
}

export function createResourceStore(hub: Hub): ResourceStore {
  const { objects } = hub.members;
  const request = (objectName: HubObjectName, call: (client: ObjectClient, address: ObjectAddress) => Promise<ObjectCallResult>) =>
    requestOnHub(hub, { kind: resourceKind, objectName }, call);
  const patchMetadata = (before: KubernetesObject, change: JsonObject, signal: AbortSignal) => {
    const patch = { metadata: { ...guardsOf(before, ['uid', 'resourceVersion']), ...change } };
    return request(nameOf(before), (client, address) => client.patch({ ...address, type: 'merge', patch, run: 'real' }, signal));
  };
  return {
    hold: (signal) => objects.hold(hub.cluster, resourceKind, signal),
    read: (objectName) => objects.read(hub.cluster, resourceKind, objectName),
    all: () => objects.all(hub.cluster, resourceKind),
    fetch: (objectName, signal) => request(objectName, (client, address) => client.get(address, signal)),
    patchStatus(before, status, signal) {
      const patch = { metadata: guardsOf(before, ['uid']), status };
      return request(nameOf(before), (client, address) =>
        client.patch({ ...address, type: 'merge', subresource: 'status', patch, run: 'real' }, signal),
      );
    },
    annotate: (before, annotations, signal) => patchMetadata(before, { annotations }, signal),
    setFinalizers: (before, finalizers, signal) => patchMetadata(before, { finalizers }, signal),
  };
}

/** Returns the namespace and the name of a resource. Its Propagation has the same ones. */
export function nameOf({ metadata: { namespace = '', name } }: KubernetesObject): HubObjectName {
  return { namespace, name };
}

function guardsOf({ metadata }: KubernetesObject, names: readonly ('uid' | 'resourceVersion')[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]])));
}
