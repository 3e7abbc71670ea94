import { type ExecutionArgs, type ExecutionResult, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { type AnswerFactory, EncodedAnswer } from './answers.ts';
import { type CompressedBytes, compressWithGzip } from './compressed-bytes.ts';
import { GraphqlOperation, type OperationPlugin, operationOf } from './operation.ts';
import type { OperationRequest } from './operation-request.ts';

/** Maximum number of different documents per schema. */
const maxDocuments = 8;

/** Maximum bytes of all cached answers, plain and compressed: 64 MiB. An answer with the whole schema and many custom kinds takes 20 MiB. */
const maxBytes = 64 << 20;

/** Maximum length in characters of a request whose answer is cached. Longer requests are answered too. */
const maxKeyLength = 64 << 10;

/** True if the operation selects only the schema. All callers then get the same answer until the schema changes. */
function isIntrospection(operation: OperationDefinitionNode): boolean {
  return operation.selectionSet.selections.every(
    (selection) => selection.kind === Kind.FIELD && ['__schema', '__type', '__typename'].includes(selection.name.value),
  );
}

/**
 * Answers to introspection, made once for each schema, document and variables. Requests share an answer while it is made, and a failed answer is not kept.
 * The cache keeps the answers of the schema that was requested last, within a bound in bytes.
 */
export class IntrospectionCache {
  #schema: WeakRef<GraphQLSchema> | undefined;
  #kept = newCache();

  /** Number of bytes in the cache. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /**
   * Returns the cached answer. If there is none, makes the answer, compresses it and caches it. Requests over 64 Ki characters are not
   * cached.
   */
  answerFor(schema: GraphQLSchema, request: OperationRequest, make: () => Promise<Uint8Array>): CompressedBytes | Promise<CompressedBytes> {
    const key = JSON.stringify([request.query, request.operationName, request.variables]);
    if (key.length > maxKeyLength) return make().then(compressWithGzip);
    if (this.#schema?.deref() !== schema) this.#kept = newCache();
    this.#schema = new WeakRef(schema);
    return this.#kept.get(key) ?? this.#kept.forceFetch(key, { context: make });
  }
}

function newCache() {
  return new LRUCache<string, CompressedBytes, () => Promise<Uint8Array>>({
    max: maxDocuments,
    maxSize: maxBytes,
    sizeCalculation: ({ plain, encoded }, key) => encoded.values().reduce((sum, { length }) => sum + length, key.length * 2 + plain.length),
    fetchMethod: (_key, _stale, { context: make }) => make().then(compressWithGzip),
    // An answer that is no longer cached is still sent to the clients that wait for it.
    ignoreFetchAbort: true,
    allowStaleOnFetchAbort: true,
  });
}

export interface IntrospectionOptions {
  readonly answers: Pick<AnswerFactory, 'answerTo'>;
  /** Operations that the gateway aborts when it ends. */
  readonly inFlight: Set<AbortController>;
}

/**
 * Returns a plugin that answers introspection from the cache. An answer is made for all clients with the same document, so it is also made
 * if its first client leaves. Must come after the plugins that set the execute function, because the cache calls this function to make an
 * answer.
 */
export function useIntrospectionCache({ answers, inFlight }: IntrospectionOptions): OperationPlugin {
  const cache = new IntrospectionCache();
  const make = async (args: ExecutionArgs, execute: Execute) => {
    using operation = new GraphqlOperation(operationOf(args));
    Object.assign(operation, { ...operationOf(args), abortController: operation.abortController });
    inFlight.add(operation.abortController);
    try {
      const answer = await answers.answerTo(operation, await execute({ ...args, contextValue: operation }));
      // An answer with errors has the id of its request. It is sent, but not cached.
      if (answer.body.errors !== undefined) throw new NotKept(answer);
      return Buffer.concat(answer.json);
    } finally {
      inFlight.delete(operation.abortController);
    }
  };
  return {
    onExecute: ({ args: { contextValue }, executeFn, setExecuteFn }) => {
      const { definition, params } = contextValue;
      if (definition === undefined || params === undefined || !isIntrospection(definition)) return;
      setExecuteFn((args: ExecutionArgs) => {
        const found = cache.answerFor(args.schema, params, () => make(args, executeFn as Execute));
        return found instanceof Promise ? found.then(answerOf, answerIn) : answerOf(found);
      });
    },
  };
}

type Execute = (args: ExecutionArgs) => Promise<ExecutionResult>;

class NotKept extends Error {
  override readonly name = 'NotKept';
  readonly answer: EncodedAnswer;

  constructor(answer: EncodedAnswer) {
    super('an answer with errors');
    this.answer = answer;
  }
}

function answerOf(compressed: CompressedBytes): EncodedAnswer {
  return new EncodedAnswer({ data: {} }, { json: [compressed.plain], compressed });
}

function answerIn(error: unknown): EncodedAnswer {
  if (!(error instanceof NotKept)) throw error;
  return error.answer;
}
