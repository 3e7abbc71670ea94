import { textAt } from '../../core/json-at.ts';
import { compareText } from '../../core/text.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { matchesSet } from '../plan/placing/cluster-set.ts';
import { type ClusterAffinity, setOfAffinity } from './cluster-affinity.ts';
import { type KarmadaCluster, memberClusterOf } from './karmada-cluster.ts';
import { applyOverriders, type Overriders } from './overriders.ts';
import { compareImplicitPriorities, type ImplicitPriority, preparedSelectors, type ResourceSelector } from './resource-selector.ts';

/** Karmada's OverridePolicy and ClusterOverridePolicy (policy/v1alpha1). */
interface OverridePolicy {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: OverridePolicySpec;
}

export interface OverridePolicySpec {
  readonly resourceSelectors?: readonly ResourceSelector[] | null;
  readonly overrideRules?: readonly OverrideRule[] | null;
  /** The older form of a single rule. Ignored if `overrideRules` is not empty. */
  readonly targetCluster?: ClusterAffinity | null;
  readonly overriders?: Overriders | null;
}

export interface OverrideRule {
  /** The clusters of the rule. Absent: all clusters. */
  readonly targetCluster?: ClusterAffinity | null;
  readonly overriders: Overriders;
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
  const ranked = policies
    .map((policy) => ({ policy, priority: policyPriority(policy, object) }))
    .filter(({ priority }) => priority !== 'MisMatch')
    .toSorted((a, b) => compareImplicitPriorities(a.priority, b.priority) || compareText(a.policy.metadata.name, b.policy.metadata.name));
  const apply = ranked.flatMap(({ policy: { metadata, spec } }) =>
    rulesOf(spec)
      .filter(({ targetCluster }) => matchesSet(setOfAffinity(targetCluster ?? {}), member))
      .map(({ overriders }) => ({
        policy: metadata.name,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        overriders,
      })),
  );
  return { apply };
}

function rulesOf({ overrideRules, targetCluster, overriders }: OverridePolicy['spec']): readonly OverrideRule[] {
  const rules = overrideRules ?? [];
  return rules.length > 0 ? rules : [{ targetCluster: targetCluster ?? null, overriders: overriders ?? {} }];
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

/** Returns how specifically a policy selects the object. A policy without selectors selects every object. */
function policyPriority({ spec }: OverridePolicy, object: Manifest): ImplicitPriority {
  const selectors = spec.resourceSelectors ?? [];
  return selectors.length === 0 ? 'MatchAll' : preparedSelectors(selectors)(object);
}
