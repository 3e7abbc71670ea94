import { healthyAfterMs } from '../server/backoff.ts';
import type { ReflectorInput, ReflectorMemory, ReflectorState, StepResult, StepSituation } from './reflector-state.ts';
import { stepListing } from './step-listing.ts';
import {
  attemptInFlight,
  beginRequest,
  firstAttempt,
  pollAttempt,
  relistAttempt,
  rightLostForGood,
  unchanged,
  wait,
  waitForRight,
  waitOn,
} from './step-rules.ts';
import { stepStreaming } from './step-streaming.ts';
import { stepWatching } from './step-watching.ts';

/**
 * The recovery of a reflector, as one pure function: what follows from an input. Each rule is a row of the table in docs/internals/mirror.md 3.1, and
 * each row a case of test/watch/reflector/step.test.ts.
 *
 * Inputs of requests that were aborted must not come here. What no rule speaks of changes nothing.
 */
export function step(situation: StepSituation, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  if (state.phase === 'ended') return unchanged(situation);
  // Row 23.
  if (input.type === 'stopped') {
    return { state: { phase: 'ended', reason: input.reason }, memory, effects: [{ type: 'abort' }, { type: 'discard' }] };
  }
  // Row 22: what the store holds is right but for this event, which a list makes good.
  if (input.type === 'threw') {
    const report = { type: 'report', what: 'invariant', message: input.fault.message } as const;
    return wait(
      { memory, moment },
      { fault: input.fault, retry: relistAttempt(memory), before: [{ type: 'abort' }, { type: 'discard' }, report] },
    );
  }
  if (input.type === 'failed') {
    const settled = stepAnyFailure({ state, memory: rested(state, memory, moment.nowMs), moment }, input);
    if (settled !== undefined) return settled;
  }
  return stepPhase({ state, memory, moment }, input);
}

function stepPhase({ state, memory, moment }: StepSituation, input: ReflectorInput): StepResult {
  const rest = { memory, moment };
  switch (state.phase) {
    case 'fresh':
      // Row 1.
      return input.type === 'started' ? beginRequest(rest, firstAttempt(memory)) : unchanged({ state, ...rest });
    case 'listing':
      return stepListing({ state, ...rest }, input);
    case 'streaming':
      return stepStreaming({ state, ...rest }, input);
    case 'watching':
      return stepWatching({ state, memory: input.type === 'event' ? memory : rested(state, memory, moment.nowMs), moment }, input);
    case 'polling':
      return stepPolling({ state, ...rest }, input);
    case 'waiting':
      return stepWaiting({ state, ...rest }, input);
    case 'ended':
      return unchanged({ state, ...rest });
    default:
      throw state satisfies never;
  }
}

/** Failures that mean the same in every phase: row 20. */
function stepAnyFailure(situation: StepSituation, input: Extract<ReflectorInput, { readonly type: 'failed' }>): StepResult | undefined {
  const { state, memory, moment } = situation;
  const { fault } = input;
  const attempt = attemptInFlight(state);
  if (attempt === undefined) return unchanged(situation);
  if (fault.code === 'UNAUTHENTICATED') {
    if (memory.retriedCredentials) return wait({ memory, moment }, { fault, retry: attempt });
    return beginRequest({ memory: { ...memory, retriedCredentials: true }, moment }, attempt);
  }
  if (fault.code === 'FORBIDDEN') return waitForRight(situation, { fault, retry: attempt });
  if (fault.status?.code === 404) return wait({ memory, moment }, { fault, retry: attempt, before: [{ type: 'rediscover' }] });
  return undefined;
}

/** Row 21, between two lists. */
function stepPolling(situation: StepSituation<Extract<ReflectorState, { readonly phase: 'polling' }>>, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  if (input.type !== 'elapsed') return unchanged(situation);
  if (moment.nowMs < state.nextMs) return { state, memory, effects: [{ type: 'sleep', ms: state.nextMs - moment.nowMs }] };
  return beginRequest({ memory, moment }, pollAttempt);
}

function stepWaiting(situation: StepSituation<Extract<ReflectorState, { readonly phase: 'waiting' }>>, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  if (input.type !== 'elapsed' && input.type !== 'woken') return unchanged(situation);
  if (rightLostForGood(memory, moment)) {
    return { state: { phase: 'ended', reason: 'refused', fault: state.fault }, memory, effects: [{ type: 'discard' }] };
  }
  // The breaker wakes reflectors whose connection failed, new credentials those whose credentials were refused. A wait for a Retry-After, or for a
  // right to come back, goes on.
  const parked = state.untilMs === Number.POSITIVE_INFINITY || state.fault.code === 'UNREACHABLE' || state.fault.code === 'UNAUTHENTICATED';
  const due = input.type === 'woken' && parked ? moment.breaker === undefined : moment.nowMs >= state.untilMs;
  return due ? beginRequest({ memory, moment }, state.retry) : waitOn(situation, state);
}

/** A stream that stood long enough was healthy: the backoff is back at its start (row 13, 3.2). */
function rested(state: ReflectorState, memory: ReflectorMemory, nowMs: number): ReflectorMemory {
  if (memory.failures === 0 || state.phase !== 'watching' || state.openedMs === undefined) return memory;
  return nowMs - state.openedMs >= healthyAfterMs ? { ...memory, failures: 0 } : memory;
}
