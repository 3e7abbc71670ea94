import { createRemoteJWKSet, customFetch, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { ConfiguredIssuer } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { fetchJson } from './https-json.ts';

/** Milliseconds after which keys are fetched again, so that a withdrawn key stops counting. */
const maxAgeMs = 600_000;

/** Milliseconds between two fetches: after an unknown key, and after a failure while keys are known. */
const cooldownMs = 30_000;

/** Milliseconds for the documents of an issuer, together. */
const timeoutMs = 5_000;

/** The keys of an issuer cannot be fetched, and none are known. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/**
 * The public keys of an issuer. They are fetched on first use, then after 10 minutes, and at most once in 30 s for a key that is not among
 * them. While the issuer does not answer, the known keys count.
 */
export class IssuerKeys {
  readonly #settings: Pick<ConfiguredIssuer, 'issuer' | 'caFile'>;
  readonly #clock: Clock;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;
  /** The monotonic time of the last successful fetch. */
  #fetchedMs = Number.NEGATIVE_INFINITY;
  #failure: { readonly untilMs: number; readonly error: KeysUnavailable } | undefined;

  constructor(settings: Pick<ConfiguredIssuer, 'issuer' | 'caFile'>, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    // jose would refuse known keys that are too old while the issuer is away, so their age is checked here.
    this.#keys = createRemoteJWKSet(new URL(settings.issuer), {
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: cooldownMs,
      timeoutDuration: timeoutMs,
      [customFetch]: async (_url, { signal }) => Response.json(await this.#fetch(signal ?? AbortSignal.timeout(timeoutMs))),
    });
  }

  /**
   * Returns the key for the header of a token.
   *
   * @throws {KeysUnavailable} if the issuer does not answer and its answer is needed.
   * @throws {errors.JOSEError} if the issuer has no such key, or several.
   */
  readonly keyFor: JWTVerifyGetKey = async (header, token) => {
    const isOld = this.#clock.monotonic() - this.#fetchedMs >= maxAgeMs;
    // A failure leaves the known keys in place.
    if (isOld && this.#keys.jwks() !== undefined) await this.#keys.reload().catch(() => undefined);
    return this.#keys(header, token);
  };

  /** Fetches the keys before the first token. Failures are reported with the first token. */
  async warmUp(): Promise<void> {
    await this.#keys.reload().catch(() => undefined);
  }

  async #fetch(signal: AbortSignal): Promise<JSONWebKeySet> {
    if (this.#failure !== undefined && this.#clock.monotonic() < this.#failure.untilMs) throw this.#failure.error;
    const { issuer, caFile } = this.#settings;
    try {
      const discovery = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, { caFile, signal });
      const keys = await fetchJson(keyAddress(discovery, issuer), { caFile, signal });
      if (!isKeySet(keys)) throw new Error('expected a JSON Web Key Set');
      this.#failure = undefined;
      this.#fetchedMs = this.#clock.monotonic();
      return keys;
    } catch (error) {
      const unavailable = new KeysUnavailable(`the issuer ${issuer} does not answer: ${error instanceof Error ? error.message : error}`);
      this.#failure = { untilMs: this.#clock.monotonic() + (this.#keys.jwks() === undefined ? retryMs : cooldownMs), error: unavailable };
      throw unavailable;
    }
  }
}

/** Milliseconds between two fetches while no key is known: each token is answered with 503 until the next fetch. */
const retryMs = 2_000;

/**
 * Returns the `jwks_uri` of a discovery document.
 *
 * @throws {Error} if it is not an HTTPS address, or if the document does not name this issuer. The keys decide whose signatures count (OpenID
 * Connect Discovery 4.3).
 */
function keyAddress(discovery: unknown, issuer: string): string {
  const { issuer: named, jwks_uri: address } = (discovery ?? {}) as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
  if (named !== issuer) throw new Error('expected a discovery document of this issuer');
  if (typeof address !== 'string' || URL.parse(address)?.protocol !== 'https:') throw new Error('expected a jwks_uri with https');
  return address;
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  const keys = (value as { readonly keys?: unknown } | null)?.keys;
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null);
}

/** True if the error means that the keys could not be read. It says nothing about the token. */
export function isKeyFailure(error: unknown): boolean {
  return error instanceof KeysUnavailable || error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
}
