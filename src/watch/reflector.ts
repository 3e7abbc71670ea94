import type { ObjectForm } from '../cluster/cluster-api.ts';
import { decodeEvent } from '../cluster/decode.ts';
import type { Fault, FaultCode } from '../core/faults.ts';
import { keyOfKind, type ServedResource } from '../core/kinds.ts';
import type { ResourceVersion } from '../core/names.ts';
import type { StoreWriter } from '../store/mirror-store.ts';
import type { ReflectorFacts } from './reflector-facts.ts';
import { createRequests, type Requests } from './requests.ts';
import { createStaging, type Staging } from './staging.ts';
import { blankMemory, type Effect, type Input, type Memory, type Report, type State } from './state.ts';
import { step } from './step.ts';
import type { Surroundings } from './surroundings.ts';

export interface ReflectorOptions {
  readonly surroundings: Surroundings;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly store: StoreWriter;
  /** Whether the first list may be a WatchList (mirror.md 3.3). */
  readonly streaming: boolean;
  /** Compare the first list by content, as what is served at a version may have changed. */
  readonly byContent?: boolean;
  /** v, and that the store is whole up to it: of the reflector whose place this one takes. */
  readonly heir?: { readonly version?: ResourceVersion };
  /** The first list must be the most recent one. */
  readonly recent?: boolean;
  /** After anything that `facts` tells may have changed; never in the middle of a change. */
  readonly onChange: () => void;
  /** In the turn in which a list was committed. */
  readonly onCommitted?: () => void;
  /** The path answers 404. */
  readonly onMissing: () => void;
  readonly onReport: (report: Report) => void;
}

/** Keeps one scope of a store true to its cluster. */
export interface Reflector {
  facts(): ReflectorFacts;
  /** Ends at once: nothing is written, asked or told after it. */
  stop(): void;
}

/**
 * Turns the effects of `step` into requests, writes and sleeps, and what comes of them into inputs. Runs until stopped, or until the right is
 * missing for good.
 */
