import type { FormattedExecutionResult } from 'graphql';
import { MusterError } from '../../core/errors.ts';
import type { ScheduledWorker, WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import { clientError, type MaskOptions } from '../../operations/masking.ts';
import type { MessageBytes, StreamHandle, StreamOutlet } from '../outlet.ts';
import type { StreamListener, StreamReader } from '../stream-source.ts';
import type { MessageRendering, StreamGroup } from './stream-group.ts';

export interface StreamSenderOptions {
  readonly outlet: StreamOutlet;
  readonly scheduler: WorkScheduler;
  /** Renders messages to bytes. */
  readonly group: Pick<StreamGroup, 'findRendering' | 'render'>;
  /** Masks the errors of this stream. */
  readonly masking: MaskOptions;
  /** Called once when the stream has ended, for any reason. */
  readonly onClosed: (why: StreamEnd) => void;
}

/** The reason for the end of a stream, and the last message to its client. */
export interface StreamEnd {
  /** `CLIENT`, `LIFETIME`, or the code of an error. */
  readonly reason: string;
  /** The last message before `complete`. Default: none. */
  readonly last?: FormattedExecutionResult;
}

/**
 * Maximum number of messages that one call of `work` sends if they are rendered already, for other streams of the group. Ten such messages
 * cost little more than one.
 */
const maxReused = 16;

/**
 * Sends the messages of a reader to an outlet. It takes a message only when the outlet has room. Without room, changes merge in the queue
 * of the reader. While a message is being rendered, only this stream waits.
 *
 * It works in short calls of `work`, in one queue with all other streams. `ready` and `resume` put it into the queue; the scheduler calls
 * `work`.
 *
 * Next: the group renders the message (stream-group.ts), and the outlet writes its bytes: `SocketOperation` (serve/web-socket/socket-operation.ts)
 * or `EventStream` (serve/sse/event-stream.ts).
 */
export class StreamSender implements StreamHandle, StreamListener, ScheduledWorker {
  readonly outlet: StreamOutlet;
  readonly #options: StreamSenderOptions;
  #reader: StreamReader<object> | undefined;
  /** Parts of a message that was split. They are sent before the next message is taken. */
  #split: readonly object[] = [];
  /** The message that was sent last, if each message of the stream is a complete state (`StreamReader.isState`). */
  #state: MessageBytes | undefined;
  #phase: 'opening' | 'flowing' | 'full' | 'rendering' | 'ended' = 'opening';

  constructor(options: StreamSenderOptions) {
    this.outlet = options.outlet;
    this.#options = options;
  }

  get isEnded(): boolean {
    return this.#phase === 'ended';
  }

  /** Starts to send. From now on the sender owns the reader. If the stream has ended already, the reader is disposed. */
  start(reader: StreamReader<object>): void {
    if (this.isEnded) {
      reader[Symbol.dispose]();
      return;
    }
    this.#reader = reader;
    this.#phase = 'flowing';
    this.#options.scheduler.schedule(this);
  }

  ready(): void {
    if (this.#phase === 'flowing') this.#options.scheduler.schedule(this);
  }

  ended(reason: MusterError): void {
    this.end({ reason: reason.code, last: this.#maskedError(reason) });
  }

  resume(): void {
    if (this.#phase !== 'full') return;
    this.#phase = 'flowing';
    this.#options.scheduler.schedule(this);
  }

  close(): void {
    this.#finish({ reason: 'CLIENT' });
  }

  /**
   * Ends the stream because its request was aborted. If the reason is a `MusterError`, such as for credentials that have ended, the client
   * receives it. Else the stream ends without a message.
   */
  aborted(reason: unknown): void {
    if (reason instanceof MusterError) this.ended(reason);
    else this.close();
  }

  /** Ends the stream from the side of the gateway: sends the last message, if there is one, then `complete`. */
  end(why: StreamEnd): void {
    if (this.isEnded) return;
    this.#finish(why);
    this.outlet.end(why.last);
  }

  /** Sends up to 16 messages that are rendered already, and at most one that has to be rendered. True if more may be left. */
  work(): boolean {
    try {
      for (let reused = 0; reused < maxReused; reused++) {
        const sent = this.#sendNext();
        if (sent !== 'reused') return sent === 'rendered';
      }
      return true;
    } catch (error) {
      // A bug in one reader or outlet ends only this stream.
      this.#fail(error);
      return false;
    }
  }

  /**
   * Sends the next message, if the outlet has room. If another one may follow at once, returns whether this one was `rendered` now, or its rendering
   * `reused`. Returns `stop` in all other cases, also if a message was sent.
   */
  #sendNext(): 'rendered' | 'reused' | 'stop' {
    const { outlet } = this;
    const reader = this.#reader;
    if (this.#phase !== 'flowing' || reader === undefined) return 'stop';
    if (!outlet.hasRoom()) {
      this.#phase = 'full';
      reader.pause();
      return 'stop';
    }
    const [message = reader.take(), ...rest] = this.#split;
    this.#split = rest;
    if (message === undefined) return 'stop';
    const known = this.#options.group.findRendering(message);
    const rendering = known ?? this.#options.group.render(message);
    if (!(rendering instanceof Promise)) {
      const next = rendering.type === 'split' || rest.length > 0 || reader.hasMore ? 'more' : 'nothing';
      if (!this.#send(rendering, next) || next === 'nothing') return 'stop';
      return known === undefined ? 'rendered' : 'reused';
    }
    this.#phase = 'rendering';
    reader.pause();
    void rendering.then((late) => this.#sendLate(late)).catch((error: unknown) => this.#fail(error));
    return 'stop';
  }

  #sendLate(rendering: MessageRendering): void {
    if (this.#phase !== 'rendering') return;
    this.#phase = 'flowing';
    if (this.#send(rendering, 'nothing')) this.#options.scheduler.schedule(this);
  }

  /**
   * Sends the rendered message. Keeps the parts of a split message for the next calls, and ends the stream after its last message. False if
   * the stream has ended.
   */
  #send(rendering: MessageRendering, next: 'more' | 'nothing'): boolean {
    if (rendering.type === 'last') {
      this.end({ reason: rendering.code, last: rendering.bodyFor(this.#options.masking) });
      return false;
    }
    if (rendering.type === 'split') {
      this.#split = [...rendering.messages, ...this.#split];
      return true;
    }
    if (this.#isSentState(rendering.payload)) return true;
    const putOff = this.outlet.send(rendering.payload, next);
    if (putOff > 0) this.#options.scheduler.countWrittenBytes(putOff);
    return !this.isEnded;
  }

  /**
   * True if each message of the stream is a complete state, and this one equals the last one that was sent. It is then not sent. A
   * different state is stored for the next comparison.
   */
  #isSentState(payload: MessageBytes): boolean {
    if (this.#reader?.isState !== true) return false;
    if (this.#state?.json.equals(payload.json)) return true;
    this.#state = payload;
    return false;
  }

  #fail(error: unknown): void {
    const last = this.#maskedError(error);
    this.end({ reason: String(last.errors?.[0]?.extensions?.code), last });
  }

  #maskedError(error: unknown): FormattedExecutionResult {
    return { errors: [clientError(error, this.#options.masking)] };
  }

  #finish(why: StreamEnd): void {
    if (this.isEnded) return;
    this.#phase = 'ended';
    this.#options.scheduler.cancel(this);
    this.#reader?.[Symbol.dispose]();
    this.#reader = undefined;
    this.#split = [];
    this.#options.onClosed(why);
  }
}
