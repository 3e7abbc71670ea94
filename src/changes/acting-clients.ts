import type { Access, AccessRequest, Caller } from '../access/access.ts';
import { type CallerMember, type CallerOperation, impersonationIn } from '../access/caller-api.ts';
import { callerOf } from '../access/caller-of-user.ts';
import { isVisibleIn } from '../access/is-visible-in.ts';
import { type ClusterIdentity, userIn, userOfAccount } from '../access/user-in-cluster.ts';
import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Impersonation } from '../cluster/endpoint.ts';
import { type Fault, fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';
import { createObjectClient } from './create-object-client.ts';
import type { ObjectClient } from './object-client.ts';

/**
 * Defines with whose rights actions are done. A requester is the user who made the request for a Propagation or a Migration.
 *
 * - `one` (local mode): callers, requesters and the gateway all act with the account of the gateway.
 * - `many`: each acts with rights of their own. With its own account, the gateway writes only objects of Muster.
 */
export type Accounts = 'one' | 'many';

/** The identity with whose rights a Propagation or a Migration acts: a ServiceAccount of the cluster, or the requester. */
export interface ActingIdentity {
  readonly runAs: { readonly type: 'requester' } | { readonly type: 'serviceAccount'; readonly namespace: string; readonly name: string };
  readonly requester?: Impersonation | undefined;
}

/** Clients for the objects of clusters, by identity. Every method returns undefined if the cluster is not in the fleet. */
export interface ActingClients {
  /** Acts with the account of the gateway. */
  own(cluster: ClusterName): ObjectClient | undefined;
  ofCaller(cluster: ClusterName, operation: CallerOperation): ObjectClient | undefined;
  /**
   * With authentication, the client of a ServiceAccount checks before each call that the requester may impersonate that account in the
   * cluster. If not, or without a requester, the call is `FORBIDDEN`. The account of the gateway is never used.
   */
  clientOf(cluster: ClusterName, identity: ActingIdentity): ObjectClient | undefined;
  /** Finds out what the requester of an identity may see. Undefined in local mode: every requester may see everything. */
  readonly visibility: IdentityVisibility | undefined;
}

/** Finds out what the requester of an identity may see in the clusters. An identity without a requester sees nothing. */
export interface IdentityVisibility {
  /**
   * Returns a test that is true for clusters in which the requester may see at least something. Waits at most 2 s for clusters that have
   * not answered. They are hidden until then.
   */
  clusters(identity: ActingIdentity, signal: AbortSignal): Promise<(cluster: ClusterName) => boolean>;
  /** Returns which objects of a kind the requester may get, or list, as far as the rights in `namespaces` tell. Default verb: `get`. */
  objects(identity: ActingIdentity, request: VisibilityRequest, signal: AbortSignal): Promise<VisibleObjects>;
  /** Returns why the requester may not do this. Undefined if the requester may. */
  refusalOf(identity: ActingIdentity, action: ObjectAction, signal: AbortSignal): Promise<Fault | undefined>;
}

/** One action on one object. */
type ObjectAction = Required<Pick<AccessRequest, 'cluster' | 'kind' | 'verb'>> & { readonly object: NonNullable<AccessRequest['object']> };

type VisibilityRequest = Pick<AccessRequest, 'cluster' | 'kind' | 'namespaces'> & { readonly verb?: 'get' | 'list' };

/** The objects of one kind that a requester may get or list. */
export interface VisibleObjects {
  /** True if the requester may see objects in this namespace. An undefined namespace stands for objects without one, or for all namespaces. */
  has(namespace: string | undefined): boolean;
  /** The reason why the rights are unknown where `has` returns false. Undefined: the requester has no right there. */
  readonly fault?: Fault | undefined;
}

interface ActingClientsOptions {
  readonly member: (cluster: ClusterName) => CallerMember | undefined;
  readonly access: Access;
  readonly accounts: Accounts;
}

/** Creates the clients of a gateway. They need no disposal. */
export function createActingClients({ member, access, accounts }: ActingClientsOptions): ActingClients {
  const owned = new WeakMap<ClusterApi, ObjectClient>();
  const requesters = new WeakMap<Impersonation, Caller>();
  const own = (cluster: ClusterName): ObjectClient | undefined => {
    const api = member(cluster)?.api;
    if (api === undefined) return undefined;
    const client = owned.get(api) ?? createObjectClient(api);
    owned.set(api, client);
    return client;
  };
  const callerOfRequester = (requester: Impersonation): Caller => {
    const caller = requesters.get(requester) ?? callerOf({ ...requester, issuer: 'requester' });
    requesters.set(requester, caller);
    return caller;
  };
  const refusalOf: IdentityVisibility['refusalOf'] = async ({ requester }, { cluster, kind, verb, object }, signal) => {
    if (requester === undefined) return fault('FORBIDDEN', 'no requester is recorded', { cluster, retry: 'NEVER' });
    const answer = await access.visibilityOf({ caller: callerOfRequester(requester), cluster, kind, verb, object }, signal);
    if (isVisibleIn(answer, object.namespace)) return undefined;
    if (answer.type === 'none' && answer.fault.code !== 'FORBIDDEN') return answer.fault;
    const place = object.namespace === undefined ? object.name : `${object.namespace}/${object.name}`;
    return fault('FORBIDDEN', `${requester.user} may not ${verb} the ${kind.kind} ${place}`, { cluster, kind, retry: 'NEVER' });
  };
  const mayActAs = async (cluster: ClusterName, identity: ActingIdentity, signal: AbortSignal): Promise<Fault | undefined> => {
    const { runAs, requester } = identity;
    if (requester === undefined) return fault('FORBIDDEN', 'no requester is recorded', { cluster, retry: 'NEVER' });
    if (runAs.type === 'requester') return undefined;
    const { namespace, name } = runAs;
    // An account may act as itself. With prefixes, the requester is another user in that cluster.
    const known = userIn(member(cluster)?.settings.identity, requester);
    if (known.user === userOfAccount({ namespace, name })) return undefined;
    return await refusalOf(identity, { cluster, kind: serviceAccountKind, verb: 'impersonate', object: { namespace, name } }, signal);
  };
  const visibility: IdentityVisibility = {
    async clusters({ requester }, signal) {
      if (requester === undefined) return () => false;
      const caller = callerOfRequester(requester);
      await access.prepare(caller, signal);
      return (cluster) => access.maySeeCluster(caller, cluster);
    },
    async objects({ requester }, request, signal) {
      if (requester === undefined) return { has: () => false };
      const answer = await access.visibilityOf({ verb: 'get', ...request, caller: callerOfRequester(requester) }, signal);
      const unanswered = answer.type === 'all' || answer.fault?.code === 'FORBIDDEN' ? undefined : answer.fault;
      return { has: (namespace) => isVisibleIn(answer, namespace), fault: unanswered };
    },
    refusalOf,
  };
  return {
    own,
    visibility: accounts === 'one' ? undefined : visibility,
    ofCaller(cluster, { caller, requestId }) {
      const found = member(cluster);
      if (found === undefined) return undefined;
      return createObjectClient(found.api, { as: caller.user && impersonationIn(found.settings.identity, caller.user), requestId });
    },
    clientOf(cluster, identity) {
      const found = member(cluster);
      if (found === undefined) return undefined;
      if (accounts === 'one' && identity.runAs.type === 'requester') return own(cluster);
      const client = createObjectClient(found.api, { as: impersonationOf(identity, found.settings.identity) ?? nobody });
      return accounts === 'one' ? client : clientIf(client, (signal) => mayActAs(cluster, identity, signal));
    },
  };
}

const serviceAccountKind = { group: '', kind: 'ServiceAccount' };

/** An identity without a name, which the transport refuses. So a client without an identity cannot use the account of the gateway. */
const nobody: Impersonation = { user: '', groups: [], extra: {} };

/**
 * Returns the identity to impersonate in a cluster: the ServiceAccount of `runAs`, or the requester. Undefined if no requester is recorded.
 *
 * Groups of a ServiceAccount are omitted, because the API server adds them. Naming them would need a right for each group.
 */
export function impersonationOf({ runAs, requester }: ActingIdentity, prefixes?: ClusterIdentity): Impersonation | undefined {
  if (runAs.type === 'serviceAccount') return { user: userOfAccount(runAs), groups: [], extra: {} };
  return requester && impersonationIn(prefixes, requester);
}

/** Returns a client that makes each call only if `refusalOf` returns undefined. Otherwise the call fails with that fault. */
function clientIf(client: ObjectClient, refusalOf: (signal: AbortSignal) => Promise<Fault | undefined>): ObjectClient {
  const guarded =
    <Request, Result>(call: (request: Request, signal: AbortSignal) => Promise<Result>, failed: (fault: Fault) => Result) =>
    async (request: Request, signal: AbortSignal): Promise<Result> => {
      const refusal = await refusalOf(signal);
      return refusal === undefined ? await call(request, signal) : failed(refusal);
    };
  const failedCall = (failure: Fault) => ({ result: 'failed', fault: failure }) as const;
  const failedCheck = (failure: Fault) => ({ fault: failure });
  return {
    cluster: client.cluster,
    get: guarded(client.get, failedCall),
    apply: guarded(client.apply, failedCall),
    replace: guarded(client.replace, failedCall),
    patch: guarded(client.patch, failedCall),
    delete: guarded(client.delete, failedCall),
    serves: guarded(client.serves, failedCheck),
    may: guarded(client.may, failedCheck),
  };
}
