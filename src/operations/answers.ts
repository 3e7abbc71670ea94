import type { ExecutionResult, FormattedExecutionResult, GraphQLError } from 'graphql';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import type { AnswerEncoder } from './answer-encoder.ts';
import type { CompressedBytes } from './compressed-bytes.ts';
import type { OperationFaults } from './fault-report.ts';
import { clientError, type HttpExtension, type MaskOptions, maskedCode, originalErrorOf } from './masking.ts';
import type { AnsweredOperation, GraphqlOperation } from './operation.ts';

/** The result of an execution, or the error that prevented a result. */
export type ExecutionOutcome = ExecutionResult | { readonly failure: unknown };

/** An outcome in the form that the client gets. */
export interface MaskedResult {
  readonly body: FormattedExecutionResult;
  /** Number of different faults in the body. */
  readonly faults: number;
}

/** Masks the errors of an outcome, and adds the faults that explain its nulls. All transports use it, for answers and for messages of streams. */
export function maskResult(outcome: ExecutionOutcome, report: OperationFaults | undefined, masking: MaskOptions): MaskedResult {
  const entries = report?.reported();
  const masked = maskOutcome(outcome, masking);
  const body = entries === undefined ? masked : { ...masked, extensions: { faults: entries } };
  return { body, faults: entries?.length ?? 0 };
}

/** One complete answer, with the bytes that are sent. */
export class EncodedAnswer {
  /** Yoga takes an object with `data` for an execution result and passes it on unchanged. */
  readonly data = null;
  readonly body: FormattedExecutionResult;
  /** The body as JSON in UTF-8, in one or more pieces. */
  readonly json: readonly Uint8Array[];
  readonly http: HttpExtension | undefined;
  /** Compressed forms of the same bytes. Undefined unless many clients get the same answer. */
  readonly compressed: CompressedBytes | undefined;

  constructor(body: FormattedExecutionResult, { json = [Buffer.from(JSON.stringify(body))], http, compressed }: AnswerParts = {}) {
    this.body = body;
    this.json = json;
    this.http = http;
    this.compressed = compressed;
  }

  /** `OK`, or the code of the first error. */
  get code(): string {
    return resultCode(this.body);
  }
}

type AnswerParts = Partial<Pick<EncodedAnswer, 'json' | 'http' | 'compressed'>>;

export interface AnswerFactoryOptions {
  readonly encoder: AnswerEncoder;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Called for every operation that ended with an answer. */
  readonly onAnswered: (ended: AnsweredOperation) => void;
  /** Called for each request that was refused before its operation was known. */
  readonly onRefused: (refusal: { readonly code: string; readonly message: string }) => void;
}

/** Turns results into answers, for every transport. */
export class AnswerFactory {
  readonly #options: AnswerFactoryOptions;

  constructor(options: AnswerFactoryOptions) {
    this.#options = options;
  }

  /**
   * Turns a result into an answer: masks its errors, encodes it, and reports it to `onAnswered` or `onRefused`. An encoded answer is
   * returned unchanged. Returns a promise only for a large result, which is encoded in slices.
   *
   * If encoding fails, or the deadline of the operation passes meanwhile, the answer has only this error.
   *
   * @throws The abort reason, if the operation was aborted during encoding for another reason than its deadline.
   */
  answerTo(operation: GraphqlOperation, result: ExecutionResult | EncodedAnswer): EncodedAnswer | Promise<EncodedAnswer> {
    if (result instanceof EncodedAnswer) return result;
    const { body, faults } = maskResult(result, operation.faults, maskOptionsFor(operation.requestId, this.#options.log));
    const http = result.errors?.[0]?.extensions?.http as HttpExtension | undefined;
    const end = (json: readonly Uint8Array[]) => this.#ended(operation, new EncodedAnswer(body, { json, http }), faults);
    const fail = (error: unknown) => this.#failed(operation, error);
    try {
      const json = this.#options.encoder.encode(body, operation.abortController.signal);
      return json instanceof Promise ? json.then(end, fail) : end(json);
    } catch (error) {
      return fail(error);
    }
  }

  #failed(operation: GraphqlOperation, error: unknown): EncodedAnswer {
    if (operation.abortController.signal.aborted && operation.deadline?.hasPassed !== true) throw error;
    const body = { errors: [clientError(error, maskOptionsFor(operation.requestId, this.#options.log))] };
    return this.#ended(operation, new EncodedAnswer(body), 0);
  }

  #ended(
    { requestId, caller, transport, params, type, startedMs }: GraphqlOperation,
    answer: EncodedAnswer,
    faults: number,
  ): EncodedAnswer {
    const { clock, onAnswered, onRefused } = this.#options;
    const { code, body } = answer;
    const tookMs = clock.monotonic() - startedMs;
    if (params === undefined) onRefused({ code, message: body.errors?.[0]?.message ?? '' });
    else onAnswered({ requestId, caller, transport, request: params, operationType: type, code, faults, tookMs });
    return answer;
  }
}

/** `OK`, or the code of the first error. */
export function resultCode({ errors }: FormattedExecutionResult): string {
  const first = errors?.[0];
  return first === undefined ? 'OK' : String(first.extensions?.code ?? maskedCode);
}

/** Returns the mask options of one request. Bugs are logged with the id of the request. */
export function maskOptionsFor(requestId: string, log: Log): MaskOptions {
  return {
    requestId,
    onBug: (error) => log.error({ requestId, error: loggableError(error) }, 'a bug: an operation failed with an unexpected error'),
  };
}

function maskOutcome(outcome: ExecutionOutcome, masking: MaskOptions): FormattedExecutionResult {
  if ('failure' in outcome) return { errors: [clientError(outcome.failure, masking)] };
  const { data, errors } = outcome;
  // If one field is too costly, the whole operation is refused: a null in the answer would look like a missing object.
  const tooCostly = errors?.find(isTooCostly);
  if (tooCostly !== undefined) return { errors: [clientError(tooCostly, masking)] };
  const formatted = errors === undefined ? {} : { errors: errors.map((error) => clientError(error, masking)) };
  return data === undefined ? formatted : { ...formatted, data };
}

function isTooCostly(error: GraphQLError): boolean {
  const original = originalErrorOf(error);
  return original instanceof MusterError && original.code === 'TOO_COSTLY';
}