export function createReflector(options: ReflectorOptions): Reflector {
  const { surroundings, resource, store } = options;
  const { clock, breaker } = surroundings;
  const life = new AbortController();
  const context = { cluster: surroundings.cluster, resource };
  const staging: Staging = createStaging(options);
  const requests: Requests = createRequests(
    { ...options, stagedSize: () => staging.size },
    { hear, fail: (reason, code) => faultAt(code, reason) },
    life.signal,
  );
  let state: State = { phase: 'fresh' };
  let memory: Memory = {
    ...blankMemory,
    streaming: options.streaming,
    watchable: resource.verbs.includes('watch'),
    unversioned: options.recent === true ? '' : '0',
    whole: options.heir !== undefined,
    ...(options.heir?.version === undefined ? {} : { version: options.heir.version }),
  };
  let sleeping: AbortController | undefined;
  let failedOnce = false;
  let lostMs: number | undefined;
  let trueMs: number | undefined;

  function faultAt(code: FaultCode, message: string): Fault {
    return { code, cluster: surroundings.cluster, kind: { group: resource.group, kind: resource.kind }, message, retry: 'LATER' };
  }

  function hear(input: Input | { readonly type: 'frame'; readonly frame: Uint8Array }): void {
    dispatch(input.type === 'frame' ? decoded(input.frame) : input);
  }

  function decoded(frame: Uint8Array): Input {
    try {
      const event = decodeEvent(frame, context);
      return event.type === 'unreadable' ? { type: 'unreadable', fault: faultAt('MALFORMED', event.reason) } : { type: 'event', event };
    } catch (error) {
      return threw(error);
    }
  }

  function dispatch(input: Input): void {
    if (state.phase === 'watching' && input.type !== 'event') hearAgain();
    const before = { state, memory };
    let next: Input | undefined = input;
    while (next !== undefined) {
      const current: Input = next;
      const moment = { nowMs: clock.monotonic(), random: clock.random(), breaker: breaker.fault };
      const result = step({ state, memory, moment }, current);
      ({ state, memory } = result);
      next = undefined;
      for (const effect of result.effects) {
        next = attempt(effect, current);
        if (next !== undefined) break;
      }
    }
    if (state.phase !== before.state.phase || memory.fault !== before.memory.fault || memory.whole !== before.memory.whole) changed();
  }

  /** A bug in the store, or in what reads the bytes, costs a list and no more (row 22). */
  function attempt(effect: Effect, cause: Input): Input | undefined {
    try {
      return carryOut(effect);
    } catch (error) {
      const input = threw(error);
      return cause.type === 'threw' ? undefined : input;
    }
  }

  function threw(error: unknown): Input {
    surroundings.log.error({ cluster: context.cluster, kind: keyOfKind(resource), err: error }, 'an event could not be taken in');
    return { type: 'threw', fault: faultAt('MALFORMED', 'an event could not be taken in') };
  }

  /** Gives the input that follows at once, if one does. */
  function carryOut(effect: Effect): Input | undefined {
    switch (effect.type) {
      case 'list':
        return void requests.list(effect.list);
      case 'watch':
        return void requests.watch(effect);
      case 'abort':
        return void requests.abort();
      case 'stage': {
        const reason = staging.stage(effect.items);
        return reason === undefined ? undefined : { type: 'unreadable', fault: faultAt('MALFORMED', reason) };
      }
      case 'stageEvent':
        return void staging.stageEvent(effect.event);
      case 'commit':
        return void commit(effect.version);
      case 'discard':
        return void staging.discard();
      case 'write':
        return void write(effect);
      case 'confirm':
        return void store.confirmed(effect.version);
      case 'sleep':
        return void sleep(effect.ms);
      case 'rediscover':
        return void options.onMissing();
      case 'report':
        return void options.onReport(effect);
      default:
        throw effect satisfies never;
    }
  }

  function write({ event, version }: Extract<Effect, { readonly type: 'write' }>): void {
    if (event.type === 'applied') store.applied(event.object, version, event.exactly);
    else store.deleted(event.object, version, event.exactly);
  }

  function commit(version: ResourceVersion | undefined): void {
    staging.commit(version);
    requests.admitted();
    trueMs = Math.max(trueMs ?? 0, requests.startedMs);
    failedOnce = false;
    options.onCommitted?.();
  }

  function sleep(ms: number): void {
    sleeping?.abort();
    const ended = new AbortController();
    sleeping = ended;
    void clock.sleep(ms, ended.signal).then(() => {
      if (!ended.signal.aborted) dispatch({ type: 'elapsed' });
    });
  }

  function stands(): boolean {
    if (state.phase === 'polling') return true;
    // Some proxies send the headers with the first event: no answer yet is no failure, unless one came before.
    return state.phase === 'watching' && (state.openedMs !== undefined || memory.fault === undefined);
  }

  function hearAgain(): void {
    const heardMs = state.phase === 'watching' && state.openedMs !== undefined ? requests.heardMs() : undefined;
    if (heardMs !== undefined) trueMs = Math.max(trueMs ?? 0, heardMs);
  }

  function changed(): void {
    if (state.phase === 'waiting' || state.phase === 'ended') failedOnce = true;
    if (stands()) lostMs = undefined;
    else lostMs ??= clock.monotonic();
    if (state.phase === 'ended') end();
    options.onChange();
  }

  function end(): void {
    life.abort();
    sleeping?.abort();
  }

  breaker.onClosed(() => dispatch({ type: 'woken' }), life.signal);
  queueMicrotask(() => {
    if (state.phase === 'fresh') dispatch({ type: 'started' });
  });

  return {
    facts() {
      hearAgain();
      return {
        phase: state.phase,
        whole: memory.whole,
        stands: stands(),
        failedOnce,
        polled: !memory.watchable,
        forbidden: memory.forbiddenSinceMs !== undefined,
        staged: staging.size,
        ...(lostMs === undefined ? {} : { lostMs }),
        ...(trueMs === undefined ? {} : { trueMs }),
        ...(memory.version === undefined ? {} : { version: memory.version }),
        ...(memory.fault === undefined ? {} : { fault: memory.fault }),
      };
    },
    stop() {
      dispatch({ type: 'stopped', reason: 'stopped' });
    },
  };
}
