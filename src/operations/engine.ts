import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { createYoga, type Plugin, type YogaServerOptions } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import type { StartedStream } from '../streams/outlet.ts';
import type { EncodedAnswer } from './answers.ts';
import { maskError } from './masking.ts';
import type { GraphqlOperation, OperationPlugin } from './operation.ts';
import type { ServedSchema } from './served-schema.ts';

/**
 * The options of `createEngine`.
 *
 * @typeParam Http The operation of a request over HTTP, which the transport creates.
 */
export interface EngineOptions<Http extends GraphqlOperation>
  extends Pick<YogaServerOptions<Http, GraphqlOperation>, 'cors' | 'graphiql' | 'renderGraphiQL'> {
  readonly served: () => ServedSchema;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The plugins, in the order in which their hooks run. */
  readonly plugins: readonly (OperationPlugin | Plugin<GraphqlOperation, Http, GraphqlOperation>)[];
}

/** An operation that was parsed and validated, and whose estimated cost is within the limit. */
export interface PreparedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  /** Runs the operation. Call it only once. Returns the result of a query or mutation, or the stream of a subscription. */
  run(): Promise<ExecutionResult | EncodedAnswer | StartedStream>;
}

/** The only Yoga server of the gateway. Every transport uses its plugins and caches, so all transports accept and refuse the same operations. */
export type Engine<Http extends GraphqlOperation = GraphqlOperation> = ReturnType<typeof createEngine<Http>>;

/** Creates the engine. It caches parsed documents and validation results per schema, within bounds. */
export function createEngine<Http extends GraphqlOperation>(options: EngineOptions<Http>) {
  const { served, clock, plugins, cors = false, graphiql = false, renderGraphiQL } = options;
  const yoga = createYoga<Http, GraphqlOperation>({
    cors,
    graphiql,
    ...(renderGraphiQL === undefined ? {} : { renderGraphiQL }),
    plugins: [useSchema(served, clock), ...plugins],
    maskedErrors: { maskError },
    logging: false,
    landingPage: false,
    multipart: false,
    batching: false,
    // `useExactJson` bounds bodies before they are read.
    maxRequestBodySize: false,
    // The router answers probes, so Yoga must not. Yoga treats each URL with this end as a health check, and no URL ends with a space.
    healthCheckEndpoint: ' ',
    parserAndValidationCache: { documentCache: createDocumentCache<DocumentNode>(), errorCache: syntaxErrors(), validationCache: false },
  });
  return {
    /** Answers one request to /graphql. Yoga is a proxy, so reading its property on each request would cost time. */
    handle: yoga.handleNodeRequest,
    /**
     * Parses and validates an operation that did not come over HTTP, and estimates its cost. Returns the operation ready to run, or its
     * errors.
     *
     * Throws only bugs.
     */
    prepare: (operation: GraphqlOperation): PreparedOperation | { readonly errors: readonly unknown[] } => {
      const { query, variables: variableValues, operationName } = operation.params ?? { query: '' };
      const enveloped = yoga.getEnveloped(operation as GraphqlOperation & { request: Request });
      try {
        const { schema } = enveloped;
        const document: DocumentNode = enveloped.parse(query);
        const errors: readonly GraphQLError[] = enveloped.validate(schema, document);
        if (errors.length > 0) return { errors };
        enveloped.contextFactory();
        const run = operation.definition?.operation === OperationTypeNode.SUBSCRIPTION ? enveloped.subscribe : enveloped.execute;
        return {
          schema,
          document,
          operationName,
          run: async () => run({ schema, document, contextValue: operation, variableValues, operationName }),
        };
      } catch (error) {
        return { errors: [error] };
      }
    },
  };
}

/**
 * Gives each operation the schema that is current when the operation arrives, so later operations use a new schema at once. Also chooses
 * which operation of the document runs.
 */
function useSchema(served: () => ServedSchema, clock: Pick<Clock, 'monotonic'>): OperationPlugin {
  return {
    onEnveloped: ({ setSchema, extendContext }) => {
      const current = served();
      extendContext({ servedSchema: current, startedMs: clock.monotonic() });
      setSchema(current.schema);
    },
    onParse:
      () =>
      ({ result, context, replaceParseResult }) => {
        if (result === null || result instanceof Error) return;
        const operation = chooseOperation(result, context.params?.operationName);
        if (operation instanceof NoSuchOperation) replaceParseResult(operation as never);
        else Object.assign(context, { document: result, definition: operation });
      },
    onExecute: ({ args: { contextValue } }) => {
      contextValue.type = contextValue.definition?.operation;
    },
    onSubscribe: ({ args: { contextValue } }) => {
      contextValue.type = OperationTypeNode.SUBSCRIPTION;
    },
  };
}

/** The document does not contain the requested operation. Not cached, because the same text may contain an operation of another name. */
class NoSuchOperation extends GraphQLError {}

function syntaxErrors() {
  const cache = createErrorCache();
  return {
    get: (text: string) => cache.get(text),
    set: (text: string, error: Error) => (error instanceof NoSuchOperation ? undefined : cache.set(text, error)),
  };
}

function chooseOperation(document: DocumentNode, name: string | undefined): OperationDefinitionNode | NoSuchOperation {
  const operation = getOperationAST(document, name);
  if (operation) return operation;
  if (name !== undefined) return new NoSuchOperation(`no operation named ${JSON.stringify(name.slice(0, 80))} in the document`);
  const operations = document.definitions.filter((definition) => definition.kind === 'OperationDefinition');
  return new NoSuchOperation(
    operations.length === 0
      ? 'expected an operation, got fragments only'
      : 'expected operationName, as the document has several operations',
  );
}

/** Maximum length of a cached text, in characters. A longer text is parsed again each time. */
const maxTextLength = 64 << 10;

/** Estimated bytes of a parsed document for each character of its text: 19 kB for 270 characters. */
const bytesPerCharacter = 70;

/** Creates a cache of parsed documents by their text: at most 1,024 documents and about 64 MiB. */
export function createDocumentCache<T extends object>(): LRUCache<string, T> {
  return createTextCache({ max: 1024, maxSize: 64 << 20 }, bytesPerCharacter);
}

/** Creates a cache of parse errors by the text that caused them: at most 256 errors and 4 MiB of text. */
export function createErrorCache(): LRUCache<string, Error> {
  return createTextCache({ max: 256, maxSize: 4 << 20 }, 2);
}

function createTextCache<T extends object>(bounds: { readonly max: number; readonly maxSize: number }, bytesPer: number) {
  const sizeCalculation = (_: T, text: string) => Math.max(1, text.length * bytesPer);
  return new LRUCache<string, T>({ ...bounds, maxEntrySize: maxTextLength * bytesPer, sizeCalculation });
}
