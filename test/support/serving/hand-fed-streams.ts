import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString } from 'graphql';
import { MusterError } from '../../../src/core/errors.ts';
import { clusterName } from '../../../src/core/names.ts';
import { SourceCarrier } from '../../../src/graph/context/subscribe.ts';
import type { OperationScope } from '../../../src/operations/operation.ts';
import type { StreamListener, StreamReader, StreamSource } from '../../../src/streams/stream-source.ts';

/** One message of the test. */
export interface Tick {
  readonly n: number;
  readonly text?: string;
}

/** A reader, seen by the test. */
export interface FedReader {
  readonly queue: Tick[];
  readonly listener: StreamListener;
  readonly signal: AbortSignal;
  pauses: number;
  isDisposed: boolean;
}

/** A source whose messages the test sends. All readers receive the same object, as readers in step do. */
export class HandFedSource implements StreamSource<Tick> {
  readonly readers = new Set<FedReader>();
  opened = 0;
  /** True: each message replaces the one before. It applies to readers that open later. */
  isState = false;
  /** Opening a stream waits for this promise, and fails with it. */
  gate: Promise<unknown> = Promise.resolve();

  async open(listener: StreamListener, signal: AbortSignal): Promise<StreamReader<Tick>> {
    this.opened++;
    await this.gate;
    const reader: FedReader = { queue: [], listener, signal, pauses: 0, isDisposed: false };
    this.readers.add(reader);
    return {
      isState: this.isState,
      take: () => reader.queue.shift(),
      get hasMore() {
        return reader.queue.length > 0;
      },
      pause: () => {
        reader.pauses++;
      },
      [Symbol.dispose]: () => {
        reader.isDisposed = true;
        this.readers.delete(reader);
      },
    };
  }

  /** Sends one message to all current readers. */
  feed(tick: Tick): void {
    for (const reader of this.readers) {
      reader.queue.push(tick);
      reader.listener.ready();
    }
  }

  /** Ends all readers with this error. */
  fail(reason: MusterError): void {
    for (const { listener } of [...this.readers]) listener.ended(reason);
  }
}

/** Counts of resolved fields, and the results of fields that wait. */
export interface FedFields {
  readonly executions: Map<string, number>;
  readonly scopes: OperationScope[];
  slow: (tick: Tick) => unknown;
}

/** Makes a schema with one subscription over a hand-fed source. */
export function fedSchema(source: HandFedSource): { readonly schema: GraphQLSchema; readonly fields: FedFields } {
  const fields: FedFields = { executions: new Map(), scopes: [], slow: () => 'quick' };
  const count = (name: string) => fields.executions.set(name, (fields.executions.get(name) ?? 0) + 1);
  const tick = new GraphQLObjectType<Tick, OperationScope>({
    name: 'Tick',
    fields: {
      n: {
        type: new GraphQLNonNull(GraphQLInt),
        args: { plus: { type: GraphQLInt } },
        resolve: ({ n }, { plus }, scope) => {
          count('n');
          fields.scopes.push(scope);
          return n + (plus ?? 0);
        },
      },
      text: { type: GraphQLString, args: { prefix: { type: GraphQLString } }, resolve: ({ text }, { prefix }) => `${prefix ?? ''}${text}` },
      slow: { type: GraphQLString, resolve: (message) => fields.slow(message) },
      mine: { type: GraphQLString, extensions: { personal: true }, resolve: (_, __, { caller }) => caller.key },
      faulty: {
        type: GraphQLString,
        resolve: (_, __, { reportFault }, { path }) => {
          reportFault({ code: 'UNREACHABLE', cluster: clusterName('north'), message: 'gone', retry: 'LATER' }, [path.key]);
          return null;
        },
      },
      broken: { type: GraphQLString, resolve: () => fail(new Error('a secret')) },
      void: { type: new GraphQLNonNull(GraphQLString), resolve: () => fail(new Error('a secret')) },
      costly: { type: GraphQLString, resolve: () => fail(new MusterError('TOO_COSTLY', 'expected less')) },
    },
  });
  const anything = new GraphQLScalarType({ name: 'Anything' });
  const ticks = {
    type: new GraphQLNonNull(tick),
    args: { after: { type: GraphQLString }, of: { type: GraphQLString }, where: { type: anything } },
    subscribe: (_: unknown, { of }: { readonly of?: string }) => {
      if (of === 'nothing') throw new MusterError('BAD_INPUT', 'expected something');
      return new SourceCarrier(source);
    },
    resolve: (message: unknown) => message,
  };
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: { hello: { type: GraphQLString, args: { to: { type: GraphQLString } }, resolve: (_, { to }) => `hello ${to ?? 'world'}` } },
  });
  const subscription = new GraphQLObjectType({ name: 'Subscription', fields: { ticks } });
  return { schema: new GraphQLSchema({ query, subscription }), fields };
}

function fail(error: Error): never {
  throw error;
}
