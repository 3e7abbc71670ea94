import type { CopyHealth } from '../model/inventory.ts';
import type { ClusterLine, RolloutMark } from '../model/propagation.ts';
import { printTaint } from '../plan/placing/tolerations.ts';
import type { ClusterFacts } from './facts.ts';

/** The fields of a line that decide whether a cluster is evicted. */
type EvictionSigns = Pick<ClusterLine, 'awaySince' | 'unhealthySince' | 'taints'>;

interface LineSigns {
  readonly facts: Pick<ClusterFacts, 'member' | 'previous'>;
  readonly health: CopyHealth;
  readonly mark: RolloutMark | undefined;
  /** The current time, as RFC 3339. */
  readonly now: string;
}

/**
 * Returns since when a cluster does not answer, has each of its `NoExecute` taints, and has an unhealthy copy (docs/internals/propagation.md
 * 9). A time stays as long as its fact lasts, also while nothing is known: after a start of the gateway, or while the cluster is away.
 *
 * A copy counts as unhealthy only after its rollout has succeeded. Before that, the rollout itself decides.
 */
export function evictionSignsOf({ facts: { member, previous }, health, mark, now }: LineSigns): EvictionSigns {
  const isUndecided = member === undefined || member.phase === 'CONNECTING';
  const isAway = member?.phase === 'UNREACHABLE';
  // The time of the fault, and not of this pass: with many Propagations, the last pass follows seconds later.
  const lostAtMs = member?.faults[0]?.sinceMs;
  const lostAt = lostAtMs === undefined ? now : new Date(lostAtMs).toISOString();
  const awaySince = isUndecided ? previous?.awaySince : isAway ? (previous?.awaySince ?? lostAt) : undefined;
  const wasRolledOut = previous?.unhealthySince !== undefined || mark?.phase === 'Succeeded';
  const unhealthySince =
    health === 'Unknown'
      ? previous?.unhealthySince
      : health === 'Unhealthy' && wasRolledOut
        ? (previous?.unhealthySince ?? now)
        : undefined;
  const taints = member === undefined ? previous?.taints : taintsSince(member.taints, previous, now);
  return {
    ...(awaySince === undefined ? {} : { awaySince }),
    ...(unhealthySince === undefined ? {} : { unhealthySince }),
    ...(taints === undefined || taints.length === 0 ? {} : { taints }),
  };
}

function taintsSince(
  taints: NonNullable<ClusterFacts['member']>['taints'],
  previous: ClusterLine | undefined,
  now: string,
): NonNullable<ClusterLine['taints']> {
  const known = new Map(previous?.taints?.map(({ taint, since }) => [taint, since]));
  const texts = taints.filter(({ effect }) => effect === 'NoExecute').map(printTaint);
  return [...new Set(texts)].map((taint) => ({ taint, since: known.get(taint) ?? now }));
}
