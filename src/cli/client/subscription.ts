import { CommandFailure } from './command-failure.ts';
import type { GatewayAnswer, GatewayRequest } from './gateway-client.ts';

/** A stream ended early and can be opened again. */
export class StreamLost extends Error {
  override readonly name = 'StreamLost';
  /** True if the gateway had accepted the connection. */
  readonly wasOpen: boolean;
  /** True if the gateway closed the socket because it had reached its maximum lifetime. This is no problem. */
  readonly isPlanned: boolean;
  /** The code of the gateway's error, such as `GONE`. Empty if the stream ended without an error of the gateway. */
  readonly code: string;

  constructor(
    message: string,
    { wasOpen, isPlanned = false, code = '' }: { readonly wasOpen: boolean; readonly isPlanned?: boolean; readonly code?: string },
  ) {
    super(message);
    this.wasOpen = wasOpen;
    this.isPlanned = isPlanned;
    this.code = code;
  }
}

/** The gateway refused the input of a subscription. After a resume, the cursor may be the reason. */
export class StreamRefused extends CommandFailure {}

/**
 * Opens a subscription and yields its messages in order. It ends without an error only if the caller returns from the iteration or the signal aborts.
 *
 * Holds at most 1,000 unread messages. When there are more, it yields them and then throws `StreamLost`.
 *
 * @throws {StreamLost} if the connection is lost, or the gateway ends the stream for a temporary reason.
 * @throws {CommandFailure} if the gateway ends the stream for a permanent reason.
 */
export type OpenSubscription = (request: GatewayRequest, signal: AbortSignal) => AsyncIterable<GatewayAnswer>;
