import { defaultFailover } from '../model/failover-definition.ts';
import type { ClusterLine, Eviction } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';

type PurgeLine = Pick<ClusterLine, 'rollout' | 'wave' | 'phase' | 'reason' | 'health'>;

/** The input of `waitingPurges`. */
interface PurgeFacts {
  readonly spec: Pick<PropagationSpec, 'failover'>;
  readonly evictions: readonly Eviction[];
  /** The lines of the chosen clusters, as of now. */
  readonly lines: ReadonlyMap<string, PurgeLine>;
  readonly nowMs: number;
}

/**
 * Returns the evicted clusters whose old copies must stay for now (docs/internals/propagation.md 9). With `purge` Gracefully, old copies stay
 * in three cases. With another `purge`, none stay.
 *
 * - A cluster with new copies does not answer: the old copies may be the only ones that run. This has no time limit.
 * - A cluster has no new copy yet, because it is suspended, refuses the copy or has an object of another owner under its name. This has no time limit either.
 * - The new copies are not rolled out, or not healthy now: until the evicted cluster has answered for `grace`.
 */
export function waitingPurges({ spec, evictions, lines, nowMs }: PurgeFacts): readonly string[] {
  const { purge, graceMs } = spec.failover ?? defaultFailover;
  if (purge !== 'Gracefully') return [];
  return leftClusters(evictions)
    .filter(({ reachableSince, to = [] }) => {
      const replacing = replacingLines(to, lines);
      const isGraceOver = reachableSince !== undefined && nowMs >= Date.parse(reachableSince) + graceMs;
      return replacing.some((line) => isUnreachable(line) || hasNoCopy(line)) || (!isGraceOver && !replacing.every(isHealthyNow));
    })
    .map(({ cluster }) => cluster);
}

/** Returns the lines of the clusters that have the new copies: the clusters of `to`. If one of these is no longer chosen, all chosen clusters. */
function replacingLines(to: readonly string[], lines: PurgeFacts['lines']): readonly PurgeLine[] {
  const chosen = [...lines].filter(([, { wave }]) => wave !== undefined);
  const replacing = chosen.filter(([cluster]) => to.includes(cluster));
  return (replacing.length === to.length ? replacing : chosen).map(([, line]) => line);
}

function isUnreachable({ phase, reason }: PurgeLine): boolean {
  return phase === 'Unknown' && reason === 'Unreachable';
}

/** True if the rollout was not started there, or it is unknown whether a copy exists. A copy that is unhealthy exists. */
function hasNoCopy({ rollout, health }: PurgeLine): boolean {
  return rollout === undefined || health === 'Unknown';
}

/** The rollout mark alone does not suffice: it stays after a success, whatever happens to the copies later. */
function isHealthyNow({ rollout, health }: PurgeLine): boolean {
  return rollout?.phase === 'Succeeded' && health === 'Healthy';
}

/** Returns the evictions whose clusters have no planned copies any more. Evictions with the cause `Return` do not count. */
export function leftClusters(evictions: readonly Eviction[]): readonly Eviction[] {
  return evictions.filter(({ cause, to }) => cause !== 'Return' && to !== undefined);
}
