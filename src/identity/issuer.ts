import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { ConfiguredIssuer } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { type Identification, type RefusalReason, unknownCaller } from './authenticator.ts';
import { IssuerKeys, isKeyFailure } from './issuer-keys.ts';
import { identified } from './named-user.ts';
import { TokenCache } from './token-cache.ts';

/**
 * Milliseconds by which clocks may differ. An expired token is accepted until this long after its end, and a new token from this long before its
 * start.
 */
export const leewayMs = 30_000;

/** Maximum number of keys that are tried for a token that does not name its key. */
const maxKeysTried = 10;

/** An issuer of OpenID Connect: judges its tokens. */
export class Issuer {
  readonly #settings: ConfiguredIssuer;
  readonly #clock: Clock;
  readonly #keys: IssuerKeys;
  readonly #cache: TokenCache;

  constructor(settings: ConfiguredIssuer, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#keys = new IssuerKeys(settings, clock);
    // A refused token is judged again each time: its key may be published later, or its time may come.
    this.#cache = new TokenCache({ clock, leewayMs, remembersUnknown: false });
    void this.#keys.warmUp();
  }

  /** Returns the user of a token whose `iss` is this issuer. Never throws. */
  identify(token: string): Identification | Promise<Identification> {
    return this.#cache.find(token, () => this.#judge(token));
  }

  async #judge(token: string): Promise<Identification> {
    try {
      return this.#userOf(await this.#verify(token));
    } catch (error) {
      if (isKeyFailure(error)) return { result: 'unavailable', method: 'oidc', problem: (error as Error).message };
      return unknownCaller('oidc', reasonOf(error));
    }
  }

  async #verify(token: string): Promise<JWTPayload> {
    const { issuer, audiences, algorithms } = this.#settings;
    const options: JWTVerifyOptions = {
      issuer,
      audience: [...audiences],
      algorithms: [...algorithms],
      requiredClaims: ['exp'],
      clockTolerance: leewayMs / 1_000,
      currentDate: new Date(this.#clock.now()),
    };
    try {
      return (await jwtVerify(token, this.#keys.keyFor, options)).payload;
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return await firstVerified(token, error, options);
      throw error;
    }
  }

  #userOf(payload: JWTPayload): Identification {
    const { issuer, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = this.#settings;
    const name = claimOf(payload, usernameClaim);
    const groups = claimOf(payload, groupsClaim) ?? [];
    const listed: readonly unknown[] = Array.isArray(groups) ? groups : [groups];
    if (typeof name !== 'string' || name === '' || !listed.every((group) => typeof group === 'string'))
      return unknownCaller('oidc', 'claims');
    const verified = claimOf(payload, 'email_verified') ?? true;
    if (usernameClaim === 'email' && verified !== true && verified !== 'true') return unknownCaller('oidc', 'claims');
    return identified({
      user: usernamePrefix + name,
      groups: listed.filter((group) => group !== '').map((group) => groupsPrefix + group),
      issuer,
      method: 'oidc',
      expiresAtMs: (payload.exp ?? 0) * 1_000,
    });
  }
}

/**
 * Returns the payload of a token that does not name its key (`kid`), verified with one of the keys that fit. Tries at most 10 keys.
 *
 * @throws the error of the last key, if none of them verifies the token.
 */
async function firstVerified(
  token: string,
  matching: InstanceType<typeof errors.JWKSMultipleMatchingKeys>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let last: unknown = matching;
  let tried = 0;
  for await (const key of matching) {
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      last = error;
    }
    tried++;
    if (tried >= maxKeysTried) break;
  }
  throw last;
}

/** Returns the claims of a JWT without verifying anything. Undefined if the token is no JWT. */
export function claimsIn(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

function claimOf(payload: JWTPayload, name: string): unknown {
  return Object.hasOwn(payload, name) ? payload[name] : undefined;
}

function reasonOf(error: unknown): RefusalReason {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.claim === 'aud' ? 'audience' : error.claim === 'nbf' ? 'early' : error.claim === 'iss' ? 'issuer' : 'claims';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return 'key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  return 'malformed';
}
