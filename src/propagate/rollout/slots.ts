/** How far a cluster is in a rollout, as the walks that pace it see it. */
export interface RolloutLine {
  /** `unknown` is paced as `progressing`. */
  readonly phase: 'toApply' | 'progressing' | 'succeeded' | 'failed' | 'timedOut' | 'skip' | 'unknown';
  /** Milliseconds of the epoch of the last change of phase. Absent: now. */
  readonly sinceMs?: number | undefined;
}

/** What a cluster may take, and how long. */
export interface Pace {
  /** How long a cluster that succeeded keeps its slot. */
  readonly soakMs: number;
  /** How long it may take before it timed out. Absent: for ever. */
  readonly deadlineMs?: number | undefined;
  readonly nowMs: number;
}

/** What a cluster takes of a rollout's width. */
type Slot =
  /** It runs, or soaks. `recheckMs`: when that ends by itself, if it does. */
  | { readonly taken: 'yes'; readonly recheckMs?: number }
  /** It ran longer than it may, since `recheckMs`. */
  | { readonly taken: 'timedOut'; readonly recheckMs: number }
  | { readonly taken: 'no' };

/** The slot of a cluster (docs/internals/propagation.md 6): a soak or deadline that ends now has ended. */
export function slotOf(line: RolloutLine, { soakMs, deadlineMs, nowMs }: Pace): Slot {
  const sinceMs = line.sinceMs ?? nowMs;
  switch (line.phase) {
    case 'toApply':
      return { taken: 'yes' };
    case 'succeeded':
      return nowMs < sinceMs + soakMs ? { taken: 'yes', recheckMs: sinceMs + soakMs } : { taken: 'no' };
    case 'timedOut':
    case 'skip':
      return { taken: 'no' };
    case 'progressing':
    case 'failed':
    case 'unknown': {
      if (deadlineMs === undefined) return { taken: 'yes' };
      const recheckMs = sinceMs + deadlineMs;
      return { taken: nowMs < recheckMs ? 'yes' : 'timedOut', recheckMs };
    }
    default:
      return line.phase satisfies never;
  }
}

/** The nearest of these times that is yet to come; undefined if none is. */
export function nearestAfter(nowMs: number, times: Iterable<number | undefined>): number | undefined {
  let nearest: number | undefined;
  for (const time of times) {
    if (time !== undefined && time > nowMs && (nearest === undefined || time < nearest)) nearest = time;
  }
  return nearest;
}
