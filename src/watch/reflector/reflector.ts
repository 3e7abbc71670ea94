import type { ObjectForm } from '../../cluster/cluster-api.ts';
import { decodeEvent } from '../../cluster/decoding/decode.ts';
import type { Fault, FaultCode } from '../../core/faults.ts';
import { keyOfKind, type ServedResource } from '../../core/kinds.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { MirrorStore } from '../../store/mirror-store.ts';
import { createListStaging, type ListStaging } from './list-staging.ts';
import type { ReflectorContext } from './reflector-context.ts';
import type { ReflectorFacts } from './reflector-facts.ts';
import {
  blankMemory,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorMemory,
  type ReflectorState,
  type WatchReport,
} from './reflector-state.ts';
import { createReflectorRequests, type ReflectorRequests, type WatchFrame } from './requests.ts';
import { step } from './step.ts';

interface ReflectorOptions {
  readonly surroundings: ReflectorContext;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly store: MirrorStore;
  /** Whether a first list may be a WatchList now (docs/internals/mirror.md 3.3). */
  readonly streaming: () => boolean;
  /** Compare the first list by content, as what is served at a version may have changed. */
  readonly byContent?: boolean;
  /** The facts of the reflector whose place this one takes: what that one held is held. */
  readonly heir?: ReflectorFacts;
  /** The first list must be the most recent one. */
  readonly recent?: boolean;
  /** After anything that `facts` tells may have changed; never in the middle of a change. */
  readonly onChange: () => void;
  /** In the turn in which a list was committed. */
  readonly onCommitted?: () => void;
  /** The path answers 404. */
  readonly onMissing: () => void;
  readonly onReport: (report: WatchReport) => void;
}

/** Keeps one scope of a store true to its cluster. */
export interface Reflector {
  facts(): ReflectorFacts;
  /** `trueMs` of the facts, without the rest of them. */
  readonly syncedMs: number | undefined;
  /** Ends at once: nothing is written, asked or told after it. */
  stop(): void;
}

/**
 * Turns the effects of `step` into requests, writes and sleeps, and what comes of them into inputs. Runs until stopped, or until the right is
 * missing for good.
 */
export function createReflector(options: ReflectorOptions): Reflector {
  return new RunningReflector(options);
}

/** A wait for a server that is too busy counts as a failure if it is longer. */
const longestBusyMs = 5_000;

class RunningReflector implements Reflector {
  readonly #options: ReflectorOptions;
  readonly #life = new AbortController();
  readonly #staging: ListStaging;
  readonly #requests: ReflectorRequests;
  #state: ReflectorState = { phase: 'fresh' };
  #memory: ReflectorMemory;
  #sleeping: AbortController | undefined;
  #failedOnce = false;
  #lostMs: number | undefined;
  #trueMs: number | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#memory = memoryAtStart(options);
    this.#trueMs = options.heir?.syncedMs;
    this.#lostMs = options.heir?.streamLostMs ?? options.surroundings.clock.monotonic();
    this.#staging = createListStaging(options);
    const listener = {
      onInput: (input: ReflectorInput | WatchFrame) => this.#hear(input),
      faultOf: (message: string, code: FaultCode) => this.#fault(code, message),
    };
    this.#requests = createReflectorRequests({ ...options, heldSize: () => options.store.size }, listener, this.#life.signal);
    options.surroundings.breaker.onClosed(() => this.#dispatch({ type: 'woken' }), this.#life.signal);
    // Not before the owner holds it.
    queueMicrotask(() => {
      if (this.#state.phase === 'fresh') this.#dispatch({ type: 'started' });
    });
  }

  facts(): ReflectorFacts {
    this.#hearAgain();
    const { listed: whole, watchable, forbiddenSinceMs, version, fault } = this.#memory;
    return {
      phase: this.#state.phase,
      listed: whole,
      isFollowing: this.#stands(),
      failedOnce: this.#failedOnce,
      polled: !watchable,
      forbidden: forbiddenSinceMs !== undefined,
      stagedCount: this.#staging.size,
      streamLostMs: this.#lostMs,
      syncedMs: this.#trueMs,
      version,
      fault,
    };
  }

  get syncedMs(): number | undefined {
    this.#hearAgain();
    return this.#trueMs;
  }

  stop(): void {
    this.#dispatch({ type: 'stopped', reason: 'stopped' });
  }

  #hear(input: ReflectorInput | WatchFrame): void {
    this.#dispatch(input.type === 'frame' ? this.#decoded(input.frame) : input);
  }

  #decoded(frame: Uint8Array): ReflectorInput {
    const { surroundings, resource } = this.#options;
    try {
      const event = decodeEvent(frame, { cluster: surroundings.cluster, resource });
      return event.type === 'unreadable' ? { type: 'unreadable', fault: this.#fault('MALFORMED', event.reason) } : { type: 'event', event };
    } catch (error) {
      return this.#threw(error);
    }
  }

