import type { FormattedExecutionResult } from 'graphql';
import type { Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import { JsonList } from '../../execution/json-list.ts';
import type { ExecutionAttempts } from '../../execution/operation-executor.ts';
import type { OpenedSubscription } from '../../graph/context/subscribe.ts';
import { type AnswerEncoder, jsonLength } from '../../operations/answer-encoder.ts';
import type { ExecutionOutcome } from '../../operations/answers.ts';
import { maskResult, resultCode } from '../../operations/answers.ts';
import type { Deadline, Deadlines } from '../../operations/deadlines.ts';
import { faultReporter, OperationFaults } from '../../operations/fault-report.ts';
import type { MaskOptions } from '../../operations/masking.ts';
import type { OperationScope } from '../../operations/operation.ts';
import type { ServedSchema } from '../../operations/served-schema.ts';
import { ObjectMessage } from '../object-message.ts';
import { MessageBytes } from '../outlet.ts';

/** The result of rendering one message. */
export type MessageRendering =
  | { readonly type: 'message'; readonly payload: MessageBytes }
  /** The message holds too many objects for one answer of this document. These messages replace it, in order. */
  | { readonly type: 'split'; readonly messages: readonly object[] }
  /** The message has only errors. The stream ends, because it would have a gap without this message. */
  | {
      readonly type: 'last';
      readonly code: string;
      /** Returns the errors for one stream. Each stream has its own request id, which is also in the log. */
      bodyFor(masking: MaskOptions): FormattedExecutionResult;
    };

/**
 * Maximum length of a message with several objects: 256 · 1,024 characters. A longer one is split, so that a slow client can resume between
 * the parts.
 */
const maxLength = 256 << 10;

/** Maximum number of characters of a message that are counted. Counting more would take over a millisecond. */
const longestCounted = 4 << 20;

export interface StreamGroupOptions {
  readonly execute: OpenedSubscription['execute'];
  readonly served: ServedSchema;
  /** The caller of the first stream. Either no field of the document depends on the caller, or all streams of the group have this caller. */
  readonly caller: Caller;
  readonly contextOf: (scope: OperationScope) => object;
  readonly encoder: AnswerEncoder;
  /** Bounds the time to make one message. */
  readonly deadlines: Deadlines;
  readonly masking: MaskOptions;
  /** True if the document selects fields that can change although the objects of a message do not. */
  readonly isVolatile: boolean;
  /** Called with the bytes of a rendered message, unless it ended in errors. */
  readonly onRendered: (message: object, payload: MessageBytes) => void;
}

/**
 * Streams that get the same bytes of each message: one execution and one encoding for all of them. The result is kept as long as the
 * message exists.
 *
 * Exception: a first state of a volatile document is rendered again for each stream, because it may be given to streams that begin much
 * later.
 *
 * Next: `execute` runs the document over the message (execution/operation-executor.ts). The resolvers (graph/streams/changes.ts) read the
 * rows of the message.
 */
export class StreamGroup {
  readonly #options: StreamGroupOptions;
  readonly #renderings = new WeakMap<object, MessageRendering | Promise<MessageRendering>>();
  readonly #abortController = new AbortController();
  #members = 0;
  /**
   * Maximum number of objects in one message. If a message costs too much for the document, the new maximum is half of its objects. The
   * maximum grows by one after each message of that size.
   */
  #mostObjects = Number.POSITIVE_INFINITY;
  /** Characters and objects of the latest messages. Each message halves the weight of those before it. */
  #recent = { length: 0, objects: 0 };
  /** Halves of a message that was too long. They are rendered before they are split again, because only one half may be long. */
  readonly #halves = new WeakSet<object>();

  constructor(options: StreamGroupOptions) {
    this.#options = options;
  }

  get served(): ServedSchema {
    return this.#options.served;
  }

  join(): void {
    this.#members++;
  }

  /** Removes one stream from the group. If it was the last one, aborts the renderings in progress and returns true. */
  leave(): boolean {
    this.#members--;
    if (this.#members > 0) return false;
    this.#abortController.abort(noStreamLeft);
    return true;
  }

  /** Returns the shared rendering of a message if it exists or is being made, else undefined. */
  findRendering(message: object): MessageRendering | Promise<MessageRendering> | undefined {
    return this.#renderings.get(message);
  }

  /**
   * Renders a message, and stores the result for the other streams of the group. Returns a promise if a field has to wait, or if the
   * result is long. The call does not throw, and the promise does not reject.
   */
  render(message: object): MessageRendering | Promise<MessageRendering> {
    const renewed = this.#options.isVolatile && message instanceof ObjectMessage ? message.renew() : undefined;
    const made = (this.#halves.has(message) ? undefined : this.#split(renewed ?? message)) ?? this.#make(renewed ?? message);
    if (renewed === undefined) this.#renderings.set(message, made);
    return made;
  }

  /**
   * Splits a message before it is rendered, if the length and cost of earlier messages show that it is too large. Undefined if it is small
   * enough.
   */
  #split(message: object): MessageRendering | undefined {
    const { length, objects } = this.#recent;
    // The aim is three quarters of the bound, because objects differ in length.
    const maxByLength = length === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor((0.75 * maxLength * objects) / length));
    const max = Math.min(this.#mostObjects, maxByLength);
    if (!(message instanceof ObjectMessage) || message.objectCount <= max) return undefined;
    return { type: 'split', messages: message.split(max) };
  }

  /** Splits a message that was too costly as a whole. Undefined if it cannot be split. */
  #splitCostly(message: object): MessageRendering | undefined {
    if (!(message instanceof ObjectMessage) || message.objectCount < 2) return undefined;
    this.#mostObjects = Math.min(this.#mostObjects, Math.floor(message.objectCount / 2));
    return this.#split(message);
  }

  /** Splits a message that is too long as a whole. Undefined if it is short enough or cannot be split. */
  #splitLong(message: object, body: FormattedExecutionResult): MessageRendering | undefined {
    if (!(message instanceof ObjectMessage) || message.objectCount === 0) return undefined;
    const length = jsonLength(listsOf(body), longestCounted);
    this.#recent = { length: this.#recent.length / 2 + length, objects: this.#recent.objects / 2 + message.objectCount };
    if (length <= maxLength || message.objectCount < 2) return undefined;
    // The message is split in halves. After a few splits, a very large object is in a message of its own, and the messages with the other
    // objects stay large.
    const halves = message.split(Math.ceil(message.objectCount / 2));
    for (const half of halves) this.#halves.add(half);
    return { type: 'split', messages: halves };
  }

  #make(message: object): MessageRendering | Promise<MessageRendering> {
    const { execute, served, caller, contextOf, deadlines } = this.#options;
    const deadline = deadlines.start(ignored);
    let report = new OperationFaults();
    const resources = new DisposableStack();
    const finish = (outcome: ExecutionOutcome) => {
      resources.dispose();
      deadline.end();
      return this.#finish(message, outcome, report);
    };
    try {
      const { signal } = this.#abortController;
      const throwIfOver = checkOf(deadline, deadlines.seconds, signal);
      const newContext: ExecutionAttempts['newContext'] = (executor) => {
        report = new OperationFaults();
        const reportFault = faultReporter(report, executor);
        return contextOf({ caller, signal, servedSchema: served, resources, isMessage: true, throwIfOver, reportFault });
      };
      const result = execute(message, { newContext, throwIfOver });
      if (result instanceof Promise) return result.catch((failure: unknown) => ({ failure })).then(finish);
      return finish(result);
    } catch (failure) {
      return finish({ failure });
    }
  }

  #finish(message: object, outcome: ExecutionOutcome, report: OperationFaults): MessageRendering | Promise<MessageRendering> {
    const { masking, encoder } = this.#options;
    const bugs: unknown[] = [];
    const { body } = maskResult(outcome, report, { ...masking, onBug: (error) => bugs.push(error) });
    if (body.data === undefined || body.data === null) {
      const split = resultCode(body) === 'TOO_COSTLY' ? this.#splitCostly(message) : undefined;
      if (split !== undefined) return split;
      return { type: 'last', code: resultCode(body), bodyFor: (own) => maskResult(outcome, report, own).body };
    }
    const shorter = this.#splitLong(message, body);
    if (shorter !== undefined) return shorter;
    // This error only ends renderings for which no stream is left.
    for (const bug of bugs) if (bug !== noStreamLeft) masking.onBug(bug);
    try {
      const json = encoder.encode(body, this.#abortController.signal);
      if (!(json instanceof Promise)) return this.#payload(message, json);
      return json.then((late) => this.#payload(message, late)).catch((failure: unknown) => this.#finish(message, { failure }, report));
    } catch (failure) {
      return this.#finish(message, { failure }, report);
    }
  }

  #payload(message: object, json: readonly Buffer[]): MessageRendering {
    const [only] = json;
    const payload = new MessageBytes(json.length === 1 && only !== undefined ? only : Buffer.concat(json));
    this.#options.onRendered(message, payload);
    // This message did not cost too much, so the limit grows by one. A larger step would execute more messages in vain.
    if (message instanceof ObjectMessage && message.objectCount >= this.#mostObjects) this.#mostObjects++;
    return { type: 'message', payload };
  }
}

/**
 * Returns the lists of objects in a message. Only their length decides about a split: other fields, such as a summary, are repeated in each
 * part and do not get shorter.
 */
function listsOf({ data }: FormattedExecutionResult): readonly unknown[] {
  return Object.values(data ?? {}).flatMap((field) =>
    Object.values(field ?? {}).filter((part) => Array.isArray(part) || part instanceof JsonList),
  );
}

/**
 * Returns a check that throws if no stream is left, or if the time is over. It is a function of its own, so that the check does not keep
 * the message in memory.
 */
function checkOf(deadline: Deadline, seconds: number, signal: AbortSignal): () => void {
  return () => {
    signal.throwIfAborted();
    deadline.check();
    if (deadline.hasPassed) throw new MusterError('TOO_COSTLY', `expected to make a message within ${seconds} s`);
  };
}

function ignored(): void {}

/** The abort reason if no stream is left. Not an error. */
const noStreamLeft = new Error('the stream has ended');
