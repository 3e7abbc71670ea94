import type { ClusterName } from '../../core/names.ts';
import type { RolloutMark } from '../model/propagation.ts';
import type { RolloutSpec } from '../model/spec-definition.ts';
import { sumBy } from '../plan/placing/sum-by.ts';

/** The change of the replica count in one cluster. */
export interface CountMove {
  readonly cluster: ClusterName;
  /** Current replicas of the copy, as the mirror shows them. 0 without a copy. */
  readonly current: number;
  /** Planned replicas. 0 for a cluster that is leaving. */
  readonly to: number;
  /** Replicas that are ready now. */
  readonly ready: number;
  /**
   * The rollout phase of this generation. For a cluster that is leaving: `Progressing` once its copy is being deleted. Absent if the change
   * was not started.
   */
  readonly mark?: RolloutMark['phase'] | undefined;
}

/** The decreases that must wait, sorted by name in code units. */
export interface SurgeDecision {
  /** Not started yet: a cluster that lacks replicas has neither failed nor timed out. */
  readonly waiting: readonly ClusterName[];
  /** Not started: all clusters that lack replicas failed or timed out, or a migration holds the decrease (SURGE_HELD). */
  readonly held: readonly ClusterName[];
}

/**
 * Decides which decreases must wait until other clusters have their replicas (docs/internals/propagation.md 6). Pure.
 *
 * - A cluster lacks the planned replicas that are not ready there. It lacks none once this generation has succeeded in it.
 * - Decreases wait only if a cluster whose count does not fall lacks replicas. Otherwise all decreases start, so the total of ready replicas
 *   may fall below the planned total: copies that are unhealthy in a cluster with a decrease hold no other decrease.
 * - If decreases wait, all that were not started keep together as many surplus ready replicas as all clusters lack. Surplus are the ready
 *   replicas that a decrease removes. If the surplus is smaller, every decrease with surplus waits.
 * - Decreases are checked in the order of cluster names. Each starts as a whole or waits. A decrease without surplus starts.
 * - If every cluster that lacks replicas has failed or timed out: with `onFailure: Continue`, all decreases start. With another value, the
 *   waiting decreases become `held`.
 *
 * @param moves All clusters of the plan, and those that are leaving. Without evicted clusters that are leaving: `waitingPurges` decides there.
 */
export function decideSurge(moves: readonly CountMove[], onFailure: RolloutSpec['onFailure']): SurgeDecision {
  const decreases = moves.filter(({ current, to, mark }) => current > to && mark === undefined);
  const isMove = moves.some((move) => move.current <= move.to && lackOf(move) > 0);
  const lacking = isMove ? moves.filter((move) => lackOf(move) > 0) : [];
  let spare = sumBy(decreases, dropOf) - sumBy(lacking, lackOf);
  const waiting: ClusterName[] = [];
  for (const decrease of [...decreases].sort((a, b) => (a.cluster < b.cluster ? -1 : 1))) {
    const drop = dropOf(decrease);
    if (drop === 0 || drop <= spare) spare -= drop;
    else waiting.push(decrease.cluster);
  }
  if (lacking.some(({ mark }) => mark !== 'Failed' && mark !== 'TimedOut')) return { waiting, held: [] };
  return onFailure === 'Continue' ? { waiting: [], held: [] } : { waiting: [], held: waiting };
}

/**
 * Returns the ready replicas that a decrease removes. Replicas that are not ready do not count, and neither do ready ones above the current
 * count: an earlier decrease removes them already.
 */
function dropOf({ current, to, ready }: CountMove): number {
  return Math.max(0, Math.min(ready, current) - to);
}

/**
 * Returns the number of planned replicas that are not ready yet. It is 0 if the rollout mark is `Succeeded`. A cluster can lack replicas
 * although its number falls: an earlier plan has just given it more, and none of them is ready.
 */
function lackOf({ to, ready, mark }: CountMove): number {
  return mark === 'Succeeded' ? 0 : Math.max(0, to - ready);
}
