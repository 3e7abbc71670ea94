import { keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MemberObjects } from '../../store/member-objects.ts';
import { observedHashOf } from '../copies/observed.ts';
import type { InventoryEntry } from '../inventory.ts';
import { kindOfKey } from '../object-key.ts';
import type { RenderedObject } from '../plan.ts';
import type { ControllerPorts } from './ports.ts';

/** What the copy holds now, as a hash of the fields that we sent; kept for as long as the mirror holds that very object. */
interface Observed {
  readonly desiredHash: string;
  readonly hash: string;
}

/** Tells whether what we sent is another one by now, without a call. */
export interface DriftWatch {
  /** False also where the mirror holds the object in another form than it is written in: nobody can tell there. */
  isDrifted(
    cluster: ClusterName,
    object: RenderedObject,
    seen: { readonly entry: InventoryEntry; readonly live: KubernetesObject },
  ): boolean;
}

export function createDriftWatch(
  { sensitiveKinds, listRulesOf }: Pick<ControllerPorts, 'sensitiveKinds' | 'listRulesOf'>,
  objects: Pick<MemberObjects, 'served'>,
): DriftWatch {
  const known = new WeakMap<KubernetesObject, Observed>();

  function observed(object: RenderedObject, live: KubernetesObject): string {
    const before = known.get(live);
    if (before?.desiredHash === object.desiredHash) return before.hash;
    const hash = observedHashOf(object, live, { sensitiveKinds, listRulesOf });
    known.set(live, { desiredHash: object.desiredHash, hash });
    return hash;
  }

  function isComparable(cluster: ClusterName, { key }: RenderedObject): boolean {
    const kind = kindOfKey(key);
    if (keyOfKind(kind) !== 'Secret' && sensitiveKinds.has(kind)) return false;
    const served = objects.served(cluster, key);
    // Mirrors hold a kind in the version that the server prefers.
    return served !== undefined && served !== 'absent' && served.version === served.versions[0];
  }

  return {
    isDrifted: (cluster, object, { entry, live }) => isComparable(cluster, object) && observed(object, live) !== entry.observedHash,
  };
}
