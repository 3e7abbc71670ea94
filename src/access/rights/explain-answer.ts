import type { GroupKind, ServedResource } from '../../core/kinds.ts';
import type { Visibility } from '../access.ts';
import type { ResourceAttributes } from '../rbac/policy-rules.ts';
import type { RbacIndex } from '../rbac/rbac-index.ts';
import type { ReviewAnswer } from '../reviews/cluster-reviews.ts';
import { deniedRight, type RightAnswer, type RightQuestion, reasonLine, unknownRight } from './own-rights.ts';
import { allowingBinding, holdersOfRight, listText, missingBinding, type ReasonSubject } from './right-reasons.ts';

interface AnsweredQuestion {
  readonly caller: ReasonSubject;
  readonly question: RightQuestion;
  readonly served: ServedResource;
  /** The attributes of the review. */
  readonly attributes: ResourceAttributes;
  /** The answer of the API server, which decides. */
  readonly answer: ReviewAnswer;
  /** The RBAC objects, which only explain the answer. */
  readonly rbac: { readonly index: RbacIndex; readonly isComplete: boolean };
  /** Returns where the caller has the right to a verb on a kind. */
  readonly visibilityOf: (kind: GroupKind, verb: string, subresource?: string) => Visibility | Promise<Visibility>;
}

const clusterRoleBinding = { group: 'rbac.authorization.k8s.io', kind: 'ClusterRoleBinding' };
const roleBinding = { group: 'rbac.authorization.k8s.io', kind: 'RoleBinding' };

/** Adds the reason to the answer of an API server. Bindings of others are named only if the caller may list them. */
export async function explainAnswer(answered: AnsweredQuestion): Promise<RightAnswer> {
  const { caller, attributes, answer, rbac } = answered;
  if (answer.fault !== undefined) return unknownRight(`${answer.fault.code}: ${answer.fault.message}`);
  const proposed = allowingBinding(rbac.index, caller, attributes);
  const stated = reasonLine(answer.reason ?? '');
  if (answer.isAllowed) {
    return { isAllowed: true, reason: proposed ?? (stated || 'the cluster allows it, and gives no reason'), namespaces: [] };
  }
  const namespaces = await namespacesWithRight(answered);
  if (namespaces.length > 0) return deniedRight(`only in the namespaces ${listText(namespaces)}`, namespaces);
  if (stated !== '') return deniedRight(stated);
  if (proposed !== undefined) return deniedRight(`${proposed}, but the cluster denies it and gives no reason`);
  if (!rbac.isComplete) return deniedRight('the cluster gives no reason, and the gateway cannot read all its RBAC objects');
  const holders = await shownHolders(answered);
  return deniedRight([missingBinding(rbac.index, caller, attributes), holders].filter((text) => text !== undefined).join('; '));
}

/**
 * Returns the namespaces in which the caller has a right that was denied for all namespaces together. Empty if the question names a namespace
 * or an object.
 */
async function namespacesWithRight({ question, served, visibilityOf }: AnsweredQuestion): Promise<readonly string[]> {
  const { kind, verb, subresource, namespace, name } = question;
  if (!served.namespaced || namespace !== undefined || name !== undefined) return [];
  const visibility = await visibilityOf(kind, verb, subresource);
  return visibility.type === 'namespaces' ? [...visibility.namespaces].sort() : [];
}

async function shownHolders({ attributes, rbac, visibilityOf }: AnsweredQuestion): Promise<string | undefined> {
  const [ofCluster, ofNamespaces] = await Promise.all([visibilityOf(clusterRoleBinding, 'list'), visibilityOf(roleBinding, 'list')]);
  return holdersOfRight(rbac.index, attributes, (namespace) => {
    if (namespace === '') return ofCluster.type === 'all';
    return ofNamespaces.type === 'all' || (ofNamespaces.type === 'namespaces' && ofNamespaces.namespaces.has(namespace));
  });
}
