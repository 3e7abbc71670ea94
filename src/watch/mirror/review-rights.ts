import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { type Fault, fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { parseStored } from '../../core/stored.ts';

/** Maximum number of namespaces per kind that the gateway tries although no query names them. */
export const maxTriedNamespaces = 200;

/** Maximum number of namespaces per kind that are mirrored or reviewed, including the namespaces that queries name. */
export const maxNamespaces = 2 * maxTriedNamespaces;

const inFlight = 10;

/** A review of the rights to one kind in some namespaces. */
interface RightsReview {
  readonly api: ClusterApi;
  /** Limits all concurrent reviews of the cluster. */
  readonly reviews: ConcurrencyLimit;
  readonly resource: ServedResource;
  readonly namespaces: readonly string[];
}

export type RightVerdict =
  | { readonly type: 'granted' }
  | { readonly type: 'denied' }
  /** The review failed. A later one may succeed. */
  | { readonly type: 'unanswered'; readonly fault: Fault };

/**
 * Finds out in which namespaces the kind may be listed, and also watched if it can be watched at all.
 *
 * Sends SelfSubjectAccessReviews in the given order, at most ten at a time. Calls `onAnswer` once for each namespace, as soon as its result
 * is known, but never after the abort. Resolves when all results are known.
 */
export async function reviewRights(
  { api, reviews, resource, namespaces }: RightsReview,
  onAnswer: (namespace: string, answer: RightVerdict) => void,
  signal: AbortSignal,
): Promise<void> {
  const verbs = (['list', 'watch'] as const).filter((verb) => verb === 'list' || resource.verbs.includes(verb));
  const remaining = namespaces.values();
  const reviewNext = async () => {
    for (const namespace of remaining) {
      const answer = await verdictFor(namespace);
      if (answer === undefined || signal.aborted) return;
      onAnswer(namespace, answer);
    }
  };

  async function verdictFor(namespace: string): Promise<RightVerdict | undefined> {
    for (const verb of verbs) {
      const answer = await review(verb, namespace);
      if (answer?.type !== 'granted') return answer;
    }
    return { type: 'granted' };
  }

  async function review(verb: string, namespace: string): Promise<RightVerdict | undefined> {
    const { group, version, resource: plural } = resource;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace, verb, group, version, resource: plural } },
    };
    const path = ['apis', 'authorization.k8s.io', 'v1', 'selfsubjectaccessreviews'];
    const answer = await reviews.run(() => api.send({ method: 'POST', path, body }, signal), signal);
    if (answer === undefined) return undefined;
    if (answer.type === 'failed') return withoutReview(answer.fault);
    const status = parseStored<V1SelfSubjectAccessReview>(answer.body)?.status;
    if (status === undefined) return { type: 'unanswered', fault: notAReview({ api, resource }) };
    return { type: status?.allowed === true ? 'granted' : 'denied' };
  }

  await Promise.all(Array.from({ length: Math.min(inFlight, namespaces.length) }, reviewNext));
}

/**
 * Returns the verdict after a failed review. A server that forbids reviews, or has no such API, will not answer differently soon. So the
 * right counts as denied. After any other fault the right is unknown.
 */
function withoutReview(fault: Fault): RightVerdict {
  const { code } = fault;
  return code === 'FORBIDDEN' || code === 'NOT_FOUND' || code === 'NOT_SERVED' ? { type: 'denied' } : { type: 'unanswered', fault };
}

function notAReview({ api, resource: { group, kind } }: Pick<RightsReview, 'api' | 'resource'>): Fault {
  const message = 'expected a SelfSubjectAccessReview, got something else';
  return fault('MALFORMED', message, { cluster: api.cluster, kind: { group, kind }, retry: 'LATER' });
}
