import type { Fault } from '../../core/faults.ts';

const firstMs = 800;
const longestMs = 30_000;
const longestRetryAfterMs = 600_000;

/** Minimum duration of a healthy stream. After such a stream the backoff begins anew. */
export const healthyAfterMs = 120_000;

interface BackoffInput {
  /** Number of failures in a row before this one. 0 at the first failure. */
  readonly attempt: number;
  /** A random number in [0, 1). */
  readonly random: number;
  /** The Retry-After of the server. The wait is at least that long, but at most 10 minutes of it count. Undefined: the server sent none. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Returns the wait before the next attempt: 0.8 s doubling to 30 s, times a random factor in [1, 2).
 *
 * A wait for a Retry-After is up to one second longer, because otherwise all clients that were refused together would return together.
 */
export function backoffMs({ attempt, random, retryAfterMs }: BackoffInput): number {
  const ownMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 16)) * (1 + random);
  if (retryAfterMs === undefined) return ownMs;
  return Math.max(ownMs, Math.min(retryAfterMs, longestRetryAfterMs) + random * 1_000);
}

/** Returns the Retry-After of a fault in milliseconds. Undefined if the answer had none. */
export function retryAfterMsOf(fault: Fault): number | undefined {
  const seconds = fault.status?.retryAfterSeconds;
  return seconds === undefined ? undefined : seconds * 1_000;
}
