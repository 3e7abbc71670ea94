import type { FormattedExecutionResult } from 'graphql';
import type { MusterError } from '../../core/errors.ts';
import type { ScheduledWorker, WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import { clientError, type MaskOptions } from '../../operations/masking.ts';
import type { MessageBytes, StreamHandle, StreamOutlet } from '../outlet.ts';
import type { StreamListener, StreamReader } from '../stream-source.ts';
import type { MessageRendering, StreamGroup } from './stream-group.ts';

export interface StreamSenderOptions {
  readonly outlet: StreamOutlet;
  readonly scheduler: WorkScheduler;
  /** Makes of messages what is sent. */
  readonly group: Pick<StreamGroup, 'findRendering' | 'render'>;
  /** How its errors are told. */
  readonly masking: MaskOptions;
  /** Called once, whatever ended it. */
  readonly onClosed: (why: StreamEnd) => void;
}

/** Why a stream is over, and what its client is told last. */
export interface StreamEnd {
  /** `CLIENT`, `LIFETIME`, or a code. */
  readonly reason: string;
  /** Absent: nothing but `complete`. */
  readonly last?: FormattedExecutionResult;
}

/** Messages in one piece of work, where others in the group have had them made: written together, ten cost little more than one. */
const maxReady = 16;

/**
 * Carries messages from a reader to an outlet, each made as late as there is room for it. Without room nothing is taken, and what comes
 * is merged in the reader's queue; while one is being made nobody waits but its own client.
 */
export class StreamSender implements StreamHandle, StreamListener, ScheduledWorker {
  readonly outlet: StreamOutlet;
  readonly #scheduler: WorkScheduler;
  readonly #group: StreamSenderOptions['group'];
  readonly #masking: MaskOptions;
  readonly #onClosed: StreamSenderOptions['onClosed'];
  #reader: StreamReader<object> | undefined;
  /** Parts of a message that had to be split, to be sent before the reader is asked for another one. */
  #split: readonly object[] = [];
  /** The state that was sent last, if this is a stream of states. */
  #state: MessageBytes | undefined;
  #phase: 'opening' | 'flowing' | 'full' | 'rendering' | 'ended' = 'opening';

  constructor({ outlet, scheduler, group, masking, onClosed }: StreamSenderOptions) {
    this.outlet = outlet;
    this.#scheduler = scheduler;
    this.#group = group;
    this.#masking = masking;
    this.#onClosed = onClosed;
  }

  get isEnded(): boolean {
    return this.#phase === 'ended';
  }

  /** Begins to carry. The reader is its own from then on: disposed of at once if the end has come first. */
  start(reader: StreamReader<object>): void {
    if (this.isEnded) {
      reader[Symbol.dispose]();
      return;
    }
    this.#reader = reader;
    this.#phase = 'flowing';
    this.#scheduler.schedule(this);
  }

  ready(): void {
    if (this.#phase === 'flowing') this.#scheduler.schedule(this);
  }

  ended(reason: MusterError): void {
    this.end({ reason: reason.code, last: this.#tell(reason) });
  }

  resume(): void {
    if (this.#phase !== 'full') return;
    this.#phase = 'flowing';
    this.#scheduler.schedule(this);
  }

  close(): void {
    this.#finish({ reason: 'CLIENT' });
  }

  /** Ends it from our side: what is on its way is followed by the last message, if there is one, and `complete`. */
  end(why: StreamEnd): void {
    if (this.isEnded) return;
    this.#finish(why);
    this.outlet.end(why.last);
  }

  /** One message that has to be made; with those before it that others have had made already, as these cost next to nothing. */
  work(): boolean {
    try {
      for (let ready = 0; ready < maxReady; ready++) {
        const carried = this.#carryOne();
        if (carried !== 'ready') return carried === 'made';
      }
      return true;
    } catch (error) {
      // A bug in one reader or outlet ends this stream; those that stand behind it in the row are none of its business.
      this.#fail(error);
      return false;
    }
  }

  /** What there is more after: a message that had to be made for it, or one that was ready. `nothing`: there is no more, or it cannot be sent. */
  #carryOne(): 'made' | 'ready' | 'nothing' {
    const { outlet } = this;
    const reader = this.#reader;
    if (this.#phase !== 'flowing' || reader === undefined) return 'nothing';
    if (!outlet.hasRoom()) {
      this.#phase = 'full';
      reader.pause();
      return 'nothing';
    }
    const [message = reader.take(), ...rest] = this.#split;
    this.#split = rest;
    if (message === undefined) return 'nothing';
    const made = this.#group.findRendering(message);
    const rendering = made ?? this.#group.render(message);
    if (!(rendering instanceof Promise)) {
      const next = rendering.type === 'split' || rest.length > 0 || reader.hasMore ? 'more' : 'nothing';
      if (!this.#send(rendering, next) || next === 'nothing') return 'nothing';
      return made === undefined ? 'made' : 'ready';
    }
    this.#phase = 'rendering';
    reader.pause();
    void rendering.then((late) => this.#sendLate(late)).catch((error: unknown) => this.#fail(error));
    return 'nothing';
  }

  #sendLate(rendering: MessageRendering): void {
    if (this.#phase !== 'rendering') return;
    this.#phase = 'flowing';
    if (this.#send(rendering, 'nothing')) this.#scheduler.schedule(this);
  }

  /** False if that was the last one. */
  #send(rendering: MessageRendering, next: 'more' | 'nothing'): boolean {
    if (rendering.type === 'last') {
      this.end({ reason: rendering.code, last: rendering.tell(this.#masking) });
      return false;
    }
    if (rendering.type === 'split') {
      this.#split = [...rendering.messages, ...this.#split];
      return true;
    }
    if (this.#isSentState(rendering.payload)) return true;
    const putOff = this.outlet.send(rendering.payload, next);
    if (putOff > 0) this.#scheduler.countWrittenBytes(putOff);
    return !this.isEnded;
  }

  /** True for a state equal to the one before it: what changed is not in the document. */
  #isSentState(payload: MessageBytes): boolean {
    if (this.#reader?.isState !== true) return false;
    if (this.#state?.json.equals(payload.json)) return true;
    this.#state = payload;
    return false;
  }

  #fail(error: unknown): void {
    const last = this.#tell(error);
    this.end({ reason: String(last.errors?.[0]?.extensions?.code), last });
  }

  #tell(error: unknown): FormattedExecutionResult {
    return { errors: [clientError(error, this.#masking)] };
  }

  #finish(why: StreamEnd): void {
    if (this.isEnded) return;
    this.#phase = 'ended';
    this.#scheduler.cancel(this);
    this.#reader?.[Symbol.dispose]();
    this.#reader = undefined;
    this.#split = [];
    this.#onClosed(why);
  }
}
