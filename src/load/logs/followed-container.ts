import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { type Fault, fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { Waiters } from '../../core/scheduling/waiters.ts';
import type { FollowQueue, WaitingFollow } from './follow-queue.ts';
import { type FollowedRun, type FollowRunOptions, followRun, type RunOutcome, type RunState } from './follow-run.ts';
import type { LogOutbox } from './log-outbox.ts';
import type { LogBegin } from './log-position.ts';
import { podKind } from './matching-pods.ts';
import { type ContainerState, stateOf } from './pod-containers.ts';
import type { LogTarget } from './read-logs.ts';

/** The options and callbacks that all containers of one cluster share, for one reader. */
export interface ContainerHost extends FollowRunOptions {
  readonly queue: FollowQueue;
  readonly outbox: LogOutbox;
  /** The maximum number of containers that are followed at the same time. */
  readonly maxFollowed: number;
  api(): ClusterApi | undefined;
  /** Returns the reason why logs of this namespace may not be read. Undefined if they may. */
  refusal(namespace: string): Fault | undefined;
}

/** Maximum number of waiting containers that are reported to the reader. Further containers wait too, but no message reports them. */
const maxReportedWaiting = 100;

const fromFirstLine: LogBegin = {};

/** One container. Its runs are followed one after the other, as the status of its Pod shows them. */
export class FollowedContainer implements WaitingFollow {
  readonly target: LogTarget;
  readonly #host: ContainerHost;
  readonly #waiters = new Waiters();
  #life: AbortController | undefined;
  /** The latest state of the Pod. Undefined after the Pod is gone. */
  #pod: KubernetesObject | undefined;
  #begin: LogBegin;
  #phase: 'idle' | 'waiting' | 'active' = 'idle';
  /** The last run that was followed to its end, or ended while its log could not be read. It is not followed again. */
  #done: string | undefined;
  /** The Pod as it was when its running container could not be followed. The container is tried again when the Pod has changed. */
  #blockedAt: KubernetesObject | undefined;
  #reported: string | undefined;

  /**
   * Follows the container as soon as it has a run and fewer containers than the maximum are followed.
   *
   * @param begin The start of the log. Ignored if the container has not run yet: its log is then followed from the first line.
   */
  constructor(host: ContainerHost, target: LogTarget, { pod, begin }: { readonly pod: KubernetesObject; readonly begin: LogBegin }) {
    this.#host = host;
    this.target = target;
    this.#pod = pod;
    // A container that has not run yet has no earlier lines.
    this.#begin = stateOf(pod, target.container).run === undefined ? fromFirstLine : begin;
    this.#consider();
  }

  /** Applies the new state of the Pod, which may start or end a run. */
  update(pod: KubernetesObject): void {
    this.#pod = pod;
    this.#waiters.wake();
    this.#consider();
  }

  /** Handles the end of the Pod. A run that is followed is read to its end. */
  gone(): void {
    this.#pod = undefined;
    this.#waiters.wake();
    this.#withdraw();
  }

  /** Stops without further messages, because the container is no longer selected. */
  abandon(): void {
    this.#pod = undefined;
    this.#withdraw();
    this.#life?.abort();
  }

  /** Tries again, because the right to read the log may have changed. */
  reconsider(): void {
    this.#consider();
  }

  start(): void {
    const run = this.#state?.run;
    const life = new AbortController();
    this.#phase = 'active';
    this.#life = life;
    // A container without a run has left the queue, so there is always a run here. The compiler does not know this.
    if (run !== undefined) void followRun(this.#followed(run), this.#host, life.signal).then((outcome) => this.#settle(run, outcome));
  }

  get #state(): ContainerState | undefined {
    return this.#pod === undefined ? undefined : stateOf(this.#pod, this.target.container);
  }

  #consider(): void {
    const state = this.#state;
    if (this.#phase === 'active' || state === undefined) return;
    const refused = this.#host.refusal(this.target.namespace);
    if (refused !== undefined) this.#fail(refused);
    else if (state.phase === 'waiting') this.#reportWaiting(state.reason);
    const isBlocked = this.#blockedAt === this.#pod;
    if (refused !== undefined || state.run === undefined || state.run === this.#done || isBlocked) this.#withdraw();
    else if (this.#phase === 'idle') this.#requestStart(state);
  }

  #requestStart({ phase }: ContainerState): void {
    this.#phase = 'waiting';
    if (!this.#host.queue.add(this) && phase === 'running') this.#reportFull();
  }

  #withdraw(): void {
    if (this.#phase !== 'waiting') return;
    this.#phase = 'idle';
    this.#host.queue.withdraw(this);
  }

  #followed(run: string): FollowedRun {
    const { target } = this;
    return {
      target,
      begin: this.#begin,
      api: () => this.#host.api(),
      state: () => this.#runState(run),
      changed: (signal) => this.#waiters.wait(signal),
      lines: (lines) => {
        this.#reported = undefined;
        this.#host.outbox.lines(target, lines);
      },
      failed: (fault) => this.#fail(fault),
    };
  }

  #runState(run: string): RunState {
    const state = this.#state;
    if (state === undefined) return 'gone';
    if (state.run !== run) return 'replaced';
    return state.phase === 'running' ? 'running' : 'ended';
  }

  #settle(run: string, outcome: RunOutcome): void {
    this.#phase = 'idle';
    this.#life = undefined;
    if (outcome.type === 'ended') this.#host.outbox.ended(this.target);
    if (outcome.type === 'failed') this.#fail(outcome.fault);
    if (outcome.type === 'failed' && this.#runState(run) === 'running') this.#blockedAt = this.#pod;
    else this.#done = run;
    if (outcome.type === 'ended') this.#begin = fromFirstLine;
    this.#host.queue.release();
    this.#consider();
  }

  #reportWaiting(reason: string): void {
    if (quietReasons.has(reason) || !/^[A-Za-z]{1,64}$/.test(reason)) return;
    const message = `the container is waiting to start: ${reason}`;
    this.#fail(fault('NOT_FOUND', message, { cluster: this.target.cluster.name, kind: podKind, retry: 'LATER' }));
  }

  #reportFull(): void {
    const { queue, maxFollowed } = this.#host;
    if (queue.waiting > maxReportedWaiting) return;
    const message = `at most ${maxFollowed} containers are followed at the same time: this one starts as soon as another has ended`;
    this.#fail(fault('TOO_LARGE', message, { cluster: this.target.cluster.name, kind: podKind, retry: 'LATER' }));
  }

  /** Reports each failure once, until lines arrive again. */
  #fail(fault: Fault): void {
    const failure = `${fault.code} ${fault.message}`;
    if (failure === this.#reported) return;
    this.#reported = failure;
    this.#host.outbox.failed(this.target, fault);
  }
}

/** Reasons for waiting that are not reported: the container is about to start, or the end of its last run was already reported. */
const quietReasons: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing', 'CrashLoopBackOff']);
