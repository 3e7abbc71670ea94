import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import type { CallerSession, Identification } from './authenticator.ts';

interface Entry {
  readonly found: Identification;
  /** The monotonic time until which the result is used. */
  readonly untilMs: number;
  /** The end of the token with the leeway, in Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** Milliseconds for which a result counts. A revoked token is refused after that time, as in API servers (10 s by default). */
const rememberedMs = 10_000;

/** Maximum number of accepted tokens, and of refused tokens. */
const maxTokens = 10_000;

/**
 * Remembers for 10 s the user of each accepted token, and each refusal: at most 10,000 of both, by the SHA-256 of the token. They are stored
 * separately, so that many invalid tokens displace no accepted ones. Concurrent calls for one token share one check.
 */
export class TokenCache {
  readonly #clock: Clock;
  /** Milliseconds after its end for which a token is still accepted. */
  readonly #leewayMs: number;
  /** True: a refusal is remembered too. False: a refused token is checked again each time. */
  readonly #remembersUnknown: boolean;
  readonly #accepted = new LRUCache<string, Entry>({ max: maxTokens });
  readonly #refused = new LRUCache<string, Entry>({ max: maxTokens });
  readonly #checks = new Map<string, Promise<Identification>>();

  constructor(options: { readonly clock: Clock; readonly leewayMs: number; readonly remembersUnknown: boolean }) {
    this.#clock = options.clock;
    this.#leewayMs = options.leewayMs;
    this.#remembersUnknown = options.remembersUnknown;
  }

  /** Returns the remembered result, or checks the token. `check` gets the last session of a token that was accepted before. The check belongs to no caller: it continues when a client leaves. */
  find(token: string, check: (last: CallerSession | undefined) => Promise<Identification>): Identification | Promise<Identification> {
    const key = createHash('sha256').update(token).digest('base64url');
    const entry = this.#accepted.get(key) ?? this.#refused.get(key);
    const isValid = entry !== undefined && this.#clock.now() < entry.expiresAtMs;
    if (isValid && this.#clock.monotonic() < entry.untilMs) return entry.found;
    const running = this.#checks.get(key);
    if (running !== undefined) return running;
    const started = check(isValid && entry.found.result === 'known' ? entry.found.session : undefined)
      .then((found) => {
        this.#remember(key, found);
        return found;
      })
      .finally(() => this.#checks.delete(key));
    this.#checks.set(key, started);
    return started;
  }

  #remember(key: string, found: Identification): void {
    if (found.result === 'unavailable') return;
    const [entries, others] = found.result === 'known' ? [this.#accepted, this.#refused] : [this.#refused, this.#accepted];
    others.delete(key);
    if (found.result === 'unknown' && !this.#remembersUnknown) return;
    const endMs = found.result === 'known' ? found.session.expiresAtMs : undefined;
    const expiresAtMs = endMs === undefined ? Number.POSITIVE_INFINITY : endMs + this.#leewayMs;
    entries.set(key, { found, untilMs: this.#clock.monotonic() + rememberedMs, expiresAtMs });
  }
}
