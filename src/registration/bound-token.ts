import type { ClusterApi } from '../cluster/cluster-api.ts';
import { clusterFailure, faultOfFailure } from '../cluster/cluster-failure.ts';
import type { Fault } from '../core/faults.ts';
import { parseJsonBody } from '../core/json.ts';
import { textAt } from '../core/json-at.ts';
import { memberAccount, memberNamespace } from './joined-objects.ts';

/** A token of the account in a member, with its life in RFC 3339. */
export interface BoundToken {
  readonly token: string;
  readonly issued: string;
  readonly expires: string;
}

/**
 * Creates a token of the account `muster-member` in a member cluster. The token is bound to a Secret: it ends with it. The API server may
 * shorten the life of the token.
 *
 * @param now The current time in Unix milliseconds.
 * @returns The token, or the fault of the cluster.
 */
export async function createBoundToken(
  api: Pick<ClusterApi, 'cluster' | 'send'>,
  { boundTo, lifetimeSeconds, now }: { readonly boundTo: string; readonly lifetimeSeconds: number; readonly now: number },
  signal: AbortSignal,
): Promise<BoundToken | { readonly fault: Fault }> {
  const path = ['api', 'v1', 'namespaces', memberNamespace, 'serviceaccounts', memberAccount, 'token'];
  const boundObjectRef = { apiVersion: 'v1', kind: 'Secret', name: boundTo };
  const spec = { expirationSeconds: lifetimeSeconds, boundObjectRef };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const answer = await api.send({ method: 'POST', path, body }, signal);
  if (answer.type === 'failed') return answer;
  const review = parseJsonBody(answer.body);
  const [token, expires] = [textAt(review, 'status', 'token'), textAt(review, 'status', 'expirationTimestamp')];
  if (token === undefined || expires === undefined)
    return { fault: faultOfFailure(clusterFailure('MALFORMED', 'expected a TokenRequest with a token'), { cluster: api.cluster }) };
  return { token, issued: new Date(now).toISOString(), expires };
}
