import { healthyAfterMs } from '../server/backoff.ts';
import type { ReflectorInput, ReflectorMemory, ReflectorState, StepResult, StepSituation } from './reflector-state.ts';
import { stepListing } from './step-listing.ts';
import {
  attemptInFlight,
  beginRequest,
  continueWait,
  firstAttempt,
  pollAttempt,
  relistAttempt,
  rightLostForGood,
  unchangedStep,
  waitByBackoff,
  waitForRight,
} from './step-rules.ts';
import { stepStreaming } from './step-streaming.ts';
import { stepWatching } from './step-watching.ts';

/**
 * Decides what a reflector does next, as a pure function of its state and one input.
 *
 * Each rule is a row of the table in docs/internals/mirror.md 3.1. Each row is a case of test/watch/reflector/step.test.ts. "v" is the
 * version up to which the store is correct.
 *
 * Inputs of aborted requests must not be passed. An input without a rule changes nothing.
 */
export function stepReflector(situation: StepSituation, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  if (state.phase === 'ended') return unchangedStep(situation);
  // Row 23: the owner stops the reflector.
  if (input.type === 'stopped') {
    return { state: { phase: 'ended', reason: input.reason }, memory, effects: [{ type: 'abort' }, { type: 'discard' }] };
  }
  // Row 22: the store is correct except for this event. A list repairs it.
  if (input.type === 'threw') {
    const report = { type: 'report', what: 'invariant', message: input.fault.message } as const;
    return waitByBackoff(
      { memory, moment },
      { fault: input.fault, retry: relistAttempt(memory), before: [{ type: 'abort' }, { type: 'discard' }, report] },
    );
  }
  if (input.type === 'failed') {
    const settled = stepAnyFailure({ state, memory: withRestedBackoff(state, memory, moment.nowMs), moment }, input);
    if (settled !== undefined) return settled;
  }
  return stepPhase({ state, memory, moment }, input);
}

function stepPhase({ state, memory, moment }: StepSituation, input: ReflectorInput): StepResult {
  const rest = { memory, moment };
  switch (state.phase) {
    case 'fresh':
      // Row 1: the first request.
      return input.type === 'started' ? beginRequest(rest, firstAttempt(memory)) : unchangedStep({ state, ...rest });
    case 'listing':
      return stepListing({ state, ...rest }, input);
    case 'streaming':
      return stepStreaming({ state, ...rest }, input);
    case 'watching':
      return stepWatching(
        { state, memory: input.type === 'event' ? memory : withRestedBackoff(state, memory, moment.nowMs), moment },
        input,
      );
    case 'polling':
      return stepPolling({ state, ...rest }, input);
    case 'waiting':
      return stepWaiting({ state, ...rest }, input);
    case 'ended':
      return unchangedStep({ state, ...rest });
    default:
      throw state satisfies never;
  }
}

/**
 * Row 20 of docs/internals/mirror.md 3.1: handles 401, 403 and 404, which have the same rule in every phase. Undefined for other failures.
 */
function stepAnyFailure(situation: StepSituation, input: Extract<ReflectorInput, { readonly type: 'failed' }>): StepResult | undefined {
  const { state, memory, moment } = situation;
  const { fault } = input;
  const attempt = attemptInFlight(state);
  if (attempt === undefined) return unchangedStep(situation);
  if (fault.code === 'UNAUTHENTICATED') {
    if (memory.retriedCredentials) return waitByBackoff({ memory, moment }, { fault, retry: attempt });
    return beginRequest({ memory: { ...memory, retriedCredentials: true }, moment }, attempt);
  }
  if (fault.code === 'FORBIDDEN') return waitForRight(situation, { fault, retry: attempt });
  if (fault.status?.code === 404) return waitByBackoff({ memory, moment }, { fault, retry: attempt, before: [{ type: 'rediscover' }] });
  return undefined;
}

/** Row 21 of docs/internals/mirror.md 3.1: requests the next list of a polled kind when its time has come, and sleeps until then. */
function stepPolling(situation: StepSituation<Extract<ReflectorState, { readonly phase: 'polling' }>>, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  if (input.type !== 'elapsed') return unchangedStep(situation);
  if (moment.nowMs < state.nextMs) return { state, memory, effects: [{ type: 'sleep', ms: state.nextMs - moment.nowMs }] };
  return beginRequest({ memory, moment }, pollAttempt);
}

function stepWaiting(situation: StepSituation<Extract<ReflectorState, { readonly phase: 'waiting' }>>, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  if (input.type !== 'elapsed' && input.type !== 'woken') return unchangedStep(situation);
  if (rightLostForGood(memory, moment)) {
    return { state: { phase: 'ended', reason: 'refused', fault: state.fault }, memory, effects: [{ type: 'discard' }] };
  }
  // The breaker wakes reflectors whose connection failed. New credentials wake those whose credentials were refused. A wait for a
  // Retry-After, or for a missing right, continues.
  const isWakeable =
    state.untilMs === Number.POSITIVE_INFINITY || state.fault.code === 'UNREACHABLE' || state.fault.code === 'UNAUTHENTICATED';
  const due = input.type === 'woken' && isWakeable ? moment.breaker === undefined : moment.nowMs >= state.untilMs;
  return due ? beginRequest({ memory, moment }, state.retry) : continueWait(situation, state);
}

/**
 * Resets the number of failures if the stream was open for 2 minutes. Such a stream was healthy, so the backoff begins anew (row 13 of the
 * table in docs/internals/mirror.md 3.1, and 3.2).
 */
function withRestedBackoff(state: ReflectorState, memory: ReflectorMemory, nowMs: number): ReflectorMemory {
  if (memory.failures === 0 || state.phase !== 'watching' || state.openedMs === undefined) return memory;
  return nowMs - state.openedMs >= healthyAfterMs ? { ...memory, failures: 0 } : memory;
}
