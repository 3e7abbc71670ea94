import type { ObjectForm } from '../../cluster/cluster-api.ts';
import { decodeEvent } from '../../cluster/decoding/decode.ts';
import { type Fault, type FaultCode, fault } from '../../core/faults.ts';
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
  type WatchObjectEvent,
  type WatchReport,
} from './reflector-state.ts';
import { createReflectorRequests, type ReflectorRequests, type WatchFrames } from './requests.ts';
import { stepReflector } from './step.ts';

interface ReflectorOptions {
  readonly context: ReflectorContext;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  /** The only namespace to mirror. Default: all namespaces. */
  readonly namespace?: string;
  readonly store: MirrorStore;
  /** Returns true if a first list may be a WatchList now (docs/internals/mirror.md 3.3). */
  readonly streaming: () => boolean;
  /** True if the first list is compared with the store by content. False: only by uid and version, which is faster. Default: false. */
  readonly byContent?: boolean;
  /** The facts of the reflector that this one replaces, and whose objects stay in the store. Undefined: there is none. */
  readonly predecessor?: ReflectorFacts | undefined;
  /** True if the first list must be the most recent one. Default: false. */
  readonly recent?: boolean;
  /** Called after `facts` may have changed, never during a change. */
  readonly onChange: () => void;
  /** Called synchronously after a list was committed. */
  readonly onCommitted?: () => void;
  /** Called when the path of the kind answers 404. */
  readonly onMissing: () => void;
  readonly onReport: (report: WatchReport) => void;
}

/** Keeps one scope of a store in sync with its cluster. */
export interface Reflector {
  facts(): ReflectorFacts;
  /** `syncedMs` of the facts, without computing the other facts. */
  readonly syncedMs: number | undefined;
  /** Ends at once. Writes, requests and calls nothing afterwards. */
  stop(): void;
}

/**
 * Creates a reflector: carries out the effects of `stepReflector` (requests, writes, sleeps) and turns their results into inputs.
 *
 * A watch event takes this path: `requests.ts` receives a line, this file decodes it, `step.ts` decides, and `#write` calls the store
 * (`src/store/contents/store.ts`).
 *
 * Runs until it is stopped, or until the right is lost for good.
 */
export function createReflector(options: ReflectorOptions): Reflector {
  return new StepReflector(options);
}

/** Milliseconds. A wait for a busy server (429) counts as a failure only if it is longer. */
const maxBusyMs = 5_000;

class StepReflector implements Reflector {
  readonly #options: ReflectorOptions;
  readonly #life = new AbortController();
  readonly #staging: ListStaging;
  readonly #requests: ReflectorRequests;
  #state: ReflectorState = { phase: 'fresh' };
  #memory: ReflectorMemory;
  #sleeping: AbortController | undefined;
  #failedOnce = false;
  #streamLostMs: number | undefined;
  #syncedMs: number | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#memory = memoryAtStart(options);
    this.#syncedMs = options.predecessor?.syncedMs;
    this.#streamLostMs = options.predecessor?.streamLostMs ?? options.context.clock.monotonic();
    this.#staging = createListStaging(options);
    const listener = {
      onInput: (input: ReflectorInput) => this.#dispatch(input),
      onFrames: (frames: WatchFrames) => this.#passFrames(frames),
      faultOf: (message: string, code: FaultCode) => this.#fault(code, message),
    };
    this.#requests = createReflectorRequests({ ...options, heldSize: () => options.store.size }, listener, this.#life.signal);
    options.context.breaker.onClosed(() => this.#dispatch({ type: 'woken' }), this.#life.signal);
    // Starts only after the owner has received the reflector.
    queueMicrotask(() => {
      if (this.#state.phase === 'fresh') this.#dispatch({ type: 'started' });
    });
  }

  facts(): ReflectorFacts {
    const syncedMs = () => this.syncedMs;
    const { listed, watchable, forbiddenSinceMs, version, fault } = this.#memory;
    return {
      phase: this.#state.phase,
      listed,
      isFollowing: this.#isFollowing(),
      failedOnce: this.#failedOnce,
      polled: !watchable,
      forbidden: forbiddenSinceMs !== undefined,
      stagedCount: this.#staging.size,
      streamLostMs: this.#streamLostMs,
      // Computed on demand: the health of a cluster reads the other facts of all its mirrors after each change.
      get syncedMs() {
        return syncedMs();
      },
      version,
      fault,
    };
  }

  get syncedMs(): number | undefined {
    this.#updateSyncedMs();
    return this.#syncedMs;
  }

  stop(): void {
    this.#dispatch({ type: 'stopped', reason: 'stopped' });
  }

  /** Decodes lines of a watch (`src/cluster/decoding/decode.ts`), and passes each as an input. Initial events in a row are one input. */
  #passFrames({ frames, isOver }: WatchFrames): void {
    let initial: WatchObjectEvent[] = [];
    for (const frame of frames) {
      const input = this.#decode(frame);
      const isInitial = this.#state.phase === 'streaming' && input.type === 'event';
      if (isInitial && (input.event.type === 'applied' || input.event.type === 'deleted')) {
        initial.push(input.event);
        continue;
      }
      if (initial.length > 0) this.#dispatch({ type: 'initialEvents', events: initial });
      initial = [];
      if (!isOver()) this.#dispatch(input);
      if (isOver()) return;
    }
    if (initial.length > 0) this.#dispatch({ type: 'initialEvents', events: initial });
  }

  #decode(frame: Uint8Array): ReflectorInput {
    const { context, resource, store } = this.#options;
    try {
      const held = store.size === 0 ? undefined : store.get;
      const event = decodeEvent(frame, { cluster: context.cluster, resource, held });
      return event.type === 'unreadable' ? { type: 'unreadable', fault: this.#fault('MALFORMED', event.reason) } : { type: 'event', event };
    } catch (error) {
      return this.#inputOfError(error);
    }
  }

