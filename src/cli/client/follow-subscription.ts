import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';
import type { GatewayAnswer } from './gateway-client.ts';
import { type OpenSubscription, StreamLost, StreamRefused } from './open-stream.ts';
import type { Session } from './session.ts';

/** What a stream that is kept open tells. */
export type FollowedEvent =
  | { readonly type: 'message'; readonly answer: GatewayAnswer }
  /** It was lost before its time, and is asked for again after so long. `code` is the gateway's, such as `GONE`; else empty. */
  | { readonly type: 'lost'; readonly reason: string; readonly code: string; readonly delayMs: number }
  /** It is there again after a loss that was told. */
  | { readonly type: 'resumed' }
  /** It begins anew: what follows is a first state, and what that lacks is gone. Before `resumed`. */
  | { readonly type: 'restarted' };

export interface FollowOptions {
  readonly openStream: OpenSubscription;
  readonly clock: Clock;
  readonly query: string;
  /** The variables of the next attempt. `anew`: from the beginning, as what it would have resumed from was refused. */
  readonly variables: (how: 'first' | 'resumed' | 'anew') => JsonObject;
  /** Says for a gateway that was never reached where it is. */
  readonly url: string;
}

/** The first wait of a row of losses, and the longest. */
const [firstDelayMs, maxDelayMs] = [1_000, 30_000];

/** A stream that held for so long was a good one. */
const healthyMs = 30_000;

/**
 * Keeps a subscription open: opens it again when it is lost, 1 s to 30 s later, each time doubled, with jitter, until the signal aborts. What was
 * told before is never told again, as far as `variables` says from where to go on.
 *
 * @throws {CommandFailure} if it is refused for good, or if the gateway was never reached.
 */
export async function* followSubscription(options: FollowOptions, signal: AbortSignal): AsyncIterable<FollowedEvent> {
  const { openStream, clock, query, variables, url } = options;
  let how: 'first' | 'resumed' | 'anew' = 'first';
  let losses = 0;
  let isTold = false;
  while (!signal.aborted) {
    const startMs = clock.monotonic();
    let isNew = how !== 'first';
    try {
      for await (const answer of openStream({ query, variables: variables(how) }, signal)) {
        if (isNew && how === 'anew') yield { type: 'restarted' };
        if (isNew && isTold) yield { type: 'resumed' };
        isNew = false;
        isTold = false;
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
      isTold = !error.isPlanned;
      if (isTold) yield { type: 'lost', reason: error.message, code: error.code, delayMs };
      await clock.sleep(delayMs, signal);
    }
  }
}

/**
 * Follows one field of a subscription, as `followSubscription` does. Losses and their end are told on standard error after the event, unless that ends the
 * iteration.
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
    if (event.type === 'resumed') terminal.err('the gateway is there again\n');
  }
}

/** Between half and the whole of the doubled wait, so that those who lost the same gateway do not come back at once. */
function delayAfter(losses: number, chance: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(losses - 1, 10)) * (1 - chance / 2);
}
