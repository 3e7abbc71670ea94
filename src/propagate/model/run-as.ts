import type { Impersonation } from '../../cluster/endpoint.ts';
import type { PropagationSpec } from './spec.ts';

/**
 * Returns the identity with which a Propagation is written: the service account that it names, or its requester. Undefined if neither is
 * known. Then only the gateway's own account is left, which is used in local mode only.
 *
 * Groups of a service account are omitted, because the API server adds them. Naming them would need a right for each group.
 */
export function impersonationOf({ runAs, requester }: Pick<PropagationSpec, 'runAs' | 'requester'>): Impersonation | undefined {
  if (runAs.type === 'serviceAccount') return { user: `system:serviceaccount:${runAs.namespace}:${runAs.name}`, groups: [], extra: {} };
  if (requester === undefined) return undefined;
  const { user, uid, groups, extra } = requester;
  return { user, groups, extra, ...(uid === undefined ? {} : { uid }) };
}
