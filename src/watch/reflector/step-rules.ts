import type { Fault } from '../../core/faults.ts';
import { backoffMs, retryAfterMsOf } from '../server/backoff.ts';
import type { Attempt, Effect, ListAt, ListAttempt, Memory, Moment, Situation, State, Step } from './reflector-state.ts';

/** How often a kind is listed that cannot be watched: 60 s ± 20 %. */
export const pollMs = 60_000;

/** A WatchList that says nothing for so long will never say its end. */
export const silenceMs = 30_000;

const emptiedAfterMs = 60_000;
const asksAfterMs = [5_000, 30_000] as const;

/** What a rule is given beside the state it speaks of. */
export interface Rest {
  readonly memory: Memory;
  readonly moment: Moment;
}

/** Why to wait, and what to do after it. `before`: effects that come first. */
interface Wait {
  readonly fault: Fault;
  readonly retry: Attempt;
  readonly before?: readonly Effect[];
}

/** Nothing follows. */
export function unchanged({ state, memory }: Situation): Step {
  return { state, memory, effects: [] };
}

/** A list from its first page on. */
export function listAttempt(at: ListAt, paging: ListAttempt['paging'] = 'paged'): ListAttempt {
  return { type: 'list', at, paging, page: 1, failures: 0 };
}

/** What a reflector begins with: row 1. */
export function firstAttempt(memory: Memory): Attempt {
  return memory.streaming && memory.watchable ? { type: 'stream', from: memory.version ?? '' } : relistAttempt(memory);
}

/** A list not older than what is held, by LIST. */
export function relistAttempt(memory: Memory): ListAttempt {
  return listAttempt(memory.version ?? memory.unversioned);
}

/** The next list of a kind that cannot be watched. A list "not older than v" might be v for ever. */
export const pollAttempt: ListAttempt = listAttempt('');

/** The request that the state stands for, to make it again. Undefined where none is in flight. */
export function attemptOf(state: State): Attempt | undefined {
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
export function begin({ memory, moment }: Rest, attempt: Attempt): Step {
  const fault = moment.breaker;
  if (fault !== undefined) return wait({ memory, moment }, { fault, retry: attempt });
  switch (attempt.type) {
    case 'list': {
      const before: readonly Effect[] = attempt.page === 1 ? [{ type: 'discard' }] : [];
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
      return watchOn({ memory, moment });
    default:
      throw attempt satisfies never;
  }
}

/** Watches from the version remembered; polls what cannot be watched, or gave no version to watch from (rows 2, 21). */
export function watchOn({ memory, moment }: Rest): Step {
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
    memory: { ...memory, attempt: 0, fault: undefined },
    effects: [{ type: 'sleep', ms }],
  };
}

/** Waits by the backoff, or for the breaker if it is open: row 19. A missing right has its own bound above either. */
export function wait({ memory, moment }: Rest, { fault, retry, before = [] }: Wait): Step {
  const { nowMs, random } = moment;
  const parked = moment.breaker !== undefined;
  const ms = parked ? Number.POSITIVE_INFINITY : backoffMs({ attempt: memory.attempt, random, retryAfterMs: retryAfterMsOf(fault) });
  const remembered = { ...memory, attempt: parked ? memory.attempt : memory.attempt + 1, fault };
  const state: State = { phase: 'waiting', untilMs: nowMs + ms, retry, fault };
  return { state, memory: remembered, effects: [...before, ...sleepEffects(state, remembered, nowMs)] };
}

/** Waits on, for what is left. */
export function again({ memory, moment }: Rest, state: Extract<State, { readonly phase: 'waiting' }>): Step {
  return { state, memory, effects: sleepEffects(state, memory, moment.nowMs) };
}

/**
 * 403 (docs/internals/mirror.md 3.4). What is held stays for a minute, in which is asked again after 5 and 30 s; then the reflector ends. At once where
 * nothing is held yet.
 */
export function refused({ memory, moment }: Rest, { fault, retry }: Wait): Step {
  if (!memory.whole) {
    return { state: { phase: 'ended', reason: 'refused', fault }, memory: { ...memory, fault }, effects: [{ type: 'discard' }] };
  }
  const { nowMs } = moment;
  const sinceMs = memory.forbiddenSinceMs ?? nowMs;
  const next = asksAfterMs.find((askMs) => nowMs < sinceMs + askMs) ?? emptiedAfterMs;
  const remembered = { ...memory, forbiddenSinceMs: sinceMs, fault };
  const state: State = { phase: 'waiting', untilMs: Math.max(nowMs, sinceMs + next), retry, fault };
  return { state, memory: remembered, effects: sleepEffects(state, remembered, nowMs) };
}

/** True once a right has been missing for a minute: what it gave is no longer held. */
export function rightLostForGood({ forbiddenSinceMs }: Memory, { nowMs }: Moment): boolean {
  return forbiddenSinceMs !== undefined && nowMs >= forbiddenSinceMs + emptiedAfterMs;
}

/** The server has served the kind: it knows us, and lets us. */
export function welcomed(memory: Memory): Memory {
  if (!memory.refreshed && memory.forbiddenSinceMs === undefined) return memory;
  return { ...memory, refreshed: false, forbiddenSinceMs: undefined };
}

/** A list is whole: what must be remembered of it. */
export function committed(memory: Memory, version: Memory['version']): Memory {
  const { version: _, ...others } = welcomed(memory);
  return { ...others, version, whole: true, streamFailures: 0, fault: undefined };
}

/** Row 17: aborts, waits, lists at v; a second time at this v at `''`, which is past whatever could not be read. */
export function unreadable({ memory, moment }: Rest, { fault }: { readonly fault: Fault }): Step {
  const at = memory.version ?? 'none';
  const retry = memory.unreadableAt === at ? listAttempt('') : relistAttempt(memory);
  const before: readonly Effect[] = [
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

function watchEffect(start: Pick<Extract<Effect, { readonly type: 'watch' }>, 'version' | 'initialEvents'>, { random }: Moment): Effect {
  return { type: 'watch', ...start, timeoutSeconds: 300 + Math.floor(random * 301) };
}

function sleepEffects(state: Extract<State, { readonly phase: 'waiting' }>, memory: Memory, nowMs: number): readonly Effect[] {
  const boundMs = memory.forbiddenSinceMs === undefined ? Number.POSITIVE_INFINITY : memory.forbiddenSinceMs + emptiedAfterMs;
  const untilMs = Math.min(state.untilMs, boundMs);
  return untilMs === Number.POSITIVE_INFINITY ? [] : [{ type: 'sleep', ms: Math.max(0, untilMs - nowMs) }];
}
