import type { ClusterApi } from '../cluster/cluster-api.ts';
import { clusterFailure, faultOfFailure } from '../cluster/cluster-failure.ts';
import type { Fault } from '../core/faults.ts';
import { parseJsonBody } from '../core/json.ts';
import { textAt, valueAt } from '../core/json-at.ts';
import { memberAccount, memberNamespace } from './joined-objects.ts';

/**
 * A token of the account `muster-member`, with its life in RFC 3339. The API server decides how long the life is. The token expires by the member's
 * clock or by our own, whichever comes first. So clocks that differ make no token older or younger at each renewal.
 */
export interface BoundToken {
  readonly token: string;
  readonly issued: string;
  readonly expires: string;
}

/**
 * Creates a token of the account `muster-member` in a member cluster. The token is bound to the Secret `boundTo` and becomes invalid when that Secret
 * is deleted. The API server may shorten `lifetimeSeconds`.
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
  if (token === undefined || expires === undefined || Number.isNaN(Date.parse(expires)))
    return { fault: faultOfFailure(clusterFailure('MALFORMED', 'expected a TokenRequest with a token'), { cluster: api.cluster }) };
  const lifeMs = lifetimeOf(token) ?? lifetimeSeconds * 1_000;
  const endMs = Math.min(Date.parse(expires), now + lifeMs);
  return { token, issued: new Date(endMs - lifeMs).toISOString(), expires: new Date(endMs).toISOString() };
}

/** Returns the length of the life in milliseconds, by the clock of the API server alone. Undefined if the token does not contain it. */
function lifetimeOf(token: string): number | undefined {
  const claims = parseJsonBody(Buffer.from(token.split('.')[1] ?? '', 'base64url'));
  const [iat, exp] = [valueAt(claims, 'iat'), valueAt(claims, 'exp')];
  return typeof iat === 'number' && typeof exp === 'number' && exp > iat ? (exp - iat) * 1_000 : undefined;
}
