import type { Impersonation } from '../../cluster/endpoint.ts';
import type { ResourceAttributes } from '../rbac/policy-rules.ts';
import type { NamedGrant, RbacIndex } from '../rbac/rbac-index.ts';
import type { SubjectKey } from '../rbac/subjects.ts';
import { namespaceOfAccount } from '../user-in-cluster.ts';

/** Maximum number of names in one list of a reason. */
const maxListed = 5;

/** The caller of a question, as the cluster knows the user. */
export interface ReasonSubject {
  readonly user: Impersonation;
  readonly subjects: readonly SubjectKey[];
}

/**
 * Returns the binding and the rule that allow the access, such as `RoleBinding shop/devs gives the group devs the ClusterRole view (…)`.
 * Undefined if no binding does.
 */
export function allowingBinding(index: RbacIndex, { subjects }: ReasonSubject, attributes: ResourceAttributes): string | undefined {
  const [grant] = index.grantsTo(subjects, attributes);
  return grant && `${grant.binding} gives ${subjectText(grant.subject)} the ${grant.role} (${ruleText(grant)})`;
}

/** Returns why RBAC does not allow the access to this user: no binding names the user, or the rules of the user's roles do not allow it. */
export function missingBinding(index: RbacIndex, { user, subjects }: ReasonSubject, attributes: ResourceAttributes): string {
  const groups = user.groups.length === 0 ? ' without groups' : ` or the groups ${listText(user.groups)}`;
  const name = `${subjectText(`u:${user.user}`)}${groups}`;
  const roles = index.rolesOf(personalSubjects(subjects), attributes.namespace);
  if (roles.length === 0) return `no binding ${attributes.namespace === undefined ? '' : 'for this namespace '}names ${name}`;
  return `no rule of the roles of this caller allows it: ${listText(roles)}`;
}

/**
 * Returns at most five groups to which the cluster gives this right, such as `it is given to the group admins (by ClusterRoleBinding ops)`.
 * Undefined if there are none.
 *
 * @param mayShow True if the caller may read the bindings of this namespace (`''`: ClusterRoleBindings). Other bindings are left out.
 */
export function holdersOfRight(
  index: RbacIndex,
  attributes: ResourceAttributes,
  mayShow: (bindingNamespace: string) => boolean,
): string | undefined {
  const found = new Set<string>();
  for (const { binding, namespace, subject } of index.grantsToAnyone(attributes)) {
    if (mayShow(namespace) && subject.startsWith('g:')) found.add(`the group ${subject.slice(2)} (by ${binding})`);
    if (found.size >= maxListed) break;
  }
  return found.size === 0 ? undefined : `it is given to ${[...found].join(', ')}`;
}

/** Returns the subjects without the groups that every authenticated user or every ServiceAccount has. */
function personalSubjects(subjects: readonly SubjectKey[]): readonly SubjectKey[] {
  return subjects.filter((subject) => subject !== 'g:system:authenticated' && !subject.startsWith('g:system:serviceaccounts'));
}

function subjectText(subject: SubjectKey): string {
  const name = subject.slice(2);
  if (subject.startsWith('g:')) return `the group ${name}`;
  const namespace = namespaceOfAccount(name);
  return namespace === undefined ? `the user ${name}` : `the ServiceAccount ${namespace}/${name.slice(name.lastIndexOf(':') + 1)}`;
}

function ruleText({ rule: { verbs, resources, resourceNames } }: NamedGrant): string {
  const names = resourceNames.length === 0 ? '' : ` named ${listText(resourceNames)}`;
  return `${listText(verbs)}: ${listText(resources)}${names}`;
}

/** Joins at most five names, and adds the number of further ones. */
export function listText(words: readonly string[]): string {
  const more = words.length > maxListed ? `, and ${words.length - maxListed} more` : '';
  return `${words.slice(0, maxListed).join(', ')}${more}`;
}
