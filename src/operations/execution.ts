import { type ExecutionArgs, execute, OperationTypeNode } from 'graphql';
import { invariant, MusterError } from '../core/errors.ts';
import type { Deadlines } from './deadlines.ts';
import { OperationFaults } from './fault-report.ts';
import { type OperationPlugin, type OperationScope, operationOf, type PrepareCaller } from './operation.ts';

/** Share of the time limit in which an operation may wait for clusters. The rest is for reading and sending. */
const waitingShare = 0.8;

interface ExecutionOptions {
  /** Makes the context of the resolvers. */
  readonly contextOf: (scope: OperationScope) => object;
  /** Called before each operation. Default: nothing has to be prepared. */
  readonly prepare?: PrepareCaller | undefined;
}

/**
 * Executes queries and mutations with graphql-js. It is faster on lists than Yoga's executor, and it stops on `abortSignal`.
 *
 * An aborted operation fails with its abort reason.
 *
 * Next: graphql-js calls the resolvers with the context of `contextOf` (gateway.ts). List fields such as `pods` are in
 * graph/objects/query.ts. The modules of all other fields are named in graph/graph.ts.
 */
export function useExecution(options: ExecutionOptions): OperationPlugin {
  return { onExecute: ({ setExecuteFn }) => setExecuteFn((args: ExecutionArgs) => run(args, options)) };
}

async function run(args: ExecutionArgs, { contextOf, prepare }: ExecutionOptions) {
  const operation = operationOf(args);
  const { abortController, caller, requestId, servedSchema, deadline, waitUntilMs } = operation;
  const { signal } = abortController;
  const report = new OperationFaults();
  operation.faults = report;
  invariant(servedSchema !== undefined && waitUntilMs !== undefined, 'expected an operation with a schema and a deadline');
  using held = new DisposableStack();
  try {
    const throwIfOver = () => {
      deadline?.check();
      signal.throwIfAborted();
    };
    const preparing = prepare?.(caller, signal);
    if (preparing !== undefined) await preparing;
    throwIfOver();
    const reportFault = report.add.bind(report);
    const contextValue = contextOf({
      caller,
      requestId,
      signal,
      waitUntilMs,
      servedSchema,
      resources: held,
      isMessage: false,
      throwIfOver,
      reportFault,
    });
    const result = await execute({ ...args, contextValue, abortSignal: signal });
    // After the deadline the result may contain the abort reason as the error of a field. Such a result is dropped.
    if (deadline?.hasPassed !== true) return result;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw signal.reason;
}

/** Aborts queries and mutations with `TOO_COSTLY` when their time is over. */
export function useDeadlines({ queries, mutations }: { readonly queries: Deadlines; readonly mutations: Deadlines }): OperationPlugin {
  return {
    onExecute: ({ executeFn, setExecuteFn }) =>
      setExecuteFn((args) => {
        const operation = operationOf(args);
        const limit = operation.type === OperationTypeNode.MUTATION ? mutations : queries;
        const tooLong = () =>
          operation.abortController.abort(new MusterError('TOO_COSTLY', `expected to answer within ${limit.seconds} s`));
        operation.deadline = limit.start(tooLong);
        operation.waitUntilMs = limit.dueAtShareMs(waitingShare);
        return executeFn(args);
      }),
  };
}
