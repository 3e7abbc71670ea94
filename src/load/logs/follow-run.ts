import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { backoffMs, retryAfterMsOf } from '../../watch/server/backoff.ts';
import { type LogBegin, LogPosition } from './log-position.ts';
import { parseLogLine } from './log-times.ts';
import type { LogLineView } from './logs.ts';
import { hasLeft, type LogTarget } from './read-logs.ts';
import type { CallerFollows } from './upstream-follows.ts';

/** The state of the followed run: it runs, it has ended, another run has replaced it, or its Pod is gone. */
export type RunState = 'running' | 'ended' | 'replaced' | 'gone';

/** One run of one container, with callbacks for its follower. */
export interface FollowedRun {
  readonly target: LogTarget;
  readonly begin: LogBegin;
  /** Returns the API of the cluster as it is now. Undefined if the cluster has left the fleet. */
  api(): ClusterApi | undefined;
  state(): RunState;
  /** Resolves when the Pod has changed, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  lines(lines: readonly LogLineView[]): void;
  /** Called when the run cannot be followed for now. It is called once for each failure. */
  failed(fault: Fault): void;
}

export interface FollowRunOptions {
  readonly clock: Clock;
  readonly follows: CallerFollows;
}

export type RunOutcome =
  /** The run has ended, and all its lines were passed on. */
  | { readonly type: 'ended' }
  /** The run cannot be followed, or not to its end. */
  | { readonly type: 'failed'; readonly fault: Fault }
  | { readonly type: 'aborted' };

/** Milliseconds that the server has to end the stream after the run has ended or its Pod is gone. */
const graceMs = 5_000;
/**
 * Milliseconds to wait for the status of the Pod if the stream ended without an error while the container still runs. Doubled after each such
 * end, up to `longestPauseMs`.
 */
const closedPauseMs = 2_000;
const longestPauseMs = 30_000;
/** Maximum number of attempts to read the rest of a run that has ended. */
const maxLastTries = 5;

/**
 * Follows one run of a container to its end. Passes on each line once and in order.
 *
 * After a lost connection, the function pauses and continues at the last line. If a stream ends without an error, the run counts as ended only
 * when the status of the Pod confirms the end. The rest of the log is then requested once more, because API servers also end a stream without
 * an error when they lose the kubelet. The rest of a run that was replaced is requested with `previous`.
 *
 * Lines are lost if the kubelet no longer has them: lines that were rotated away during a pause, runs before the last two, and Pods that are
 * gone.
 */
export async function followRun(run: FollowedRun, options: FollowRunOptions, signal: AbortSignal): Promise<RunOutcome> {
  const position = new LogPosition(run.begin);
  const failures = new FailureCounter(run, options.clock);
  for (;;) {
    const runState = run.state();
    if (runState === 'gone') return { type: 'ended' };
    const result = await readOnce(run, { ...options, position, runState, failures }, signal);
    if (signal.aborted) return { type: 'aborted' };
    if (result === undefined) {
      if (runState !== 'running') return { type: 'ended' };
      // Usually the run has ended, and the status of the Pod shows it a moment later. Waiting for the status loses no line.
      if (run.state() === 'running') await pause(run, failures.close(), { ...options, signal });
    } else if (runState === 'replaced') return { type: 'ended' };
    else if (result.retry === 'NEVER' && !isBehind(result, runState)) return { type: 'failed', fault: result };
    else if (runState === 'ended' && failures.count >= maxLastTries) return { type: 'failed', fault: result };
    else await pause(run, failures.add(result), { ...options, signal });
    if (signal.aborted) return { type: 'aborted' };
  }
}

/**
 * True if the log is `NOT_FOUND` although the container runs according to the mirror. Either the node has not started the container yet, or the
 * end of the run has not reached the mirror yet.
 */
function isBehind({ code }: Fault, runState: RunState): boolean {
  return code === 'NOT_FOUND' && runState === 'running';
}

