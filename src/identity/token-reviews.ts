import type { ClusterApi } from '../cluster/cluster-api.ts';
import { callTyped } from '../cluster/typed-api.ts';
import type { Clock } from '../core/clock.ts';
import { FairSemaphore } from '../core/scheduling/fair-semaphore.ts';
import { type CallerSession, type Identification, unknownCaller } from './authenticator.ts';
import { claimsIn, leewayMs } from './issuer.ts';
import { identified } from './named-user.ts';
import { RefusalRate } from './refusal-rate.ts';
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

/**
 * Bounds of the reviews of tokens that were accepted before, with turns by caller. They have permits of their own, so they never wait for
 * tokens that the hub has not seen. A token that may not wait is `unavailable`.
 */
const acceptedBounds = { permits: 10, permitsPerUser: 5, maxWaiting: 1_000, maxWaitingPerUser: 200 };

/** Bounds of the reviews of all other tokens, with turns by the network of the client. */
const unknownBounds = { permits: 10, permitsPerUser: 5, maxWaiting: 2_000, maxWaitingPerUser: 1_000 };

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

/** A bearer token, and the network of the client that sent it. */
export interface SentToken {
  readonly token: string;
  readonly network: string;
}

/**
 * Finds the users of tokens that the hub judges, such as those of service accounts. Each token is reviewed at most once in 10 s. At most 20 reviews
 * are in flight.
 *
 * Clients take turns by their network, so that many invalid tokens from one network do not keep others out. After many refusals, further unknown
 * tokens from the network are `unavailable` for a while. Tokens that were accepted before do not wait for unknown ones.
 */
export class TokenReviews {
  readonly #options: TokenReviewsOptions;
  readonly #cache: TokenCache;
  readonly #acceptedSemaphore = new FairSemaphore(acceptedBounds);
  readonly #unknownSemaphore = new FairSemaphore(unknownBounds);
  readonly #refusals: RefusalRate;
  readonly #signal: AbortSignal;

  constructor(options: TokenReviewsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#refusals = new RefusalRate(options.clock);
    this.#cache = new TokenCache({ clock: options.clock, leewayMs: 0, remembersUnknown: true });
  }

  /** Returns the user of a token. Never throws. */
  identify(sent: SentToken): Identification | Promise<Identification> {
    return this.#refusalOf(sent) ?? this.#cache.find(sent.token, (last) => this.#review(sent, last));
  }

  /**
   * Returns why a token cannot be accepted, without a call. Undefined: the hub must decide. A token that is no JWT may be accepted by a webhook
   * of the hub, and so may a JWT of any issuer.
   */
  #refusalOf({ token }: SentToken): Identification | undefined {
    const { exp, nbf } = claimsIn(token) ?? {};
    const nowMs = this.#options.clock.now();
    if (typeof exp === 'number' && exp * 1_000 + leewayMs <= nowMs) return unknownCaller('tokenreview', 'expired');
    if (typeof nbf === 'number' && nbf * 1_000 - leewayMs > nowMs) return unknownCaller('tokenreview', 'early');
    return undefined;
  }

  async #review(sent: SentToken, last: CallerSession | undefined): Promise<Identification> {
    const ran =
      last === undefined
        ? await this.#unknownSemaphore.run(sent.network, () => this.#reviewUnknown(sent), this.#signal)
        : await this.#acceptedSemaphore.run(last.caller.key, () => this.#ask(sent), this.#signal);
    if (ran.result === 'done') return ran.value;
    return unavailable(ran.result === 'full' ? 'too many tokens wait for a review' : 'the gateway is ending');
  }

  async #reviewUnknown(sent: SentToken): Promise<Identification> {
    const { network } = sent;
    if (this.#refusals.isExceeded(network)) return unavailable('too many tokens of this network were refused');
    const found = await this.#ask(sent);
    if (found.result === 'unknown') this.#refusals.count(network);
    return found;
  }

  async #ask(sent: SentToken): Promise<Identification> {
    const { token } = sent;
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
        repeat: () => this.identify(sent),
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
