import { type ExecutionResult, executeRootSelectionSet, type ValidatedExecutionArgs } from 'graphql';
import type { TimeSlices } from '../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../core/scheduling/promise-or-value.ts';
import { OperationCompiler, type OperationCompilerOptions } from './operation-compiler.ts';

/**
 * Callbacks for the attempts to run one operation. It has one or two attempts: with compiled code if there is any, and with graphql-js if there is
 * none or it gave up.
 */
export interface ExecutionAttempts {
  /**
   * Creates the context of the resolvers for one attempt. It contains nothing of an earlier attempt: budgets start again, and no fault is reported
   * yet. In a `compiled` attempt, reporting a misfit must throw, because only graphql-js knows the path of the value. A misfit is a stored value that
   * does not fit the type of its field.
   */
  newContext(executor: 'compiled' | 'graphql-js'): object;
  /** Throws the reason if the operation is over: it was aborted or its time has passed. */
  throwIfOver(): void;
}

/** Runs queries, mutations and messages of subscriptions, as compiled code or with graphql-js. The result is the same in both cases. */
export class OperationExecutor {
  readonly #compiler: OperationCompiler;

  constructor(options: OperationCompilerOptions) {
    this.#compiler = new OperationCompiler(options);
  }

  /**
   * Runs a validated operation. Returns a value and not a promise if no resolver waits and the first time slice is enough.
   *
   * @throws What `throwIfOver` throws. Errors of resolvers are in the result.
   */
  execute(validated: ValidatedExecutionArgs, { newContext, throwIfOver }: ExecutionAttempts): PromiseOrValue<ExecutionResult> {
    const runGeneric = () => executeRootSelectionSet({ ...validated, contextValue: newContext('graphql-js') });
    const compiled = this.#compiler.find(validated);
    if (compiled === undefined) return runGeneric();
    const retry = (error: unknown) => {
      throwIfOver();
      this.#compiler.failed(validated, error);
      return runGeneric();
    };
    try {
      const contextValue = newContext('compiled');
      const data = compiled({ ...validated, contextValue }, slicesOf(contextValue));
      return data instanceof Promise ? data.then((late) => ({ data: late }), retry) : { data };
    } catch (error) {
      return retry(error);
    }
  }
}

/** Returns the time slices in the context of the gateway. Other contexts have none: their operations are projected at once. */
function slicesOf(context: { readonly read?: { readonly timeSlices?: TimeSlices } }): TimeSlices | undefined {
  return context.read?.timeSlices;
}
