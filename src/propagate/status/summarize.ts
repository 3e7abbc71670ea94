import { equalJson } from '../../core/json/json-values.ts';
import { compareText } from '../../core/text.ts';
import type { ClusterLine, CopyPhase, PropagationPhase, RolloutProgress } from '../model/propagation.ts';
import { type PropagationStatus, printStatus } from '../model/status-definition.ts';
import { breachedAtOf } from '../rollout/resumption.ts';
import { aggregatesOf } from './aggregate-copies.ts';
import { bounded } from './bounded-status.ts';
import { linesOf } from './cluster-line.ts';
import { completionIn } from './completion.ts';
import { conditionsOf } from './conditions.ts';
import { doubledNotes } from './doubled-notes.ts';
import { deletionHeld, type PropagationFacts } from './facts.ts';
import { type LeftBehind, leftBehindIn, releasedCopyNotes } from './left-behind.ts';

/**
 * Computes the status of a Propagation (docs/internals/propagation.md 2.2, 8) from facts alone: equal facts give equal bytes. Lists of
 * clusters are sorted by name.
 *
 * The status always fits the hub (`bounded`). If only time has passed, it equals the previous status and need not be written
 * (`isSameStatus`). Without a plan and without facts about clusters, the lines and figures of the previous generation stay.
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
  const leftBehind = leftBehindIn(facts);
  const status: PropagationStatus = {
    observedGeneration: facts.generation,
    ...decisionFields(facts),
    ...evictionFields(facts),
    ...(leftBehind.copies.length === 0 ? {} : { leftBehind: leftBehind.copies }),
    ...(leftBehind.unrecorded.length === 0 ? {} : { leftBehindUnrecorded: leftBehind.unrecorded }),
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
    ...(facts.requestedPlan === undefined ? {} : { asked: facts.requestedPlan }),
    notes: notesOf(facts, leftBehind),
  };
  return bounded(status, previous);
}

/** True if writing `after` over `before` would change nothing on the hub. */
export function isSameStatus(before: PropagationStatus, after: PropagationStatus): boolean {
  return equalJson(printStatus(before), printStatus(after));
}

/** Returns the notes of the refusal or of the plan. The note `PRUNE_HELD` is left out once the prune needs no confirmation. */
function notesOf(facts: PropagationFacts, leftBehind: LeftBehind): NonNullable<PropagationStatus['notes']> {
  const { refused, plan, held, clusters } = facts;
  const notes = [...(refused?.notes ?? plan?.notes ?? []), ...doubledNotes(facts), ...releasedCopyNotes(leftBehind, clusters)];
  return held?.reason === 'PruneHeld' ? notes : notes.filter(({ code }) => code !== 'PRUNE_HELD');
}

/**
 * Returns the prune for the status: it is held, or was confirmed and is under way. Without a plan, the prune of the previous status stays.
 */
function pruneIn({ plan, prune, previous }: PropagationFacts): Pick<PropagationStatus, 'prune'> {
  const held = prune ?? (plan === undefined ? previous.prune : undefined);
  return held === undefined ? {} : { prune: held };
}

/** Returns the decision for this generation. Without a plan: the previous decision, because its copies still exist. */
function decisionFields({ plan, previous }: PropagationFacts): PropagationStatus {
  const {
    digest,
    revision = previous.revision,
    scheduledAt,
    affinityGroup,
    mostObjects,
    desired,
    placed,
    unplaced,
    sources,
  } = plan ?? previous;
  const kept = { revision, digest, scheduledAt, affinityGroup, mostObjects, desired, placed, unplaced, sources };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
}

/** Returns the evictions and the preserved labels. Leaves out empty lists. */
function evictionFields({ plan, previous }: PropagationFacts): Pick<PropagationStatus, 'evictions' | 'preserved'> {
  const { evictions = previous.evictions ?? [], preserved = previous.preserved ?? [] } = plan ?? previous;
  return { ...(evictions.length === 0 ? {} : { evictions }), ...(preserved.length === 0 ? {} : { preserved }) };
}

/**
 * Sums the ready replicas. Undefined if no line has a number of ready replicas. Clusters in phase `Unknown` keep their figures in their
 * lines but do not count.
 */
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

/** Returns since when the Propagation waits for a user, or is in breach. Undefined if neither is the case. */
function sinceOf({ previous, breachedAtMs, nowMs }: SinceFacts, phase: PropagationPhase): string | undefined {
  if (breachedAtMs !== undefined) return new Date(breachedAtMs).toISOString();
  if (phase !== 'Paused' && phase !== 'Held' && phase !== 'Suspended') return undefined;
  return previous.phase === phase && previous.progress?.since !== undefined ? previous.progress.since : new Date(nowMs).toISOString();
}

const rollingPhases: readonly CopyPhase[] = ['Waiting', 'Applying', 'Progressing', 'Soaking', 'Draining', 'Deleting'];
const degradedPhases: readonly CopyPhase[] = ['Failed', 'Denied', 'Unknown'];

/**
 * Returns the first phase that applies, in the order of this function (docs/internals/propagation.md 2.2).
 *
 * A suspended cluster that differs from its wanted state does not delay a wave. The Propagation is then `Rolling` until the cluster is no
 * longer suspended.
 */
function phaseOf(facts: PropagationFacts, lines: readonly ClusterLine[]): PropagationPhase {
  const { spec, plan, refused, rollback, held, isDeleting, isPaused, waves } = facts;
  const isAny = (phases: readonly CopyPhase[]) => lines.some(({ phase }) => phases.includes(phase));
  if (isDeleting) return held?.reason === deletionHeld ? 'Held' : 'Deleting';
  if (spec?.suspend.all === true || (spec?.suspend.scheduling === true && plan === undefined)) return 'Suspended';
  if (plan === undefined && refused === undefined) return 'Planning';
  if (rollback === 'running' || isAny(['RollingBack'])) return 'RollingBack';
  if (refused !== undefined || rollback === 'done') return 'Failed';
  if (held !== undefined || lines.some(({ reason }) => reason === 'PruneHeld' || reason === 'SurgeHeld')) return 'Held';
  if (isPaused || waves?.breach?.action === 'Pause') return 'Paused';
  if (lines.some(isRolling)) return 'Rolling';
  const isSick = lines.some(({ phase, health }) => degradedPhases.includes(phase) || health !== 'Healthy');
  const isUnknown = facts.unreadable !== undefined && facts.unreadable.length > 0;
  return isSick || isUnknown || (plan?.unplaced ?? 0) > 0 ? 'Degraded' : 'Settled';
}

/**
 * True if the cluster is not rolled out yet. A cluster that was rolled out and is progressing again does not count, because Muster does not
 * write there.
 */
function isRolling({ phase, rollout }: ClusterLine): boolean {
  return rollingPhases.includes(phase) && !(phase === 'Progressing' && rollout?.phase === 'Succeeded');
}