  /** Passes an input to `stepReflector`, and carries out its effects. Repeats with the input that an effect gives, if any. */
  #dispatch(input: ReflectorInput): void {
    const { clock, breaker } = this.#options.context;
    if (this.#state.phase === 'watching' && input.type !== 'event') this.#updateSyncedMs();
    const [stateBefore, memoryBefore] = [this.#state, this.#memory];
    let next: ReflectorInput | undefined = input;
    while (next !== undefined) {
      const current: ReflectorInput = next;
      const moment = { nowMs: clock.monotonic(), random: clock.random(), breaker: breaker.fault };
      const { state, memory, effects } = stepReflector({ state: this.#state, memory: this.#memory, moment }, current);
      [this.#state, this.#memory] = [state, memory];
      next = this.#carryOutAll(effects, current);
    }
    const { fault, listed } = this.#memory;
    if (this.#state.phase !== stateBefore.phase || fault !== memoryBefore.fault || listed !== memoryBefore.listed) this.#changed();
  }

  /**
   * Carries out effects in order. If an effect gives a new input, the remaining effects are void and the input is returned. Undefined if no
   * effect gives an input.
   */
  #carryOutAll(effects: readonly ReflectorEffect[], cause: ReflectorInput): ReflectorInput | undefined {
    for (const effect of effects) {
      const next = this.#carryOutSafely(effect, cause);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  /**
   * Carries out one effect. Returns its next input, or undefined if it has none. If the effect throws, the next input leads to a new list.
   * So a bug in the store, or in the code that reads the bytes, costs one list and nothing else (row 22 of docs/internals/mirror.md 3.1).
   */
  #carryOutSafely(effect: ReflectorEffect, cause: ReflectorInput): ReflectorInput | undefined {
    try {
      return this.#carryOut(effect);
    } catch (error) {
      const next = this.#inputOfError(error);
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
      case 'stageEvents':
        return void this.#staging.stageEvents(effect.events);
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

  /** Writes one watch event into the store. The event continues in `src/store/contents/store.ts`. */
  #write({ event, version }: Extract<ReflectorEffect, { readonly type: 'write' }>): void {
    const { store } = this.#options;
    if (event.type === 'applied') store.applied(event.object, version, event.exactly);
    else store.deleted(event.object, version, event.exactly);
  }

  #commit(version: ResourceVersion | undefined): void {
    this.#staging.commit(version);
    this.#requests.releaseAdmission();
    this.#syncedMs = Math.max(this.#syncedMs ?? 0, this.#requests.startedMs);
    this.#failedOnce = false;
    this.#options.onCommitted?.();
  }

  #sleep(ms: number): void {
    this.#sleeping?.abort();
    const ended = new AbortController();
    this.#sleeping = ended;
    void this.#options.context.clock.sleep(ms, ended.signal).then(() => {
      if (!ended.signal.aborted) this.#dispatch({ type: 'elapsed' });
    });
  }

  #isFollowing(): boolean {
    if (this.#state.phase === 'polling') return true;
    // Some proxies send the headers together with the first event. A watch without an answer is therefore no failure, unless an earlier one
    // failed.
    return this.#state.phase === 'watching' && (this.#state.openedMs !== undefined || this.#memory.fault === undefined);
  }

  /** Moves `syncedMs` to the last activity of the connection. While the stream is open, the mirrored objects are correct up to then. */
  #updateSyncedMs(): void {
    const activityMs = this.#state.phase === 'watching' && this.#state.openedMs !== undefined ? this.#requests.lastActivityMs() : undefined;
    if (activityMs !== undefined) this.#syncedMs = Math.max(this.#syncedMs ?? 0, activityMs);
  }

  /**
   * True if the reflector has ended, or waits after a failed request. A 429 with a wait of up to 5 s is no failure: an API server is busy
   * while it creates the storage of a changed definition, for example.
   */
  #hasFailed(): boolean {
    const state = this.#state;
    if (state.phase !== 'waiting') return state.phase === 'ended';
    const waitMs = state.untilMs - this.#options.context.clock.monotonic();
    return state.fault.code !== 'THROTTLED' || waitMs > maxBusyMs;
  }

  #changed(): void {
    if (this.#hasFailed()) this.#failedOnce = true;
    if (this.#isFollowing()) this.#streamLostMs = undefined;
    else this.#streamLostMs ??= this.#options.context.clock.monotonic();
    if (this.#state.phase === 'ended') {
      this.#life.abort();
      this.#sleeping?.abort();
    }
    this.#options.onChange();
  }

  #inputOfError(error: unknown): ReflectorInput {
    const { context, resource } = this.#options;
    context.log.error(
      { cluster: context.cluster, kind: keyOfKind(resource), err: loggableError(error) },
      'an event could not be processed',
    );
    return { type: 'threw', fault: this.#fault('MALFORMED', 'an event could not be processed') };
  }

  #fault(code: FaultCode, message: string): Fault {
    const { context, resource } = this.#options;
    return fault(code, message, { cluster: context.cluster, kind: { group: resource.group, kind: resource.kind }, retry: 'LATER' });
  }
}

function memoryAtStart({ resource, streaming, recent, predecessor }: ReflectorOptions): ReflectorMemory {
  return {
    ...blankMemory,
    streaming: streaming(),
    watchable: resource.verbs.includes('watch'),
    unversioned: recent === true ? '' : '0',
    listed: predecessor !== undefined,
    version: predecessor?.version,
  };
}
