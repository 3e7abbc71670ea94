import type { ClusterName } from '../../core/names.ts';
import type { RolloutSpec } from '../model/spec-definition.ts';
import { watchMsOf } from './rollout-mark.ts';
import { nearestAfter, type RolloutLine, slotOf } from './slots.ts';

/** How far a cluster is with the generation that rolls out. `sinceMs`: milliseconds of the epoch since when. */
export interface WaveLine {
  /** `skip`: it is to wait for something that no wave decides (suspended, a decrease held for its increase), and holds no wave up. */
  readonly phase: Exclude<RolloutLine['phase'], 'unknown'>;
  readonly sinceMs: number;
  /** What succeeded stays so for the waves, and may not stand any more all the same: it failed, or is to be made good. Absent: it stands. */
  readonly lost?: 'failed' | 'open';
}

/** One step of a rollout. */
export interface WavesRequest {
  readonly rollout: RolloutSpec;
  /** In order. Each cluster stands in one of them. */
  readonly waves: readonly { readonly name: string; readonly clusters: readonly ClusterName[] }[];
  /** Absent: `toApply`. Clusters of no wave joined late: they come after all waves. */
  readonly lines: ReadonlyMap<ClusterName, WaveLine>;
  /** When it was last resumed: ends a breach that began before. */
  readonly resumedAtMs?: number | undefined;
  /** Since when this generation is known to be in breach: it stays so until resumed, or until what failed is well again. */
  readonly breachedAtMs?: number | undefined;
  /** Their failures are no breach: Jobs that failed where enough others completed. */
  readonly excused?: ReadonlySet<ClusterName>;
  readonly nowMs: number;
}

/** What to do next. Names of clusters are in the order of code units. */
export interface WavesDecision {
  /** To be begun now. */
  readonly start: readonly ClusterName[];
  /** Begun, and neither done nor failed. */
  readonly running: readonly ClusterName[];
  /** Done, and watched for a while before they count. */
  readonly soaking: readonly ClusterName[];
  /** Past their deadline, those that were so before too. */
  readonly timedOut: readonly ClusterName[];
  /** Index of the wave that is being done; of the last one once all are. Where a breach has stopped it: of the last one begun. */
  readonly wave: number;
  /** Waves, with that of late joiners if there are any. */
  readonly waves: number;
  readonly clusters: number;
  /** Clusters that are through, succeeded and soaked, and stand so now. */
  readonly done: number;
  /** Clusters that failed or timed out, also those forgiven by a resumption; and those that were through and have failed since. */
  readonly failed: number;
  /** Nothing waits, runs or soaks any more. */
  readonly isOver: boolean;
  /** More failed than may. Nothing is begun then, but with `Continue`. */
  readonly breach?: { readonly action: RolloutSpec['onFailure']; readonly sinceMs: number };
  /** Milliseconds of the epoch of the next end of a soak or deadline. */
  readonly nextCheckAtMs?: number;
}

/**
 * One cluster with what it takes. `failed` and `timedOut` take nothing: with failures allowed, a failed one must not hold up the others for ever.
 * `recoversMs`: it may have been at fault for the breach, and is well, or would be, from then on.
 */
interface Place {
  readonly cluster: ClusterName;
  readonly state: 'waiting' | 'running' | 'soaking' | 'done' | 'failed' | 'timedOut' | 'skipped';
  readonly failedAtMs: number | undefined;
  readonly recheckMs: number | undefined;
  readonly recoversMs: number | undefined;
  readonly lost: WaveLine['lost'];
}

/**
 * The next step of a rollout in waves (docs/internals/propagation.md 6). Pure.
 *
 * Waves go in order: the next begins when nothing of those before waits, runs or soaks. In a wave at most `maxConcurrency` run or soak at once (a
 * percentage is of the wave's clusters). Failures count over all waves against `maxFailures` (a percentage is of all clusters); more than that is a
 * breach. A resumption after its beginning leads on from it, and forgives all that failed before. A breach that is not rolled back also ends by itself,
 * when no more have failed than may, and each that went on since was well for the soak time, and for 30 s; nothing is begun in the step that finds so.
 */
export function nextWaves(request: WavesRequest): WavesDecision {
  const waves = placesOf(request);
  const all = waves.flat();
  const current = waves.findIndex((places) => places.some(({ state }) => isOpen(state)));
  const breach = breachOf(all, request);
  const namesOf = (...states: readonly Place['state'][]) => sorted(all.filter(({ state }) => states.includes(state)));
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
    done: all.filter(({ state, lost }) => state === 'done' && lost === undefined).length,
    failed: all.filter(({ state, lost }) => state === 'failed' || state === 'timedOut' || lost === 'failed').length,
    isOver: current < 0,
    ...(breach === undefined ? {} : { breach }),
    ...(nextCheckAtMs === undefined ? {} : { nextCheckAtMs }),
  };
}

function lastBegun(waves: readonly (readonly Place[])[]): number {
  return waves.findLastIndex((places) => places.some(({ state }) => state !== 'waiting' && state !== 'skipped'));
}

