import type { Fault } from '../core/faults.ts';
import { keyOfKind } from '../core/kinds.ts';
import { bails } from '../execution/bail.ts';
import type { ExecutionAttempts } from '../execution/operation-executor.ts';

/** One entry of `extensions.faults`. It explains nulls in the answer whose values exist but could not be given. */
export interface ReportedFault {
  /** The path of the first null with this fault. */
  readonly path: readonly (string | number)[];
  readonly count: number;
  readonly code: Fault['code'];
  readonly cluster: string;
  readonly kind: string | null;
  readonly message: string;
  readonly retry: Fault['retry'];
}

/**
 * Returns the function that reports the faults of one execution of an operation. While compiled code executes it, a `MISFIT` throws: a
 * stored value does not fit the type of its field. Then graphql-js executes the operation again, with another function of this kind.
 */
export function faultReporter(
  report: OperationFaults,
  executor: Parameters<ExecutionAttempts['newContext']>[0],
): (fault: Fault, path: readonly (string | number)[]) => void {
  return (fault, path) => {
    if (executor === 'compiled' && fault.code === 'MISFIT') throw bails.misfit;
    report.add(fault, path);
  };
}

/** Maximum number of different faults in one answer. `MISFIT` faults have a limit of their own, of the same size, so they push out no other fault. */
const maxReported = 100;

/**
 * Collects the faults of one operation that made values null: one entry for each code, cluster and kind. `MISFIT` faults, of values that do
 * not fit the type of their field, have one entry for each field too.
 */
export class OperationFaults {
  readonly #faults = new Map<string, { fault: Fault; path: readonly (string | number)[]; count: number }>();
  #misfits = 0;

  add(fault: Fault, path: readonly (string | number)[]): void {
    const isMisfit = fault.code === 'MISFIT';
    const field = isMisfit ? fault.message : '';
    const key = `${fault.code} ${fault.kind === undefined ? '' : keyOfKind(fault.kind)} ${fault.cluster} ${field}`;
    const known = this.#faults.get(key);
    if (known !== undefined) known.count++;
    if (known !== undefined || (isMisfit ? this.#misfits : this.#faults.size - this.#misfits) >= maxReported) return;
    this.#faults.set(key, { fault, path, count: 1 });
    if (isMisfit) this.#misfits++;
  }

  /** Returns the entries for `extensions.faults`. Undefined if there are none. */
  reported(): readonly ReportedFault[] | undefined {
    if (this.#faults.size === 0) return undefined;
    return [...this.#faults.values()].map(({ fault: { code, cluster, kind, message, retry }, path, count }) => ({
      path,
      count,
      code,
      cluster,
      kind: kind === undefined ? null : keyOfKind(kind),
      message,
      retry,
    }));
  }
}
