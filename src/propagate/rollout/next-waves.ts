import type { ClusterName } from '../../core/names.ts';
import type { RolloutSpec } from '../model/spec-definition.ts';
import { watchMsOf } from './rollout-mark.ts';
import { nearestAfter, type RolloutLine, slotOf } from './slots.ts';

/** The phase of a cluster in the rollout of the current generation. `sinceMs`: start of the phase, in Unix milliseconds. */
export interface WaveLine {
  /** The phase. `skip`: the cluster is suspended, or its decrease of replicas waits for increases elsewhere. It does not delay a wave. */
  readonly phase: Exclude<RolloutLine['phase'], 'unknown'>;
  readonly sinceMs: number;
  /**
   * Set if the phase is `succeeded` or `progressing`, but the copies are not in their wanted state now. `failed`: a copy failed or was
   * denied. `open`: a copy is still progressing or must be written.
   */
  readonly regression?: 'failed' | 'open';
}

/** The input of one step of a rollout. */
export interface WavesRequest {
  readonly rollout: RolloutSpec;
  /** The waves, in order. Each cluster is in at most one. */
  readonly waves: readonly { readonly name: string; readonly clusters: readonly ClusterName[] }[];
  /**
   * The clusters by name. A cluster of a wave that has no entry counts as `toApply`. A cluster with an entry but without a wave joined
   * late, and comes after all waves.
   */
  readonly lines: ReadonlyMap<ClusterName, WaveLine>;
  /** When the rollout was last resumed. A breach that began before this time has ended. Absent if it was never resumed. */
  readonly resumedAtMs?: number | undefined;
  /**
   * When the breach of this generation began. It lasts until the rollout is resumed, or until the failed clusters have recovered. Absent if
   * there was none before this step.
   */
  readonly breachedAtMs?: number | undefined;
  /**
   * Clusters whose failures do not count for a breach: their Jobs failed, but the Jobs of enough other clusters are complete. Default:
   * none.
   */
  readonly excused?: ReadonlySet<ClusterName>;
  readonly nowMs: number;
}

/** The next step of a rollout. Names of clusters are sorted by code units. */
export interface WavesDecision {
  /** Clusters to start now. */
  readonly start: readonly ClusterName[];
  /** Clusters that were started and are neither done nor failed. */
  readonly running: readonly ClusterName[];
  /** Clusters that have succeeded, and are watched for a while before they count as done. */
  readonly soaking: readonly ClusterName[];
  /** Clusters that exceeded their deadline, now or before. */
  readonly timedOut: readonly ClusterName[];
  /** Index of the current wave. After the rollout: of the last wave. In a breach: of the last wave that was started. */
  readonly wave: number;
  /** Number of waves, including the wave of late clusters if there are any. */
  readonly waves: number;
  readonly clusters: number;
  /** Number of clusters that have succeeded and soaked, and are still in their wanted state. */
  readonly done: number;
  /** Number of clusters that failed or timed out, including those forgiven by a resume, and those that succeeded and failed later. */
  readonly failed: number;
  /** True if no cluster waits, runs or soaks any more. */
  readonly isOver: boolean;
  /** Set if more clusters failed than allowed. With the action `Continue`, clusters are still started, else none. */
  readonly breach?: { readonly action: RolloutSpec['onFailure']; readonly sinceMs: number };
  /** The next end of a soak or deadline, in Unix milliseconds. Absent if none is running. */
  readonly nextCheckAtMs?: number;
}

/**
 * One cluster in its wave.
 *
 * Only clusters in the states `running` and `soaking` take a slot of `maxConcurrency`. If failures are allowed, a failed cluster must not
 * delay the others for ever.
 *
 * `recoversMs`: the time from which the cluster counts as recovered from the breach (`recoveryOf`). `recheckMs`: when its soak or deadline
 * ends.
 */
interface WaveMember {
  readonly cluster: ClusterName;
  readonly state: 'waiting' | 'running' | 'soaking' | 'done' | 'failed' | 'timedOut' | 'skipped';
  readonly failedAtMs: number | undefined;
  readonly recheckMs: number | undefined;
  readonly recoversMs: number | undefined;
  readonly regression: WaveLine['regression'];
}

