import type { RbacV1Subject, V1RoleBinding } from '@kubernetes/client-node';
import type { Impersonation } from '../../cluster/endpoint.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import { groupsInReview } from '../user-in-cluster.ts';

/** A user or a group, as a key of maps: `u:NAME` or `g:NAME`. */
export type SubjectKey = `u:${string}` | `g:${string}`;

/** Returns the keys of a user and of all groups with which a cluster reviews the user. */
export function subjectKeysOf(user: Impersonation): readonly SubjectKey[] {
  return [`u:${user.user}`, ...groupsInReview(user).map((group): SubjectKey => `g:${group}`)];
}

/** Returns the keys of the subjects of a RoleBinding or ClusterRoleBinding. */
export function subjectKeysIn(binding: KubernetesObject): readonly SubjectKey[] {
  const { subjects, metadata }: KubernetesObject & Stored<V1RoleBinding> = binding;
  return itemsOf(subjects).flatMap((subject) => subjectKeyOf(subject, metadata.namespace ?? '') ?? []);
}

/**
 * Returns the key of a subject of a binding. Undefined if the subject has no name or an unknown kind. A ServiceAccount without a namespace
 * belongs to the namespace of the binding. In a ClusterRoleBinding it is left out.
 */
function subjectKeyOf({ kind, name, namespace }: Stored<RbacV1Subject>, ownNamespace: string): SubjectKey | undefined {
  if (typeof name !== 'string' || name === '') return undefined;
  if (kind === 'User') return `u:${name}`;
  if (kind === 'Group') return `g:${name}`;
  const home = namespace || ownNamespace;
  return kind === 'ServiceAccount' && home !== '' ? `u:system:serviceaccount:${home}:${name}` : undefined;
}
