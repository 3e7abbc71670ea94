import type { Fault } from '../../core/faults.ts';

const firstMs = 800;
const longestMs = 30_000;
const longestRetryAfterMs = 600_000;

/** A stream that stood this long was healthy: what fails next is a new trouble, and waits from the start. */
export const healthyAfterMs = 120_000;

interface BackoffInput {
  /** Failures in a row before this one: 0 at the first. */
  readonly attempt: number;
  /** In [0, 1). */
  readonly random: number;
  /** What the server asked for, if it did. A floor, of which at most 10 minutes count. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * How long to wait before trying again: 0.8 s doubling to 30 s, times a random factor in [1, 2).
 *
 * Above a Retry-After up to a second is added, as all who were refused together would come back together.
 */
export function backoffMs({ attempt, random, retryAfterMs }: BackoffInput): number {
  const ownMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 16)) * (1 + random);
  if (retryAfterMs === undefined) return ownMs;
  return Math.max(ownMs, Math.min(retryAfterMs, longestRetryAfterMs) + random * 1_000);
}

/** The Retry-After of a fault in milliseconds, if its answer had one. */
export function retryAfterMsOf(fault: Fault): number | undefined {
  const seconds = fault.status?.retryAfterSeconds;
  return seconds === undefined ? undefined : seconds * 1_000;
}
