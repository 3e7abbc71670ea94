import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import type { CallerSession } from '../../identity/authenticator.ts';
import { watchSession } from '../../identity/session-watch.ts';
import type { CallerLoad } from './caller-load.ts';

/** The messages with which streams and sockets end, by reason. */
export const sessionEnds = {
  expired: 'the credentials have expired: connect again with new ones, and resume with `after`',
  refused: 'the credentials are no longer accepted',
} as const;

/** A stream of server-sent events that is about to begin. */
interface BegunStream {
  /** Undefined in local mode. */
  readonly session: CallerSession | undefined;
  readonly res: ServerResponse;
  /** Ends the stream. */
  readonly abortController: AbortController;
}

/**
 * Counts a stream of server-sent events for its caller, and ends it with `UNAUTHENTICATED` when the credentials of the caller end. Does nothing
 * in local mode.
 *
 * @throws {RequestRefusal} 429 if the caller has too many streams.
 */
export function holdStream(
  { session, res, abortController }: BegunStream,
  { load, clock }: { readonly load: CallerLoad; readonly clock: Clock },
): void {
  if (session === undefined) return;
  const taken = load.take('streams', session.caller.key);
  const life = new AbortController();
  res.once('close', () => {
    life.abort();
    taken[Symbol.dispose]();
  });
  const onEnd = (reason: keyof typeof sessionEnds) => abortController.abort(new MusterError('UNAUTHENTICATED', sessionEnds[reason]));
  void watchSession(session, { clock, onEnd }, life.signal);
}
