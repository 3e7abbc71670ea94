import { type FormattedExecutionResult, OperationTypeNode } from 'graphql';
import type { Caller } from '../access/access.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Fault } from '../core/faults.ts';
import type { Log } from '../core/log.ts';
import { answerBody, codeOf, maskingOf, type Outcome } from './answer-body.ts';
import type { AnswerEncoder } from './answer-encoder.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import type { Engine, ReadyExecution, ReadyOperation, ServedSchema } from './engine.ts';
import { FaultReport } from './fault-report.ts';
import { clientError, type MaskOptions } from './masking.ts';
import type { OperationRequest } from './request-body.ts';

/** The share of an operation's time in which it may wait for clusters. The rest is left for reading and sending what is there. */
const waitingShare = 0.8;

/** What one operation needs to know of its caller. */
export interface OperationScope {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** When waiting for clusters ends at the latest, in milliseconds of the monotonic clock. Default: no such time. */
  readonly waitUntilMs?: number;
  readonly served: ServedSchema;
  /** What ends when the operation is answered: of a subscription, the message. */
  readonly held: DisposableStack;
  /** True for a message of a subscription, behind which others stand. The signal is that of all of them. */
  readonly isMessage: boolean;
  /** Throws the signal's reason once the operation is over; if its time is, also where the loop had no turn to say so. */
  throwIfOver(): void;
  reportFault(fault: Fault, path: readonly (string | number)[]): void;
}

export interface OperationsOptions {
  readonly engine: Engine;
  /** What the resolvers get. */
  readonly contextOf: (scope: OperationScope) => object;
  /** Of everything but mutations. */
  readonly deadlines: Deadlines;
  readonly mutationDeadlines: Deadlines;
  readonly encoder: AnswerEncoder;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of every operation that ended with an answer. */
  readonly onAnswered: (ended: AnsweredOperation) => void;
}

/** Who asks, over what, and until when. */
export interface Asking {
  readonly requestId: string;
  readonly caller: Caller;
  readonly transport: 'http' | 'websocket' | 'sse';
  /** The operation's own: aborted when the client has gone, when the gateway ends, or when its time is over. */
  readonly life: AbortController;
}

/** One operation that was answered, for metrics and log. */
export interface AnsweredOperation extends Pick<Asking, 'requestId' | 'caller' | 'transport'> {
  readonly request: OperationRequest;
  /** Undefined where the document could not be understood. */
  readonly operationType: OperationTypeNode | undefined;
  /** `OK`, or the code of its first error. */
  readonly code: string;
  readonly faults: number;
  /** Milliseconds it took, or lived. */
  readonly tookMs: number;
}

export interface Answer {
  /** `request`: it did not get to run. Then there is no `data`. */
  readonly stage: 'request' | 'execution';
  readonly code: string;
  readonly body: FormattedExecutionResult;
  /** The bytes of its JSON, in order. */
  readonly json: readonly Buffer[];
}

/** Runs operations for every transport: one verdict, one masking, one deadline. */
export class Operations {
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Parses and validates: what can run, or the answer that says why not. */
  prepare(request: OperationRequest, asking: Asking): ReadyOperation | Answer {
    const startedMs = this.#options.clock.monotonic();
    const prepared = this.#options.engine.prepare(request);
    if (prepared.result === 'ready') return prepared.ready;
    return this.#failed({ request, asking, startedMs, operationType: undefined }, prepared.errors, 'request');
  }

  /** The answer to an operation that is understood, but not served in the way it was asked for. */
  refuse(
    ready: ReadyOperation,
    request: OperationRequest,
    { asking, error }: { readonly asking: Asking; readonly error: MusterError },
  ): Answer {
    const startedMs = this.#options.clock.monotonic();
    return this.#failed({ request, asking, startedMs, operationType: ready.operation.operation }, [error], 'request');
  }

  /**
   * Runs a prepared operation until its answer is encoded or its time is over.
   *
   * @throws The reason of the asking's life, if somebody else has ended it: nobody waits for an answer then, or it is the one to be told.
   */
  async run(ready: ReadyExecution, request: OperationRequest, asking: Asking): Promise<Answer> {
    const startedMs = this.#options.clock.monotonic();
    const about: About = { request, asking, startedMs, operationType: ready.operation.operation };
    const { life } = asking;
    const deadlines = this.#deadlinesOf(ready);
    const deadline = deadlines.start(() => life.abort(new MusterError('TOO_COSTLY', `expected to answer within ${deadlines.seconds} s`)));
    try {
      const report = new FaultReport();
      const waitUntilMs = startedMs + deadlines.seconds * 1_000 * waitingShare;
      const outcome = await this.#execute(ready, asking, { report, deadline, waitUntilMs });
      const { body, faults } = answerBody(outcome, report, this.#masking(asking));
      try {
        const json = await this.#options.encoder.encode(body, life.signal);
        return this.#ended(about, { stage: 'execution', body, json, faults });
      } catch (error) {
        if (life.signal.aborted && !deadline.passed) throw error;
        return this.#failed(about, [error], 'execution');
      }
    } finally {
      deadline.end();
    }
  }

  async #execute(ready: ReadyExecution, { caller, life }: Asking, { report, deadline, waitUntilMs }: Execution): Promise<Outcome> {
    const { contextOf } = this.#options;
    using held = new DisposableStack();
    try {
      const { signal } = life;
      const throwIfOver = () => {
        deadline.check();
        signal.throwIfAborted();
      };
      const reportFault = report.add.bind(report);
      const scope = { caller, signal, waitUntilMs, served: ready.served, held, isMessage: false, throwIfOver, reportFault };
      const result = await ready.execute(contextOf(scope), signal);
      // What graphql-js had finished by then may hold the reason as an error of a field.
      return deadline.passed ? { failure: signal.reason } : result;
    } catch (error) {
      if (life.signal.aborted && !deadline.passed) throw life.signal.reason;
      return { failure: deadline.passed ? life.signal.reason : error };
    }
  }

  #deadlinesOf({ operation }: ReadyExecution): Deadlines {
    const { deadlines, mutationDeadlines } = this.#options;
    return operation.operation === OperationTypeNode.MUTATION ? mutationDeadlines : deadlines;
  }

  #masking({ requestId }: Asking): MaskOptions {
    return maskingOf(requestId, this.#options.log);
  }

  /** An answer of errors alone. */
  #failed(about: About, errors: readonly unknown[], stage: Answer['stage']): Answer {
    const body = { errors: errors.map((error) => clientError(error, this.#masking(about.asking))) };
    return this.#ended(about, { stage, body, json: [Buffer.from(JSON.stringify(body))], faults: 0 });
  }

  #ended(about: About, { faults, ...outcome }: Omit<Answer, 'code'> & { readonly faults: number }): Answer {
    const { request, asking, operationType } = about;
    const code = codeOf(outcome.body);
    const tookMs = this.#options.clock.monotonic() - about.startedMs;
    const { requestId, caller, transport } = asking;
    this.#options.onAnswered({ requestId, caller, transport, request, operationType, code, faults, tookMs });
    return { ...outcome, code };
  }
}

interface About {
  readonly request: OperationRequest;
  readonly asking: Asking;
  readonly startedMs: number;
  readonly operationType: OperationTypeNode | undefined;
}

interface Execution {
  readonly report: FaultReport;
  readonly deadline: Deadline;
  readonly waitUntilMs: number;
}
