import { type ExecutionResult, type GraphQLSchema, parse, validate } from 'graphql';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createBudget } from '../../../src/graph/context/budget.ts';
import type { GraphContext } from '../../../src/graph/context/context.ts';
import { subscribeTo } from '../../../src/graph/context/subscribe.ts';
import { buildGraph } from '../../../src/graph/graph.ts';
import type { Logs } from '../../../src/load/logs/logs.ts';
import type { ClusterView, Reads, Row } from '../../../src/load/reads/reads.ts';
import type { Relations } from '../../../src/load/relations/relations.ts';
import type { Model, ModelKind } from '../../../src/model/model.ts';
import type { ChangesMessage } from '../../../src/streams/messages/changes-message.ts';
import type { Streams } from '../../../src/streams/messages/streams.ts';
import type { StreamSource } from '../../../src/streams/stream-source.ts';
import { loadBaseline, servedAs } from '../kubernetes-objects.ts';
import { attemptsWith, testExecutor } from './executor.ts';
import { noRelations } from './no-relations.ts';
import { noWrites } from './no-writes.ts';
import { idleContext } from './read-context.ts';

/** The arguments of a subscription for load. */
interface AskedOfLoad {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The graph alone, over parts that the test provides. A call of any other part throws. */
export interface GraphOfMessages {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  /** The calls of `streams` and `logs`, in order, without their context. */
  readonly asked: readonly AskedOfLoad[];
  /**
   * Resolves the root field of a valid subscription.
   *
   * @throws {Error} if the subscription is not valid.
   */
  subscribe(query: string, variables?: Readonly<Record<string, unknown>>): ReturnType<typeof subscribeTo>;
  /**
   * Executes the subscription for one message.
   *
   * @throws {Error} if its root field refuses.
   */
  render(query: string, message: object): Promise<{ readonly result: ExecutionResult | Promise<ExecutionResult> }>;
}

export interface GraphOfMessagesOptions {
  readonly reads?: Partial<Reads>;
  readonly streams?: Partial<Streams>;
  readonly logs?: Partial<Logs>;
  readonly relations?: Relations;
}

export const nowMs = Date.UTC(2026, 0, 1);

/** Makes a graph over hand-made messages. */
export function graphOfMessages({ reads, streams, logs, relations = noRelations }: GraphOfMessagesOptions = {}): GraphOfMessages {
  const model = loadBaseline();
  const schema = buildGraph(model);
  const asked: AskedOfLoad[] = [];
  const source: StreamSource<never> = { open: () => Promise.reject(new Error('expected no reader')) };
  const recorded =
    (method: string) =>
    (_context: unknown, ...args: readonly unknown[]) => {
      asked.push({ method, args });
      return source;
    };
  const contextValue = (): GraphContext => ({
    reads: onlyWith('reads', reads),
    streams: {
      changes: recorded('changes'),
      changesOfKinds: recorded('changesOfKinds'),
      jobStatus: recorded('jobStatus'),
      ...streams,
    },
    ...noWrites,
    relations,
    logs: onlyWith('logs', { follow: recorded('follow'), ...logs }),
    read: idleContext(),
    gateway: { version: '0.0.0', demo: false, readOnly: false, schemaHash: 'hash', schemaBuiltAtMs: 0 },
    clock: { now: () => nowMs },
    budget: createBudget(() => undefined),
  });
  const executor = testExecutor();
  const subscribe = (query: string, variableValues: Readonly<Record<string, unknown>> = {}) => {
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) throw new Error(`expected a valid document, got ${errors.join('; ')}`);
    return subscribeTo({ schema, document, variableValues, contextValue: contextValue() }, executor);
  };
  return {
    model,
    schema,
    asked,
    subscribe,
    async render(query, message) {
      const subscribed = await subscribe(query);
      if ('errors' in subscribed) throw new Error(`expected a stream, got ${subscribed.errors.join('; ')}`);
      return { result: subscribed.execute(message, attemptsWith(contextValue)) };
    },
  };
}

/** Makes the cluster of a message. */
export function viewOf(name: string, view: Partial<ClusterView> = {}): ClusterView {
  return { name: clusterName(name), labels: {}, zones: [], taints: [], phase: 'SYNCED', faults: [], ...view };
}

/** Makes the row of an object in a cluster that is in sync. */
export function rowIn(
  model: Model,
  cluster: ClusterView,
  { key, object }: { readonly key: string; readonly object: KubernetesObject },
): Row {
  const kind = kindOf(model, key);
  return { cluster, kind, resource: servedAs(model, key), object, sync: { cluster, kind, phase: 'SYNCED', asOfMs: nowMs } };
}

/** Makes a message about Pods in the cluster `north`. By default it is LIVE and empty. */
export function messageOf(model: Model, message: Partial<ChangesMessage> = {}): ChangesMessage {
  const nothing = { added: [], modified: [], deleted: [] };
  return { type: 'LIVE', cluster: viewOf('north'), kind: kindOf(model, 'Pod'), cursor: 'cursor', ...nothing, ...message };
}

export function kindOf(model: Model, key: string): ModelKind {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no kind ${key}`);
  return kind;
}

/** Makes a cluster name. */
export function named(name: string): ClusterName {
  return clusterName(name);
}

/** Wraps an object so that access to a missing member throws an error with its name, not a `TypeError`. */
function onlyWith<T extends object>(name: string, given: Partial<T> = {}): T {
  return new Proxy(given as T, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key);
      if (found === undefined) throw new Error(`expected nothing to be asked of ${name}, got ${String(key)}`);
      return found;
    },
  });
}
