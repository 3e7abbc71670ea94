/** Prints Unix milliseconds as RFC 3339 text. Returns undefined for undefined. */
export function isoOf(epochMs: number | undefined): string | undefined {
  return epochMs === undefined ? undefined : new Date(epochMs).toISOString();
}

/**
 * Returns the seconds from `epochMs` to now, with three decimals. Undefined without `epochMs`. At least 0, also after the clock was set
 * back.
 */
export function ageSecondsOf(epochMs: number | undefined, nowMs: number): number | undefined {
  return epochMs === undefined ? undefined : Math.round(Math.max(0, nowMs - epochMs)) / 1000;
}
