import { isDeepStrictEqual } from 'node:util';
import type { ClusterName } from '../../core/names.ts';
import type { Health } from '../inventory.ts';
import { textOfKey } from '../object-key.ts';
import type { ClusterLine, CopyPhase, CopyReason, RolloutMark } from '../propagation.ts';
import type { RolloutState } from '../rollout/rolled-out.ts';
import { nextMark } from '../rollout/rollout-mark.ts';
import { shortened } from '../spec/texts.ts';
import type { RolloutSpec } from '../spec.ts';
import { healthOfCopy, isJob, isKept, readyOf, rolloutOfCopy } from './copy-state.ts';
import type { ClusterFacts, CopyFacts, PropagationFacts } from './facts.ts';
import { type Freshness, freshnessOf } from './freshness.ts';

/** What of a Propagation the line of one cluster depends on. */
export type LineContext = Pick<PropagationFacts, 'generation' | 'nowMs'> & {
  readonly spec?: { readonly rollout: Pick<RolloutSpec, 'soakMs' | 'deadlineMs'> } | undefined;
};

/** What a line says of the moment. */
interface Standing {
  readonly phase: CopyPhase;
  readonly reason?: CopyReason;
  readonly message?: string;
}

/** After so many failures in a row it is no passing trouble. It is tried again all the same. */
const patience = 3;
const fatalReasons: readonly CopyReason[] = ['Conflict', 'Denied', 'Invalid', 'Immutable', 'Quota', 'Contended', 'TimedOut', 'Unhealthy'];

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
  const mark = markOf(facts, context, freshness.result === 'fresh' ? rollout.phase : undefined);
  const standing = standingOf({ facts, freshness, rollout, mark }, context);
  const isSame = previous?.phase === standing.phase && previous.reason === standing.reason;
  const since = isSame ? previous.since : isoOf(context.nowMs);
  const ready = freshness.result === 'fresh' ? sumOfReady(facts.copies) : previous?.ready;
  const generation = isBegun(facts) ? context.generation : previous?.generation;
  const fault = faultOf(facts, freshness, context);
  return settled(previous, {
    cluster: facts.cluster,
    ...standing,
    ...(standing.message === undefined ? {} : { message: shortened(standing.message) }),
    ...(planned === undefined ? {} : { wave: planned.wave }),
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

function isBegun({ standing }: ClusterFacts): boolean {
  return standing === 'begun' || standing === 'rollingBack' || standing === 'restored';
}

/** While it waits, and while what it did is taken back, the mark is what it was. */
function markOf({ standing, previous, trouble }: ClusterFacts, context: LineContext, phase: RolloutState['phase'] | undefined) {
  if (standing !== 'begun') return standing === 'leaving' ? undefined : previous?.rollout;
  const { spec, generation, nowMs } = context;
  return nextMark({
    previous: previous?.generation === generation ? previous.rollout : undefined,
    phase: isFatal(trouble) ? 'failed' : phase,
    deadlineMs: spec?.rollout.deadlineMs,
    nowMs,
  });
}

interface Sight {
  readonly facts: ClusterFacts;
  readonly freshness: Freshness;
  readonly rollout: RolloutState & { readonly isWritten: boolean };
  readonly mark: RolloutMark | undefined;
}

/** The first that holds. */
function standingOf({ facts, freshness, rollout, mark }: Sight, context: LineContext): Standing {
  const { trouble, standing } = facts;
  const why =
    trouble === undefined ? {} : { ...(trouble.reason === undefined ? {} : { reason: trouble.reason }), message: trouble.message };
  if (freshness.result === 'stale') return { phase: 'Unknown', reason: freshness.reason, message: freshness.message };
  if (standing === 'leaving') return { phase: facts.copies.some(({ entry }) => !isKept(entry)) ? 'Deleting' : 'Draining', ...why };
  if (standing === 'rollingBack') return { phase: 'RollingBack', ...why };
  if (isFatal(trouble)) return { phase: trouble?.reason === 'Denied' ? 'Denied' : 'Failed', ...why };
  if (standing === 'waiting') return { phase: 'Waiting', reason: 'Wave', ...why };
  if (standing === 'restored') return restoredStanding(rollout);
  if (mark?.phase === 'TimedOut') return { phase: 'Failed', reason: 'TimedOut', message: rollout.message };
  if (mark?.phase === 'Failed') return { phase: 'Failed', reason: 'Unhealthy', message: rollout.message };
  if (mark?.phase === 'Succeeded') return { phase: isSoaking(mark, context) ? 'Soaking' : 'Settled', ...why };
  return rollout.isWritten ? { phase: 'Progressing', message: rollout.message, ...why } : { phase: 'Applying', ...why };
}

function restoredStanding({ phase, message }: RolloutState): Standing {
  switch (phase) {
    case 'done':
      return { phase: 'Settled' };
    case 'progressing':
      return { phase: 'Progressing', message };
    case 'failed':
      return { phase: 'Failed', reason: 'Unhealthy', message };
    default:
      return phase satisfies never;
  }
}

function isSoaking({ since }: RolloutMark, { spec, nowMs }: LineContext): boolean {
  return nowMs < Date.parse(since) + (spec?.rollout.soakMs ?? 0);
}

function isFatal(trouble: ClusterFacts['trouble']): boolean {
  if (trouble === undefined || trouble.reason === 'Unreachable') return false;
  return (trouble.reason !== undefined && fatalReasons.includes(trouble.reason)) || (trouble.fault?.count ?? 0) >= patience;
}

/** How far all copies that are to be here are: the first that failed, else the first that is under way, in the order of writes. */
function rolloutIn({ planned, copies, standing }: ClusterFacts): Sight['rollout'] {
  const byKey = new Map(copies.map((copy) => [textOfKey(copy.entry.key), copy] as const));
  const wanted = (planned?.objects ?? []).filter(({ action }) => action !== 'DELETE' && action !== 'RELEASE' && action !== 'HOLD');
  const states = wanted.map(({ key, desiredHash }) => {
    const copy = byKey.get(textOfKey(key));
    const isWritten = copy !== undefined && (standing === 'restored' || isAsWanted(copy, desiredHash));
    const state: RolloutState =
      copy !== undefined && isWritten ? rolloutOfCopy(copy) : { phase: 'progressing', message: 'not written yet' };
    return { ...state, message: `${key.kind} ${key.name}: ${state.message}`, isWritten };
  });
  const deciding = states.find(({ phase }) => phase === 'failed') ?? states.find(({ phase }) => phase === 'progressing');
  const isWritten = states.every((state) => state.isWritten);
  return { phase: deciding?.phase ?? 'done', message: deciding?.message ?? '', isWritten };
}

function isAsWanted({ entry }: CopyFacts, desiredHash: string): boolean {
  return entry.appliedHash === desiredHash && (entry.state === 'Owned' || entry.state === 'Shared') && entry.action !== 'Failed';
}

/** The worst of them. A Job that was done and is gone does not count: it is not made again. Nothing planned and nothing held is healthy. */
function healthIn({ copies, planned }: ClusterFacts, mark: RolloutMark | undefined): Health {
  const looked = copies.filter(
    ({ entry, mirrored }) => isKept(entry) && !(isJob(entry) && mirrored.result === 'absent' && mark?.phase === 'Succeeded'),
  );
  const healths = looked.map(healthOfCopy);
  if (healths.includes('Unhealthy')) return 'Unhealthy';
  const isUnwritten = copies.length === 0 && planned !== undefined && planned.objects.length > 0;
  return healths.includes('Unknown') || isUnwritten ? 'Unknown' : 'Healthy';
}

function sumOfReady(copies: readonly CopyFacts[]): number | undefined {
  const figures = copies.filter(({ entry }) => isKept(entry)).flatMap((copy) => readyOf(copy) ?? []);
  return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure, 0);
}

function faultOf({ trouble, previous }: ClusterFacts, freshness: Freshness, { nowMs }: LineContext): ClusterLine['fault'] {
  if (trouble?.fault !== undefined) return { ...trouble.fault, message: shortened(trouble.fault.message) };
  if (freshness.result !== 'stale' || freshness.fault === undefined) return undefined;
  const { code, message } = freshness.fault;
  return { code, message: shortened(message), since: previous?.fault?.code === code ? previous.fault.since : isoOf(nowMs) };
}

/** The previous line if the new one says nothing new: its `asOf` then still holds, as a moment up to which it was true at least. */
function settled(previous: ClusterLine | undefined, line: ClusterLine): ClusterLine {
  if (previous === undefined || line.phase === 'Unknown') return line;
  const { asOf: _, ...before } = previous;
  const { asOf: __, ...now } = line;
  return isDeepStrictEqual(before, now) ? previous : line;
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