/** The wave of late joiners is there only if there are any. */
function placesOf({ rollout, waves, lines, excused, breachedAtMs, nowMs }: WavesRequest): readonly (readonly Place[])[] {
  const planned = new Set(waves.flatMap(({ clusters }) => clusters));
  const late = [...lines.keys()].filter((cluster) => !planned.has(cluster));
  const pace = { soakMs: rollout.soakMs, deadlineMs: rollout.deadlineMs, nowMs, breachedAtMs };
  const lists = [...waves.map(({ clusters }) => clusters), ...(late.length === 0 ? [] : [late])];
  return lists.map((clusters) =>
    [...clusters].sort().map((cluster) => {
      const place = placeOf(cluster, lines.get(cluster), pace);
      return excused?.has(cluster) === true ? { ...place, failedAtMs: undefined } : place;
    }),
  );
}

function placeOf(cluster: ClusterName, line: WaveLine | undefined, pace: BreachedPace): Place {
  const place = (state: Place['state'], times: Partial<Pick<Place, 'failedAtMs' | 'recheckMs'>> = {}): Place => ({
    cluster,
    state,
    failedAtMs: times.failedAtMs,
    recheckMs: times.recheckMs,
    recoversMs: recoveryOf(line, pace),
    lost: line?.lost,
  });
  if (line === undefined) return place('waiting');
  const slot = slotOf(line, pace);
  switch (line.phase) {
    case 'toApply':
      return place('waiting');
    case 'skip':
      return place('skipped');
    case 'failed':
    case 'timedOut':
      return place(line.phase, { failedAtMs: line.sinceMs });
    case 'succeeded':
      return slot.taken === 'yes' ? place('soaking', { recheckMs: slot.recheckMs }) : place('done');
    case 'progressing':
      if (slot.taken === 'timedOut') return place('timedOut', { failedAtMs: slot.recheckMs });
      return place('running', slot.taken === 'yes' ? { recheckMs: slot.recheckMs } : {});
    default:
      return line.phase satisfies never;
  }
}

function startsIn(places: readonly Place[], { maxConcurrency }: RolloutSpec): readonly ClusterName[] {
  const size = maxConcurrency === undefined ? places.length : Math.max(1, portionOf(maxConcurrency, places.length));
  const taken = places.filter(({ state }) => state === 'running' || state === 'soaking').length;
  const waiting = places.filter(({ state }) => state === 'waiting').map(({ cluster }) => cluster);
  return waiting.slice(0, Math.max(0, size - taken));
}

/** It began with the first failure that was one too many. */
function breachOf(places: readonly Place[], request: WavesRequest): WavesDecision['breach'] {
  const { rollout, resumedAtMs, breachedAtMs, nowMs } = request;
  const most = portionOf(rollout.maxFailures, places.length);
  const failures = places.flatMap(({ failedAtMs }) => failedAtMs ?? []).sort((a, b) => a - b);
  const beganMs = breachedAtMs ?? failures[most];
  if (beganMs === undefined) return undefined;
  if (isForgiven(beganMs, request)) {
    const againMs = failures.filter((failedAtMs) => failedAtMs > (resumedAtMs ?? 0))[most];
    return againMs === undefined ? undefined : { action: rollout.onFailure, sinceMs: againMs };
  }
  const isWell = failures.length <= most && places.every(({ recoversMs = 0 }) => recoversMs <= nowMs);
  // What is being rolled back is not what was asked for, however well it is.
  return isWell && rollout.onFailure !== 'Rollback' ? undefined : { action: rollout.onFailure, sinceMs: beganMs };
}

function isForgiven(beganMs: number, { resumedAtMs }: WavesRequest): boolean {
  return resumedAtMs !== undefined && beganMs <= resumedAtMs;
}

type BreachedPace = Parameters<typeof slotOf>[1] & Pick<WavesRequest, 'breachedAtMs'>;

const never = Number.POSITIVE_INFINITY;

/** Of what moved since the breach: nothing is begun in one, so it is what failed, or what ran beside it. */
function recoveryOf(line: WaveLine | undefined, { soakMs, breachedAtMs }: BreachedPace): number | undefined {
  if (line === undefined || breachedAtMs === undefined || line.sinceMs < breachedAtMs) return undefined;
  if (line.phase === 'progressing') return never;
  return line.phase === 'succeeded' ? line.sinceMs + watchMsOf({ soakMs, breachedAtMs }) : undefined;
}

/** A number, or that many percent of the total, rounded up. Text that is no percentage is 0: a spec that was parsed holds none. */
function portionOf(value: number | string, total: number): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? 0 : Math.ceil((Number(percent) * total) / 100);
}

function isOpen(state: Place['state']): boolean {
  return state === 'waiting' || state === 'running' || state === 'soaking';
}

function sorted(places: readonly Place[]): readonly ClusterName[] {
  return places.map(({ cluster }) => cluster).sort();
}
