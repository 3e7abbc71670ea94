import type { ClusterName } from '../../core/names.ts';
import type { RolloutMark } from '../model/propagation.ts';
import type { RolloutSpec } from '../model/spec-definition.ts';
import { sumBy } from '../plan/placing/sum-of.ts';

/** The count of one cluster, as a plan moves it. */
export interface CountMove {
  readonly cluster: ClusterName;
  /** Replicas that its copy asks for now, as the mirror shows it; 0 without a copy. */
  readonly current: number;
  /** As planned. 0 for a cluster that leaves. */
  readonly to: number;
  /** Ready replicas there now. */
  readonly ready: number;
  /** How far this generation is there; of a cluster that leaves: `Progressing` once its copy is being deleted. Absent: not begun. */
  readonly mark?: RolloutMark['phase'] | undefined;
}

/** Which decreases wait. Names in the order of code units. */
export interface SurgeDecision {
  /** Not to be begun yet: what makes up for them is on its way. */
  readonly waiting: readonly ClusterName[];
  /** Not to be begun: what was to make up for them failed or ran out of time (SURGE_HELD). */
  readonly held: readonly ClusterName[];
}

/**
 * Which decreases must wait, so that the total of ready replicas does not fall below what is planned (docs/internals/propagation.md 6). Pure.
 *
 * All clusters of the plan and all that leave are to be given. What the others still lack is kept back from the decreases that were not begun; they are
 * let go as a whole or not at all, in the order of their names. A cluster where this generation once succeeded lacks nothing. With
 * `onFailure: Continue` they go on once nothing that lacks replicas is under way any more.
 */
export function decideSurge(moves: readonly CountMove[], onFailure: RolloutSpec['onFailure']): SurgeDecision {
  const decreases = moves.filter(({ current, to, mark }) => current > to && mark === undefined);
  const lacking = moves.filter((move) => lackOf(move) > 0);
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

/** Ready replicas that go with a decrease: those of a sick copy are gone already. */
function dropOf({ to, ready }: CountMove): number {
  return Math.max(0, ready - to);
}

/** Replicas that are not ready yet of what is planned. */
function lackOf({ current, to, ready, mark }: CountMove): number {
  return current > to || mark === 'Succeeded' ? 0 : Math.max(0, to - ready);
}
