import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';
import type { GatewayAnswer } from './gateway-client.ts';
import type { Session } from './session.ts';
import { type OpenSubscription, StreamLost, StreamRefused } from './subscription.ts';

/** An event of a subscription that is kept open. */
export type FollowedEvent =
  | { readonly type: 'message'; readonly answer: GatewayAnswer }
  /**
   * The stream was lost and is opened again after `delayMs`. `code` is the code of the gateway's error, such as `GONE`. It is empty if
   * there was no such error. A stream that reached its maximum lifetime is opened again without this event.
   */
  | { readonly type: 'lost'; readonly reason: string; readonly code: string; readonly delayMs: number }
  /** The stream is open again after a `lost` event. */
  | { readonly type: 'resumed' }
  /**
   * The gateway refused to resume, so the stream starts from the beginning. A first state follows, and objects missing from it no longer
   * exist. This event precedes `resumed`.
   */
  | { readonly type: 'restarted' };

export interface FollowOptions {
  readonly openStream: OpenSubscription;
  readonly clock: Clock;
  readonly query: string;
  /**
   * Returns the variables of the next attempt. `first`: the first attempt. `resumed`: continue after the last message. `anew`: start from
   * the beginning, because the gateway refused to resume.
   */
  readonly variables: (how: 'first' | 'resumed' | 'anew') => JsonObject;
  /** The address of the gateway, for the error message if it was never reached. */
  readonly url: string;
}

/** Milliseconds until a lost stream is opened again: after the first loss, and the maximum after repeated losses. */
const [firstDelayMs, maxDelayMs] = [1_000, 30_000];

/** If a stream lasted this long, its loss counts as a first loss: the next delay is the shortest one again. */
const healthyMs = 30_000;

/**
 * Keeps a subscription open until the signal aborts or the gateway completes it. A lost stream is opened again after a delay: at most 1 s after the first loss,
 * doubled with each further loss, up to 30 s.
 *
 * A reopened stream repeats no message if `variables` returns the cursor of the last one.
 *
 * @throws {CommandFailure} if the gateway refuses the subscription for good, or was never reached.
 */
export async function* followSubscription(options: FollowOptions, signal: AbortSignal): AsyncIterable<FollowedEvent> {
  const { openStream, clock, query, variables, url } = options;
  let how: 'first' | 'resumed' | 'anew' = 'first';
  let losses = 0;
  let isLossReported = false;
  while (!signal.aborted) {
    const startMs = clock.monotonic();
    let isNew = how !== 'first';
    try {
      for await (const answer of openStream({ query, variables: variables(how) }, signal)) {
        if (isNew && how === 'anew') yield { type: 'restarted' };
        if (isNew && isLossReported) yield { type: 'resumed' };
        isNew = false;
        isLossReported = false;
        yield { type: 'message', answer };
      }
      return;
    } catch (error) {
      if (error instanceof StreamRefused && how === 'resumed') {
        how = 'anew';
        continue;
      }
      if (!(error instanceof StreamLost)) throw error;
      if (how === 'first' && !error.wasOpen)
        throw new CommandFailure(exitCodes.refused, `the gateway at ${url} cannot be reached: ${error.message}`, { cause: error });
      how = 'resumed';
      losses = clock.monotonic() - startMs >= healthyMs ? 1 : losses + 1;
      const delayMs = delayAfter(losses, clock.random());
      isLossReported = !error.isPlanned;
      if (isLossReported) yield { type: 'lost', reason: error.message, code: error.code, delayMs };
      await clock.sleep(delayMs, signal);
    }
  }
}

/**
 * Keeps a subscription open like `followSubscription`. Yields the value of one field of each message, and all other events unchanged. Prints `lost`
 * and `resumed` on standard error after the caller has handled the event; a caller that ends the iteration there prevents the line.
 */
export async function* followSubscriptionField<Message>(
  session: Session,
  { query, field, variables }: Pick<FollowOptions, 'query' | 'variables'> & { readonly field: string },
): AsyncIterable<{ readonly type: 'message'; readonly message: Message } | Exclude<FollowedEvent, { type: 'message' }>> {
  const { openStream, clock, signal, terminal, gateway } = session;
  for await (const event of followSubscription({ openStream, clock, query, variables, url: gateway.address.url }, signal)) {
    if (event.type === 'message') {
      const message = (event.answer.data as Readonly<Record<string, Message>> | null | undefined)?.[field];
      if (message !== undefined) yield { type: 'message', message };
      continue;
    }
    yield event;
    if (event.type === 'lost') terminal.err(`warning: ${event.reason}: trying again in ${Math.ceil(event.delayMs / 1000)} s\n`);
    if (event.type === 'resumed') terminal.err('the gateway answers again\n');
  }
}

/**
 * Returns the delay after this number of losses: 1 s, doubled for each loss after the first, at most 30 s. `chance`, from 0 to 1, takes off
 * up to half of the delay, so that the clients of one lost gateway do not return at the same time.
 */
function delayAfter(losses: number, chance: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(losses - 1, 10)) * (1 - chance / 2);
}
