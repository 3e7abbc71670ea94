import type { ExecutionResult, FormattedExecutionResult, GraphQLError } from 'graphql';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import type { AnswerEncoder } from './answer-encoder.ts';
import type { CompressedBytes } from './compressed-bytes.ts';
import type { FaultReport } from './fault-report.ts';
import { clientError, type HttpExtension, type MaskOptions, maskedCode, originalOf } from './masking.ts';
import type { AnsweredOperation, Operation } from './operation.ts';

/** The result of an execution, or the error that prevented a result. */
export type Outcome = ExecutionResult | { readonly failure: unknown };

/** An outcome in the form that the client gets. */
export interface AnswerBody {
  readonly body: FormattedExecutionResult;
  /** Number of different faults in the body. */
  readonly faults: number;
}

/** Masks the errors of an outcome, and adds the faults that explain its nulls. All transports use it, for answers and for messages of streams. */
export function answerBody(outcome: Outcome, report: FaultReport | undefined, masking: MaskOptions): AnswerBody {
  const entries = report?.entries();
  const told = tellable(outcome, masking);
  const body = entries === undefined ? told : { ...told, extensions: { faults: entries } };
  return { body, faults: entries?.length ?? 0 };
}

/** One complete answer, with the bytes that are sent. */
export class Answer {
  /** Makes the class look like an execution result, which Yoga passes on unchanged. */
  readonly data = null;
  readonly body: FormattedExecutionResult;
  /** The body as JSON in UTF-8, in one or more pieces. */
  readonly json: readonly Uint8Array[];
  readonly http: HttpExtension | undefined;
  /** The same bytes, also compressed. Undefined unless many clients get the same answer. */
  readonly compressed: CompressedBytes | undefined;

  constructor(body: FormattedExecutionResult, { json = [Buffer.from(JSON.stringify(body))], http, compressed }: AnswerParts = {}) {
    this.body = body;
    this.json = json;
    this.http = http;
    this.compressed = compressed;
  }

  /** `OK`, or the code of the first error. */
  get code(): string {
    return codeOf(this.body);
  }
}

type AnswerParts = Partial<Pick<Answer, 'json' | 'http' | 'compressed'>>;

export interface AnswersOptions {
  readonly encoder: AnswerEncoder;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Called for every operation that ended with an answer. */
  readonly onAnswered: (ended: AnsweredOperation) => void;
  /** Called for each request that was refused before its operation was known. */
  readonly onRefused: (refusal: { readonly code: string; readonly message: string }) => void;
}

/** Turns results into answers, for every transport. */
export class Answers {
  readonly #options: AnswersOptions;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /**
   * Masks, counts and encodes a result. Returns a promise only for a large result, which is encoded in slices.
   *
   * @throws The abort reason of the operation, if it was aborted during encoding. After its deadline it returns an answer with that error instead.
   */
  of(operation: Operation, result: ExecutionResult | Answer): Answer | Promise<Answer> {
    if (result instanceof Answer) return result;
    const { body, faults } = answerBody(result, operation.report, maskingOf(operation.requestId, this.#options.log));
    const http = result.errors?.[0]?.extensions?.http as HttpExtension | undefined;
    const end = (json: readonly Uint8Array[]) => this.#ended(operation, new Answer(body, { json, http }), faults);
    const fail = (error: unknown) => this.#failed(operation, error);
    try {
      const json = this.#options.encoder.encode(body, operation.life.signal);
      return json instanceof Promise ? json.then(end, fail) : end(json);
    } catch (error) {
      return fail(error);
    }
  }

  #failed(operation: Operation, error: unknown): Answer {
    if (operation.life.signal.aborted && operation.deadline?.passed !== true) throw error;
    const body = { errors: [clientError(error, maskingOf(operation.requestId, this.#options.log))] };
    return this.#ended(operation, new Answer(body), 0);
  }

  #ended({ requestId, caller, transport, params, type, startedMs }: Operation, answer: Answer, faults: number): Answer {
    const { clock, onAnswered, onRefused } = this.#options;
    const { code, body } = answer;
    const tookMs = clock.monotonic() - startedMs;
    if (params === undefined) onRefused({ code, message: body.errors?.[0]?.message ?? '' });
    else onAnswered({ requestId, caller, transport, request: params, operationType: type, code, faults, tookMs });
    return answer;
  }
}

/** `OK`, or the code of the first error. */
export function codeOf({ errors }: FormattedExecutionResult): string {
  const first = errors?.[0];
  return first === undefined ? 'OK' : String(first.extensions?.code ?? maskedCode);
}

/** The mask options of one request. Bugs are logged with the id of the request. */
export function maskingOf(requestId: string, log: Log): MaskOptions {
  return {
    requestId,
    onBug: (error) => log.error({ requestId, error: loggableError(error) }, 'a bug: an operation met an error nobody expects'),
  };
}

function tellable(outcome: Outcome, masking: MaskOptions): FormattedExecutionResult {
  if ('failure' in outcome) return { errors: [clientError(outcome.failure, masking)] };
  const { data, errors } = outcome;
  // If one field is too costly, the whole operation is refused: a null in the answer would look like a missing object.
  const tooCostly = errors?.find(isTooCostly);
  if (tooCostly !== undefined) return { errors: [clientError(tooCostly, masking)] };
  const formatted = errors === undefined ? {} : { errors: errors.map((error) => clientError(error, masking)) };
  return data === undefined ? formatted : { ...formatted, data };
}

function isTooCostly(error: GraphQLError): boolean {
  const original = originalOf(error);
  return original instanceof MusterError && original.code === 'TOO_COSTLY';
}
