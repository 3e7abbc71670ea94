import type { Impersonation } from '../cluster/endpoint.ts';
import type { PropagationSpec } from './spec.ts';

/**
 * For whom a Propagation is written: the account it names, else whoever asked. Undefined if nobody is known: then there is only the gateway's own account,
 * which acts for itself in local mode and never otherwise.
 *
 * Groups of an account are left to the API server, which knows them: to name them would need rights on each.
 */
export function impersonationOf({ runAs, requester }: Pick<PropagationSpec, 'runAs' | 'requester'>): Impersonation | undefined {
  if (runAs.type === 'serviceAccount') return { user: `system:serviceaccount:${runAs.namespace}:${runAs.name}`, groups: [], extra: {} };
  if (requester === undefined) return undefined;
  const { user, uid, groups, extra } = requester;
  return { user, groups, extra, ...(uid === undefined ? {} : { uid }) };
}
