import type { Fault } from '../../core/faults.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { compareVersions } from '../../store/versions.ts';
import type {
  DecodedWatchEvent,
  ReflectorEffect,
  ReflectorInput,
  ReflectorMemory,
  ReflectorState,
  StepResult,
  StepSituation,
  WatchObjectEvent,
} from './reflector-state.ts';
import {
  afterServed,
  beginRequest,
  isOutOfHistory,
  type MemoryAtMoment,
  relistAfterUnreadable,
  relistAttempt,
  unchangedStep,
  waitByBackoff,
  watchFromMemory,
} from './step-rules.ts';

type WatchingSituation = StepSituation<Extract<ReflectorState, { readonly phase: 'watching' }>>;

/** Milliseconds. A watch that ends sooner and without an event counts as failed, because it did not end by its `timeoutSeconds`. */
const minWatchMs = 1_000;

/**
 * Maximum number of ERROR events in a row that no other rule handles. The kind is then listed, because the server may be unable to watch
 * from the remembered version.
 */
const maxErrorEvents = 3;

/**
 * Computes the next step in the phase `watching`, by rows 10 to 18, and 21 of the table in docs/internals/mirror.md 3.1.
 *
 * For a normal event the result is the effect `write`, which `reflector.ts` carries out.
 */
export function stepWatching(situation: WatchingSituation, input: ReflectorInput): StepResult {
  const { state, memory, moment } = situation;
  switch (input.type) {
    case 'opened':
      return {
        state: { ...state, openedMs: moment.nowMs },
        memory: { ...afterServed(memory), fault: undefined },
        effects: [],
      };
    case 'event':
      return stepEvent(situation, input.event);
    case 'closed':
      return stepClosed(situation, input.fault);
    case 'failed':
      return stepWatchFailed(situation, input.fault);
    case 'unreadable':
      return relistAfterUnreadable(situation, input);
    default:
      return unchangedStep(situation);
  }
}

function stepEvent(situation: WatchingSituation, event: DecodedWatchEvent): StepResult {
  const { memory } = situation;
  switch (event.type) {
    case 'applied':
    case 'deleted':
      return stepObject(situation, event);
    case 'bookmark': {
      const { version } = event;
      // Row 11: a bookmark without a version, or with an older one, is ignored and reported.
      if (version === undefined || (memory.version !== undefined && isOlder(version, memory.version))) {
        const message = version === undefined ? 'a bookmark without a version' : 'a bookmark with an older version';
        return afterEvent(situation, memory, [{ type: 'report', what: 'bookmarkIgnored', message }]);
      }
      return afterEvent(situation, { ...memory, version, errorEvents: 0 }, [{ type: 'confirm', version }]);
    }
    case 'error':
      return stepErrorEvent(situation, event.fault);
    default:
      throw event satisfies never;
  }
}

/**
 * Row 10 of docs/internals/mirror.md 3.1: writes the object and moves v (`memory.version`) to the version of the object. v never moves
 * back.
 */
function stepObject(situation: WatchingSituation, event: WatchObjectEvent): StepResult {
  const { memory } = situation;
  const version = memory.version !== undefined && isOlder(event.version, memory.version) ? memory.version : event.version;
  return afterEvent(situation, { ...memory, version, errorEvents: 0 }, [{ type: 'write', event, version }]);
}

function afterEvent({ state, moment }: WatchingSituation, memory: ReflectorMemory, effects: readonly ReflectorEffect[]): StepResult {
  return { state: { phase: 'watching', openedMs: state.openedMs ?? moment.nowMs, receivedEvent: true }, memory, effects };
}

/**
 * Rows 12 to 14 and 18 of docs/internals/mirror.md 3.1: ends the stream after an ERROR event, because the stream is useless then. Watches
 * again or lists afterwards.
 */
function stepErrorEvent(situation: WatchingSituation, fault: Fault): StepResult {
  const { memory, moment } = situation;
  const abort: readonly ReflectorEffect[] = [{ type: 'abort' }, { type: 'report', what: 'errorEvent', message: fault.message }];
  const counted = fault.code !== 'THROTTLED' && fault.code !== 'MALFORMED' && !isOutOfHistory(fault);
  if (!counted) {
    const next = stepWatchFailed(situation, fault);
    return { ...next, effects: [...abort, ...next.effects] };
  }
  const errorEvents = memory.errorEvents + 1;
  const retry = errorEvents >= maxErrorEvents ? relistAttempt(memory) : ({ type: 'watch' } as const);
  return waitByBackoff({ memory: { ...memory, errorEvents: errorEvents % maxErrorEvents }, moment }, { fault, retry, before: abort });
}

/**
 * Row 15 of docs/internals/mirror.md 3.1: watches again from v (`memory.version`). The server was asked to end every watch after 5 to 10
 * minutes, so a normal end is no failure. After an end that came too soon, waits and lists.
 */
function stepClosed({ state, memory, moment }: WatchingSituation, fault: Fault): StepResult {
  const tooSoon = !state.receivedEvent && (state.openedMs === undefined || moment.nowMs - state.openedMs < minWatchMs);
  if (tooSoon) return waitByBackoff({ memory, moment }, { fault, retry: relistAttempt(memory) });
  return moment.breaker === undefined ? watchFromMemory({ memory, moment }) : beginRequest({ memory, moment }, { type: 'watch' });
}

/**
 * Handles a failed watch. Lists if the server no longer has the history since `memory.version`, and polls if the kind cannot be watched.
 * Otherwise waits and watches again. Rows 12, 13, 16, 18, 19 and 21 of docs/internals/mirror.md 3.1.
 */
function stepWatchFailed({ memory, moment }: MemoryAtMoment, fault: Fault): StepResult {
  if (isOutOfHistory(fault)) return beginRequest({ memory: { ...memory, fault }, moment }, relistAttempt(memory));
  if (fault.status?.code === 405) return watchFromMemory({ memory: { ...memory, watchable: false }, moment });
  return waitByBackoff({ memory, moment }, { fault, retry: { type: 'watch' } });
}

/** True if `version` is older than `other`. False if the two versions have no order. */
function isOlder(version: ResourceVersion, other: ResourceVersion): boolean {
  return (compareVersions(version, other) ?? 0) < 0;
}
