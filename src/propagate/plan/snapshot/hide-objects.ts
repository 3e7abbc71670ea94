import { keyOfKind } from '../../../core/kinds.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, textOfKey } from '../../../manifests/object-key.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import type { ClusterShare, InventoryEntry } from '../../model/inventory.ts';
import { autoscaledIn, autoscalers, capacityKinds, type TemplateWorkloads } from './member-workloads.ts';
import type { PlannerPorts, PlanRequest } from './plan-request.ts';

/** The objects that were read in one cluster. */
interface ReadObjects {
  readonly cluster: ClusterName;
  readonly share: ClusterShare | undefined;
  /** The keys of the objects in `live`. */
  readonly keys: readonly ObjectKey[];
  readonly live: ReadonlyMap<string, MirroredObject>;
}

/**
 * Returns the objects by `textOfKey`. An object that the requester may not get counts as absent. So the plan shows neither a diff nor a
 * conflict from which the requester learns that the object exists. If the rights to an object are unknown, it counts as unread. Written
 * copies are not hidden. An object that only has the name of a copy is not a copy.
 *
 * The rights are checked for absent objects too: neither the duration nor a fault of the check tells whether an object exists.
 */
export async function hideObjects(
  { visibility }: PlannerPorts,
  { spec, signal }: PlanRequest,
  { cluster, share, keys, live }: ReadObjects,
): Promise<ReadonlyMap<string, MirroredObject>> {
  if (visibility === undefined) return live;
  const isCopy = ({ key, uid }: InventoryEntry) => {
    const object = live.get(textOfKey(key));
    return uid !== undefined && (object?.result !== 'held' || object.object.metadata.uid === uid);
  };
  const copies = new Set(share?.entries.filter(isCopy).map(({ key }) => textOfKey(key)));
  // Whether a mirror is unread does not depend on the objects in it.
  const read = keys.filter((key) => !copies.has(textOfKey(key)) && live.get(textOfKey(key))?.result !== 'unread');
  const visible = new Map(live);
  const byKind = Map.groupBy(read, (key) => keyOfKind(groupKindOfKey(key)));
  await Promise.all(
    byKind.values().map(async ([first, ...others]) => {
      if (first === undefined) return;
      const same = [first, ...others];
      const objects = await visibility.objects(spec, { cluster, kind: groupKindOfKey(first), ...namespacesOf(same) }, signal);
      for (const key of same)
        if (!objects.has(key.namespace)) visible.set(textOfKey(key), hiddenObject(live.get(textOfKey(key)), objects.fault));
    }),
  );
  signal.throwIfAborted();
  return visible;
}

/**
 * Returns the workloads of the template that an autoscaler of the cluster scales, by `textOfKey`, as far as the requester may list
 * autoscalers in their namespaces.
 */
export async function visibleAutoscaledIn(
  { members, visibility }: PlannerPorts,
  { spec, signal }: PlanRequest,
  { cluster, workloads }: { readonly cluster: ClusterName; readonly workloads: TemplateWorkloads },
): Promise<ReadonlySet<string>> {
  const scaled = autoscaledIn(members, cluster, workloads);
  if (visibility === undefined || capacityKinds(workloads).length === 0) return scaled;
  const keys = workloads.manifests.map(keyOfManifest);
  const request = { cluster, kind: autoscalers, verb: 'list', ...namespacesOf(keys) } as const;
  const visible = await visibility.objects(spec, request, signal);
  return new Set(keys.filter(({ namespace }) => visible.has(namespace)).map(textOfKey)).intersection(scaled);
}

/** Returns a test for the namespaces of the workloads in which the requester may list Pods. */
export async function listablePodsIn(
  { visibility }: PlannerPorts,
  { spec, signal }: PlanRequest,
  { cluster, workloads }: { readonly cluster: ClusterName; readonly workloads: TemplateWorkloads },
): Promise<(namespace: string | undefined) => boolean> {
  if (visibility === undefined) return () => true;
  const namespaces = namespacesOf(workloads.manifests.map(keyOfManifest));
  const visible = await visibility.objects(spec, { cluster, kind: { group: '', kind: 'Pod' }, verb: 'list', ...namespaces }, signal);
  return (namespace) => visible.has(namespace);
}

function namespacesOf(keys: readonly ObjectKey[]): { readonly namespaces?: readonly string[] } {
  const namespaces = [...new Set(keys.flatMap(({ namespace }) => namespace ?? []))];
  return namespaces.length === 0 ? {} : { namespaces };
}

function hiddenObject(
  object: MirroredObject | undefined,
  fault: Extract<MirroredObject, { result: 'unread' }>['fault'] | undefined,
): MirroredObject {
  if (fault !== undefined) return { result: 'unread', fault };
  return { result: 'absent', asOfMs: object !== undefined && object.result !== 'unread' ? object.asOfMs : 0 };
}
