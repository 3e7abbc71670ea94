import { defaultFailover } from '../model/failover-definition.ts';
import type { ClusterLine, Eviction } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';

/** The input of `waitingPurges`. */
interface PurgeFacts {
  readonly spec: Pick<PropagationSpec, 'failover'>;
  readonly evictions: readonly Eviction[];
  /** The lines of the chosen clusters, as of now. */
  readonly lines: ReadonlyMap<string, Pick<ClusterLine, 'rollout' | 'wave'>>;
  readonly nowMs: number;
}

/**
 * Returns the evicted clusters whose old copies must stay for now (docs/internals/propagation.md 9): with `purge` Gracefully, those whose
 * new copies are not rolled out yet and whose `grace` has not ended. A cluster that is not chosen any more delays no purge.
 */
export function waitingPurges({ spec, evictions, lines, nowMs }: PurgeFacts): readonly string[] {
  const { purge, graceMs } = spec.failover ?? defaultFailover;
  if (purge !== 'Gracefully') return [];
  const isOpen = (cluster: string) => {
    const line = lines.get(cluster);
    return line?.wave !== undefined && line.rollout?.phase !== 'Succeeded';
  };
  return leftClusters(evictions)
    .filter(({ since, to = [] }) => nowMs < Date.parse(since) + graceMs && to.some(isOpen))
    .map(({ cluster }) => cluster);
}

/** Returns the evictions whose clusters have no planned copies any more. Evictions with the cause `Return` do not count. */
export function leftClusters(evictions: readonly Eviction[]): readonly Eviction[] {
  return evictions.filter(({ cause, to }) => cause !== 'Return' && to !== undefined);
}
