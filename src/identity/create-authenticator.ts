import type { ConfiguredAuthentication } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { type Authenticator, type Identification, type RequestCredentials, unknownCaller } from './authenticator.ts';
import { claimsIn, Issuer } from './issuer.ts';
import { type PeerAuthorities, PeerCertificates } from './peer-certificates.ts';
import { type SentToken, type TokenReviewer, TokenReviews } from './token-reviews.ts';

export interface AuthenticatorOptions {
  readonly settings: ConfiguredAuthentication;
  /** Returns the authorities of client certificates: the same object until their files have changed. */
  readonly authorities: () => PeerAuthorities;
  /** The API server of the hub. Undefined while the hub is not in the fleet. */
  readonly hub: () => TokenReviewer | undefined;
  readonly clock: Clock;
}

/** Milliseconds that a request waits for an issuer or the hub. It then gets the result `unavailable`. */
const patienceMs = 10_000;

/**
 * Creates the authenticator of a config. The first credential of a request that applies decides: the headers of a proxy, then a certificate,
 * then a bearer token. A token whose `iss` is that of an issuer is judged by this issuer, any other by the hub.
 */
export function createAuthenticator({ settings, authorities, hub, clock }: AuthenticatorOptions, signal: AbortSignal): Authenticator {
  const issuers = new Map(settings.oidc.map((one) => [one.issuer, new Issuer(one, clock)]));
  const reviews = settings.tokenReview && new TokenReviews({ audiences: settings.tokenReview.audiences, hub, clock }, signal);
  const peers = new PeerCertificates({ authorities, proxy: settings.proxy, now: () => clock.now() });
  const ofToken = (sent: SentToken): Identification | Promise<Identification> => {
    const issuer = claimsIn(sent.token)?.iss;
    const known = typeof issuer === 'string' ? issuers.get(issuer) : undefined;
    return known?.identify(sent.token) ?? reviews?.identify(sent) ?? unknownCaller('token', 'issuer');
  };
  return {
    identify: (credentials) => {
      const found = peers.identify(credentials) ?? ofBearer(credentials, ofToken);
      return found instanceof Promise ? patiently(found, clock) : found;
    },
  };
}

function ofBearer<T>({ authorization, network }: RequestCredentials, ofToken: (sent: SentToken) => T): T | Identification {
  if (authorization === undefined) return unknownCaller('none', 'missing');
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return token === undefined ? unknownCaller('none', 'malformed') : ofToken({ token, network });
}

async function patiently(found: Promise<Identification>, clock: Clock): Promise<Identification> {
  const done = new AbortController();
  const late = clock
    .sleep(patienceMs, done.signal)
    .then((): Identification => ({ result: 'unavailable', method: 'token', problem: 'no answer in time' }));
  try {
    return await Promise.race([found, late]);
  } finally {
    done.abort();
  }
}
