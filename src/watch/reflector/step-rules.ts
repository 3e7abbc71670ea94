import type { Fault } from '../../core/faults.ts';
import { backoffMs, retryAfterMsOf } from '../server/backoff.ts';
import type {
  ListAt,
  ListAttempt,
  ReflectorEffect,
  ReflectorMemory,
  ReflectorState,
  RequestAttempt,
  StepMoment,
  StepResult,
  StepSituation,
} from './reflector-state.ts';

/** How often a kind is listed that cannot be watched: 60 s ± 20 %. */
export const pollMs = 60_000;

/** A WatchList that says nothing for so long will never say its end. */
export const silenceMs = 30_000;

const emptiedAfterMs = 60_000;
const asksAfterMs = [5_000, 30_000] as const;

/** What a rule is given beside the state it speaks of. */
export interface MemoryAtMoment {
  readonly memory: ReflectorMemory;
  readonly moment: StepMoment;
}

/** Why to wait, and what to do after it. `before`: effects that come first. */
interface Wait {
  readonly fault: Fault;
  readonly retry: RequestAttempt;
  readonly before?: readonly ReflectorEffect[];
}

/** Nothing follows. */
export function unchanged({ state, memory }: StepSituation): StepResult {
  return { state, memory, effects: [] };
}

/** A list from its first page on. */
export function listAttempt(at: ListAt, paging: ListAttempt['paging'] = 'paged'): ListAttempt {
  return { type: 'list', at, paging, page: 1, failures: 0 };
}

/** What a reflector begins with: row 1. */
export function firstAttempt(memory: ReflectorMemory): RequestAttempt {
  return memory.streaming && memory.watchable ? { type: 'stream', from: memory.version ?? '' } : relistAttempt(memory);
}

/** A list not older than what is held, by LIST. */
export function relistAttempt(memory: ReflectorMemory): ListAttempt {
  return listAttempt(memory.version ?? memory.unversioned);
}

/** The next list of a kind that cannot be watched. A list "not older than v" might be v for ever. */
export const pollAttempt: ListAttempt = listAttempt('');

/** The request that the state stands for, to make it again. Undefined where none is in flight. */
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

/** Makes the request, or waits for the breaker if it is open. What a list before it had staged is discarded. */
export function beginRequest({ memory, moment }: MemoryAtMoment, attempt: RequestAttempt): StepResult {
  const fault = moment.breaker;
  if (fault !== undefined) return wait({ memory, moment }, { fault, retry: attempt });
  switch (attempt.type) {
    case 'list': {
      const before: readonly ReflectorEffect[] = attempt.page === 1 ? [{ type: 'discard' }] : [];
      return { state: { phase: 'listing', list: attempt }, memory, effects: [...before, { type: 'list', list: attempt }] };
    }
    case 'stream':
      return {
        state: { phase: 'streaming', from: attempt.from, heardMs: moment.nowMs },
        memory,
        effects: [
          { type: 'discard' },
          watchEffect({ version: attempt.from, initialEvents: true }, moment),
          { type: 'sleep', ms: silenceMs },
        ],
      };
    case 'watch':
      return watchFromMemory({ memory, moment });
    default:
      throw attempt satisfies never;
  }
}

/** Watches from the version remembered; polls what cannot be watched, or gave no version to watch from (rows 2, 21). */
export function watchFromMemory({ memory, moment }: MemoryAtMoment): StepResult {
  if (memory.watchable && memory.version !== undefined) {
    return {
      state: { phase: 'watching', heard: false },
      memory,
      effects: [watchEffect({ version: memory.version, initialEvents: false }, moment)],
    };
  }
  const ms = pollMs * (0.8 + 0.4 * moment.random);
  // A list that came is what a healthy stream is to the others.
  return {
    state: { phase: 'polling', nextMs: moment.nowMs + ms },
    memory: { ...memory, failures: 0, fault: undefined },
    effects: [{ type: 'sleep', ms }],
  };
}

