import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  validateSubscriptionArgs,
} from 'graphql';
import { InvariantError, invariant } from '../../core/errors.ts';
import type { StreamSource } from '../../streams/stream-source.ts';

/** A subscription whose root field has been asked: where its messages come from, and how each becomes an answer. */
export interface OpenedSubscription {
  readonly source: StreamSource<object>;
  /** Executes the operation once, over this message. A value, unless the document selects what is read live. */
  execute(message: object, contextValue: object): ExecutionResult | Promise<ExecutionResult>;
}

/**
 * What a `subscribe` resolver gives graphql-js, which asks for an AsyncIterable. It is never iterated: an iterator has one reader, who waits for
 * each send, whereas a source has many.
 */
export class SourceCarrier implements AsyncIterable<never> {
  readonly source: StreamSource<object>;

  constructor(source: StreamSource<object>) {
    this.source = source;
  }

  [Symbol.asyncIterator](): never {
    throw new InvariantError('a stream is read through its source');
  }
}

/**
 * Asks the root field of a subscription. What is wrong with its arguments or variables is a result with errors alone.
 *
 * @param args Of a document that was validated.
 */
export async function subscribeTo(
  args: ExecutionArgs,
): Promise<OpenedSubscription | { readonly errors: NonNullable<ExecutionResult['errors']> }> {
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  const carrier = await createSourceEventStream(validated);
  // Whatever a `subscribe` resolver throws is told as a result, with the path of its field.
  if ('errors' in carrier && carrier.errors !== undefined) return { errors: carrier.errors };
  invariant(carrier instanceof SourceCarrier, 'expected a subscription to give a source');
  const { source } = carrier;
  return {
    source,
    execute: (message, contextValue) => executeSubscriptionEvent({ ...validated, rootValue: message, contextValue }),
  };
}
