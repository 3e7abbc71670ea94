import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { parseStored } from '../../core/stored.ts';

/** Namespaces tried at most for nobody's sake, for one kind at a time. */
export const maxTriedNamespaces = 200;

/** Namespaces mirrored or asked about at most, for one kind at a time, with those that queries name. */
export const maxNamespaces = 2 * maxTriedNamespaces;

const inFlight = 10;

/** Where a right is asked for. */
interface RightsReview {
  readonly api: ClusterApi;
  /** Bounds what the cluster is asked at a time, together with all that is asked beside this. */
  readonly reviews: ConcurrencyLimit;
  readonly resource: ServedResource;
  readonly namespaces: readonly string[];
}

export type RightVerdict =
  | { readonly type: 'granted' }
  | { readonly type: 'denied' }
  /** Nothing is known: whoever asks again may be told. */
  | { readonly type: 'unanswered'; readonly fault: Fault };

/**
 * Asks in which of the namespaces the kind may be listed, and watched if it can be: by SelfSubjectAccessReviews, at most ten in flight, in
 * the order given. Each namespace is answered as soon as it is known, once; none after the abort. Resolves when all are.
 */
export async function reviewRights(
  { api, reviews, resource, namespaces }: RightsReview,
  onAnswer: (namespace: string, answer: RightVerdict) => void,
  signal: AbortSignal,
): Promise<void> {
  const verbs = (['list', 'watch'] as const).filter((verb) => verb === 'list' || resource.verbs.includes(verb));
  const left = namespaces.values();
  const askOn = async () => {
    for (const namespace of left) {
      const answer = await answerFor(namespace);
      if (answer === undefined || signal.aborted) return;
      onAnswer(namespace, answer);
    }
  };

  async function answerFor(namespace: string): Promise<RightVerdict | undefined> {
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

  await Promise.all(Array.from({ length: Math.min(inFlight, namespaces.length) }, askOn));
}

/** A server that lets nobody ask, or has no such API, will not say anything else a moment later. */
function withoutReview(fault: Fault): RightVerdict {
  const { code } = fault;
  return code === 'FORBIDDEN' || code === 'NOT_FOUND' || code === 'NOT_SERVED' ? { type: 'denied' } : { type: 'unanswered', fault };
}

function notAReview({ api, resource: { group, kind } }: Pick<RightsReview, 'api' | 'resource'>): Fault {
  const message = 'expected a SelfSubjectAccessReview, got something else';
  return { code: 'MALFORMED', cluster: api.cluster, kind: { group, kind }, message, retry: 'LATER' };
}
