import { isDeepStrictEqual } from 'node:util';
import { shortened } from '../../core/json/field-definitions.ts';
import type { ClusterName } from '../../core/names.ts';
import type { RolloutState } from '../../model/columns/rollout.ts';
import { type CopyHealth, isBeingRemoved } from '../model/inventory.ts';
import type { ClusterLine, RolloutMark } from '../model/propagation.ts';
import { nextMark, watchMsOf } from '../rollout/rollout-mark.ts';
import { wantedHashOf } from '../rollout/wanted-hash.ts';
import { isWanted, rolloutIn } from './cluster-rollout.ts';
import { healthOfCopy, isJob, readyOf } from './copy-state.ts';
import { evictionSignsOf } from './eviction-signs.ts';
import type { ClusterFacts, CopyFacts } from './facts.ts';
import { type Freshness, freshnessOf } from './freshness.ts';
import { isFatal, type LineContext, linePhaseOf } from './line-phase.ts';

/** Returns the status line of each cluster, in the order of the facts. */
export function linesOf(clusters: readonly ClusterFacts[], context: LineContext): ReadonlyMap<ClusterName, ClusterLine> {
  return new Map(clusters.map((facts) => [facts.cluster, lineOf(facts, context)]));
}

/**
 * Returns the status line of one cluster. If the state of the cluster is unknown now, the phase is `Unknown` and the last known figures
 * stay. Messages are cut to 1,024 characters, as when they are written to the hub. So the line can be compared with the previous one.
 *
 * Returns the previous line, including `asOf`, if only time has passed. So an unchanged status is not written again.
 */
export function lineOf(facts: ClusterFacts, context: LineContext): ClusterLine {
  const { previous, planned } = facts;
  const freshness = freshnessOf(facts, context.nowMs);
  const rollout = rolloutIn(facts);
  // Without known wanted objects, every copy would count as done. So the rollout phase is unknown then.
  const isKnown = freshness.result === 'fresh' && planned?.isUnknown !== true;
  const mark = markOf(facts, context, isKnown ? rollout.phase : undefined);
  const current = linePhaseOf({ facts, freshness, rollout, mark }, context);
  const isSame = previous?.phase === current.phase && previous.reason === current.reason;
  const since = isSame ? previous.since : isoOf(context.nowMs);
  const ready = freshness.result === 'fresh' ? sumOfReady(facts.copies) : previous?.ready;
  const generation = isBegun(facts) ? context.generation : previous?.generation;
  const fault = faultOf(facts, freshness, context);
  const health = freshness.result === 'fresh' ? healthIn(facts, mark) : 'Unknown';
  return previousIfSame(previous, {
    cluster: facts.cluster,
    ...current,
    ...(current.message === undefined ? {} : { message: shortened(current.message) }),
    ...(planned === undefined ? {} : { wave: planned.wave }),
    ...(planned?.isLate === true ? { late: true } : {}),
    ...(planned?.replicas === undefined ? {} : { replicas: planned.replicas }),
    ...(planned?.divided === undefined ? {} : { divided: planned.divided }),
    ...(ready === undefined ? {} : { ready }),
    health,
    since,
    ...(freshness.asOfMs === undefined ? {} : { asOf: isoOf(freshness.asOfMs) }),
    ...(fault === undefined ? {} : { fault }),
    ...evictionSignsOf({ facts, health, mark, now: isoOf(context.nowMs) }),
    ...(generation === undefined ? {} : { generation }),
    ...(mark === undefined ? {} : { rollout: mark }),
  });
}

function isBegun({ stage }: ClusterFacts): boolean {
  return stage === 'begun' || stage === 'rollingBack' || stage === 'restored';
}

/**
 * Returns the rollout mark of the line: a new mark if this generation was started in the cluster, else the previous mark. Undefined for a
 * cluster that is leaving.
 */
function markOf(facts: ClusterFacts, context: LineContext, phase: RolloutState['phase'] | undefined) {
  const { stage, previous, planned } = facts;
  if (stage !== 'begun') return stage === 'leaving' ? undefined : previous?.rollout;
  const { spec, generation, breachedAtMs, nowMs } = context;
  const mark = nextMark({
    previous: previous?.generation === generation ? previous.rollout : undefined,
    phase: isFatal(facts, context) && !isHeldByConflict(facts) ? 'failed' : phase,
    deadlineMs: spec?.rollout.deadlineMs,
    watchMs: watchMsOf({ soakMs: spec?.rollout.soakMs ?? 0, breachedAtMs }),
    nowMs,
  });
  return planned === undefined || planned.isUnknown === true ? mark : { ...mark, wanted: wantedHashOf(planned.objects) };
}

/**
 * True for a conflict with an existing object that the plan knew before the rollout. The wave waits until a user resolves the
 * conflict. Such a conflict is not a failure, so it causes no breach.
 */
function isHeldByConflict({ problem, planned }: ClusterFacts): boolean {
  return problem?.reason === 'Conflict' && planned?.objects.some(({ held }) => held === 'Conflict') === true;
}

/**
 * Returns the worst health of all copies. A Job that ended and is gone does not count, because it is not created again. `Unknown` if
 * objects are planned but no copy exists yet. `Healthy` without planned objects and copies.
 */
function healthIn({ copies, planned }: ClusterFacts, mark: RolloutMark | undefined): CopyHealth {
  const counted = copies.filter(
    ({ entry, mirrored }) => !isBeingRemoved(entry) && !(isJob(entry) && mirrored.result === 'absent' && mark?.phase === 'Succeeded'),
  );
  const healths = counted.map(healthOfCopy);
  if (healths.includes('Unhealthy')) return 'Unhealthy';
  const isUnwritten = copies.length === 0 && planned?.objects.some(isWanted) === true;
  return healths.includes('Unknown') || isUnwritten ? 'Unknown' : 'Healthy';
}

function sumOfReady(copies: readonly CopyFacts[]): number | undefined {
  const figures = copies.filter(({ entry }) => !isBeingRemoved(entry)).flatMap((copy) => readyOf(copy) ?? []);
  return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure, 0);
}

function faultOf({ problem, previous }: ClusterFacts, freshness: Freshness, { nowMs }: LineContext): ClusterLine['fault'] {
  if (problem?.fault !== undefined) return { ...problem.fault, message: shortened(problem.fault.message) };
  if (freshness.result !== 'stale' || freshness.fault === undefined) return undefined;
  const { code, message } = freshness.fault;
  return { code, message: shortened(message), since: previous?.fault?.code === code ? previous.fault.since : isoOf(nowMs) };
}

/**
 * Returns the previous line if the new line differs only by `asOf`. The older `asOf` stays correct: the state was known at least until
 * then. A new line in phase `Unknown` is always returned itself.
 */
export function previousIfSame(previous: ClusterLine | undefined, line: ClusterLine): ClusterLine {
  if (previous === undefined || line.phase === 'Unknown') return line;
  const { asOf: _, ...before } = previous;
  const { asOf: __, ...now } = line;
  return isDeepStrictEqual(before, now) ? previous : line;
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
