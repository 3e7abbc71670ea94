import { type ExecutionArgs, OperationTypeNode, validateExecutionArgs } from 'graphql';
import { invariant, MusterError } from '../core/errors.ts';
import type { ExecutionAttempts, OperationExecutor } from '../execution/operation-executor.ts';
import type { Deadlines } from './deadlines.ts';
import { faultReporter, OperationFaults } from './fault-report.ts';
import { type OperationPlugin, type OperationScope, operationOf, type PrepareCaller } from './operation.ts';

/** The fraction of the time limit for which an operation may wait for clusters. The rest is left for reading and sending. */
const waitingShare = 0.8;

interface ExecutionOptions {
  readonly executor: OperationExecutor;
  /** Makes the context of the resolvers. */
  readonly contextOf: (scope: OperationScope) => object;
  /** Called before each operation. Default: nothing has to be prepared. */
  readonly prepare?: PrepareCaller | undefined;
}

/**
 * Executes queries and mutations: as compiled code from the second use of a query on, else with graphql-js.
 *
 * An aborted operation fails with its abort reason.
 *
 * Next: the executor (execution/operation-executor.ts) calls the resolvers with the context of `contextOf` (gateway.ts). List fields such as
 * `pods` are in graph/objects/query.ts. The modules of all other fields are named in graph/graph.ts.
 */
export function useExecution(options: ExecutionOptions): OperationPlugin {
  return { onExecute: ({ setExecuteFn }) => setExecuteFn((args: ExecutionArgs) => run(args, options)) };
}

async function run(args: ExecutionArgs, { executor, contextOf, prepare }: ExecutionOptions) {
  const operation = operationOf(args);
  const { abortController, caller, requestId, servedSchema, deadline, waitUntilMs } = operation;
  const { signal } = abortController;
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
    const validated = validateExecutionArgs({ ...args, abortSignal: signal });
    if (!('schema' in validated)) return { errors: validated };
    const newContext: ExecutionAttempts['newContext'] = (by) => {
      const report = new OperationFaults();
      operation.faults = report;
      const resources = held;
      const reportFault = faultReporter(report, by);
      return contextOf({ caller, requestId, signal, waitUntilMs, servedSchema, resources, isMessage: false, throwIfOver, reportFault });
    };
    const result = await executor.execute(validated, { newContext, throwIfOver });
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
