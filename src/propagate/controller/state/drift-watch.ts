import type { ClusterName } from '../../../core/names.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import type { MemberObjects } from '../../../store/member-objects.ts';
import type { InventoryEntry } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import { type ComparisonRules, cachedObservedHashOf, hasHiddenValues } from '../../plan/copies/observed-hash.ts';

/** Detects drift of copies without a request to their cluster. */
export interface DriftWatch {
  /**
   * True if a field that Muster sent may have another value now.
   *
   * In two cases the mirror cannot show whether a field has changed. If the result is true there, the caller reads the object live to
   * decide:
   *
   * - The mirror has the object in another API version than Muster wrote: the result is always true.
   * - The kind has hidden values: the result is true if the resourceVersion differs from that of the last write.
   */
  isDrifted(
    cluster: ClusterName,
    object: RenderedObject,
    seen: { readonly entry: InventoryEntry; readonly live: KubernetesObject },
  ): boolean;
}

export function createDriftWatch(rules: ComparisonRules, objects: Pick<MemberObjects, 'served'>): DriftWatch {
  /**
   * True if the mirror holds the kind in the version of the manifest. Mirrors use the preferred version of the server. Undefined while the
   * kind is not served.
   */
  function isMirroredAsWritten(cluster: ClusterName, { key }: RenderedObject): boolean | undefined {
    const served = objects.served(cluster, key);
    return served === undefined || served === 'absent' ? undefined : served.version === served.versions[0];
  }

  return {
    isDrifted(cluster, object, { entry, live }) {
      const isMirrored = isMirroredAsWritten(cluster, object);
      if (isMirrored === undefined) return false;
      // For hidden kinds only the resourceVersion is compared. It is the same in all versions of the kind.
      return (!isMirrored && !hasHiddenValues(object.key, rules)) || cachedObservedHashOf(object, live, rules) !== entry.observedHash;
    },
  };
}
