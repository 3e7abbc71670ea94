import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { backoffMs, retryAfterMsOf } from '../../watch/server/backoff.ts';
import { type LogBegin, LogPosition } from './log-position.ts';
import { parseLogLine } from './log-times.ts';
import type { LogLineView } from './logs.ts';
import { hasLeft, type LogTarget } from './read-logs.ts';
import type { UpstreamFollows } from './upstream-follows.ts';

/** How the run that is followed stands: another one may have begun, or its Pod may be gone. */
export type RunStanding = 'running' | 'ended' | 'replaced' | 'gone';

/** One run of one container, for the one who follows it. */
export interface FollowedRun {
  readonly target: LogTarget;
  readonly begin: LogBegin;
  /** Of the cluster as it is now. Undefined if it has left. */
  api(): ClusterApi | undefined;
  standing(): RunStanding;
  /** Resolves when the Pod has changed, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  lines(lines: readonly LogLineView[]): void;
  /** It is not followed for now: once for each trouble. */
  failed(fault: Fault): void;
}

export interface FollowRunOptions {
  readonly clock: Clock;
  readonly follows: UpstreamFollows;
}

export type RunOutcome =
  /** All of it was told. */
  | { readonly type: 'ended' }
  /** It cannot be followed, or not to its end. */
  | { readonly type: 'failed'; readonly fault: Fault }
  | { readonly type: 'aborted' };

/** After the run has ended, or its Pod is gone, the server has this long to end the stream. */
const graceMs = 5_000;
/** A clean end while the container runs on: the Pod's status usually follows within this time. */
const closedPauseMs = 2_000;
const longestPauseMs = 30_000;
/** So often the rest of a run that has ended is asked for. */
const maxLastTries = 5;

/**
 * Tells one run of a container to its end, each line once and in order.
 *
 * What was cut goes on where it was, after a pause; a clean end is believed once the Pod says so too, and then the rest is asked for once more, as API
 * servers end a stream cleanly also if they lost the kubelet. The rest of a run that another has replaced is asked for as the previous one. Lost is
 * what the kubelet no longer has: what was rotated away while nobody read, runs but the last two, Pods that are gone.
 */
export async function followRun(run: FollowedRun, options: FollowRunOptions, signal: AbortSignal): Promise<RunOutcome> {
  const position = new LogPosition(run.begin);
  const troubles = new Troubles(run, options.clock);
  for (;;) {
    const standing = run.standing();
    if (standing === 'gone') return { type: 'ended' };
    const result = await readOnce(run, { ...options, position, standing, troubles }, signal);
    if (signal.aborted) return { type: 'aborted' };
    if (result === undefined) {
      if (standing !== 'running') return { type: 'ended' };
      // Told by the Pod's status, as a rule: nothing is lost by waiting for it.
      if (run.standing() === 'running') await pause(run, troubles.close(), { ...options, signal });
    } else if (standing === 'replaced') return { type: 'ended' };
    else if (result.retry === 'NEVER' && !isBehind(result, standing)) return { type: 'failed', fault: result };
    else if (standing === 'ended' && troubles.count >= maxLastTries) return { type: 'failed', fault: result };
    else await pause(run, troubles.add(result), { ...options, signal });
    if (signal.aborted) return { type: 'aborted' };
  }
}

/** A Pod that runs and is not found: either its end or its beginning has not come to us, or to the node. */
function isBehind({ code }: Fault, standing: RunStanding): boolean {
  return code === 'NOT_FOUND' && standing === 'running';
}

/** Ends without a line between them. */
class Troubles {
  count = 0;
  #closed = 0;
  readonly #run: FollowedRun;
  readonly #clock: Clock;
  #told: string | undefined;

  constructor(run: FollowedRun, clock: Clock) {
    this.#run = run;
    this.#clock = clock;
  }

  /** How long to wait after this one. */
  add(fault: Fault): number {
    const what = `${fault.code} ${fault.message}`;
    // The first time it is most likely that the news are still on their way.
    const isNews = what !== this.#told && (fault.code !== 'NOT_FOUND' || this.count > 0);
    if (isNews) this.#run.failed(fault);
    if (isNews) this.#told = what;
    return backoffMs({ attempt: this.count++, random: this.#clock.random(), retryAfterMs: retryAfterMsOf(fault) });
  }

  /** How long to wait after a clean end. */
  close(): number {
    return Math.min(closedPauseMs * 2 ** this.#closed++, longestPauseMs);
  }

  over(): void {
    this.count = 0;
    this.#closed = 0;
    this.#told = undefined;
  }
}

interface Reading extends FollowRunOptions {
  readonly position: LogPosition;
  readonly standing: Exclude<RunStanding, 'gone'>;
  readonly troubles: Troubles;
}

/** One request. Undefined after a clean end, and after one that was forced as the run is over. */
async function readOnce(run: FollowedRun, { clock, follows, ...reading }: Reading, signal: AbortSignal): Promise<Fault | undefined> {
  const { position, standing, troubles } = reading;
  const { cluster, namespace, pod, container } = run.target;
  const api = run.api();
  if (api === undefined) return hasLeft(cluster.name);
  const place = follows.take(cluster.name);
  if ('code' in place) return place;
  using _place = place;
  using life = openLife(signal);
  const follow = standing === 'running';
  if (follow) void endAfterRun(run, { clock, life });
  const query = position.query(clock.monotonic());
  const request = { namespace, pod, container, follow, previous: standing === 'replaced', timestamps: true, ...query };
  for await (const part of api.logs(request, life.signal)) {
    if (part.type === 'failed') return part.fault;
    if (part.type === 'opened') position.opened(clock.monotonic());
    if (part.type !== 'lines') continue;
    const fresh = position.take(part.lines.map(parseLogLine));
    if (fresh.length === 0) continue;
    troubles.over();
    run.lines(fresh);
  }
  return undefined;
}

/** A signal of its own within another one; disposing it leaves no listener behind. */
interface Life extends Disposable {
  readonly signal: AbortSignal;
}

function openLife(outer: AbortSignal): Life {
  const ending = new AbortController();
  const end = () => ending.abort();
  if (outer.aborted) end();
  else outer.addEventListener('abort', end, { once: true });
  return {
    signal: ending.signal,
    [Symbol.dispose]() {
      outer.removeEventListener('abort', end);
      end();
    },
  };
}

/** Servers end the stream of a container that has ended. Not all do, and a frozen one cannot. */
async function endAfterRun(run: FollowedRun, { clock, life }: { readonly clock: Clock; readonly life: Life }): Promise<void> {
  while (run.standing() === 'running' && !life.signal.aborted) await run.changed(life.signal);
  await clock.sleep(graceMs, life.signal);
  life[Symbol.dispose]();
}

/** Waits that long, or until the Pod has changed so that the run is over. */
async function pause(
  run: FollowedRun,
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  using life = openLife(signal);
  const before = run.standing();
  const late = clock.sleep(ms, life.signal).then(() => life[Symbol.dispose]());
  while (!life.signal.aborted && run.standing() === before) await run.changed(life.signal);
  life[Symbol.dispose]();
  await late;
}
