import type { FormattedExecutionResult } from 'graphql';
import type { MusterError } from '../core/errors.ts';
import type { StreamListener, StreamReader } from '../load/streams.ts';
import type { OpenStream, Outlet } from './outlet.ts';
import type { Rendering, StreamGroup } from './stream-group.ts';
import type { Turns, Worker } from './turns.ts';

export interface StreamOptions {
  readonly outlet: Outlet;
  readonly turns: Turns;
  /** Makes of messages what is sent. */
  readonly group: Pick<StreamGroup, 'has' | 'render'>;
  /** How an error is told. Does not throw. */
  readonly tell: (error: unknown) => FormattedExecutionResult;
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
export class Stream implements OpenStream, StreamListener, Worker {
  readonly #options: StreamOptions;
  #reader: StreamReader<object> | undefined;
  #phase: 'opening' | 'flowing' | 'full' | 'rendering' | 'ended' = 'opening';

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  get outlet(): Outlet {
    return this.#options.outlet;
  }

  get isEnded(): boolean {
    return this.#phase === 'ended';
  }

  /** Begins to carry. The reader is its own from then on: disposed of at once if the end has come first. */
  carry(reader: StreamReader<object>): void {
    if (this.isEnded) {
      reader[Symbol.dispose]();
      return;
    }
    this.#reader = reader;
    this.#phase = 'flowing';
    this.#options.turns.enter(this);
  }

  ready(): void {
    if (this.#phase === 'flowing') this.#options.turns.enter(this);
  }

  ended(reason: MusterError): void {
    this.end({ reason: reason.code, last: this.#options.tell(reason) });
  }

  resume(): void {
    if (this.#phase !== 'full') return;
    this.#phase = 'flowing';
    this.#options.turns.enter(this);
  }

  close(): void {
    this.#finish({ reason: 'CLIENT' });
  }

  /** Ends it from our side: what is on its way is followed by the last message, if there is one, and `complete`. */
  end(why: StreamEnd): void {
    if (this.isEnded) return;
    this.#finish(why);
    this.#options.outlet.end(why.last);
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

  /** What was carried: a message that had to be made for it, one that was ready, or nothing, as there is none or nothing can be sent. */
  #carryOne(): 'made' | 'ready' | 'nothing' {
    const { outlet, group } = this.#options;
    if (this.#phase !== 'flowing' || this.#reader === undefined) return 'nothing';
    if (!outlet.hasRoom()) {
      this.#phase = 'full';
      this.#reader.pause();
      return 'nothing';
    }
    const message = this.#reader.take();
    if (message === undefined) return 'nothing';
    const carried = group.has(message) ? 'ready' : 'made';
    const rendering = group.render(message);
    if (!(rendering instanceof Promise)) return this.#send(rendering) ? carried : 'nothing';
    this.#phase = 'rendering';
    this.#reader.pause();
    void rendering.then((made) => this.#sendLate(made)).catch((error: unknown) => this.#fail(error));
    return 'nothing';
  }

  #sendLate(rendering: Rendering): void {
    if (this.#phase !== 'rendering') return;
    this.#phase = 'flowing';
    if (this.#send(rendering)) this.#options.turns.enter(this);
  }

  /** False if that was the last one. */
  #send(rendering: Rendering): boolean {
    if (rendering.type === 'last') {
      this.end({ reason: rendering.code, last: rendering.body });
      return false;
    }
    const { outlet, turns } = this.#options;
    outlet.send(rendering.payload);
    turns.wrote(rendering.payload.json.length);
    return !this.isEnded;
  }

  #fail(error: unknown): void {
    const last = this.#options.tell(error);
    this.end({ reason: String(last.errors?.[0]?.extensions?.code), last });
  }

  #finish(why: StreamEnd): void {
    if (this.isEnded) return;
    this.#phase = 'ended';
    this.#options.turns.leave(this);
    this.#reader?.[Symbol.dispose]();
    this.#reader = undefined;
    this.#options.onClosed(why);
  }
}
