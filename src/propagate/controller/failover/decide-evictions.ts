import type { MemberCluster } from '../../../changes/members.ts';
import { defaultFailover } from '../../model/failover-definition.ts';
import type { ClusterLine, Eviction } from '../../model/propagation.ts';
import type { FailoverSpec, PropagationSpec } from '../../model/spec.ts';
import type { PropagationStatus } from '../../model/status-definition.ts';
import { printTaint, tolerates } from '../../plan/placing/tolerations.ts';
import { nearestAfter } from '../../rollout/slots.ts';

/** The input of `decideEvictions`. */
export interface EvictionFacts {
  readonly spec: Pick<PropagationSpec, 'failover' | 'placement' | 'suspend'>;
  readonly status: Pick<PropagationStatus, 'clusters' | 'evictions'>;
  /** The cluster with the Propagation. While it does not answer, nothing can be recorded, so it is never evicted as unreachable. */
  readonly hub: string;
  /** The clusters that a live request has just reached, although their mirrors do not know it yet. */
  readonly reached: ReadonlySet<string>;
  readonly member: (cluster: string) => Pick<MemberCluster, 'phase' | 'taints'> | undefined;
  /** True if the inventory has copies in the cluster, or if that is unknown. */
  readonly holdsCopies: (cluster: string) => boolean;
  /**
   * True if this process may begin evictions. False where the rights of a requester serve one generation only, and while no cluster may start: the rollout is
   * paused, or its plan is stale.
   */
  readonly mayEvict: boolean;
  /**
   * Returns since when this process has seen unhealthy copies in the cluster without a break, in Unix milliseconds. Undefined if the last pass did not
   * see any. The time in the status may be out of date: after a start of the gateway, or while the cluster was away.
   */
  readonly seenUnhealthyMs: (cluster: string) => number | undefined;
  readonly nowMs: number;
}

export interface EvictionDecision {
  /** All evictions that last, by cluster. An eviction that did not change is the same JavaScript object as in the status. */
  readonly evictions: readonly Eviction[];
  /**
   * True if copies return now to clusters that are back. All replicas must then be planned from zero, and `evictions` has no entry for
   * these clusters.
   */
  readonly isReturn: boolean;
  /** The next time at which the decision may change, in Unix milliseconds. Undefined if only an event can change it. */
  readonly nextCheckAtMs: number | undefined;
}

type OpenEviction = { readonly eviction: Eviction | undefined; readonly returns?: true; readonly dueMs?: number | undefined };

const never = Number.POSITIVE_INFINITY;

/**
 * Milliseconds for which this process must have seen unhealthy copies before it evicts them. When a cluster is back, its mirrors have the objects from
 * before the outage until their watches have caught up.
 */
const confirmMs = 5_000;

/**
 * Decides which clusters are evicted, from when on, and which evictions end (docs/internals/propagation.md 9). Pure. Only clusters with
 * planned copies are evicted.
 */
export function decideEvictions(facts: EvictionFacts): EvictionDecision {
  const { status, nowMs } = facts;
  const lines = new Map(status.clusters?.map((line) => [line.cluster, line]));
  const known = new Map(status.evictions?.map((eviction) => [eviction.cluster, eviction]));
  const open = [...known.values()].map((eviction) => reviewEviction(eviction, lines.get(eviction.cluster), facts));
  const begun = [...lines.values()].flatMap((line): readonly OpenEviction[] => {
    const cause = known.get(line.cluster)?.cause;
    return mayBegin(line, facts) && (cause === undefined || cause === 'Return') ? [beginEviction(line, facts)] : [];
  });
  // A new eviction is saved first. Copies return in a later pass.
  const isReturn = open.some(({ returns }) => returns === true) && begun.every(({ eviction }) => eviction === undefined);
  const all = [...open.filter(({ returns }) => returns !== true || !isReturn), ...begun];
  // An eviction with the cause `Return` is replaced by one with another cause.
  const evictions = new Map(all.flatMap(({ eviction }) => (eviction === undefined ? [] : [[eviction.cluster, eviction] as const])));
  return {
    evictions: [...evictions.values()].sort((a, b) => (a.cluster < b.cluster ? -1 : 1)),
    isReturn,
    nextCheckAtMs: nearestAfter(
      nowMs,
      all.map(({ dueMs }) => dueMs),
    ),
  };
}

/** True for a cluster with planned copies whose line has a reason to leave it. Most lines have none, so their clusters are not read. */
function mayBegin(line: ClusterLine, { spec: { suspend }, mayEvict }: EvictionFacts): boolean {
  const { wave, phase, cluster, awaySince, unhealthySince, taints } = line;
  if (awaySince === undefined && unhealthySince === undefined && taints === undefined) return false;
  const isSuspended = suspend.all || suspend.scheduling || suspend.clusters.includes(cluster);
  return mayEvict && !isSuspended && wave !== undefined && phase !== 'Draining';
}

