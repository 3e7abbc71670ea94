import type { ExecutionResult, FormattedExecutionResult } from 'graphql';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { withoutValues } from '../core/loggable-error.ts';
import type { FaultReport } from './fault-report.ts';
import { clientError, type MaskOptions, maskedCode } from './masking.ts';

/** What came of executing an operation: a result, or what kept it from having one. */
export type Outcome = ExecutionResult | { readonly failure: unknown };

/** An outcome as its client gets it. */
export interface AnswerBody {
  readonly body: FormattedExecutionResult;
  /** Different faults told in it. */
  readonly faults: number;
}

/** Masks the errors of an outcome and adds the faults behind its nulls: one way for all transports, for answers as for messages. */
export function answerBody(outcome: Outcome, report: FaultReport, masking: MaskOptions): AnswerBody {
  const entries = report.entries();
  const told = tellable(outcome, masking);
  const body = entries === undefined ? told : { ...told, extensions: { faults: entries } };
  return { body, faults: entries?.length ?? 0 };
}

/** `OK`, or the code of the first error. */
export function codeOf({ errors }: FormattedExecutionResult): string {
  const first = errors?.[0];
  return first === undefined ? 'OK' : String(first.extensions?.code ?? maskedCode);
}

/** How the errors of one request are masked: bugs go to the log under its id. */
export function maskingOf(requestId: string, log: Log): MaskOptions {
  return {
    requestId,
    onBug: (error) => log.error({ requestId, error: withoutValues(error) }, 'a bug: an operation met an error nobody expects'),
  };
}

function tellable(outcome: Outcome, masking: MaskOptions): FormattedExecutionResult {
  if ('failure' in outcome) return { errors: [clientError(outcome.failure, masking)] };
  const { data, errors } = outcome;
  // What is too costly is refused as a whole: a null in the middle of an answer would look like absence.
  const tooCostly = errors?.find(({ originalError }) => originalError instanceof MusterError && originalError.code === 'TOO_COSTLY');
  if (tooCostly !== undefined) return { errors: [clientError(tooCostly, masking)] };
  const formatted = errors === undefined ? {} : { errors: errors.map((error) => clientError(error, masking)) };
  return data === undefined ? formatted : { ...formatted, data };
}
