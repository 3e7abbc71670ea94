/** The phase of a cluster in a rollout. */
export interface RolloutLine {
  /** The phase. `unknown` counts as `progressing`. */
  readonly phase: 'toApply' | 'progressing' | 'succeeded' | 'failed' | 'timedOut' | 'skip' | 'unknown';
  /** Start of the phase, in Unix milliseconds. Default: now. */
  readonly sinceMs?: number | undefined;
}

/** The times that limit how long a cluster takes a slot. */
export interface SlotTimes {
  /** Time for which a cluster that succeeded keeps its slot. */
  readonly soakMs: number;
  /** Time after which a cluster times out. Default: never. */
  readonly deadlineMs?: number | undefined;
  readonly nowMs: number;
}

/** Whether a cluster takes a slot of the rollout. The number of slots is `maxConcurrency`. */
type Slot =
  /**
   * The cluster is to be written, progresses, has failed within its deadline, or soaks. `recheckMs`: the end of the soak or of the
   * deadline, in Unix milliseconds. Absent if there is neither.
   */
  | { readonly taken: 'yes'; readonly recheckMs?: number }
  /** The cluster takes no slot any more, because its deadline ended at `recheckMs`. */
  | { readonly taken: 'timedOut'; readonly recheckMs: number }
  /** The cluster has succeeded and soaked, has timed out before, or is skipped. */
  | { readonly taken: 'no' };

/** Decides whether a cluster takes a slot (docs/internals/propagation.md 6). A soak or deadline that ends exactly now has ended. */
export function slotOf(line: RolloutLine, { soakMs, deadlineMs, nowMs }: SlotTimes): Slot {
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

/** Returns the earliest of these times that is in the future. Undefined if there is none. */
export function nearestAfter(nowMs: number, times: Iterable<number | undefined>): number | undefined {
  let nearest: number | undefined;
  for (const time of times) {
    if (time !== undefined && time > nowMs && (nearest === undefined || time < nearest)) nearest = time;
  }
  return nearest;
}
