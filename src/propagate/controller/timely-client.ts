import type { Clock } from '../../core/clock.ts';
import { hubFault } from '../hub/hub.ts';
import type { ObjectAnswer, ObjectClient } from '../object-client.ts';
import { endOf } from './ending.ts';

type Calls = Pick<ObjectClient, 'get' | 'apply' | 'replace'>;

/** The same calls; one without an answer after `callMs` is ended, and comes to `TIMED_OUT`. Leaves no timer behind. */
export function timelyClient(
  client: Calls & Pick<ObjectClient, 'cluster'>,
  { clock, callMs }: { readonly clock: Clock; readonly callMs: number },
): Calls {
  async function timely(call: (end: AbortSignal) => Promise<ObjectAnswer>, signal: AbortSignal): Promise<ObjectAnswer> {
    using over = endOf(signal);
    const timing = clock.sleep(callMs, over.signal).then(over.abort);
    const answer = await call(over.signal);
    const isLate = over.signal.aborted && !signal.aborted;
    over.abort();
    await timing;
    if (answer.result !== 'failed' || !isLate) return answer;
    return { result: 'failed', fault: hubFault(client, 'TIMED_OUT', `expected an answer within ${callMs / 1_000} s, got none`) };
  }
  return {
    get: (address, signal) => timely((end) => client.get(address, end), signal),
    apply: (request, signal) => timely((end) => client.apply(request, end), signal),
    replace: (request, signal) => timely((end) => client.replace(request, end), signal),
  };
}
