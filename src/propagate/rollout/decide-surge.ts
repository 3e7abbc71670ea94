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
  /** Not started yet: the matching increases are under way. */
  readonly waiting: readonly ClusterName[];
  /** Not started: the matching increases failed or timed out, or a migration holds the decrease (SURGE_HELD). */
  readonly held: readonly ClusterName[];
}

/**
 * Decides which decreases must wait, so that the total of ready replicas does not fall below the planned total
 * (docs/internals/propagation.md 6). Pure.
 *
 * - Decreases that were not started must keep as many ready replicas as all clusters still lack. If no cluster with an increase lacks
 *   replicas, all decreases start: unhealthy copies do not hold them.
 * - Decreases are checked in the order of cluster names. Each starts as a whole or waits.
 * - A cluster lacks no replicas once this generation has succeeded in it.
 * - If every cluster that lacks replicas has failed or timed out: with `onFailure: Continue`, all decreases start. With another value, the
 *   waiting decreases become `held`.
 *
 * @param moves All clusters of the plan, and all clusters that are leaving.
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