/**
 * Counts the failed requests, and the requests that ended without a fault, since the last new line. The counts decide how long to wait before
 * the next request.
 */
class FailureCounter {
  count = 0;
  #closed = 0;
  readonly #run: FollowedRun;
  readonly #clock: Clock;
  #reported: string | undefined;

  constructor(run: FollowedRun, clock: Clock) {
    this.#run = run;
    this.#clock = clock;
  }

  /** Counts a failed request of this run, and returns the milliseconds to wait before the next one. Reports each new fault once. */
  add(fault: Fault): number {
    const failure = `${fault.code} ${fault.message}`;
    // The first NOT_FOUND is not reported, because the container may be starting.
    const isNew = failure !== this.#reported && (fault.code !== 'NOT_FOUND' || this.count > 0);
    if (isNew) this.#run.failed(fault);
    if (isNew) this.#reported = failure;
    return backoffMs({ attempt: this.count++, random: this.#clock.random(), retryAfterMs: retryAfterMsOf(fault) });
  }

  /** Counts a request that ended without a fault, and returns the milliseconds to wait before the next one. */
  close(): number {
    return Math.min(closedPauseMs * 2 ** this.#closed++, longestPauseMs);
  }

  /** Resets the counts and forgets the reported fault. Called when new lines have arrived. */
  over(): void {
    this.count = 0;
    this.#closed = 0;
    this.#reported = undefined;
  }
}

interface ReadRunOptions extends FollowRunOptions {
  readonly position: LogPosition;
  readonly runState: Exclude<RunState, 'gone'>;
  readonly failures: FailureCounter;
}

/**
 * Sends one request and passes on its new lines. Returns the fault if the request fails. Undefined if the stream ended without an error, or was
 * ended because the run is over.
 */
async function readOnce(run: FollowedRun, { clock, follows, ...options }: ReadRunOptions, signal: AbortSignal): Promise<Fault | undefined> {
  const { position, runState, failures } = options;
  const { cluster, namespace, pod, container } = run.target;
  const api = run.api();
  if (api === undefined) return hasLeft(cluster.name);
  const place = follows.take(cluster.name);
  if ('code' in place) return place;
  using _place = place;
  using life = createChildSignal(signal);
  const follow = runState === 'running';
  if (follow) void endAfterRun(run, { clock, life });
  const query = position.query(clock.monotonic());
  const request = { namespace, pod, container, follow, previous: runState === 'replaced', timestamps: true, ...query };
  for await (const event of api.logs(request, life.signal)) {
    if (event.type === 'failed') return event.fault;
    if (event.type === 'opened') position.opened(clock.monotonic());
    if (event.type !== 'lines') continue;
    const fresh = position.take(event.lines.map(parseLogLine));
    if (fresh.length === 0) continue;
    failures.over();
    run.lines(fresh);
  }
  return undefined;
}

/** A signal that also aborts with an outer signal. Disposing it aborts it and removes its listener. */
interface ChildSignal extends Disposable {
  readonly signal: AbortSignal;
}

function createChildSignal(outer: AbortSignal): ChildSignal {
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

/** Ends the stream `graceMs` after the run has ended. Most servers end the stream themselves, but some do not, and a frozen server cannot. */
async function endAfterRun(run: FollowedRun, { clock, life }: { readonly clock: Clock; readonly life: ChildSignal }): Promise<void> {
  while (run.state() === 'running' && !life.signal.aborted) await run.changed(life.signal);
  await clock.sleep(graceMs, life.signal);
  life[Symbol.dispose]();
}

/** Waits this long, or until the state of the run has changed. */
async function pause(
  run: FollowedRun,
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  using life = createChildSignal(signal);
  const before = run.state();
  const late = clock.sleep(ms, life.signal).then(() => life[Symbol.dispose]());
  while (!life.signal.aborted && run.state() === before) await run.changed(life.signal);
  life[Symbol.dispose]();
  await late;
}
