import { defaultFailover } from '../model/failover-definition.ts';
import type { Note } from '../model/notes.ts';
import type { FailoverSpec } from '../model/spec.ts';
import { readyOf } from './copy-state.ts';
import type { ClusterFacts, PropagationFacts } from './facts.ts';

/**
 * Returns a warning for each evicted cluster whose old copies may still run while others have replaced them: the cluster does not answer,
 * or its copies wait for their deletion since then. The warning lasts until the last of these copies is gone.
 */
export function doubledNotes({
  spec,
  plan,
  previous,
  clusters,
}: Pick<PropagationFacts, 'spec' | 'plan' | 'previous' | 'clusters'>): readonly Note[] {
  const { purge } = spec?.failover ?? defaultFailover;
  const evictions = plan?.evictions ?? previous.evictions ?? [];
  return evictions.flatMap(({ cluster, cause, to }): readonly Note[] => {
    const facts = clusters.find((one) => one.cluster === cluster);
    if (facts === undefined || facts.copies.length === 0 || cause === 'Return') return [];
    const isAway = facts.member === undefined || facts.member.phase === 'UNREACHABLE' || facts.member.phase === 'CONNECTING';
    const isPending = facts.copies.some(({ entry }) => entry.state === 'PendingDeletion');
    const wasAway = cause === 'Unreachable' && to !== undefined;
    if (!isPending && !wasAway && !(isAway && (to !== undefined || hasMoreThanPlanned(facts)))) return [];
    const message = `the copies in cluster ${cluster} may run in addition to those that replace them: ${fates[purge]}`;
    return [{ severity: 'WARNING', code: 'POSSIBLY_DOUBLED', message }];
  });
}

/** The fate of the old copies once the cluster answers, by `failover.purge`. */
const fates: Readonly<Record<FailoverSpec['purge'], string>> = {
  Directly: 'they are removed as soon as it answers',
  Gracefully: 'they are removed when it answers and the new copies are healthy, or are still unhealthy after failover.grace',
  Never: 'as soon as it answers, they are released and stay',
};

/** True if the cluster had more ready replicas than are planned there now: some of its replicas moved to other clusters. */
function hasMoreThanPlanned({ planned, copies }: ClusterFacts): boolean {
  const ready = copies.reduce((sum, copy) => sum + (readyOf(copy) ?? 0), 0);
  return planned?.replicas !== undefined && ready > planned.replicas;
}
