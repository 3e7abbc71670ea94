import type { Fault } from '../../core/faults.ts';
import { retryAfterMsOf } from '../server/backoff.ts';
import type { ListAttempt, ReflectorInput, ReflectorState, StepResult, StepSituation } from './reflector-state.ts';
import {
  afterCommit,
  afterServed,
  beginRequest,
  isOutOfHistory,
  listAttempt,
  type MemoryAtMoment,
  relistAfterUnreadable,
  unchangedStep,
  waitByBackoff,
  watchFromMemory,
} from './step-rules.ts';

/** Maximum number of failures in a row of one page. The list is then given up. */
const maxPageFailures = 3;

/**
 * After a longer Retry-After than this, the list begins again. Its continue token may have expired: it is valid for 5 minutes since the
 * first page.
 */
const longRetryAfterMs = 60_000;

/** Computes the next step in the phase `listing`, by rows 2 to 5, 17 and 18 of the table in docs/internals/mirror.md 3.1. */
export function stepListing(
  situation: StepSituation<Extract<ReflectorState, { readonly phase: 'listing' }>>,
  input: ReflectorInput,
): StepResult {
  const { state, memory } = situation;
  switch (input.type) {
    case 'items':
      return { state, memory, effects: [{ type: 'stage', items: input.items }] };
    case 'pageEnded':
      return stepPageEnded(situation, input);
    case 'failed':
      return stepListFailed(situation, { list: state.list, fault: input.fault });
    case 'unreadable':
      return relistAfterUnreadable(situation, input);
    default:
      return unchangedStep(situation);
  }
}

/** Row 2 of docs/internals/mirror.md 3.1: requests the next page, or commits the complete list and watches. */
function stepPageEnded(
  { state, memory, moment }: StepSituation<Extract<ReflectorState, { readonly phase: 'listing' }>>,
  input: Extract<ReflectorInput, { readonly type: 'pageEnded' }>,
): StepResult {
  if (input.continue !== undefined) {
    const list: ListAttempt = { ...state.list, page: state.list.page + 1, token: input.continue, failures: 0 };
    return beginRequest({ memory: afterServed(memory), moment }, list);
  }
  const next = watchFromMemory({ memory: afterCommit(memory, input.version), moment });
  return { ...next, effects: [{ type: 'commit', version: input.version }, ...next.effects] };
}

function stepListFailed(rest: MemoryAtMoment, { list, fault }: { readonly list: ListAttempt; readonly fault: Fault }): StepResult {
  if (isOutOfHistory(fault)) {
    // Row 3: the continue token has expired. Its "inconsistent" replacement would continue with a list of another moment, so the list
    // begins again.
    if (list.page > 1) return beginRequest(rest, listAttempt(list.at, 'whole'));
    // Row 4: the requested version is too old or too new for the server, so the most recent list is requested.
    const recent = listAttempt('', list.paging);
    return list.at === ''
      ? waitByBackoff(rest, { fault, retry: recent })
      : beginRequest({ ...rest, memory: { ...rest.memory, fault } }, recent);
  }
  // Row 5: the page is requested again after a wait. A wait for the breaker does not count as a failure of the page.
  const failures = list.failures + (rest.moment.breaker === undefined ? 1 : 0);
  if (failures >= maxPageFailures || (retryAfterMsOf(fault) ?? 0) > longRetryAfterMs) {
    return waitByBackoff(rest, { fault, retry: listAttempt(list.at, list.paging), before: [{ type: 'discard' }] });
  }
  return waitByBackoff(rest, { fault, retry: { ...list, failures } });
}