  #dispatch(input: ReflectorInput): void {
    const { clock, breaker } = this.#options.surroundings;
    if (this.#state.phase === 'watching' && input.type !== 'event') this.#hearAgain();
    const [stateBefore, memoryBefore] = [this.#state, this.#memory];
    let next: ReflectorInput | undefined = input;
    while (next !== undefined) {
      const current: ReflectorInput = next;
      const moment = { nowMs: clock.monotonic(), random: clock.random(), breaker: breaker.fault };
      const { state, memory, effects } = step({ state: this.#state, memory: this.#memory, moment }, current);
      [this.#state, this.#memory] = [state, memory];
      next = this.#carryOutAll(effects, current);
    }
    const { fault, listed: whole } = this.#memory;
    if (this.#state.phase !== stateBefore.phase || fault !== memoryBefore.fault || whole !== memoryBefore.listed) this.#changed();
  }

  /** Gives the input that follows at once, if one does: the effects after it are void. */
  #carryOutAll(effects: readonly ReflectorEffect[], cause: ReflectorInput): ReflectorInput | undefined {
    for (const effect of effects) {
      const next = this.#attempt(effect, cause);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  /** A bug in the store, or in what reads the bytes, costs a list and no more (row 22). */
  #attempt(effect: ReflectorEffect, cause: ReflectorInput): ReflectorInput | undefined {
    try {
      return this.#carryOut(effect);
    } catch (error) {
      const next = this.#threw(error);
      return cause.type === 'threw' ? undefined : next;
    }
  }

  #carryOut(effect: ReflectorEffect): ReflectorInput | undefined {
    const { store, namespace, onMissing, onReport } = this.#options;
    switch (effect.type) {
      case 'list':
        return void this.#requests.list(effect.list);
      case 'watch':
        return void this.#requests.watch(effect);
      case 'abort':
        return void this.#requests.abort();
      case 'stage': {
        const reason = this.#staging.stage(effect.items);
        return reason === undefined ? undefined : { type: 'unreadable', fault: this.#fault('MALFORMED', reason) };
      }
      case 'stageEvent':
        return void this.#staging.stageEvent(effect.event);
      case 'commit':
        return void this.#commit(effect.version);
      case 'discard':
        return void this.#staging.discard();
      case 'write':
        return void this.#write(effect);
      case 'confirm':
        return void store.confirmed(effect.version, namespace);
      case 'sleep':
        return void this.#sleep(effect.ms);
      case 'rediscover':
        return void onMissing();
      case 'report':
        return void onReport(effect);
      default:
        throw effect satisfies never;
    }
  }

  #write({ event, version }: Extract<ReflectorEffect, { readonly type: 'write' }>): void {
    const { store } = this.#options;
    if (event.type === 'applied') store.applied(event.object, version, event.exactly);
    else store.deleted(event.object, version, event.exactly);
  }

  #commit(version: ResourceVersion | undefined): void {
    this.#staging.commit(version);
    this.#requests.releaseAdmission();
    this.#trueMs = Math.max(this.#trueMs ?? 0, this.#requests.startedMs);
    this.#failedOnce = false;
    this.#options.onCommitted?.();
  }

  #sleep(ms: number): void {
    this.#sleeping?.abort();
    const ended = new AbortController();
    this.#sleeping = ended;
    void this.#options.surroundings.clock.sleep(ms, ended.signal).then(() => {
      if (!ended.signal.aborted) this.#dispatch({ type: 'elapsed' });
    });
  }

  #stands(): boolean {
    if (this.#state.phase === 'polling') return true;
    // Some proxies send the headers with the first event: no answer yet is no failure, unless one came before.
    return this.#state.phase === 'watching' && (this.#state.openedMs !== undefined || this.#memory.fault === undefined);
  }

  /** What is held is true up to the last sign of life of the connection, while the stream stands. */
  #hearAgain(): void {
    const heardMs = this.#state.phase === 'watching' && this.#state.openedMs !== undefined ? this.#requests.lastActivityMs() : undefined;
    if (heardMs !== undefined) this.#trueMs = Math.max(this.#trueMs ?? 0, heardMs);
  }

  /** A server that is busy for a moment (429), as while it makes the storage of a changed definition, is worth waiting for. */
  #hasFailed(): boolean {
    const state = this.#state;
    if (state.phase !== 'waiting') return state.phase === 'ended';
    const waitMs = state.untilMs - this.#options.surroundings.clock.monotonic();
    return state.fault.code !== 'THROTTLED' || waitMs > longestBusyMs;
  }

  #changed(): void {
    if (this.#hasFailed()) this.#failedOnce = true;
    if (this.#stands()) this.#lostMs = undefined;
    else this.#lostMs ??= this.#options.surroundings.clock.monotonic();
    if (this.#state.phase === 'ended') {
      this.#life.abort();
      this.#sleeping?.abort();
    }
    this.#options.onChange();
  }

  #threw(error: unknown): ReflectorInput {
    const { surroundings, resource } = this.#options;
    surroundings.log.error(
      { cluster: surroundings.cluster, kind: keyOfKind(resource), err: loggableError(error) },
      'an event could not be taken in',
    );
    return { type: 'threw', fault: this.#fault('MALFORMED', 'an event could not be taken in') };
  }

  #fault(code: FaultCode, message: string): Fault {
    const { surroundings, resource } = this.#options;
    return { code, cluster: surroundings.cluster, kind: { group: resource.group, kind: resource.kind }, message, retry: 'LATER' };
  }
}

function memoryAtStart({ resource, streaming, recent, heir }: ReflectorOptions): ReflectorMemory {
  return {
    ...blankMemory,
    streaming: streaming(),
    watchable: resource.verbs.includes('watch'),
    unversioned: recent === true ? '' : '0',
    listed: heir !== undefined,
    version: heir?.version,
  };
}
