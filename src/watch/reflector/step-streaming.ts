import type { Fault } from '../../core/faults.ts';
import type {
  DecodedWatchEvent,
  ReflectorInput,
  ReflectorMemory,
  ReflectorState,
  RequestAttempt,
  StepResult,
  StepSituation,
  WatchReport,
} from './reflector-state.ts';
import {
  afterCommit,
  afterServed,
  beginRequest,
  isOutOfHistory,
  listAttempt,
  maxSilenceMs,
  relistAfterUnreadable,
  relistAttempt,
  unchangedStep,
  waitByBackoff,
} from './step-rules.ts';

type StreamingSituation = StepSituation<Extract<ReflectorState, { readonly phase: 'streaming' }>>;

/**
 * Computes the next step in the phase `streaming`, a WatchList before its end bookmark, by rows 6 to 9, 17, 18 and 21 of
 * docs/internals/mirror.md 3.1.
 */
export function stepStreaming(situation: StreamingSituation, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  switch (input.type) {
    case 'opened':
      return { state: { ...state, receivedMs: moment.nowMs }, memory: afterServed(memory), effects: [] };
    // Row 6: stages the objects. `memory.version` stays, because the versions of initial events have no order.
    case 'initialEvents':
      return { state: { ...state, receivedMs: moment.nowMs }, memory, effects: [{ type: 'stageEvents', events: input.events }] };
    case 'event':
      return stepStreamedEvent(situation, input.event);
    case 'elapsed':
      return stepSilence(situation);
    case 'unstreamed':
      return beginRequest({ memory: { ...memory, streaming: false }, moment }, relistAttempt(memory));
    case 'closed':
      return streamBroke(situation, input.fault);
    case 'failed':
      return stepStreamFailed(situation, input.fault);
    case 'unreadable':
      return relistAfterUnreadable(situation, input);
    default:
      return unchangedStep(situation);
  }
}

function stepStreamedEvent(situation: StreamingSituation, event: DecodedWatchEvent): StepResult {
  const { memory, moment } = situation;
  const state = { ...situation.state, receivedMs: moment.nowMs };
  switch (event.type) {
    case 'applied':
    case 'deleted':
      return stepStreaming(situation, { type: 'initialEvents', events: [event] });
    // Row 7: the end bookmark. The list is complete and becomes a watch.
    case 'bookmark': {
      const { version } = event;
      if (!event.initialEventsEnd || version === undefined) return { state, memory, effects: [] };
      return {
        state: { phase: 'watching', openedMs: moment.nowMs, receivedEvent: true },
        memory: afterCommit(memory, version),
        effects: [{ type: 'commit', version }],
      };
    }
    case 'error': {
      const failed = stepStreamFailed(situation, event.fault);
      return { ...failed, effects: [{ type: 'abort' }, ...failed.effects] };
    }
    default:
      throw event satisfies never;
  }
}

/**
 * Row 8 of docs/internals/mirror.md 3.1: handles the end of a sleep. If an event came meanwhile, sleeps until 30 s after this event.
 * If none came, ends the WatchList and lists.
 */
function stepSilence({ state, memory, moment }: StreamingSituation): StepResult {
  const restMs = state.receivedMs + maxSilenceMs - moment.nowMs;
  if (restMs > 0) return { state, memory, effects: [{ type: 'sleep', ms: restMs }] };
  const next = withoutStreaming({ state, memory, moment }, 'cluster');
  return { ...next, effects: [{ type: 'abort' }, ...next.effects] };
}

function stepStreamFailed(situation: StreamingSituation, fault: Fault): StepResult {
  const { state, memory, moment } = situation;
  const status = fault.status?.code;
  // Row 21: a kind that cannot be watched cannot be streamed either.
  if (status === 405) {
    const polled = { ...memory, streaming: false, watchable: false };
    return beginRequest({ memory: polled, moment }, relistAttempt(polled));
  }
  // Row 8: the server does not accept a WatchList of this kind.
  if (status === 400 || status === 422) return withoutStreaming(situation, 'kind');
  // Row 9: the requested version is too old. The most recent WatchList is requested once, then the most recent list.
  if (isOutOfHistory(fault)) {
    const retry: RequestAttempt = state.from === '' ? listAttempt('') : { type: 'stream', from: '' };
    return beginRequest({ memory: { ...memory, fault }, moment }, retry);
  }
  return streamBroke(situation, fault);
}

/**
 * Row 9 of docs/internals/mirror.md 3.1: discards the staged objects and waits. The second failure in a row requests a list instead. A wait
 * for the breaker does not count as a failure.
 */
function streamBroke({ state, memory, moment }: StreamingSituation, fault: Fault): StepResult {
  const streamFailures = memory.streamFailures + (moment.breaker === undefined ? 1 : 0);
  const remembered: ReflectorMemory = { ...memory, streamFailures };
  const retry: RequestAttempt = streamFailures >= 2 ? relistAttempt(memory) : { type: 'stream', from: state.from };
  return waitByBackoff({ memory: remembered, moment }, { fault, retry, before: [{ type: 'discard' }] });
}

function withoutStreaming({ memory, moment }: StreamingSituation, by: Extract<WatchReport, { readonly by: unknown }>['by']): StepResult {
  const remembered = { ...memory, streaming: false };
  const next = beginRequest({ memory: remembered, moment }, relistAttempt(remembered));
  return { ...next, effects: [{ type: 'report', what: 'streamingRefused', by }, ...next.effects] };
}
