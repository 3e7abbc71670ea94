import { type DocumentNode, type ExecutionResult, type GraphQLSchema, graphql, parse, validateExecutionArgs } from 'graphql';
import type { Access } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import type { Fault } from '../../../src/core/faults.ts';
import type { Log } from '../../../src/core/log.ts';
import type { ClusterName } from '../../../src/core/names.ts';
import { TimeSliceScheduler } from '../../../src/core/scheduling/operation-scheduler.ts';
import type { OperationExecutor } from '../../../src/execution/operation-executor.ts';
import { createBudget } from '../../../src/graph/context/budget.ts';
import type { GraphContext } from '../../../src/graph/context/context.ts';
import { buildGraph } from '../../../src/graph/graph.ts';
import { createReads } from '../../../src/load/create-reads.ts';
import { createLogs } from '../../../src/load/logs/create-logs.ts';
import type { Logs } from '../../../src/load/logs/logs.ts';
import { createLoaderFactory } from '../../../src/load/reads/operation-loaders.ts';
import type { LiveMember } from '../../../src/load/reads/read-object.ts';
import type { Reads } from '../../../src/load/reads/reads.ts';
import { createRelations } from '../../../src/load/relations/create-relations.ts';
import type { Model } from '../../../src/model/model.ts';
import { createStreams, type OwnedStreams } from '../../../src/streams/views/create-streams.ts';
import { loadBaseline } from '../kubernetes-objects.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { attemptsWith } from './executor.ts';
import { createFakeMirrors, type FakeMirrors } from './fake-mirrors.ts';
import { noWrites } from './no-writes.ts';

/** The result of an operation, with the faults and calls that came with it. */
interface Answer {
  readonly data: unknown;
  /** The data as JSON text. */
  readonly json: string;
  /** Returns the value at a dotted path of the data. A list in the path yields the values of all its elements. */
  at(path: string): unknown;
  readonly errors: ExecutionResult['errors'];
  readonly faults: readonly { readonly fault: Fault; readonly path: readonly (string | number)[] }[];
}

/** The whole read side over mirrors that the test fills. */
export interface GraphOverMirrors {
  readonly mirrors: FakeMirrors;
  readonly clock: ManualClock;
  readonly reads: Reads;
  readonly logs: Logs;
  readonly streams: OwnedStreams;
  readonly schema: GraphQLSchema;
  readonly logged: readonly { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[];
  /** Runs an operation as this caller. */
  ask(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    options?: {
      readonly caller?: string;
      readonly signal?: AbortSignal;
      /** True: run it as a message of a stream, which ends with the signal. */
      readonly isMessage?: boolean;
      /** Runs the operation. Default: graphql-js. */
      readonly executor?: OperationExecutor;
    },
  ): Promise<Answer>;
}

export interface GraphOverMirrorsOptions {
  readonly model?: Model;
  readonly access?: Access;
  readonly member?: (name: ClusterName) => LiveMember | undefined;
  readonly sealKey?: Uint8Array;
  readonly sensitiveKinds?: readonly string[];
  readonly mirrors?: FakeMirrors;
  /** The schema. It must have been built from the model. Default: one without Apollo Federation. */
  readonly schema?: GraphQLSchema;
  /** The write side, as far as the test scripts it. Every other call throws. */
  readonly writing?: Partial<Pick<GraphContext, 'writes' | 'propagations' | 'imports'>>;
}

/** Creates a gateway without network and HTTP. */
export function graphOverMirrors({ model = loadBaseline(), ...options }: GraphOverMirrorsOptions = {}): GraphOverMirrors {
  const clock = createManualClock();
  const mirrors = options.mirrors ?? createFakeMirrors(clock);
  const logged: { fields: Readonly<Record<string, unknown>>; message: string }[] = [];
  const line = (fields: Readonly<Record<string, unknown>>, message: string) => void logged.push({ fields, message });
  const log: Log = { debug: line, info: line, warn: line, error: line };
  const { access = createLocalAccess(), member = () => undefined, sealKey = new Uint8Array(32), sensitiveKinds = [] } = options;
  const shared = { mirrors, access, model: () => model, sealKey, sensitiveKinds, clock, log };
  const reads = createReads({ ...shared, member });
  const streams = createStreams({ ...shared, settingsOf: (name) => member(name)?.settings }, new AbortController().signal);
  const loadersOf = createLoaderFactory(shared);
  const relationsOf = createRelations(shared);
  const timeSlices = new TimeSliceScheduler(clock);
  const logs = createLogs({ mirrors, access, model: () => model, member, clock, log });
  const { schema = schemaOf(model) } = options;
  const gateway = { version: '0.0.0', demo: false, readOnly: false, schemaHash: 'hash', schemaBuiltAtMs: 0 };
  return {
    mirrors,
    clock,
    reads,
    streams,
    logs,
    schema,
    logged,
    async ask(source, variableValues = {}, { caller = 'me', signal = new AbortController().signal, isMessage = false, executor } = {}) {
      const faults: { fault: Fault; path: readonly (string | number)[] }[] = [];
      const budget = createBudget(() => signal.throwIfAborted());
      using loaders = loadersOf({ caller: { key: caller }, signal, isMessage });
      const read = {
        loaders,
        countReads: budget.countReads,
        timeSlices: timeSlices.createSlices(() => signal.throwIfAborted()),
        caller: { key: caller },
        signal,
        reportFault: (fault: Fault, path: readonly (string | number)[]) => void faults.push({ fault, path }),
      };
      const contextValue: GraphContext = {
        reads,
        relations: relationsOf(read),
        streams,
        logs,
        ...noWrites,
        ...options.writing,
        read,
        gateway,
        clock,
        budget,
      };
      const result =
        executor === undefined
          ? await graphql({ schema, source, variableValues, contextValue })
          : await executeWith(executor, { schema, document: documentOf(source), variableValues, contextValue });
      // The data as a client receives it: without null prototypes, and with integers as JSON.stringify prints them.
      const json = JSON.stringify(result.data ?? null);
      const data: unknown = JSON.parse(json);
      return { data, json, errors: result.errors, faults, at: (path) => valueAt(data, path.split('.')) };
    },
  };
}

const documents = new Map<string, DocumentNode>();

/** Parses a text once, because an executor knows an operation by its document. */
function documentOf(source: string): DocumentNode {
  const document = documents.get(source) ?? parse(source);
  documents.set(source, document);
  return document;
}

function executeWith(executor: OperationExecutor, args: Parameters<typeof validateExecutionArgs>[0]) {
  const validated = validateExecutionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  return executor.execute(
    validated,
    attemptsWith(() => args.contextValue as GraphContext),
  );
}

const schemas = new WeakMap<Model, GraphQLSchema>();

/** Builds the schema of a model once, because it has no other state. */
function schemaOf(model: Model): GraphQLSchema {
  const schema = schemas.get(model) ?? buildGraph(model);
  schemas.set(model, schema);
  return schema;
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((element) => valueAt(element, key === undefined ? [] : [key, ...rest]));
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  return valueAt((value as Readonly<Record<string, unknown>>)[key], rest);
}
