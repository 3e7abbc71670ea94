import type { RolloutState } from '../../model/columns/rollout.ts';
import type { RolloutMark } from '../model/propagation.ts';

/** What a mark is made from. */
interface MarkFacts {
  /** Of the same generation. Absent: it begins now. */
  readonly previous?: RolloutMark | undefined;
  /** How far all copies together are. Undefined: nobody can tell at the moment. */
  readonly phase: RolloutState['phase'] | undefined;
  /** Absent: never. */
  readonly deadlineMs?: number | undefined;
  /** How long it must hold before it stays a success (`watchMsOf`). */
  readonly watchMs: number;
  readonly nowMs: number;
}

/**
 * How far a generation's rollout is in a cluster, after what was last known of it. What succeeded, and held so long, stays so. What failed goes on if it
 * does go on; what timed out has only success before it. `since` moves with the phase alone.
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

/** After a breach nothing counts as well again before it was so for so long: what flaps must not lead on. */
const leastHealthyMs = 30_000;

/** How long a success is watched before it counts: the soak time; while its generation is in breach, 30 s at least. */
export function watchMsOf({ soakMs, breachedAtMs }: { readonly soakMs: number; readonly breachedAtMs: number | undefined }): number {
  return breachedAtMs === undefined ? soakMs : Math.max(soakMs, leastHealthyMs);
}
