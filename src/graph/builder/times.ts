/** Prints Unix milliseconds as RFC 3339 text. */
export function isoOf(epochMs: number | undefined): string | undefined {
  return epochMs === undefined ? undefined : new Date(epochMs).toISOString();
}

/** Returns the seconds from then to now, to the millisecond. At least 0, also after the clock was set back. */
export function ageSecondsOf(epochMs: number | undefined, nowMs: number): number | undefined {
  return epochMs === undefined ? undefined : Math.round(Math.max(0, nowMs - epochMs)) / 1000;
}