/** Returns the eviction of a cluster if it is due now, else the earliest time at which it may become due. */
function beginEviction(line: ClusterLine, facts: EvictionFacts): OpenEviction {
  const member = facts.member(line.cluster);
  if (member === undefined) return { eviction: undefined };
  const { afterMs, unhealthyAfterMs } = facts.spec.failover ?? defaultFailover;
  const isAway = member.phase === 'UNREACHABLE';
  const isLost = isAway && line.cluster !== facts.hub && !facts.reached.has(line.cluster);
  const times: readonly (readonly [Eviction['cause'], number])[] = [
    ['Unreachable', isLost ? dueAt(line.awaySince, afterMs) : never],
    ['Taint', taintDueMs(line, member, facts)],
    ['Unhealthy', isAway ? never : unhealthyDueMs(line, unhealthyAfterMs, facts)],
  ];
  const dueMs = Math.min(...times.map(([, ms]) => ms));
  const cause = times.find(([, ms]) => ms <= facts.nowMs)?.[0];
  if (cause === undefined) return { eviction: undefined, dueMs: Number.isFinite(dueMs) ? dueMs : undefined };
  const since = isoOf(facts.nowMs);
  return { eviction: { cluster: line.cluster, cause, since, ...(isAway ? {} : { reachableSince: since }) } };
}

/** Returns when unhealthy copies are evicted: `afterMs` after the time in the status, but not before this process has seen them for `confirmMs`. */
function unhealthyDueMs({ cluster, unhealthySince }: ClusterLine, afterMs: number | undefined, facts: EvictionFacts): number {
  const seenMs = facts.seenUnhealthyMs(cluster) ?? facts.nowMs;
  return Math.max(dueAt(unhealthySince, afterMs), seenMs + confirmMs);
}

function dueAt(since: string | undefined, afterMs: number | undefined): number {
  return since === undefined || afterMs === undefined ? never : Date.parse(since) + afterMs;
}

/**
 * Returns when the `NoExecute` taints of the cluster evict its copies. For each taint, the first toleration that matches counts. A taint
 * without a toleration evicts at once.
 */
function taintDueMs(
  { taints: known }: Pick<ClusterLine, 'taints'>,
  { taints }: Pick<MemberCluster, 'taints'>,
  facts: EvictionFacts,
): number {
  const sinceOf = new Map(known?.map(({ taint, since }) => [taint, Date.parse(since)]));
  const { tolerations } = facts.spec.placement;
  const times = taints.flatMap((taint) => {
    if (taint.effect !== 'NoExecute') return [];
    const toleration = tolerations.find((one) => tolerates(one, taint));
    const seconds = toleration === undefined ? 0 : (toleration.tolerationSeconds ?? never);
    return [(sinceOf.get(printTaint(taint)) ?? facts.nowMs) + Math.max(0, seconds) * 1_000];
  });
  return Math.min(never, ...times);
}

/**
 * Reviews an eviction: it ends when its cause is over. If the copies have left, it lasts until the old ones are gone, and with `return:
 * Back` for `returnAfter` more. A cluster that left the fleet stays evicted.
 */
function reviewEviction(known: Eviction, line: ClusterLine | undefined, facts: EvictionFacts): OpenEviction {
  const { cluster, cause, to } = known;
  const isHolding = facts.holdsCopies(cluster);
  if (cause === 'Return') return { eviction: isHolding && line?.wave === undefined ? known : undefined };
  const isOver = isCauseOver(known, line, facts);
  if (to === undefined) return { eviction: isOver ? undefined : known };
  const eviction = withReachability(known, facts);
  const rules: FailoverSpec = facts.spec.failover ?? defaultFailover;
  const { reachableSince } = eviction;
  const dueMs = isHolding && reachableSince !== undefined ? Date.parse(reachableSince) + rules.graceMs : undefined;
  if (rules.return === 'Stay') return { eviction: isOver && !isHolding ? undefined : eviction, dueMs };
  const { backSince = isoOf(facts.nowMs), ...gone } = eviction;
  if (!isOver) return { eviction: eviction.backSince === undefined ? eviction : gone, dueMs };
  const returnMs = Date.parse(backSince) + rules.returnAfterMs;
  if (returnMs <= facts.nowMs && !isHolding) return { eviction, returns: true };
  return {
    eviction: eviction.backSince === undefined ? { ...eviction, backSince } : eviction,
    dueMs: nearestAfter(facts.nowMs, [dueMs, returnMs]),
  };
}

/** Returns the eviction with the time since which the cluster answers. Unchanged while that is unknown. */
function withReachability(eviction: Eviction, { member, nowMs }: EvictionFacts): Eviction {
  const phase = member(eviction.cluster)?.phase;
  if (phase === undefined || phase === 'CONNECTING' || (phase === 'UNREACHABLE') === (eviction.reachableSince === undefined))
    return eviction;
  const { reachableSince: _, ...away } = eviction;
  return phase === 'UNREACHABLE' ? away : { ...away, reachableSince: isoOf(nowMs) };
}

/**
 * True if the cluster answers and has no `NoExecute` taint that evicts copies. While copies are planned there, they must be healthy, and a
 * taint that is tolerated for some time does not count yet.
 */
function isCauseOver({ cluster, to }: Eviction, line: ClusterLine | undefined, facts: EvictionFacts): boolean {
  const member = facts.member(cluster);
  if (member === undefined || member.phase === 'UNREACHABLE' || member.phase === 'CONNECTING') return false;
  const taintMs = taintDueMs(line ?? {}, member, facts);
  if (to !== undefined) return taintMs === never;
  return taintMs > facts.nowMs && line?.unhealthySince === undefined;
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
