import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import type { KubernetesObject } from '../../core/objects.ts';
import { itemsOf, type Stored, textsOf } from '../../core/stored.ts';

/** A rule of a Role or ClusterRole that grants access to objects. Rules for `nonResourceURLs` are left out. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** Plural names, with `/subresource` for a subresource. */
  readonly resources: readonly string[];
  /** The names of the objects that the rule is about. Empty: all objects. */
  readonly resourceNames: readonly string[];
}

/** The access that a user asks for, in the terms of a SubjectAccessReview. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  /** The plural name. */
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Undefined: all namespaces, or an object without a namespace. */
  readonly namespace?: string | undefined;
  /** Undefined: no particular object. */
  readonly name?: string | undefined;
}

/** Returns the rules of a Role or ClusterRole, in order. */
export function policyRulesOf(role: KubernetesObject): readonly PolicyRule[] {
  const { rules }: Stored<V1ClusterRole> = role;
  return itemsOf(rules)
    .map(policyRuleOf)
    .filter(({ apiGroups, resources }) => apiGroups.length > 0 && resources.length > 0);
}

function policyRuleOf({ verbs, apiGroups, resources, resourceNames }: Stored<V1PolicyRule>): PolicyRule {
  return { verbs: textsOf(verbs), apiGroups: textsOf(apiGroups), resources: textsOf(resources), resourceNames: textsOf(resourceNames) };
}

/** True if the rule allows this access, as the RBAC authorizer of Kubernetes decides (`plugin/pkg/auth/authorizer/rbac`, RuleAllows). */
export function isAllowedByRule(rule: PolicyRule, attributes: ResourceAttributes): boolean {
  return (
    includesOrAll(rule.verbs, attributes.verb) &&
    includesOrAll(rule.apiGroups, attributes.group) &&
    includesResource(rule.resources, attributes) &&
    (rule.resourceNames.length === 0 || (attributes.name !== undefined && rule.resourceNames.includes(attributes.name)))
  );
}

function includesOrAll(values: readonly string[], wanted: string): boolean {
  return values.includes(wanted) || values.includes('*');
}

/** `*` allows every resource and subresource. `*` before `/scale` allows that subresource of all resources. `pods/*` allows nothing. */
function includesResource(resources: readonly string[], { resource, subresource = '' }: ResourceAttributes): boolean {
  if (subresource === '') return includesOrAll(resources, resource);
  return includesOrAll(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}
