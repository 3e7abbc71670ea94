import { equalJson } from '../../core/json-values.ts';
import { compareText } from '../../model/shapes.ts';
import type { ClusterLine, PropagationPhase, PropagationStatus, RolloutProgress } from '../propagation.ts';
import { printStatus } from '../spec/status.ts';
import { aggregatesOf } from './aggregate-copies.ts';
import { bounded } from './bounded.ts';
import { linesOf } from './cluster-line.ts';
import { completionIn } from './completion.ts';
import { breachedAtOf, conditionsOf } from './conditions.ts';
import type { PropagationFacts } from './facts.ts';
import { phaseOf } from './phase.ts';

/**
 * The status of a Propagation (propagation.md 2.2, 8), made from facts alone: equal facts give equal bytes. Lists of clusters are in the order of names.
 *
 * It fits the hub, whatever it is about (`bounded`). Where nothing but time went on it is deeply equal to the previous one: it need not be written then (`isSameStatus`). Without a plan and without facts
 * of clusters, the lines and figures of the generation before stay as they were.
 */
export function summarize(facts: PropagationFacts): PropagationStatus {
  const { plan, previous } = facts;
  const clusters = [...facts.clusters].sort((a, b) => compareText(a.cluster, b.cluster));
  const isUntouched = plan === undefined && clusters.length === 0 && !facts.isDeleting;
  const breachedAtMs = breachedAtOf(previous.conditions, facts.generation);
  const byName = linesOf(clusters, { ...facts, breachedAtMs });
  const lines = isUntouched ? (previous.clusters ?? []) : [...byName.values()];
  const phase = phaseOf(facts, lines);
  const completion = isUntouched ? previous.completion : completionIn(facts, byName)?.status;
  const ready = readyIn(lines);
  const status: PropagationStatus = {
    observedGeneration: facts.generation,
    ...(plan === undefined ? decidedBefore(previous) : decided(facts, plan)),
    phase,
    paused: facts.isPaused || facts.waves?.breach?.action === 'Pause',
    progress: progressOf(facts, phase),
    ...(ready === undefined ? {} : { ready }),
    unknown: lines.filter((line) => line.phase === 'Unknown').map(({ cluster }) => cluster),
    clusters: lines,
    conditions: conditionsOf({ facts, phase, lines, completion }),
    aggregate: isUntouched ? (previous.aggregate ?? []) : aggregatesOf(clusters, byName, facts.generation),
    ...(completion === undefined ? {} : { completion }),
    ...pruneIn(facts),
    ...(facts.asked === undefined ? {} : { asked: facts.asked }),
    notes: notesOf(facts),
  };
  return bounded(status, previous);
}

/** True if writing the second over the first would change nothing on the hub. */
export function isSameStatus(before: PropagationStatus, after: PropagationStatus): boolean {
  return equalJson(printStatus(before), printStatus(after));
}

function decided({ previous }: PropagationFacts, plan: NonNullable<PropagationFacts['plan']>): PropagationStatus {
  const { digest, revision = previous.revision, scheduledAt, affinityGroup, mostObjects, desired, placed, unplaced } = plan;
  return {
    ...(revision === undefined ? {} : { revision }),
    digest,
    scheduledAt,
    ...(affinityGroup === undefined ? {} : { affinityGroup }),
    ...(mostObjects === undefined ? {} : { mostObjects }),
    ...(desired === undefined ? {} : { desired }),
    ...(placed === undefined ? {} : { placed }),
    unplaced,
  };
}

/** That a prune must be confirmed is told while it must. */
function notesOf({ refused, plan, held }: PropagationFacts): NonNullable<PropagationStatus['notes']> {
  const notes = refused?.notes ?? plan?.notes ?? [];
  return held?.reason === 'PruneHeld' ? notes : notes.filter(({ code }) => code !== 'PRUNE_HELD');
}

/** What was held stays so while nobody knows what is wanted. */
function pruneIn({ plan, prune, previous }: PropagationFacts): Pick<PropagationStatus, 'prune'> {
  const held = prune ?? (plan === undefined ? previous.prune : undefined);
  return held === undefined ? {} : { prune: held };
}

/** What was decided for an older generation still stands in the clusters. */
function decidedBefore(previous: PropagationStatus): PropagationStatus {
  const { revision, digest, scheduledAt, affinityGroup, mostObjects, desired, placed, unplaced } = previous;
  const kept = { revision, digest, scheduledAt, affinityGroup, mostObjects, desired, placed, unplaced };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
}

/** Those of clusters that cannot be heard stay on their lines and do not count. */
function readyIn(lines: readonly ClusterLine[]): number | undefined {
  const figures = lines.filter(({ phase }) => phase !== 'Unknown').flatMap(({ ready }) => ready ?? []);
  return figures.length === 0 ? undefined : figures.reduce((sum, figure) => sum + figure, 0);
}

function progressOf({ waves, previous, nowMs }: PropagationFacts, phase: PropagationPhase): RolloutProgress {
  const { wave, waves: count, clusters, done, failed } = waves ?? { wave: 0, waves: 0, clusters: 0, done: 0, failed: 0 };
  const since = sinceOf({ previous, breachedAtMs: waves?.breach?.sinceMs, nowMs }, phase);
  const nextCheckAtMs = waves?.nextCheckAtMs;
  return {
    wave,
    waves: count,
    clusters,
    done,
    failed,
    ...(since === undefined ? {} : { since }),
    ...(nextCheckAtMs === undefined ? {} : { nextCheckAt: new Date(nextCheckAtMs).toISOString() }),
  };
}

interface SinceFacts {
  readonly previous: PropagationStatus;
  readonly breachedAtMs: number | undefined;
  readonly nowMs: number;
}

/** Since when it waits for somebody, or is in breach. */
function sinceOf({ previous, breachedAtMs, nowMs }: SinceFacts, phase: PropagationPhase): string | undefined {
  if (breachedAtMs !== undefined) return new Date(breachedAtMs).toISOString();
  if (phase !== 'Paused' && phase !== 'Held' && phase !== 'Suspended') return undefined;
  return previous.phase === phase && previous.progress?.since !== undefined ? previous.progress.since : new Date(nowMs).toISOString();
}
