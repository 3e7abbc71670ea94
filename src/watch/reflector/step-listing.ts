import type { Fault } from '../../core/faults.ts';
import { retryAfterMsOf } from '../server/backoff.ts';
import type { ListAttempt, ReflectorInput, ReflectorState, StepResult, StepSituation } from './reflector-state.ts';
import {
  beginRequest,
  isOutOfHistory,
  listAttempt,
  listCommitted,
  type MemoryAtMoment,
  relistAfterUnreadable,
  servedAgain,
  unchanged,
  wait,
  watchFromMemory,
} from './step-rules.ts';

/** A page that failed so often in a row is given up, and its list with it. */
const mostFailures = 3;

/** Continue tokens live 5 minutes: after a wait this long the next page may be gone. */
const longRetryAfterMs = 60_000;

/** `listing`: rows 2 to 5, 17, 18. */
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
      return unchanged(situation);
  }
}

/** Row 2. */
function stepPageEnded(
  { state, memory, moment }: StepSituation<Extract<ReflectorState, { readonly phase: 'listing' }>>,
  input: Extract<ReflectorInput, { readonly type: 'pageEnded' }>,
): StepResult {
  if (input.continue !== undefined) {
    const list: ListAttempt = { ...state.list, page: state.list.page + 1, token: input.continue, failures: 0 };
    return beginRequest({ memory: servedAgain(memory), moment }, list);
  }
  const next = watchFromMemory({ memory: listCommitted(memory, input.version), moment });
  return { ...next, effects: [{ type: 'commit', version: input.version }, ...next.effects] };
}

function stepListFailed(rest: MemoryAtMoment, { list, fault }: { readonly list: ListAttempt; readonly fault: Fault }): StepResult {
  if (isOutOfHistory(fault)) {
    // Row 3. The "inconsistent" token that comes with it would go on with a list of another moment.
    if (list.page > 1) return beginRequest(rest, listAttempt(list.at, 'whole'));
    // Row 4.
    const recent = listAttempt('', list.paging);
    return list.at === '' ? wait(rest, { fault, retry: recent }) : beginRequest({ ...rest, memory: { ...rest.memory, fault } }, recent);
  }
  // Row 5. Waiting for the breaker is no failure of the page.
  const failures = list.failures + (rest.moment.breaker === undefined ? 1 : 0);
  if (failures >= mostFailures || (retryAfterMsOf(fault) ?? 0) > longRetryAfterMs) {
    return wait(rest, { fault, retry: listAttempt(list.at, list.paging), before: [{ type: 'discard' }] });
  }
  return wait(rest, { fault, retry: { ...list, failures } });
}
