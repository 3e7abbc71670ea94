import DataLoader from 'dataloader';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Impersonation } from '../../cluster/endpoint.ts';
import { callTyped } from '../../cluster/typed-api.ts';
import type { Clock } from '../../core/clock.ts';
import { type Fault, type FaultCode, fault } from '../../core/faults.ts';
import { startDeadline } from '../../core/scheduling/deadline.ts';
import type { ResourceAttributes } from '../rbac/policy-rules.ts';
import { groupsInReview } from '../user-in-cluster.ts';
import { ReviewPace } from './review-pace.ts';

/** A question to an API server: may this user do this? */
export interface Review {
  /** The user as the cluster knows it. */
  readonly user: Impersonation;
  /** A text that is equal for equal users only. */
  readonly userKey: string;
  readonly attributes: ResourceAttributes;
}

/** The answer of an API server. `fault`: the review had no result, and the access counts as denied. */
export interface ReviewAnswer {
  readonly isAllowed: boolean;
  readonly fault?: Fault | undefined;
  /** The reason of the API server. Many authorizers give none for a denial. */
  readonly reason?: string | undefined;
}

/** Milliseconds that a review may take, with its time in the queue. */
const reviewMs = 10_000;

/**
 * SubjectAccessReviews of one cluster, sent with the account of the gateway.
 *
 * An equal review that is in flight, or was requested in the same event-loop turn, is not sent again. A review continues if the request that
 * began it ends, because other requests may wait for it. All reviews end when the signal aborts.
 */
export class ClusterReviews {
  readonly #api: Pick<ClusterApi, 'cluster' | 'send'>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #pace: ReviewPace;
  readonly #loader: DataLoader<Review, ReviewAnswer, string>;

  constructor({ api, clock }: { readonly api: Pick<ClusterApi, 'cluster' | 'send'>; readonly clock: Clock }, signal: AbortSignal) {
    this.#api = api;
    this.#clock = clock;
    this.#signal = signal;
    this.#pace = new ReviewPace(clock);
    // The batch resolves with promises, so that a review does not wait for the others of its batch.
    const send = async (reviews: readonly Review[]) => reviews.map((review) => this.#send(review) as unknown as ReviewAnswer);
    this.#loader = new DataLoader(send, { cacheKeyFn: keyOfReview });
  }

  /** Returns the answer of the API server. Never throws. */
  async ask(review: Review): Promise<ReviewAnswer> {
    const answer = this.#loader.load(review);
    try {
      return await answer;
    } finally {
      // The cache of the loader holds reviews in flight only. Answers are cached with their age elsewhere.
      this.#loader.clear(review);
    }
  }

  async #send({ user, userKey, attributes }: Review): Promise<ReviewAnswer> {
    using deadline = startDeadline(this.#clock, reviewMs, this.#signal);
    const { signal } = deadline;
    const spec = {
      user: user.user,
      groups: [...groupsInReview(user)],
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: mutableExtra(user.extra) }),
      resourceAttributes: definedFields(attributes),
    };
    const answer = await this.#pace.run(
      userKey,
      () =>
        callTyped(
          this.#api,
          ({ AuthorizationV1Api }, transport) =>
            new AuthorizationV1Api(transport).createSubjectAccessReview({
              body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
            }),
          { signal },
        ),
      signal,
    );
    if (answer === undefined || signal.aborted) return this.#unanswered('TIMED_OUT');
    if (answer.result === 'failed') return this.#unanswered(answer.fault.code);
    const { allowed, denied, reason } = answer.value.status ?? {};
    return { isAllowed: allowed === true && denied !== true, reason };
  }

  /** Returns a denial with a fault, because the cluster did not answer or refused the review. Its message names neither the account of the gateway nor an address. */
  #unanswered(code: FaultCode): ReviewAnswer {
    const message = 'the cluster did not decide about the rights of the caller, so nothing is shown';
    return { isAllowed: false, fault: fault(code, message, { cluster: this.#api.cluster, retry: 'LATER' }) };
  }
}

function keyOfReview({ userKey, attributes }: Review): string {
  const { verb, group, resource, subresource = '', namespace = '', name = '' } = attributes;
  return [userKey, verb, group, resource, subresource, namespace, name].join('\n');
}

function mutableExtra(extra: Impersonation['extra']): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}

function definedFields(attributes: ResourceAttributes) {
  const { verb, group, resource, subresource, namespace, name } = attributes;
  return {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}
