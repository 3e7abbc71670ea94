import type { ClusterName } from '../../../core/names.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import type { MemberObjects } from '../../../store/member-objects.ts';
import type { InventoryEntry } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import { type ComparisonRules, hasHiddenValues, observedHashOf } from '../../plan/copies/observed.ts';

/** What the copy holds now, as a hash of the fields that we sent; kept for as long as the mirror holds that very object. */
interface ObservedHash {
  readonly desiredHash: string;
  readonly hash: string;
}

/** Tells whether what we sent is another one by now, without a call. */
export interface DriftWatch {
  /**
   * True also where nobody can tell but the cluster: where the mirror holds the object in another version than it is written in, each time it changed.
   * What is hidden is another one if its resourceVersion is not that of our last write. Asked for again the server says whether it really was.
   */
  isDrifted(
    cluster: ClusterName,
    object: RenderedObject,
    seen: { readonly entry: InventoryEntry; readonly live: KubernetesObject },
  ): boolean;
}

export function createDriftWatch({ sensitiveKinds, listRulesOf }: ComparisonRules, objects: Pick<MemberObjects, 'served'>): DriftWatch {
  const known = new WeakMap<KubernetesObject, ObservedHash>();

  function observed(object: RenderedObject, live: KubernetesObject): string {
    const before = known.get(live);
    if (before?.desiredHash === object.desiredHash) return before.hash;
    const hash = observedHashOf(object, live, { sensitiveKinds, listRulesOf });
    known.set(live, { desiredHash: object.desiredHash, hash });
    return hash;
  }

  /** Mirrors hold a kind in the version that the server prefers. Undefined where nobody can ask about it either. */
  function isMirroredAsWritten(cluster: ClusterName, { key }: RenderedObject): boolean | undefined {
    const served = objects.served(cluster, key);
    return served === undefined || served === 'absent' ? undefined : served.version === served.versions[0];
  }

  return {
    isDrifted(cluster, object, { entry, live }) {
      const isMirrored = isMirroredAsWritten(cluster, object);
      if (isMirrored === undefined) return false;
      // Of what is hidden the version alone is compared, which is the same in every form of the object.
      return (!isMirrored && !hasHiddenValues(object.key, { sensitiveKinds })) || observed(object, live) !== entry.observedHash;
    },
  };
}
