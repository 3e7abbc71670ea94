import { Buffer } from 'node:buffer';
import type { Clock } from '../../../src/core/clock.ts';
import type { ResponseOutlet } from '../../../src/sim/requests/response-outlet.ts';
import type { Behaviour, Cut } from './behaviour.ts';
import type { RequestFacts } from './rule-set.ts';

type Piece =
  | { readonly type: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'end' }
  | { readonly type: 'reset' };

export interface PacedOutletOptions {
  readonly behaviour: Behaviour;
  readonly facts: RequestFacts;
  readonly clock: Clock;
  /** Called once, when the headers are sent. */
  readonly onHead: (status: number) => void;
}

/** Bytes that an answer may be ahead of its pace. */
const highWaterBytes = 1 << 20;

/** An outlet in front of another one. It forwards everything in order, at the pace and time that misbehaviours allow. */
export class PacedOutlet implements ResponseOutlet {
  readonly #outlet: ResponseOutlet;
  readonly #options: PacedOutletOptions;
  readonly #holdsHead: boolean;
  readonly #queue: Piece[] = [];
  #waitingBytes = 0;
  /** Resolves when the last written bytes have left for the connection. */
  #written: Promise<unknown> = Promise.resolve();
  #running = false;
  #over = false;
  #drained: (() => void) | undefined;
  /** A compressed list that will be cut off. */
  #compressed: { readonly cut: Cut; readonly chunks: Uint8Array[] } | undefined;
  #head: Piece | undefined;

  constructor(outlet: ResponseOutlet, options: PacedOutletOptions) {
    this.#outlet = outlet;
    this.#options = options;
    const { behaviour, facts } = options;
    this.#holdsHead = facts.resource?.verb === 'watch' && behaviour.heldHeaders.find(facts) !== undefined;
    const resumed = behaviour.onResume(() => void this.#run());
    outlet.signal.addEventListener('abort', () => {
      resumed[Symbol.dispose]();
      this.#drained?.();
    });
  }

  get signal(): AbortSignal {
    return this.#outlet.signal;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    const { behaviour, facts } = this.#options;
    if (headers['content-encoding'] === 'gzip' && behaviour.cuts.find(facts)?.where === 'gzip') {
      const cut = behaviour.cuts.take(facts);
      if (cut !== undefined) this.#compressed = { cut, chunks: [] };
    }
    const head: Piece = { type: 'head', status, headers };
    if (this.#holdsHead) this.#head = head;
    else this.#put(head);
  }

  async write(bytes: Uint8Array | string): Promise<void> {
    const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    if (this.#compressed !== undefined) return void this.#compressed.chunks.push(whole);
    const cut = this.#cutOf(bytes);
    if (cut === undefined) return this.#putBytes(whole);
    this.#putBytes(cutOff(whole, cut));
    this.#finish(cut.end);
  }

  end(): void {
    const compressed = this.#compressed;
    if (compressed !== undefined) {
      const whole = Buffer.concat(compressed.chunks);
      this.#compressed = undefined;
      this.#putBytes(whole.subarray(0, whole.length >> 1));
    }
    this.#finish(compressed?.cut.end ?? 'clean');
  }

  /** Resets the stream after all written bytes. */
  reset(): void {
    this.#finish('reset');
  }

  async room(): Promise<void> {
    if (this.#waitingBytes >= highWaterBytes && !this.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    await this.#outlet.room();
  }

  /** Returns the cut for this event of a watch, if there is one. */
  #cutOf(bytes: Uint8Array | string): Cut | undefined {
    const { behaviour, facts } = this.#options;
    const isEvent = facts.resource?.verb === 'watch' && typeof bytes === 'string';
    if (!isEvent || (behaviour.cuts.find(facts)?.where ?? 'gzip') === 'gzip') return undefined;
    return behaviour.cuts.take(facts);
  }

  #finish(end: 'clean' | 'reset'): void {
    this.#put({ type: end === 'clean' ? 'end' : 'reset' });
    this.#over = true;
  }

  #putBytes(bytes: Uint8Array): void {
    this.#waitingBytes += bytes.length;
    this.#put({ type: 'bytes', bytes });
  }

  #put(piece: Piece): void {
    if (this.signal.aborted || this.#over) return;
    if (this.#head !== undefined && piece.type !== 'reset') this.#queue.push(this.#head);
    this.#head = undefined;
    this.#queue.push(piece);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#queue.length > 0 && !this.signal.aborted && !this.#options.behaviour.isStalled(this.#options.facts)) {
        const piece = this.#queue.shift();
        if (piece !== undefined) await this.#send(piece);
      }
    } finally {
      this.#running = false;
    }
  }

  /** Returns a promise only if it has to wait, so that an event is usually sent in the same event-loop turn. */
  #send(piece: Piece): Promise<void> | undefined {
    switch (piece.type) {
      case 'head':
        this.#options.onHead(piece.status);
        this.#outlet.head(piece.status, piece.headers);
        return undefined;
      case 'bytes':
        return this.#sendBytes(piece.bytes);
      case 'end':
        this.#outlet.end();
        return undefined;
      case 'reset':
        return this.#written.then(() => this.#outlet.reset());
      default:
        piece satisfies never;
    }
    return undefined;
  }

  #sendBytes(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#options.behaviour.paceOf(this.#options.facts) !== 'whole') return this.#sendSingly(bytes);
    this.#written = this.#outlet.write(bytes);
    this.#sent(bytes.length);
    return undefined;
  }

  async #sendSingly(bytes: Uint8Array): Promise<void> {
    const gone = new Promise<void>((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
    for (let index = 0; index < bytes.length && !this.signal.aborted; index++) {
      const pace = this.#options.behaviour.paceOf(this.#options.facts);
      const rest = pace === 'whole' ? bytes.subarray(index) : bytes.subarray(index, index + 1);
      this.#written = this.#outlet.write(rest);
      this.#sent(rest.length);
      // Without waiting, the bytes would be joined again on the way.
      await Promise.race([this.#written, gone]);
      if (pace === 'whole') return;
      if (pace === 'drips') await this.#options.clock.sleep(1_000, this.signal);
    }
  }

  #sent(count: number): void {
    this.#waitingBytes -= count;
    if (this.#waitingBytes < highWaterBytes) this.#drained?.();
  }
}

/** Cuts a gzip stream or a line in its middle, or inside a character. */
function cutOff(bytes: Uint8Array, { where }: Cut): Uint8Array {
  // The first byte of a multi-byte character has its two highest bits set.
  const character = where === 'character' ? bytes.findIndex((byte) => byte >= 0xc0) : -1;
  return bytes.subarray(0, character < 0 ? bytes.length >> 1 : character + 1);
}
