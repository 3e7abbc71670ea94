import { compareText } from '../../core/text.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { ClusterAffinity } from './cluster-affinity.ts';
import type { Overriders } from './overriders.ts';
import { compareImplicitPriorities, type ImplicitPriority, type ResourceSelector } from './resource-selector.ts';

/** `spec` of Karmada's OverridePolicy and ClusterOverridePolicy (policy/v1alpha1). */
export interface OverridePolicySpec {
  readonly resourceSelectors?: readonly ResourceSelector[] | null;
  readonly overrideRules?: readonly OverrideRule[] | null;
  /** The older form of a single rule. Ignored if `overrideRules` is not empty. */
  readonly targetCluster?: ClusterAffinity | null;
  readonly overriders?: Overriders | null;
}

export interface OverrideRule {
  /** The clusters of the rule. Default: all clusters. */
  readonly targetCluster?: ClusterAffinity | null;
  /** Absent if the rule changes nothing. */
  readonly overriders?: Overriders | null;
}

/** Returns the rules of a policy. The older form without `overrideRules` counts as one rule. */
export function overrideRulesOf({ overrideRules, targetCluster, overriders }: OverridePolicySpec): readonly OverrideRule[] {
  const rules = overrideRules ?? [];
  return rules.length > 0 ? rules : [{ targetCluster: targetCluster ?? null, overriders: overriders ?? {} }];
}

/** An override policy with its selectors. */
interface SelectingPolicy {
  readonly name: string;
  readonly spec: Pick<OverridePolicySpec, 'resourceSelectors'>;
  /** The result of `preparedSelectors` for its selectors. */
  readonly priorityOf: (resource: Manifest) => ImplicitPriority;
}

/**
 * Returns the policies of one kind that select the object, in the order of their application. A policy that selects the object more
 * specifically comes later, so it wins. Equally specific policies are in the order of their names. A policy without selectors selects every
 * object.
 */
export function policiesToApply<Policy extends SelectingPolicy>(policies: readonly Policy[], object: Manifest): readonly Policy[] {
  return policies
    .map((policy) => ({ policy, priority: overridePriorityOf(policy, object) }))
    .filter(({ priority }) => priority !== 'MisMatch')
    .sort((a, b) => compareImplicitPriorities(a.priority, b.priority) || compareText(a.policy.name, b.policy.name))
    .map(({ policy }) => policy);
}

function overridePriorityOf({ spec, priorityOf }: SelectingPolicy, object: Manifest): ImplicitPriority {
  return (spec.resourceSelectors ?? []).length === 0 ? 'MatchAll' : priorityOf(object);
}
