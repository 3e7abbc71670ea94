import { isDeepStrictEqual } from 'node:util';
import { shortened } from '../../core/json/field-definitions.ts';
import type { ClusterName } from '../../core/names.ts';
import type { RolloutState } from '../../model/columns/rollout.ts';
import type { CopyHealth } from '../model/inventory.ts';
import type { ClusterLine, RolloutMark } from '../model/propagation.ts';
import { nextMark, watchMsOf } from '../rollout/rollout-mark.ts';
import { wantedHashOf } from '../rollout/wanted-hash.ts';
import { isWanted, rolloutIn } from './cluster-rollout.ts';
import { healthOfCopy, isJob, isKept, readyOf } from './copy-state.ts';
import type { ClusterFacts, CopyFacts } from './facts.ts';
import { type Freshness, freshnessOf } from './freshness.ts';
import { isFatal, type LineContext, linePhaseOf } from './line-phase.ts';

/** The line of each cluster: what `waveLinesOf` and `summarize` look at. In the order of the facts. */
export function linesOf(clusters: readonly ClusterFacts[], context: LineContext): ReadonlyMap<ClusterName, ClusterLine> {
  return new Map(clusters.map((facts) => [facts.cluster, lineOf(facts, context)]));
}

/**
 * The line of one cluster. What nobody can tell now is `Unknown` with the figures last known. Messages are cut as the hub cuts them. Equal to the previous line, `asOf` included, where
 * nothing but time went on: so that a status at rest is not written again.
 */
export function lineOf(facts: ClusterFacts, context: LineContext): ClusterLine {
  const { previous, planned } = facts;
  const freshness = freshnessOf(facts, context.nowMs);
  const rollout = rolloutIn(facts);
  // Of nothing everything is done: what is not known to be wanted is not known to be there either.
  const isTold = freshness.result === 'fresh' && planned?.isUnknown !== true;
  const mark = markOf(facts, context, isTold ? rollout.phase : undefined);
  const current = linePhaseOf({ facts, freshness, rollout, mark }, context);
  const isSame = previous?.phase === current.phase && previous.reason === current.reason;
  const since = isSame ? previous.since : isoOf(context.nowMs);
  const ready = freshness.result === 'fresh' ? sumOfReady(facts.copies) : previous?.ready;
  const generation = isBegun(facts) ? context.generation : previous?.generation;
  const fault = faultOf(facts, freshness, context);
  return previousIfSame(previous, {
    cluster: facts.cluster,
    ...current,
    ...(current.message === undefined ? {} : { message: shortened(current.message) }),
    ...(planned === undefined ? {} : { wave: planned.wave }),
    ...(planned?.isLate === true ? { late: true } : {}),
    ...(planned?.replicas === undefined ? {} : { replicas: planned.replicas }),
    ...(ready === undefined ? {} : { ready }),
    health: freshness.result === 'fresh' ? healthIn(facts, mark) : 'Unknown',
    since,
    ...(freshness.asOfMs === undefined ? {} : { asOf: isoOf(freshness.asOfMs) }),
    ...(fault === undefined ? {} : { fault }),
    ...(generation === undefined ? {} : { generation }),
    ...(mark === undefined ? {} : { rollout: mark }),
  });
}

function isBegun({ stage }: ClusterFacts): boolean {
  return stage === 'begun' || stage === 'rollingBack' || stage === 'restored';
}

/** While it waits, and while what it did is taken back, the mark is what it was. */
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

/** The plan knew of a stranger's object before the rollout began. The wave waits for somebody to resolve that; it is no breach. */
function isHeldByConflict({ problem, planned }: ClusterFacts): boolean {
  return problem?.reason === 'Conflict' && planned?.objects.some(({ held }) => held === 'Conflict') === true;
}

/** The worst of them. A Job that was done and is gone does not count: it is not made again. Nothing planned and nothing held is healthy. */
function healthIn({ copies, planned }: ClusterFacts, mark: RolloutMark | undefined): CopyHealth {
  const looked = copies.filter(
    ({ entry, mirrored }) => isKept(entry) && !(isJob(entry) && mirrored.result === 'absent' && mark?.phase === 'Succeeded'),
  );
  const healths = looked.map(healthOfCopy);
  if (healths.includes('Unhealthy')) return 'Unhealthy';
  const isUnwritten = copies.length === 0 && planned?.objects.some(isWanted) === true;
  return healths.includes('Unknown') || isUnwritten ? 'Unknown' : 'Healthy';
}

function sumOfReady(copies: readonly CopyFacts[]): number | undefined {
  const figures = copies.filter(({ entry }) => isKept(entry)).flatMap((copy) => readyOf(copy) ?? []);
  return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure, 0);
}

function faultOf({ problem, previous }: ClusterFacts, freshness: Freshness, { nowMs }: LineContext): ClusterLine['fault'] {
  if (problem?.fault !== undefined) return { ...problem.fault, message: shortened(problem.fault.message) };
  if (freshness.result !== 'stale' || freshness.fault === undefined) return undefined;
  const { code, message } = freshness.fault;
  return { code, message: shortened(message), since: previous?.fault?.code === code ? previous.fault.since : isoOf(nowMs) };
}

/** The previous line if the new one says nothing new: its `asOf` then still holds, as a moment up to which it was true at least. */
export function previousIfSame(previous: ClusterLine | undefined, line: ClusterLine): ClusterLine {
  if (previous === undefined || line.phase === 'Unknown') return line;
  const { asOf: _, ...before } = previous;
  const { asOf: __, ...now } = line;
  return isDeepStrictEqual(before, now) ? previous : line;
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
