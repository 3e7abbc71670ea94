import { keyOfKind } from '../../../core/kinds.ts';
import type { ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../../manifests/object-key.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import type { PlannerPorts, PlanRequest } from './plan-request.ts';
import type { SnapshotCluster } from './snapshot.ts';

/**
 * Replaces the objects that the requester may not get by absent ones. So the plan shows neither a diff nor a conflict that tells that they
 * exist. An object whose rights are unknown is unread. The copies in the inventory stay as they are.
 *
 * @param keys The keys of the objects in `live`.
 */
export async function hideObjects(
  { sight }: PlannerPorts,
  { spec, signal }: PlanRequest,
  { read, keys }: { readonly read: SnapshotCluster; readonly keys: readonly ObjectKey[] },
): Promise<SnapshotCluster> {
  if (sight === undefined) return read;
  const copies = new Set(read.share?.entries.map(({ key }) => textOfKey(key)));
  const existing = keys.filter((key) => !copies.has(textOfKey(key)) && read.live.get(textOfKey(key))?.result === 'held');
  const live = new Map(read.live);
  const byKind = Map.groupBy(existing, (key) => keyOfKind(groupKindOfKey(key)));
  await Promise.all(
    byKind.values().map(async ([first, ...others]) => {
      if (first === undefined) return;
      const same = [first, ...others];
      const namespaces = [...new Set(same.flatMap(({ namespace }) => namespace ?? []))];
      const request = { cluster: read.cluster.name, kind: groupKindOfKey(first), ...(namespaces.length === 0 ? {} : { namespaces }) };
      const visible = await sight.objects(spec, request, signal);
      for (const key of same) if (!visible.has(key.namespace)) live.set(textOfKey(key), hidden(live.get(textOfKey(key)), visible.fault));
    }),
  );
  signal.throwIfAborted();
  return { ...read, live };
}

function hidden(
  object: MirroredObject | undefined,
  fault: Extract<MirroredObject, { result: 'unread' }>['fault'] | undefined,
): MirroredObject {
  if (fault !== undefined) return { result: 'unread', fault };
  return { result: 'absent', asOfMs: object !== undefined && object.result !== 'unread' ? object.asOfMs : 0 };
}
