import { createClient } from 'graphql-ws/client';
import { exactNumberReviver } from '../../core/json.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';
import {
  authorizationHeaders,
  failureOfGatewayError,
  type GatewayAddress,
  type GatewayAnswer,
  type GatewayError,
  type GatewayRequest,
} from './gateway-client.ts';
import { type OpenSubscription, StreamLost, StreamRefused } from './subscription.ts';

const maxUnread = 1_000;

/** Milliseconds between pings, and the time the gateway has to answer one. */
const pingMs = 15_000;

/** Longest time to connect. */
const connectMs = 10_000;

/** Error codes of the gateway after which a new stream may succeed. */
const passing = new Set(['SLOW_CONSUMER', 'UNAVAILABLE', 'SHUTTING_DOWN', 'OVERLOADED', 'GONE']);

/** Opens subscriptions over WebSocket, each on its own socket. */
export function webSocketSubscriptions(address: GatewayAddress): OpenSubscription {
  return (request, signal) => read(new Subscription(address, request), signal);
}

async function* read(subscription: Subscription, signal: AbortSignal): AsyncIterable<GatewayAnswer> {
  const stop = () => subscription.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (!signal.aborted) yield* subscription.answers();
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

class Subscription {
  readonly #unread: GatewayAnswer[] = [];
  #end: { readonly error?: Error } | undefined;
  #wasOpen = false;
  #changed = Promise.withResolvers<void>();
  readonly #dispose: () => void;

  constructor(address: GatewayAddress, request: GatewayRequest) {
    let pong: NodeJS.Timeout | undefined;
    const client = createClient({
      url: address.url.replace(/^http/, 'ws'),
      connectionParams: () => authorizationHeaders(address),
      // graphql-ws would repeat the same request; a resumed subscription needs another cursor.
      retryAttempts: 0,
      keepAlive: pingMs,
      connectionAckWaitTimeout: connectMs,
      jsonMessageReviver: exactNumberReviver,
      on: {
        connected: () => {
          this.#wasOpen = true;
        },
        // A half-open TCP connection gives no error, so a ping must be answered.
        ping: (received) => {
          if (!received) pong = setTimeout(() => client.terminate(), pingMs);
        },
        pong: (received) => {
          if (received) clearTimeout(pong);
        },
        closed: () => clearTimeout(pong),
      },
    });
    const { query, variables = {}, operationName } = request;
    const unsubscribe = client.subscribe<GatewayAnswer['data']>(
      { query, variables: { ...variables }, ...(operationName === undefined ? {} : { operationName }) },
      {
        next: (answer) => this.#take(answer as GatewayAnswer),
        error: (reason) => this.#finish(this.#errorOf(reason, address)),
        complete: () => this.#finish(new StreamLost('the gateway ended the stream', { wasOpen: true })),
      },
    );
    this.#dispose = () => {
      clearTimeout(pong);
      unsubscribe();
      void Promise.resolve(client.dispose()).catch(() => undefined);
    };
  }

  async *answers(): AsyncIterable<GatewayAnswer> {
    for (;;) {
      const answer = this.#unread.shift();
      if (answer !== undefined) yield answer;
      else if (this.#end !== undefined) break;
      else await this.#changed.promise;
    }
    if (this.#end.error !== undefined) throw this.#end.error;
  }

  stop(): void {
    this.#finish(undefined);
  }

  #take(answer: GatewayAnswer): void {
    if (this.#end !== undefined) return;
    const error = answer.errors?.[0];
    // An error with data concerns only a part of the message.
    if (error !== undefined && (answer.data ?? null) === null) {
      this.#finish(endOf(error));
      return;
    }
    this.#unread.push(answer);
    this.#wake();
    if (this.#unread.length >= maxUnread) this.#finish(new StreamLost('the output was slower than the stream', { wasOpen: true }));
  }

  #finish(error: Error | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = error === undefined ? {} : { error };
    this.#dispose();
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Converts what graphql-ws passes to `error`: the errors of the operation, the close of the socket, or a failure to connect. */
  #errorOf(reason: unknown, address: GatewayAddress): Error {
    const wasOpen = this.#wasOpen;
    if (Array.isArray(reason)) return endOf((reason as readonly GatewayError[])[0] ?? { message: 'the gateway refused without a reason' });
    if (!isClose(reason)) return new StreamLost('the connection failed', { wasOpen });
    if (reason.code === 4401)
      return new CommandFailure(
        exitCodes.refused,
        `the gateway at ${address.url} refused the token: it may have expired, or be of another issuer or audience`,
      );
    const why = `${reason.code}${reason.reason === '' ? '' : ` ${reason.reason}`}`;
    // After these codes, a new connection would fail in the same way: the protocol was broken (4400, 4406, 4409, 4429), or the gateway has
    // a bug (4500). After all other codes, such as 4403 and 4408, the client connects again.
    const isFatal = [4400, 4406, 4409, 4429, 4500].includes(reason.code);
    if (isFatal) return new CommandFailure(exitCodes.failed, `the gateway closed the connection: ${why}`);
    // Only a gateway that has accepted the connection sends a code of its own (RFC 6455, section 7.4.2).
    const wasAccepted = wasOpen || reason.code >= 4000;
    return new StreamLost(`the connection was closed: ${why}`, { wasOpen: wasAccepted, isPlanned: reason.code === 4403 });
  }
}

function endOf(error: GatewayError): Error {
  const code = error.extensions?.code ?? '';
  if (passing.has(code)) return new StreamLost(`${code} ${error.message}`, { wasOpen: true, code });
  const { exitCode, message } = failureOfGatewayError(error);
  return code === 'BAD_INPUT' ? new StreamRefused(exitCode, message) : new CommandFailure(exitCode, message);
}

function isClose(reason: unknown): reason is { readonly code: number; readonly reason: string } {
  return typeof reason === 'object' && reason !== null && 'code' in reason && 'reason' in reason;
}
