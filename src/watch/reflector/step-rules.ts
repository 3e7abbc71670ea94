import type { Fault } from '../../core/faults.ts';
import { backoffMs, retryAfterMsOf } from '../server/backoff.ts';
import type {
  ListAttempt,
  ListVersion,
  ReflectorEffect,
  ReflectorMemory,
  ReflectorState,
  RequestAttempt,
  StepMoment,
  StepResult,
  StepSituation,
} from './reflector-state.ts';

/** Milliseconds between two lists of a kind that cannot be watched, ± 20 %. */
export const pollIntervalMs = 60_000;

/**
 * Milliseconds without an event after which a WatchList counts as broken: its end bookmark is not expected any more, and a list replaces
 * it.
 */
export const maxSilenceMs = 30_000;

/** Milliseconds after a right was lost at which the mirror drops its objects. */
const droppedAfterMs = 60_000;
/** Milliseconds after a right was lost at which the reflector tries the request again. */
const retriesAfterMs = [5_000, 30_000] as const;

/** The input of a rule that applies in every phase: the memory of the reflector, and the moment of the step. */
export interface MemoryAtMoment {
  readonly memory: ReflectorMemory;
  readonly moment: StepMoment;
}

/** A wait: its reason, the request after it, and effects that come first (`before`). */
interface WaitStep {
  readonly fault: Fault;
  readonly retry: RequestAttempt;
  readonly before?: readonly ReflectorEffect[];
}

/** Returns a step without effects that keeps state and memory. */
export function unchangedStep({ state, memory }: StepSituation): StepResult {
  return { state, memory, effects: [] };
}

/** Returns the request for the first page of a new list. */
export function listAttempt(at: ListVersion, paging: ListAttempt['paging'] = 'paged'): ListAttempt {
  return { type: 'list', at, paging, page: 1, failures: 0 };
}

/**
 * Returns the first request of a reflector: a WatchList if the memory allows one, otherwise a list (row 1 of docs/internals/mirror.md 3.1).
 */
export function firstAttempt(memory: ReflectorMemory): RequestAttempt {
  return memory.streaming && memory.watchable ? { type: 'stream', from: memory.version ?? '' } : relistAttempt(memory);
}

/** Returns the request for a list that is not older than the store. */
export function relistAttempt(memory: ReflectorMemory): ListAttempt {
  return listAttempt(memory.version ?? memory.unversioned);
}

/**
 * The next list of a kind that cannot be watched. It requests the most recent state, because a list "not older than" the last version could
 * return that version forever.
 */
export const pollAttempt: ListAttempt = listAttempt('');

/** Returns the request that is in flight in this state, to make it again. Undefined if there is none. */
export function attemptInFlight(state: ReflectorState): RequestAttempt | undefined {
  switch (state.phase) {
    case 'listing':
      return state.list;
    case 'streaming':
      return { type: 'stream', from: state.from };
    case 'watching':
      return { type: 'watch' };
    case 'fresh':
    case 'polling':
    case 'waiting':
    case 'ended':
      return undefined;
    default:
      throw state satisfies never;
  }
}

/** Makes the request, or waits if the breaker is open. A new list discards the staged objects of the previous one. */
export function beginRequest({ memory, moment }: MemoryAtMoment, attempt: RequestAttempt): StepResult {
  const fault = moment.breaker;
  if (fault !== undefined) return waitByBackoff({ memory, moment }, { fault, retry: attempt });
  switch (attempt.type) {
    case 'list': {
      const before: readonly ReflectorEffect[] = attempt.page === 1 ? [{ type: 'discard' }] : [];
      return { state: { phase: 'listing', list: attempt }, memory, effects: [...before, { type: 'list', list: attempt }] };
    }
    case 'stream':
      return {
        state: { phase: 'streaming', from: attempt.from, receivedMs: moment.nowMs },
        memory,
        effects: [
          { type: 'discard' },
          watchEffect({ version: attempt.from, initialEvents: true }, moment),
          { type: 'sleep', ms: maxSilenceMs },
        ],
      };
    case 'watch':
      return watchFromMemory({ memory, moment });
    default:
      throw attempt satisfies never;
  }
}

/**
 * Watches from v (`memory.version`). Polls instead if the kind cannot be watched, or if the list had no version (rows 2 and 21 of
 * docs/internals/mirror.md 3.1).
 */
export function watchFromMemory({ memory, moment }: MemoryAtMoment): StepResult {
  if (memory.watchable && memory.version !== undefined) {
    return {
      state: { phase: 'watching', receivedEvent: false },
      memory,
      effects: [watchEffect({ version: memory.version, initialEvents: false }, moment)],
    };
  }
  const ms = pollIntervalMs * (0.8 + 0.4 * moment.random);
  // A successful list of a polled kind resets the backoff, like a healthy stream does for watched kinds.
  return {
    state: { phase: 'polling', nextMs: moment.nowMs + ms },
    memory: { ...memory, failures: 0, fault: undefined },
    effects: [{ type: 'sleep', ms }],
  };
}

