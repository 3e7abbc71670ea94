import type { ExecutionResult, FormattedExecutionResult, GraphQLError } from 'graphql';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { withoutValues } from '../core/loggable-error.ts';
import type { AnswerEncoder } from './answer-encoder.ts';
import type { CompressedBytes } from './compressed-bytes.ts';
import type { FaultReport } from './fault-report.ts';
import { clientError, type HttpExtension, type MaskOptions, maskedCode, originalOf } from './masking.ts';
import type { AnsweredOperation, Operation } from './operations.ts';

/** What came of executing an operation: a result, or what kept it from having one. */
export type Outcome = ExecutionResult | { readonly failure: unknown };

/** An outcome as its client gets it. */
export interface AnswerBody {
  readonly body: FormattedExecutionResult;
  /** Different faults told in it. */
  readonly faults: number;
}

/** Masks the errors of an outcome and adds the faults behind its nulls: one way for all transports, for answers as for messages. */
export function answerBody(outcome: Outcome, report: FaultReport | undefined, masking: MaskOptions): AnswerBody {
  const entries = report?.entries();
  const told = tellable(outcome, masking);
  const body = entries === undefined ? told : { ...told, extensions: { faults: entries } };
  return { body, faults: entries?.length ?? 0 };
}

/** One whole answer in the bytes that are sent. */
export class Answer {
  /** Yoga passes it on as the result of an execution, without looking into it. */
  readonly data = null;
  readonly body: FormattedExecutionResult;
  /** The bytes of its JSON, in order. */
  readonly json: readonly Uint8Array[];
  readonly http: HttpExtension | undefined;
  /** The same bytes compressed, if the answer is one that many clients get. */
  readonly compressed: CompressedBytes | undefined;

  constructor(body: FormattedExecutionResult, { json = [Buffer.from(JSON.stringify(body))], http, compressed }: AnswerParts = {}) {
    this.body = body;
    this.json = json;
    this.http = http;
    this.compressed = compressed;
  }

  /** `OK`, or the code of its first error. */
  get code(): string {
    return codeOf(this.body);
  }
}

type AnswerParts = Partial<Pick<Answer, 'json' | 'http' | 'compressed'>>;

export interface AnswersOptions {
  readonly encoder: AnswerEncoder;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Told of every operation that ended with an answer. */
  readonly onAnswered: (ended: AnsweredOperation) => void;
  /** Told of each request that was refused before its operation was known. */
  readonly onRefused: (refusal: { readonly code: string; readonly message: string }) => void;
}

/** Makes answers of results, for every transport. */
export class Answers {
  readonly #options: AnswersOptions;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /**
   * Masks, counts and encodes a result. A promise only for large ones.
   *
   * @throws The reason of the operation's life, if that was aborted while encoding and not by its deadline.
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
  const tooCostly = errors?.find(isTooCostly);
  if (tooCostly !== undefined) return { errors: [clientError(tooCostly, masking)] };
  const formatted = errors === undefined ? {} : { errors: errors.map((error) => clientError(error, masking)) };
  return data === undefined ? formatted : { ...formatted, data };
}

function isTooCostly(error: GraphQLError): boolean {
  const original = originalOf(error);
  return original instanceof MusterError && original.code === 'TOO_COSTLY';
}
