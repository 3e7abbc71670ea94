/** The unit of cached times. In this unit, a time with a sign for its verdict is a small integer. */
const tickMs = 100;

/** Milliseconds for which a decision is used. */
export const decisionMs = {
  /** An access that was allowed, if the RBAC objects of the cluster are mirrored. The removal of a binding ends the decision earlier. */
  allowed: 30_000,
  /** An access that was allowed, if the RBAC objects of the cluster are not mirrored. */
  allowedUnmirrored: 10_000,
  denied: 5_000,
} as const;

/** Converts a time to ticks of 0.1 s. The result is at least 1, so that its sign can tell allowed from denied. */
export function ticksOf(monotonicMs: number): number {
  return Math.floor(monotonicMs / tickMs) + 1;
}
