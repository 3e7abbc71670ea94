import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, validateSubscriptionArgs } from 'graphql';
import { InvariantError, invariant } from '../../core/errors.ts';
import type { ExecutionAttempts, OperationExecutor } from '../../execution/operation-executor.ts';
import type { StreamSource } from '../../streams/stream-source.ts';

/** A subscription whose root field was resolved: the source of its messages, and the function that turns a message into an answer. */
export interface OpenedSubscription {
  readonly source: StreamSource<object>;
  /** Executes the operation once for this message. Returns a value and not a promise, unless the document selects live data. */
  execute(message: object, attempts: ExecutionAttempts): ExecutionResult | Promise<ExecutionResult>;
}

/**
 * The value that a `subscribe` resolver returns to graphql-js, which expects an AsyncIterable. It is never iterated. An iterator has one
 * reader, which waits for each message to be sent, but a source has many readers.
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
 * Resolves the root field of a subscription. The executor runs its messages. Wrong arguments or variables become a result that contains only errors.
 *
 * @param args Its document must be valid for the schema.
 */
export async function subscribeTo(
  args: ExecutionArgs,
  executor: OperationExecutor,
): Promise<OpenedSubscription | { readonly errors: NonNullable<ExecutionResult['errors']> }> {
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  const carrier = await createSourceEventStream(validated);
  // An error that a `subscribe` resolver throws becomes a result, with the path of its field.
  if ('errors' in carrier && carrier.errors !== undefined) return { errors: carrier.errors };
  invariant(carrier instanceof SourceCarrier, 'expected a subscription to give a source');
  const { source } = carrier;
  return {
    source,
    execute: (message, attempts) => executor.execute({ ...validated, rootValue: message }, attempts),
  };
}
