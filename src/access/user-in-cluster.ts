import type { Impersonation } from '../cluster/endpoint.ts';

/** How the users of the gateway are named in one cluster. */
export interface ClusterIdentity {
  /** The text in front of each user name. Default: none. */
  readonly userPrefix?: string | undefined;
  /** The text in front of each group. Default: none. */
  readonly groupPrefix?: string | undefined;
}

const accountPrefix = 'system:serviceaccount:';

/**
 * Returns the user as one cluster knows it: with the prefixes of `identity` in front of the whole names. A ServiceAccount with a prefix is an
 * ordinary user of that cluster. Without prefixes, returns the same user.
 */
export function userIn<Identity extends Impersonation>(identity: ClusterIdentity | undefined, user: Identity): Identity {
  const { userPrefix = '', groupPrefix = '' } = identity ?? {};
  if (userPrefix === '' && groupPrefix === '') return user;
  return { ...user, user: `${userPrefix}${user.user}`, groups: user.groups.map((group) => `${groupPrefix}${group}`) };
}

/** Returns the namespace of a ServiceAccount. Undefined if the name is not that of a ServiceAccount. */
export function namespaceOfAccount(user: string): string | undefined {
  if (!user.startsWith(accountPrefix)) return undefined;
  const [namespace, name, ...more] = user.slice(accountPrefix.length).split(':');
  return namespace === undefined || namespace === '' || name === undefined || name === '' || more.length > 0 ? undefined : namespace;
}

/** The namespace and the name of a ServiceAccount. */
export interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the user name of a ServiceAccount. */
export function userOfAccount({ namespace, name }: AccountName): string {
  return `${accountPrefix}${namespace}:${name}`;
}

/**
 * Returns the groups of a SubjectAccessReview: the groups of the user, and the groups that an API server adds to each user that it
 * authenticates. It does not add them to a user under review.
 */
export function groupsInReview({ user, groups }: Impersonation): readonly string[] {
  const namespace = namespaceOfAccount(user);
  const ofAccount = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return [...new Set([...groups, ...ofAccount, 'system:authenticated'])];
}
