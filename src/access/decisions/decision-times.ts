/** The unit of cached times, so that a time with its verdict is a small integer. */
const tickMs = 100;

/** Milliseconds for which a decision is used. */
export const decisionMs = {
  /** An access that was allowed, if the RBAC objects of the cluster are mirrored: a removed binding ends it earlier. */
  allowed: 30_000,
  /** An access that was allowed, if the RBAC objects of the cluster are not mirrored. */
  allowedUnmirrored: 10_000,
  denied: 5_000,
} as const;

/** Returns the time in ticks of 0.1 s, from 1 on. */
export function ticksOf(monotonicMs: number): number {
  return Math.floor(monotonicMs / tickMs) + 1;
}
