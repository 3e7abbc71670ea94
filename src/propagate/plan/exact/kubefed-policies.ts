import { readDocument } from '../../../core/json/documents.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import { numberAt, objectAt, valueAt } from '../../../core/json-at.ts';
import type { KubeFedPreference } from '../../kubefed/plan-kubefed.ts';
import { clusterSet } from '../../model/cluster-set-definition.ts';
import type { ClusterSet, ExactSpec } from '../../model/spec.ts';

/** The rules of KubeFed and Federation v1 in `exact.policies`. No other field of a spec can hold them. */
export interface KubeFedPolicies {
  /**
   * The preference of each cluster, by name. `*` applies to every cluster that has no entry. Default: the rules of the spec apply. Present
   * only if a minimum is above its maximum, or a number is negative: the rules of a spec cannot hold these.
   */
  readonly preferences?: Readonly<Record<string, KubeFedPreference>>;
  /**
   * The clusters in which the namespace is federated. KubeFed also plans replicas for clusters outside this set, and writes no copy there,
   * so these replicas are lost. Default: all clusters of the placement.
   */
  readonly namespaceClusters?: ClusterSet;
}

/** Reads `exact.policies` of a spec. Members of a wrong type count as absent. */
export function kubeFedPoliciesOf(exact: Pick<ExactSpec, 'policies'> | undefined): KubeFedPolicies {
  const policies = exact?.policies;
  const written = valueAt(policies, 'preferences');
  const set = clusterSetIn(valueAt(policies, 'namespaceClusters'));
  return {
    ...(isJsonObject(written) ? { preferences: preferencesIn(written) } : {}),
    ...(set === undefined ? {} : { namespaceClusters: set }),
  };
}

function preferencesIn(written: JsonObject): Readonly<Record<string, KubeFedPreference>> {
  return Object.fromEntries(
    Object.keys(written).map((name) => {
      const preference = objectAt(written, name);
      const [minReplicas, maxReplicas, weight] = ['minReplicas', 'maxReplicas', 'weight'].map((field) => numberAt(preference, field));
      return [name, { minReplicas, maxReplicas, weight }];
    }),
  );
}

function clusterSetIn(written: Json | undefined): ClusterSet | undefined {
  const read = written === undefined ? undefined : readDocument(clusterSet, written);
  return read === undefined || 'problems' in read ? undefined : read.value;
}
