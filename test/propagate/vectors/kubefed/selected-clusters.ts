import type { Json } from '../../../../src/core/json.ts';
import { labelSelectorOf } from '../../../../src/core/label-selectors.ts';
import { matchesLabelSelector } from '../../../../src/core/selectors.ts';
import { federatedPlacementOf } from '../../../../src/importers/kubefed/federated-placement.ts';

interface LabelledCluster {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Returns the names of the clusters that the placement selects among those that KubeFed knows, as KubeFed's ComputePlacement does. */
export function selectedClusters({
  placement,
  clusters = [],
}: {
  readonly placement?: Json;
  readonly clusters?: readonly LabelledCluster[];
}): { readonly clusters: readonly string[] } {
  const { names, selector } = federatedPlacementOf(placement);
  const parsed = labelSelectorOf(selector);
  const isSelected = ({ name = '', labels }: LabelledCluster): boolean =>
    names === undefined ? parsed !== undefined && matchesLabelSelector(parsed, labels) : names.includes(name);
  return { clusters: clusters.filter(isSelected).map(({ name = '' }) => name) };
}