/**
 * Computes the next step of a rollout in waves (docs/internals/propagation.md 6). Pure.
 *
 * - Waves run in order. The next one starts when no cluster of the waves before it waits, runs or soaks.
 * - In a wave, at most `maxConcurrency` clusters run or soak at once. A percentage is of the clusters of the wave.
 * - Failures of all waves count against `maxFailures`. A percentage is of all clusters. More failures are a breach.
 * - A resume ends a breach that began before, and forgives all failures before the resume.
 * - A breach without rollback also ends by itself, as soon as the number of failed clusters is within `maxFailures` again, and each cluster
 *   that recovered has been healthy for the soak time or for 30 s, whichever is longer. No cluster is started in the step that detects this.
 */
export function nextWaves(request: WavesRequest): WavesDecision {
  const waves = membersOf(request);
  const all = waves.flat();
  const current = waves.findIndex((members) => members.some(({ state }) => isOpen(state)));
  const breach = breachOf(all, request);
  const namesOf = (...states: readonly WaveMember['state'][]) => sortedNames(all.filter(({ state }) => states.includes(state)));
  const isHealing = breach === undefined && request.breachedAtMs !== undefined && !isForgiven(request.breachedAtMs, request);
  const isStopped = breach !== undefined && request.rollout.onFailure !== 'Continue';
  const mayStart = !isStopped && (!isHealing || request.rollout.onFailure === 'Continue');
  const nextCheckAtMs = nearestAfter(
    request.nowMs,
    all.flatMap(({ recheckMs, recoversMs }) => [recheckMs, ...(breach === undefined || recoversMs === never ? [] : [recoversMs])]),
  );
  return {
    start: mayStart && current >= 0 ? startsIn(waves[current] ?? [], request.rollout) : [],
    running: namesOf('running'),
    soaking: namesOf('soaking'),
    timedOut: namesOf('timedOut'),
    wave: Math.max(0, isStopped ? lastBegun(waves) : current >= 0 ? current : waves.length - 1),
    waves: waves.length,
    clusters: all.length,
    done: all.filter(({ state, regression }) => state === 'done' && regression === undefined).length,
    failed: all.filter(({ state, regression }) => state === 'failed' || state === 'timedOut' || regression === 'failed').length,
    isOver: current < 0,
    ...(breach === undefined ? {} : { breach }),
    ...(nextCheckAtMs === undefined ? {} : { nextCheckAtMs }),
  };
}

function lastBegun(waves: readonly (readonly WaveMember[])[]): number {
  return waves.findLastIndex((members) => members.some(({ state }) => state !== 'waiting' && state !== 'skipped'));
}

/** Returns the clusters of each wave, sorted by name. Late clusters, if there are any, form one more wave at the end. */
function membersOf({ rollout, waves, lines, excused, breachedAtMs, nowMs }: WavesRequest): readonly (readonly WaveMember[])[] {
  const planned = new Set(waves.flatMap(({ clusters }) => clusters));
  const late = [...lines.keys()].filter((cluster) => !planned.has(cluster));
  const pace = { soakMs: rollout.soakMs, deadlineMs: rollout.deadlineMs, nowMs, breachedAtMs };
  const lists = [...waves.map(({ clusters }) => clusters), ...(late.length === 0 ? [] : [late])];
  return lists.map((clusters) =>
    [...clusters].sort().map((cluster) => {
      const member = memberOf(cluster, lines.get(cluster), pace);
      return excused?.has(cluster) === true ? { ...member, failedAtMs: undefined } : member;
    }),
  );
}

