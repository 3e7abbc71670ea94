/** RFC 3339 text of milliseconds of the epoch, to the millisecond. */
export function isoOf(epochMs: number | undefined): string | undefined {
  return epochMs === undefined ? undefined : new Date(epochMs).toISOString();
}

/** Seconds from then to now, to the millisecond, at least 0: a clock that was set back makes nothing younger than now. */
export function ageSecondsOf(epochMs: number | undefined, nowMs: number): number | undefined {
  return epochMs === undefined ? undefined : Math.round(Math.max(0, nowMs - epochMs)) / 1000;
}
