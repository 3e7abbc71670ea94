import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { createYoga, type YogaServerOptions } from 'graphql-yoga';
import type { Clock } from '../core/clock.ts';
import type { Answer } from './answer-body.ts';
import { createDocumentCache, createErrorCache } from './document-cache.ts';
import type { HttpOperation } from './front.ts';
import { maskError } from './masking.ts';
import type { Operation, ServePlugin } from './operations.ts';
import type { Begun } from './outlet.ts';

/** The schema that serves now. Each operation takes it once and keeps it through every await. */
export interface ServedSchema {
  readonly schema: GraphQLSchema;
  /** Of the printed SDL. */
  readonly hash: string;
  sdl(): string;
}

export interface EngineOptions extends Pick<YogaServerOptions<HttpOperation, Operation>, 'cors' | 'graphiql' | 'renderGraphiQL'> {
  readonly served: () => ServedSchema;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** In the order of their hooks. */
  readonly plugins: readonly ServePlugin[];
}

/** A document that was parsed, validated and found affordable. */
export interface PreparedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  /** Runs it once: the result of a query or mutation, or a stream that has begun. */
  run(): Promise<ExecutionResult | Answer | Begun>;
}

/** The one Yoga of the gateway. Every transport goes through its plugins and caches, so that all give one verdict. */
export type Engine = ReturnType<typeof createEngine>;

/** Makes the engine. Parsed documents and verdicts are kept, within bounds, per schema. */
export function createEngine({ served, clock, plugins, cors = false, graphiql = false, renderGraphiQL }: EngineOptions) {
  const yoga = createYoga<HttpOperation, Operation>({
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
    // The router answers probes. No URL ends like this, so that no query string is taken for one.
    healthCheckEndpoint: ' ',
    parserAndValidationCache: { documentCache: createDocumentCache<DocumentNode>(), errorCache: syntaxErrors(), validationCache: false },
  });
  return {
    /** Answers one request to /graphql. A property of Yoga is a proxy's, so it is read once. */
    handle: yoga.handleNodeRequest,
    /**
     * Parses, validates and estimates the cost of an operation that did not come over HTTP: what can run, or what is wrong with it.
     *
     * Throws nothing but a bug.
     */
    prepare: (operation: Operation): PreparedOperation | { readonly errors: readonly unknown[] } => {
      const { query, variables: variableValues, operationName } = operation.params ?? { query: '' };
      const enveloped = yoga.getEnveloped(operation as Operation & { request: Request });
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

/** Gives each operation the schema that serves when it comes, which is the whole of the hot swap, and chooses the operation of the document. */
function useSchema(served: () => ServedSchema, clock: Pick<Clock, 'monotonic'>): ServePlugin {
  return {
    onEnveloped: ({ setSchema, extendContext }) => {
      const current = served();
      extendContext({ served: current, startedMs: clock.monotonic() });
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

/** A document without the operation that was asked for. Another name may find one in the same text, so this error is not kept. */
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
