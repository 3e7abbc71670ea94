import type { PolicyRule, ResourceAttributes } from './policy-rules.ts';
import type { GrantedRule } from './rbac-index.ts';

const readVerbs = ['list', 'get', 'watch'] as const;

/** Maximum number of proposals. The first one decides nearly always. */
const maxProposals = 8;

/** The question about a cluster whose authorizer is not RBAC: the right of nearly every person who may read anything. */
const listAllPods: ResourceAttributes = { verb: 'list', group: '', resource: 'pods' };

/**
 * Returns the accesses that may show a caller anything in a cluster, the likeliest first. If a review allows one of them, the caller may see
 * the cluster. The last one is for clusters with other authorizers than RBAC.
 */
export function proposeClusterAccess(rules: Iterable<GrantedRule>): readonly ResourceAttributes[] {
  const proposals = new Map<string, ResourceAttributes>();
  for (const { namespace, rule } of rules) {
    if (proposals.size >= maxProposals) break;
    const proposal = proposalOf(rule, namespace);
    if (proposal !== undefined) proposals.set(JSON.stringify(proposal), proposal);
  }
  return [...proposals.values(), listAllPods];
}

/**
 * Returns an access that the rule allows, with the words of the rule. A `*` in a request is allowed only by a `*` in a rule. Undefined if the
 * rule allows no read of an object: a subresource is no object.
 */
function proposalOf({ verbs, apiGroups, resources, resourceNames }: PolicyRule, namespace: string): ResourceAttributes | undefined {
  const verb = readVerbs.find((one) => verbs.includes(one) || verbs.includes('*'));
  const resource = resources.find((one) => !one.includes('/'));
  const [group] = apiGroups;
  const [name] = resourceNames;
  if (verb === undefined || resource === undefined || group === undefined) return undefined;
  // A rule with names allows `list` and `watch` only with a name too.
  return { verb, group, resource, ...(namespace === '' ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
}
