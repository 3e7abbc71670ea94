import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Impersonation } from '../cluster/endpoint.ts';
import type { Caller } from './access.ts';
import { actFor } from './act-for.ts';
import { type ClusterIdentity, namespaceOfAccount, userIn } from './user-in-cluster.ts';

/** A cluster in which callers act. */
export interface CallerMember {
  readonly api: ClusterApi;
  readonly settings: { readonly identity?: ClusterIdentity | undefined };
}

/** One operation, and the caller that sent it. */
export interface CallerOperation {
  readonly caller: Caller;
  /** The id that requests to the cluster carry for this operation. Default: none. */
  readonly requestId?: string | undefined;
}

/**
 * Returns the API of a cluster that acts as the caller: the API server decides with the rights of that user. In local mode, it acts with the
 * account of the gateway.
 */
export function apiForCaller({ api, settings }: CallerMember, { caller: { user }, requestId }: CallerOperation): ClusterApi {
  return actFor(api, { as: user && impersonationIn(settings.identity, user), requestId });
}

/**
 * Returns the identity to impersonate in a cluster for this user.
 *
 * A ServiceAccount is impersonated by its name alone, because the API server adds its groups. Naming its uid or groups would need further
 * rights, and constrained impersonation (KEP-5284) refuses them. With a user prefix, the account is an ordinary user of that cluster, and its
 * groups are sent.
 */
export function impersonationIn(identity: ClusterIdentity | undefined, user: Impersonation): Impersonation {
  const { user: name, uid, groups, extra } = userIn(identity, user);
  if (namespaceOfAccount(name) !== undefined) return { user: name, groups: [], extra: {} };
  return { user: name, ...(uid === undefined ? {} : { uid }), groups, extra };
}