/**
 * Row 19 of docs/internals/mirror.md 3.1: waits by the backoff, or for the breaker if it is open. If a right is missing, the sleep ends at
 * the latest when the objects must be dropped.
 */
export function waitByBackoff({ memory, moment }: MemoryAtMoment, { fault, retry, before = [] }: WaitStep): StepResult {
  const { nowMs, random } = moment;
  const waitsForBreaker = moment.breaker !== undefined;
  const ms = waitsForBreaker
    ? Number.POSITIVE_INFINITY
    : backoffMs({ attempt: memory.failures, random, retryAfterMs: retryAfterMsOf(fault) });
  const remembered: ReflectorMemory = { ...memory, failures: waitsForBreaker ? memory.failures : memory.failures + 1, fault };
  const state: ReflectorState = { phase: 'waiting', untilMs: nowMs + ms, retry, fault };
  return { state, memory: remembered, effects: [...before, ...sleepEffects(state, remembered, nowMs)] };
}

/** Continues a wait for its remaining time. */
export function continueWait(
  { memory, moment }: MemoryAtMoment,
  state: Extract<ReflectorState, { readonly phase: 'waiting' }>,
): StepResult {
  return { state, memory, effects: sleepEffects(state, memory, moment.nowMs) };
}

/**
 * Handles 403 (docs/internals/mirror.md 3.4). The objects stay for a minute, and the request is made again after 5 and 30 s. After the
 * minute, the reflector ends. It ends at once if it has no complete list yet.
 */
export function waitForRight({ memory, moment }: MemoryAtMoment, { fault, retry }: WaitStep): StepResult {
  if (!memory.listed) {
    return { state: { phase: 'ended', reason: 'refused', fault }, memory: { ...memory, fault }, effects: [{ type: 'discard' }] };
  }
  const { nowMs } = moment;
  const sinceMs = memory.forbiddenSinceMs ?? nowMs;
  const next = retriesAfterMs.find((retryMs) => nowMs < sinceMs + retryMs) ?? droppedAfterMs;
  const remembered = { ...memory, forbiddenSinceMs: sinceMs, fault };
  const state: ReflectorState = { phase: 'waiting', untilMs: Math.max(nowMs, sinceMs + next), retry, fault };
  return { state, memory: remembered, effects: sleepEffects(state, remembered, nowMs) };
}

/** True once the right to list or watch has been missing for a minute. The objects must then be dropped. */
export function rightLostForGood({ forbiddenSinceMs }: ReflectorMemory, { nowMs }: StepMoment): boolean {
  return forbiddenSinceMs !== undefined && nowMs >= forbiddenSinceMs + droppedAfterMs;
}

/** Records that the server has served the kind: the credentials and the right are valid. */
export function afterServed(memory: ReflectorMemory): ReflectorMemory {
  if (!memory.retriedCredentials && memory.forbiddenSinceMs === undefined) return memory;
  return { ...memory, retriedCredentials: false, forbiddenSinceMs: undefined };
}

/** Updates the memory after a complete list. */
export function afterCommit(memory: ReflectorMemory, version: ReflectorMemory['version']): ReflectorMemory {
  const { version: _, ...others } = afterServed(memory);
  return { ...others, version, listed: true, streamFailures: 0, fault: undefined };
}

/**
 * Row 17 of docs/internals/mirror.md 3.1: aborts, waits, and lists at v (`memory.version`). A second unreadable event at the same v
 * requests the most recent list, which is past that event.
 */
export function relistAfterUnreadable({ memory, moment }: MemoryAtMoment, { fault }: { readonly fault: Fault }): StepResult {
  const at = memory.version ?? 'none';
  const retry = memory.unreadableAt === at ? listAttempt('') : relistAttempt(memory);
  const before: readonly ReflectorEffect[] = [
    { type: 'abort' },
    { type: 'discard' },
    { type: 'report', what: 'unreadable', message: fault.message },
  ];
  return waitByBackoff({ memory: { ...memory, unreadableAt: at }, moment }, { fault, retry, before });
}

/** True for 410, and for a version that the server has not reached yet. */
export function isOutOfHistory({ code, status }: Fault): boolean {
  return code === 'EXPIRED' || status?.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge') === true;
}

function watchEffect(
  start: Pick<Extract<ReflectorEffect, { readonly type: 'watch' }>, 'version' | 'initialEvents'>,
  { random }: StepMoment,
): ReflectorEffect {
  return { type: 'watch', ...start, timeoutSeconds: 300 + Math.floor(random * 301) };
}

function sleepEffects(
  state: Extract<ReflectorState, { readonly phase: 'waiting' }>,
  memory: ReflectorMemory,
  nowMs: number,
): readonly ReflectorEffect[] {
  const boundMs = memory.forbiddenSinceMs === undefined ? Number.POSITIVE_INFINITY : memory.forbiddenSinceMs + droppedAfterMs;
  const untilMs = Math.min(state.untilMs, boundMs);
  return untilMs === Number.POSITIVE_INFINITY ? [] : [{ type: 'sleep', ms: Math.max(0, untilMs - nowMs) }];
}