/** Waits by the backoff, or for the breaker if it is open: row 19. A missing right has its own bound above either. */
export function wait({ memory, moment }: MemoryAtMoment, { fault, retry, before = [] }: Wait): StepResult {
  const { nowMs, random } = moment;
  const parked = moment.breaker !== undefined;
  const ms = parked ? Number.POSITIVE_INFINITY : backoffMs({ attempt: memory.failures, random, retryAfterMs: retryAfterMsOf(fault) });
  const remembered = { ...memory, attempt: parked ? memory.failures : memory.failures + 1, fault };
  const state: ReflectorState = { phase: 'waiting', untilMs: nowMs + ms, retry, fault };
  return { state, memory: remembered, effects: [...before, ...sleepEffects(state, remembered, nowMs)] };
}

/** Waits on, for what is left. */
export function waitOn({ memory, moment }: MemoryAtMoment, state: Extract<ReflectorState, { readonly phase: 'waiting' }>): StepResult {
  return { state, memory, effects: sleepEffects(state, memory, moment.nowMs) };
}

/**
 * 403 (docs/internals/mirror.md 3.4). What is held stays for a minute, in which is asked again after 5 and 30 s; then the reflector ends. At once where
 * nothing is held yet.
 */
export function waitForRight({ memory, moment }: MemoryAtMoment, { fault, retry }: Wait): StepResult {
  if (!memory.listed) {
    return { state: { phase: 'ended', reason: 'refused', fault }, memory: { ...memory, fault }, effects: [{ type: 'discard' }] };
  }
  const { nowMs } = moment;
  const sinceMs = memory.forbiddenSinceMs ?? nowMs;
  const next = asksAfterMs.find((askMs) => nowMs < sinceMs + askMs) ?? emptiedAfterMs;
  const remembered = { ...memory, forbiddenSinceMs: sinceMs, fault };
  const state: ReflectorState = { phase: 'waiting', untilMs: Math.max(nowMs, sinceMs + next), retry, fault };
  return { state, memory: remembered, effects: sleepEffects(state, remembered, nowMs) };
}

/** True once a right has been missing for a minute: what it gave is no longer held. */
export function rightLostForGood({ forbiddenSinceMs }: ReflectorMemory, { nowMs }: StepMoment): boolean {
  return forbiddenSinceMs !== undefined && nowMs >= forbiddenSinceMs + emptiedAfterMs;
}

/** The server has served the kind: it knows us, and lets us. */
export function servedAgain(memory: ReflectorMemory): ReflectorMemory {
  if (!memory.retriedCredentials && memory.forbiddenSinceMs === undefined) return memory;
  return { ...memory, retriedCredentials: false, forbiddenSinceMs: undefined };
}

/** A list is whole: what must be remembered of it. */
export function listCommitted(memory: ReflectorMemory, version: ReflectorMemory['version']): ReflectorMemory {
  const { version: _, ...others } = servedAgain(memory);
  return { ...others, version, listed: true, streamFailures: 0, fault: undefined };
}

/** Row 17: aborts, waits, lists at v; a second time at this v at `''`, which is past whatever could not be read. */
export function relistAfterUnreadable({ memory, moment }: MemoryAtMoment, { fault }: { readonly fault: Fault }): StepResult {
  const at = memory.version ?? 'none';
  const retry = memory.unreadableAt === at ? listAttempt('') : relistAttempt(memory);
  const before: readonly ReflectorEffect[] = [
    { type: 'abort' },
    { type: 'discard' },
    { type: 'report', what: 'unreadable', message: fault.message },
  ];
  return wait({ memory: { ...memory, unreadableAt: at }, moment }, { fault, retry, before });
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
  const boundMs = memory.forbiddenSinceMs === undefined ? Number.POSITIVE_INFINITY : memory.forbiddenSinceMs + emptiedAfterMs;
  const untilMs = Math.min(state.untilMs, boundMs);
  return untilMs === Number.POSITIVE_INFINITY ? [] : [{ type: 'sleep', ms: Math.max(0, untilMs - nowMs) }];
}
