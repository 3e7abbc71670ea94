import { randomUUID } from 'node:crypto';
import type { ExecutionArgs, GraphQLFormattedError } from 'graphql';
import type { Context, ServerOptions } from 'graphql-ws';
import type { Clock } from '../../core/clock.ts';
import { invariant } from '../../core/errors.ts';
import { clientError } from '../../operations/masking.ts';
import { operationRequestIn } from '../../operations/operation-request.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { RequestScheduler } from '../../operations/request-scheduler.ts';
import type { IdentifyingRequest, RequestAuthenticator } from '../callers/request-authenticator.ts';
import type { Guard } from '../http/guard.ts';
import type { ClientMessage } from './client-message.ts';
import type { SocketConnection } from './socket-connection.ts';
import { MaskedErrors, SocketOperation, type SocketOperationOptions } from './socket-operation.ts';

export interface ProtocolOptions extends SocketOperationOptions {
  readonly guard: Pick<Guard, 'checkOrigin'>;
  readonly requestAuthenticator: RequestAuthenticator;
  /** Spreads operations over event-loop turns. The same scheduler as for requests over HTTP. */
  readonly requestScheduler: Pick<RequestScheduler, 'waitForTurn'>;
  readonly clock: Clock;
  /** Called for each socket that is refused: before 101, or because of its credentials. */
  readonly onRefused: (refusal: RequestRefusal) => void;
}

/** The state of one socket that the hooks of graphql-ws need. */
export interface SocketContext {
  readonly connection: SocketConnection;
  /** The open handshake. Undefined after the client has been acknowledged. */
  handshake: OpenHandshake | undefined;
  /** The message that graphql-ws is handling now, parsed with exact integers. Undefined before the first message. */
  currentMessage: ClientMessage | undefined;
}

/** A socket whose client has not sent a valid `connection_init`. */
interface OpenHandshake {
  /**
   * The upgrade request. Its header `Authorization` counts if `connection_init` has none. Browsers cannot send the header, other clients can.
   */
  readonly request: IdentifyingRequest;
  /** Ends the time limit for `connection_init`, because it has come. */
  received(): void;
  /**
   * Counts the socket among those of callers.
   *
   * @throws {RequestRefusal} 503 if there are too many.
   */
  accept(): void;
  /** Ends the handshake and frees its slot, because the client was acknowledged or has gone. A second call does nothing. */
  settle(): void;
}

type InitPayload = Record<string, unknown> | undefined;
type Hooks = ServerOptions<InitPayload, SocketContext>;

/** Maximum number of operations of one socket at a time. */
const maxOperations = 50;

/**
 * Returns the hooks with which graphql-ws finds the caller and starts operations. Errors of an operation are results, so no hook throws for
 * them.
 *
 * Next: `onSubscribe` starts a `SocketOperation` (socket-operation.ts) when the caller has its turn. It prepares and runs the operation.
 */
export function protocolHooks(options: ProtocolOptions): Hooks {
  return {
    // The timer of graphql-ws is off, because tests use another clock. `WebSockets` has its own deadline.
    connectionInitWaitTimeout: 0,
    onConnect: (context) => identify(context, options),
    onSubscribe: (context, id) => startInTurn(context, id, options),
    execute: startedOperation,
    subscribe: startedOperation,
    onNext: (_context, _id, _payload, args) => startedOperation(args).finalResult,
    onError: (_context, _id, _payload, errors) => errors.flatMap((error) => maskedErrorsOf(error, options)),
  };
}

/**
 * Finds the caller of a socket, as for a request over HTTP. Closes the socket with 4401 if the credentials are not accepted. Closes it with 1013 if
 * the credentials cannot be checked now, or if the caller or all callers together have too many sockets. Resolves without a value, because graphql-ws
 * would send a value to the client with the acknowledgement.
 */
async function identify(
  context: Context<InitPayload, SocketContext>,
  { requestAuthenticator, clock, onRefused }: ProtocolOptions,
): Promise<void> {
  const { connectionParams, extra } = context;
  const { connection, handshake } = extra;
  // Deletes the payload of `connection_init`. Else graphql-ws would keep the token in it as long as the socket.
  Reflect.deleteProperty(context, 'connectionParams');
  if (handshake === undefined) return;
  handshake.received();
  try {
    const session = await requestAuthenticator.authenticate(handshake.request, authorizationIn(connectionParams));
    if (connection.isOpen) {
      handshake.accept();
      connection.identify(session, { load: requestAuthenticator.load, clock });
    }
  } catch (error) {
    if (error instanceof RequestRefusal) {
      onRefused(error);
      connection.close(error.status === 401 ? 4401 : 1013, error.message);
    }
    throw error;
  }
  handshake.settle();
}

function authorizationIn(payload: InitPayload): string | undefined {
  const [, value] = Object.entries(payload ?? {}).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  return value === undefined ? undefined : String(value);
}

type SocketSession = Context<InitPayload, SocketContext>;
type StartedOperation = ExecutionArgs | readonly MaskedErrors[];

/**
 * Starts an operation when the caller has its turn. Parsing and validation cannot be interrupted, so they wait as those over HTTP do. An operation that
 * the client has completed meanwhile, or whose socket has closed, is not started.
 */
function startInTurn(session: SocketSession, id: string, options: ProtocolOptions): StartedOperation | Promise<StartedOperation> {
  // The message is read now, because others may arrive during the wait.
  const { connection, currentMessage } = session.extra;
  // Operations that wait for their turn count too.
  const isTooMany = Object.keys(session.subscriptions).length > maxOperations;
  const start = () => startOperation({ connection, currentMessage, isTooMany }, id, options);
  const turn = isTooMany ? undefined : options.requestScheduler.waitForTurn(connection.caller.key);
  if (turn === undefined) return start();
  // graphql-ws sends no errors of an operation that it no longer has.
  return turn.then(() => (id in session.subscriptions ? start() : [new MaskedErrors([])]));
}

interface SubscribeMessage extends Pick<SocketContext, 'connection' | 'currentMessage'> {
  /** True if the socket has `maxOperations` already. */
  readonly isTooMany: boolean;
}

function startOperation(
  { connection, currentMessage, isTooMany }: SubscribeMessage,
  id: string,
  options: ProtocolOptions,
): StartedOperation {
  const started = SocketOperation.start(options, connection, {
    id,
    request: () => {
      if (isTooMany)
        throw new RequestRefusal({
          status: 429,
          code: 'OVERLOADED',
          message: `expected at most ${maxOperations} operations on one socket`,
        });
      if (currentMessage?.refusal !== undefined) throw currentMessage.refusal;
      invariant(currentMessage?.payload !== undefined, 'expected the current message to be the subscribe message');
      return operationRequestIn(currentMessage.payload);
    },
  });
  if (started instanceof MaskedErrors) return [started];
  const { operation, prepared } = started;
  const { schema, document, operationName } = prepared;
  return { schema, document, contextValue: operation, ...(operationName === undefined ? {} : { operationName }) };
}

function startedOperation({ contextValue }: ExecutionArgs): SocketOperation {
  invariant(contextValue instanceof SocketOperation, 'expected the operation that was started');
  return contextValue;
}

function maskedErrorsOf(error: Error, { onBug }: ProtocolOptions): readonly GraphQLFormattedError[] {
  if (error instanceof MaskedErrors) return error.errors;
  if (error.cause instanceof MaskedErrors) return error.cause.errors;
  return [clientError(error, { requestId: randomUUID(), onBug })];
}
