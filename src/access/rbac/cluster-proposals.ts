import type { PolicyRule, ResourceAttributes } from './policy-rules.ts';
import type { GrantedRule } from './rbac-index.ts';

const readVerbs = ['list', 'get', 'watch'] as const;

/** Maximum number of accesses that are proposed because of rules. The first one nearly always decides. */
const maxProposals = 8;

/** The last proposal, for a cluster whose authorizer is not RBAC: nearly every person who may read anything may list Pods. */
const listAllPods: ResourceAttributes = { verb: 'list', group: '', resource: 'pods' };

/**
 * Returns at most nine read accesses that the caller is likely to have, the likeliest first. If a review allows one of them, the caller may
 * see the cluster. The last one is for clusters with other authorizers than RBAC.
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
 * Returns a read of objects that the rule allows: `list`, else `get` or `watch`. Group and resource have the text of the rule, because a `*`
 * in a request is allowed by a `*` in a rule. Undefined if the rule allows no such read, for example because it names subresources only.
 */
function proposalOf({ verbs, apiGroups, resources, resourceNames }: PolicyRule, namespace: string): ResourceAttributes | undefined {
  const verb = readVerbs.find((one) => verbs.includes(one) || verbs.includes('*'));
  const resource = resources.find((one) => !one.includes('/'));
  const [group] = apiGroups;
  const [name] = resourceNames;
  if (verb === undefined || resource === undefined || group === undefined) return undefined;
  // A rule with `resourceNames` allows `list` and `watch` only for one of these names.
  return { verb, group, resource, ...(namespace === '' ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
}
