import { textAt } from '../../../../src/core/json-at.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import { setOfAffinity } from '../../../../src/propagate/karmada/cluster-affinity.ts';
import { type OverridePolicySpec, overrideRulesOf, policiesToApply } from '../../../../src/propagate/karmada/override-policies.ts';
import type { Overriders } from '../../../../src/propagate/karmada/overriders.ts';
import { preparedSelectors } from '../../../../src/propagate/karmada/resource-selector.ts';
import { matchesSet } from '../../../../src/propagate/plan/placing/cluster-set.ts';
import { type KarmadaCluster, memberClusterOf } from './karmada-cluster.ts';
import { applyOverriders } from './overriders.ts';

/** Karmada's OverridePolicy and ClusterOverridePolicy (policy/v1alpha1). */
interface OverridePolicy {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: OverridePolicySpec;
}

/** One rule that applies, with the name of its policy. */
interface MatchedOverriders {
  readonly policy: string;
  readonly namespace?: string;
  readonly overriders: Overriders;
}

interface PolicyRequest {
  readonly policies: readonly OverridePolicy[];
  readonly object: Manifest;
  readonly cluster: KarmadaCluster;
}

/**
 * Returns the rules that apply to the object in the cluster, in the order of their application. The rules of a policy that selects the
 * object more specifically come later, so they win. Equally specific policies are in the order of their names.
 */
export function matchPolicies({ policies, object, cluster }: PolicyRequest): { readonly apply: readonly MatchedOverriders[] } {
  const member = memberClusterOf(cluster);
  const prepared = policies.map(({ metadata, spec }) => ({
    name: metadata.name,
    metadata,
    spec,
    priorityOf: preparedSelectors(spec.resourceSelectors),
  }));
  const apply = policiesToApply(prepared, object).flatMap(({ metadata, spec }) =>
    overrideRulesOf(spec)
      .filter(({ targetCluster }) => matchesSet(setOfAffinity(targetCluster ?? {}), member))
      .map(({ overriders }) => ({
        policy: metadata.name,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        overriders: overriders ?? {},
      })),
  );
  return { apply };
}

/** Applies the policies to the object. ClusterOverridePolicies come first. OverridePolicies apply to namespaced objects only. */
export function applyPolicies({
  object,
  cluster,
  overridePolicies,
  clusterOverridePolicies,
}: {
  readonly object: Manifest;
  readonly cluster: KarmadaCluster;
  readonly overridePolicies?: readonly OverridePolicy[] | null;
  readonly clusterOverridePolicies?: readonly OverridePolicy[] | null;
}): { readonly object: Manifest; readonly appliedOverrides: readonly string[]; readonly appliedClusterOverrides: readonly string[] } {
  const wide = applyAll({ policies: clusterOverridePolicies ?? [], object, cluster });
  const namespaced = textAt(object, 'metadata', 'namespace') === undefined ? [] : (overridePolicies ?? []);
  const narrow = applyAll({ policies: namespaced, object: wide.object, cluster });
  return { object: narrow.object, appliedOverrides: narrow.names, appliedClusterOverrides: wide.names };
}

function applyAll(request: PolicyRequest): { readonly object: Manifest; readonly names: readonly string[] } {
  const { apply } = matchPolicies(request);
  const object = apply.reduce((before, { overriders }) => applyOverriders({ object: before, overriders }).object, request.object);
  return { object, names: [...new Set(apply.map(({ policy }) => policy))] };
}
