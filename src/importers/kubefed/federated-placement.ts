import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';

/** The `placement` of a federated object. */
export interface FederatedPlacement {
  /** The names of the clusters. Undefined: the object names none, so the selector decides. */
  readonly names: readonly string[] | undefined;
  /** A LabelSelector. `{}` selects every cluster. Undefined: the object has no selector, which selects no cluster. */
  readonly selector: JsonObject | undefined;
}

/** Reads `spec.placement` of a federated object. `clusters: []` names no cluster, and `clusters: null` is the same as no `clusters`. */
export function federatedPlacementOf(placement: Json | undefined): FederatedPlacement {
  const selector = valueAt(placement, 'clusterSelector');
  return {
    names: Array.isArray(valueAt(placement, 'clusters'))
      ? listAt(placement, 'clusters').map((cluster) => textAt(cluster, 'name') ?? '')
      : undefined,
    selector: isJsonObject(selector) ? selector : undefined,
  };
}
