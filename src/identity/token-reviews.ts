import type { ClusterApi } from '../cluster/cluster-api.ts';
import { callTyped } from '../cluster/typed-api.ts';
import type { Clock } from '../core/clock.ts';
import { createConcurrencyLimit } from '../core/scheduling/concurrency-limit.ts';
import { type Identification, unknownCaller } from './authenticator.ts';
import { claimsIn } from './issuer.ts';
import { identified } from './named-user.ts';
import { TokenCache } from './token-cache.ts';

/** The API server of the hub, which reviews tokens. */
export type TokenReviewer = Pick<ClusterApi, 'cluster' | 'send'>;

export interface TokenReviewsOptions {
  /** The audiences that the gateway accepts, at least one. A token must be meant for one of them. */
  readonly audiences: readonly string[];
  /** Undefined while the hub is not in the fleet. */
  readonly hub: () => TokenReviewer | undefined;
  readonly clock: Clock;
}

/** Maximum number of reviews in flight. */
const maxReviews = 20;

/** Maximum number of tokens that wait for a review. For more, the result is `unavailable`. */
const maxWaiting = 1_000;

/** The names of service accounts: the only names of Kubernetes itself that a token may have. */
const accountName = /^system:serviceaccount:[^:]+:[^:]+$/;

/**
 * The groups that the API server adds to each authenticated user. They are left out, because the API server of each cluster adds them again.
 */
const addedGroups = /^system:(?:authenticated|serviceaccounts(?::.*)?)$/;

/**
 * The prefix of extra values that name the token and its Pod. They are left out, because with them each token of an account would be a
 * different caller.
 */
const tokenKeys = 'authentication.kubernetes.io/';

/** Tokens that the hub judges, such as those of service accounts. Each is reviewed at most once in 10 s. */
export class TokenReviews {
  readonly #options: TokenReviewsOptions;
  readonly #cache: TokenCache;
  readonly #limit = createConcurrencyLimit(maxReviews);
  readonly #signal: AbortSignal;
  #waiting = 0;

  constructor(options: TokenReviewsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#cache = new TokenCache({ clock: options.clock, leewayMs: 0, remembersUnknown: true });
  }

  /** Returns the user of a token. Never throws. */
  identify(token: string): Identification | Promise<Identification> {
    return this.#cache.find(token, () => this.#review(token));
  }

  async #review(token: string): Promise<Identification> {
    if (this.#waiting >= maxWaiting) return unavailable('too many tokens wait for a review');
    this.#waiting++;
    try {
      return (await this.#limit.run(() => this.#ask(token), this.#signal)) ?? unavailable('the gateway is ending');
    } finally {
      this.#waiting--;
    }
  }

  async #ask(token: string): Promise<Identification> {
    const { hub, audiences } = this.#options;
    const api = hub();
    if (api === undefined) return unavailable('the hub is not in the fleet');
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences: [...audiences] } };
    const answer = await callTyped(
      api,
      ({ AuthenticationV1Api }, transport) => new AuthenticationV1Api(transport).createTokenReview({ body }),
      { signal: this.#signal },
    );
    if (answer.result === 'failed') return unavailable(`the hub ${api.cluster} does not review tokens: ${answer.fault.message}`);
    const { authenticated, user, audiences: accepted = [] } = answer.value.status ?? {};
    if (authenticated !== true || user === undefined) return unknownCaller('tokenreview', 'rejected');
    // An API server that knows no audiences leaves them out. Then the token may be meant for any server.
    if (!accepted.some((one) => audiences.includes(one))) return unknownCaller('tokenreview', 'audience');
    const name = user.username ?? '';
    const extra = Object.entries(user.extra ?? {}).filter(([key]) => !key.startsWith(tokenKeys));
    return identified(
      {
        user: name,
        uid: user.uid ?? '',
        groups: (user.groups ?? []).filter((group) => !addedGroups.test(group)),
        extra: Object.fromEntries(extra),
        issuer: 'tokenreview',
        method: 'tokenreview',
        expiresAtMs: endOf(token),
        repeat: () => this.identify(token),
      },
      { mayBeSystem: accountName.test(name) },
    );
  }
}

/** Returns the end of a token that the hub has accepted, in Unix milliseconds. Undefined if the token is no JWT with an end. */
function endOf(token: string): number | undefined {
  const end = claimsIn(token)?.exp;
  return typeof end === 'number' ? end * 1_000 : undefined;
}

function unavailable(problem: string): Identification {
  return { result: 'unavailable', method: 'tokenreview', problem };
}
