import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { labelSelectorOf } from '../../core/label-selectors.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';

/** The `placement` of a federated object. */
export interface FederatedPlacement {
  /** The names of the clusters. Undefined: the object names none, so the selector decides. */
  readonly names: readonly string[] | undefined;
  /** A LabelSelector. Undefined: there is none, which selects no cluster. `{}` selects every cluster. */
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

interface LabelledCluster {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | null | undefined;
}

/** Returns the names of the clusters that the placement selects among those that KubeFed knows, as KubeFed's ComputePlacement does. */
export function selectedClusters({
  placement,
  clusters,
}: {
  readonly placement?: Json | undefined;
  readonly clusters: readonly LabelledCluster[];
}): { readonly clusters: readonly string[] } {
  const { names, selector } = federatedPlacementOf(placement);
  const parsed = labelSelectorOf(selector);
  const isSelected = ({ name, labels }: LabelledCluster): boolean =>
    names === undefined ? parsed !== undefined && matchesLabelSelector(parsed, labels ?? undefined) : names.includes(name);
  return { clusters: clusters.filter(isSelected).map(({ name }) => name) };
}
