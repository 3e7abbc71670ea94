import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type ValidationRule,
  validate,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { JsonObject } from '../core/json.ts';
import { refusalOfCost } from '../graph/cost.ts';
import { subscribeTo } from '../graph/subscribing.ts';
import { createDocumentCache, createErrorCache } from './document-cache.ts';
import type { OperationRequest } from './request-body.ts';

/** The schema that serves now. Each operation takes it once and keeps it through every await. */
export interface ServedSchema {
  readonly schema: GraphQLSchema;
  /** Of the printed SDL. */
  readonly hash: string;
  sdl(): string;
}

export interface EngineOptions {
  readonly served: () => ServedSchema;
  /** Lexical tokens of a document. */
  readonly maxTokens: number;
  /** Bounds of documents, checked before all other rules. */
  readonly limitRules: readonly ValidationRule[];
}

/** An operation that was parsed, validated and found affordable. */
export type ReadyOperation = ReadyExecution | ReadySubscription;

interface Validated {
  readonly served: ServedSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** A query or a mutation: it has one answer. */
export interface ReadyExecution extends Validated {
  readonly type: 'execution';
  /** Runs it. Rejects with the abort's reason wrapped by graphql-js when the signal aborts; errors of fields stand in the result. */
  execute(contextValue: object, signal: AbortSignal): Promise<ExecutionResult>;
}

/** A subscription: it has any number of answers. */
export interface ReadySubscription extends Validated {
  readonly type: 'subscription';
  /** Asks its root field where its messages come from. What is wrong with variables or arguments is told as errors alone; nothing runs yet. */
  subscribe(contextValue: object): ReturnType<typeof subscribeTo>;
}

export type Prepared =
  | { readonly result: 'refused'; readonly errors: readonly GraphQLError[] }
  | { readonly result: 'ready'; readonly ready: ReadyOperation };

/** Parses, validates and executes, through Yoga's plugins and its caches. Every transport comes through here, so that all give one verdict. */
export interface Engine {
  /** Parses, validates and estimates the cost, at once; throws nothing but a bug. */
  prepare(request: OperationRequest): Prepared;
}

/** Makes the engine. Parsed documents and verdicts are kept, within bounds, per schema. */
export function createEngine(options: EngineOptions): Engine {
  const yoga = createYoga<{ served: ServedSchema }>({
    logging: false,
    maskedErrors: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: false,
    parserAndValidationCache: { documentCache: createDocumentCache<DocumentNode>(), errorCache: createErrorCache(), validationCache: true },
    plugins: [pluginOf(options)],
  });
  return {
    prepare: (request) => {
      const served = options.served();
      const enveloped = yoga.getEnveloped({ served });
      try {
        const document: DocumentNode = enveloped.parse(request.query);
        const errors: readonly GraphQLError[] = enveloped.validate(served.schema, document);
        if (errors.length > 0) return { result: 'refused', errors };
        const operation = chooseOperation(document, request.operationName);
        if (operation instanceof GraphQLError) return { result: 'refused', errors: [operation] };
        const refusal = refusalOfCost({ schema: served.schema, document, operation, variables: request.variables });
        if (refusal !== undefined) return { result: 'refused', errors: [refusal] };
        const args = { ...argumentsOf(request), schema: served.schema, document } satisfies ExecutionArgs;
        return { result: 'ready', ready: readyOf({ served, document, operation }, args, enveloped.execute) };
      } catch (error) {
        if (error instanceof GraphQLError) return { result: 'refused', errors: [error] };
        // graphql-js recurses: 2,000 tokens of nothing but brackets overflow the stack.
        if (error instanceof RangeError) return { result: 'refused', errors: [new GraphQLError('expected a document that is less deep')] };
        throw error;
      }
    },
  };
}

type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

function readyOf(validated: Validated, args: ExecutionArgs, run: Execute): ReadyOperation {
  if (validated.operation.operation === OperationTypeNode.SUBSCRIPTION)
    return { ...validated, type: 'subscription', subscribe: (contextValue) => subscribeTo({ ...args, contextValue }) };
  return { ...validated, type: 'execution', execute: async (contextValue, abortSignal) => run({ ...args, contextValue, abortSignal }) };
}

function pluginOf({ maxTokens, limitRules }: EngineOptions): Plugin<{ served: ServedSchema }> {
  return {
    // The whole of the hot swap: an operation has the schema that served when it came.
    onEnveloped: ({ setSchema, context }) => setSchema(context?.served.schema as GraphQLSchema),
    onParse: ({ setParseFn }) => setParseFn((source, parseOptions) => parse(source, { ...parseOptions, maxTokens })),
    onValidate: ({ validateFn, setValidationFn }) =>
      setValidationFn((schema, document, ...rest) => {
        // 1,000 aliases take the standard rules 100 ms: what is over a bound is not shown to them.
        const over = validate(schema, document, limitRules);
        return over.length > 0 ? over : validateFn(schema, document, ...rest);
      }),
    // graphql-js itself: quicker on lists than Yoga's, and it heeds abortSignal.
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  };
}

function argumentsOf({ variables, operationName }: OperationRequest): { variableValues?: JsonObject; operationName?: string } {
  return { ...(variables === undefined ? {} : { variableValues: variables }), ...(operationName === undefined ? {} : { operationName }) };
}

function chooseOperation(document: DocumentNode, name: string | undefined): OperationDefinitionNode | GraphQLError {
  const operation = getOperationAST(document, name);
  if (operation) return operation;
  if (name !== undefined) return new GraphQLError(`no operation named ${JSON.stringify(name.slice(0, 80))} in the document`);
  const operations = document.definitions.filter((definition) => definition.kind === 'OperationDefinition');
  return new GraphQLError(
    operations.length === 0
      ? 'expected an operation, got fragments only'
      : 'expected operationName, as the document has several operations',
  );
}