function memberOf(cluster: ClusterName, line: WaveLine | undefined, pace: BreachedPace): WaveMember {
  const member = (state: WaveMember['state'], times: Partial<Pick<WaveMember, 'failedAtMs' | 'recheckMs'>> = {}): WaveMember => ({
    cluster,
    state,
    failedAtMs: times.failedAtMs,
    recheckMs: times.recheckMs,
    recoversMs: recoveryOf(line, pace),
    regression: line?.regression,
  });
  if (line === undefined) return member('waiting');
  const slot = slotOf(line, pace);
  switch (line.phase) {
    case 'toApply':
      return member('waiting');
    case 'skip':
      return member('skipped');
    case 'failed':
    case 'timedOut':
      return member(line.phase, { failedAtMs: line.sinceMs });
    case 'succeeded':
      return slot.taken === 'yes' ? member('soaking', { recheckMs: slot.recheckMs }) : member('done');
    case 'progressing':
      if (slot.taken === 'timedOut') return member('timedOut', { failedAtMs: slot.recheckMs });
      return member('running', slot.taken === 'yes' ? { recheckMs: slot.recheckMs } : {});
    default:
      return line.phase satisfies never;
  }
}

function startsIn(members: readonly WaveMember[], { maxConcurrency }: RolloutSpec): readonly ClusterName[] {
  const size = maxConcurrency === undefined ? members.length : Math.max(1, portionOf(maxConcurrency, members.length));
  const taken = members.filter(({ state }) => state === 'running' || state === 'soaking').length;
  const waiting = members.filter(({ state }) => state === 'waiting').map(({ cluster }) => cluster);
  return waiting.slice(0, Math.max(0, size - taken));
}

/** Returns the breach, if there is one. It begins with the first failure that exceeds the allowed number. */
function breachOf(members: readonly WaveMember[], request: WavesRequest): WavesDecision['breach'] {
  const { rollout, resumedAtMs, breachedAtMs, nowMs } = request;
  const maxFailed = portionOf(rollout.maxFailures, members.length);
  const failures = members.flatMap(({ failedAtMs }) => failedAtMs ?? []).sort((a, b) => a - b);
  const beganMs = breachedAtMs ?? failures[maxFailed];
  if (beganMs === undefined) return undefined;
  if (isForgiven(beganMs, request)) {
    const againMs = failures.filter((failedAtMs) => failedAtMs > (resumedAtMs ?? 0))[maxFailed];
    return againMs === undefined ? undefined : { action: rollout.onFailure, sinceMs: againMs };
  }
  const isWell = failures.length <= maxFailed && members.every(({ recoversMs = 0 }) => recoversMs <= nowMs);
  // A rollback continues even if all clusters have recovered.
  return isWell && rollout.onFailure !== 'Rollback' ? undefined : { action: rollout.onFailure, sinceMs: beganMs };
}

function isForgiven(beganMs: number, { resumedAtMs }: WavesRequest): boolean {
  return resumedAtMs !== undefined && beganMs <= resumedAtMs;
}

type BreachedPace = Parameters<typeof slotOf>[1] & Pick<WavesRequest, 'breachedAtMs'>;

const never = Number.POSITIVE_INFINITY;

/**
 * Returns the time from which the cluster counts as recovered from the breach, in Unix milliseconds: `never` while it still runs. Undefined
 * if the cluster has not changed since the breach began, or if it has neither succeeded nor is running.
 *
 * During a breach, only clusters can change that had failed or were running when it began: no other cluster is started.
 */
function recoveryOf(line: WaveLine | undefined, { soakMs, breachedAtMs }: BreachedPace): number | undefined {
  if (line === undefined || breachedAtMs === undefined || line.sinceMs < breachedAtMs) return undefined;
  if (line.phase === 'progressing') return never;
  return line.phase === 'succeeded' ? line.sinceMs + watchMsOf({ soakMs, breachedAtMs }) : undefined;
}

/**
 * Returns `value` if it is a number. Returns that percentage of `total`, rounded up, if it is a text such as `25%`. Any other text counts
 * as 0, but a parsed spec contains none.
 */
export function portionOf(value: number | string, total: number): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? 0 : Math.ceil((Number(percent) * total) / 100);
}

function isOpen(state: WaveMember['state']): boolean {
  return state === 'waiting' || state === 'running' || state === 'soaking';
}

function sortedNames(members: readonly WaveMember[]): readonly ClusterName[] {
  return members.map(({ cluster }) => cluster).sort();
}
