import type { RolloutState } from '../../model/columns/rollout.ts';
import type { RolloutMark } from '../model/propagation.ts';

/** The input of `nextMark`. */
interface MarkFacts {
  /** The previous rollout mark of the same generation. Absent if the generation starts now. */
  readonly previous?: RolloutMark | undefined;
  /** The rollout phase of all copies together. Undefined if unknown at the moment. */
  readonly phase: RolloutState['phase'] | undefined;
  /** Time in milliseconds after which the rollout times out. Default: never. */
  readonly deadlineMs?: number | undefined;
  /** Time for which a success must last before it is final (`watchMsOf`). */
  readonly watchMs: number;
  readonly nowMs: number;
}

/**
 * Returns the new rollout mark of a cluster: how far the rollout of a generation is there, and since when. A success that lasted long
 * enough is final. A failure can become progress again; a timeout can only become a success. `since` changes only with the phase.
 */
export function nextMark({ previous, phase, deadlineMs, watchMs, nowMs }: MarkFacts): RolloutMark {
  const now = new Date(nowMs).toISOString();
  const enter = (next: RolloutMark['phase']) => (previous?.phase === next ? previous : { phase: next, since: now });
  if (previous?.phase === 'Succeeded' && (phase === undefined || Date.parse(previous.since) + watchMs <= nowMs)) return previous;
  switch (phase) {
    case 'done':
      return enter('Succeeded');
    case 'failed':
      return previous?.phase === 'TimedOut' ? previous : enter('Failed');
    case 'progressing':
    case undefined: {
      if (previous?.phase === 'TimedOut' || (previous?.phase === 'Failed' && phase === undefined)) return previous;
      const mark = enter('Progressing');
      return deadlineMs !== undefined && Date.parse(mark.since) + deadlineMs <= nowMs ? { phase: 'TimedOut', since: now } : mark;
    }
    default:
      return phase satisfies never;
  }
}

/**
 * Minimum time for which a cluster must be healthy after a breach, so that a cluster that fails again and again does not continue the
 * rollout.
 */
const minHealthyMs = 30_000;

/** Returns the milliseconds for which a success is watched before it counts: the soak time, and after a breach at least 30 s. */
export function watchMsOf({ soakMs, breachedAtMs }: { readonly soakMs: number; readonly breachedAtMs: number | undefined }): number {
  return breachedAtMs === undefined ? soakMs : Math.max(soakMs, minHealthyMs);
}
