import { randomUUID } from 'node:crypto';
import type { ExecutionArgs, GraphQLFormattedError } from 'graphql';
import type { Context, ServerOptions } from 'graphql-ws';
import { invariant } from '../../core/errors.ts';
import { clientError } from '../../operations/masking.ts';
import { operationRequestIn } from '../../operations/operation-request.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { Guard } from '../http/guard.ts';
import type { ClientMessage } from './client-message.ts';
import type { SocketConnection } from './socket-connection.ts';
import { MaskedErrors, SocketOperation, type SocketOperationOptions } from './socket-operation.ts';

export interface ProtocolOptions extends SocketOperationOptions {
  readonly guard: Guard;
  /** Told of each socket that is refused: before 101, or for its token. */
  readonly onRefused: (refusal: RequestRefusal) => void;
}

/** What the hooks know of their socket. */
export interface SocketContext {
  readonly connection: SocketConnection;
  /** What it has to do first; absent once that is done. */
  handshake: Newcomer | undefined;
  /** The message in hand, read by the rules of request bodies. */
  currentMessage: ClientMessage | undefined;
}

/** A socket that has not yet said who it is. */
interface Newcomer {
  /** Of the upgrade: browsers cannot send it, others may. */
  readonly authorization: string | undefined;
  /** It has said it, or has gone. Twice is once. */
  settle(): void;
}

type InitPayload = Record<string, unknown> | undefined;
type Hooks = ServerOptions<InitPayload, SocketContext>;

/** Operations of one socket at a time. */
const maxOperations = 50;

/** The hooks by which graphql-ws asks who somebody is and what an operation says. What is wrong with an operation is its own error: no hook throws for it. */
export function protocolHooks(options: ProtocolOptions): Hooks {
  return {
    // The clock of tests is not the one of timers: who opens the socket waits.
    connectionInitWaitTimeout: 0,
    onConnect: (context) => identify(context, options),
    onSubscribe: ({ extra }, id) => begin(extra, id, options),
    execute: started,
    subscribe: started,
    onNext: (_context, _id, _payload, args) => started(args).finalResult,
    onError: (_context, _id, _payload, errors) => errors.flatMap((error) => toldBy(error, options)),
  };
}

/** The same check of the same token as over HTTP. Gives nothing back: it would be sent with the acknowledgement. */
function identify(context: Context<InitPayload, SocketContext>, { guard, onRefused }: ProtocolOptions): void {
  const { connectionParams, extra } = context;
  const { connection, handshake: newcomer } = extra;
  try {
    guard.checkToken(shownBy(connectionParams, newcomer?.authorization));
  } catch (error) {
    if (error instanceof RequestRefusal) {
      onRefused(error);
      connection.close(4401, error.message);
    }
    throw error;
  }
  // An acknowledged socket keeps no token.
  Reflect.deleteProperty(context, 'connectionParams');
  newcomer?.settle();
}

function shownBy(payload: InitPayload, ofUpgrade: string | undefined): { readonly authorization?: string } {
  const [, inPayload] = Object.entries(payload ?? {}).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const authorization = inPayload === undefined ? ofUpgrade : String(inPayload);
  return authorization === undefined ? {} : { authorization };
}

function begin(
  { connection, currentMessage: inHand }: SocketContext,
  id: string,
  options: ProtocolOptions,
): ExecutionArgs | readonly MaskedErrors[] {
  const begun = SocketOperation.start(options, connection, {
    id,
    request: () => {
      if (connection.operations >= maxOperations)
        throw new RequestRefusal({
          status: 429,
          code: 'OVERLOADED',
          message: `expected at most ${maxOperations} operations on one socket`,
        });
      if (inHand?.refusal !== undefined) throw inHand.refusal;
      invariant(inHand?.payload !== undefined, 'expected the message in hand to be the one that subscribes');
      return operationRequestIn(inHand.payload);
    },
  });
  if (begun instanceof MaskedErrors) return [begun];
  const { operation, prepared } = begun;
  const { schema, document, operationName } = prepared;
  return { schema, document, contextValue: operation, ...(operationName === undefined ? {} : { operationName }) };
}

function started({ contextValue }: ExecutionArgs): SocketOperation {
  invariant(contextValue instanceof SocketOperation, 'expected the operation that was begun');
  return contextValue;
}

function toldBy(error: Error, { onBug }: ProtocolOptions): readonly GraphQLFormattedError[] {
  if (error instanceof MaskedErrors) return error.errors;
  if (error.cause instanceof MaskedErrors) return error.cause.errors;
  return [clientError(error, { requestId: randomUUID(), onBug })];
}
