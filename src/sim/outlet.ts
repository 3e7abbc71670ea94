import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import type { Clock } from '../core/clock.ts';
import type { RequestFacts } from './asked.ts';
import type { Behaviour } from './behaviour.ts';

type Piece =
  | { readonly type: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'end' }
  | { readonly type: 'reset' };

export interface OutletOptions {
  readonly behaviour: Behaviour;
  readonly facts: RequestFacts;
  readonly clock: Clock;
  /** Called once, when the headers go out. */
  readonly onHead: (status: number) => void;
}

/** Most bytes that wait for a reader; a watch that lags further behind is reset, as a real server ends watchers it cannot serve. */
const maxWaitingBytes = 256 * 2 ** 20;
/** How much a list may run ahead of its reader. */
const highWaterBytes = 1 << 20;

/**
 * The way out of one answer: headers, bytes, an end. What goes in comes out in order, in the pace and at the time that misbehaviours allow.
 */
export class Outlet {
  /** Aborts when the answer is over, or the reader has gone. */
  readonly signal: AbortSignal;
  readonly #response: ServerResponse | Http2ServerResponse;
  readonly #options: OutletOptions;
  readonly #over = new AbortController();
  readonly #queue: Piece[] = [];
  #waitingBytes = 0;
  /** Resolves when what was written last has left for the connection. */
  #written = Promise.resolve();
  #running = false;
  #drained: (() => void) | undefined;

  constructor(response: ServerResponse | Http2ServerResponse, options: OutletOptions) {
    this.#response = response;
    this.#options = options;
    this.signal = this.#over.signal;
    const resumed = options.behaviour.onResume(() => void this.#run());
    response.on('error', () => undefined);
    response.on('close', () => {
      resumed[Symbol.dispose]();
      this.#over.abort();
      this.#drained?.();
    });
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#put({ type: 'head', status, headers });
  }

  write(bytes: Uint8Array | string): void {
    const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    this.#waitingBytes += whole.length;
    this.#put({ type: 'bytes', bytes: whole });
    if (this.#waitingBytes > maxWaitingBytes) this.#reset();
  }

  /** Ends the answer cleanly, after all that was written. */
  end(): void {
    this.#put({ type: 'end' });
  }

  /** Resets the stream (HTTP/2) or the connection (HTTP/1.1), after all that was written. */
  reset(): void {
    this.#put({ type: 'reset' });
  }

  /** Resolves when there is room for more, or the answer is over. */
  async room(): Promise<void> {
    if (this.#waitingBytes < highWaterBytes || this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
  }

  #put(piece: Piece): void {
    if (this.signal.aborted) return;
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

  /** A promise only where there is something to wait for, so that usually an event is on its way in the turn it happens. */
  #send(piece: Piece): Promise<void> | undefined {
    switch (piece.type) {
      case 'head':
        return this.#sendHead(piece.status, piece.headers);
      case 'bytes':
        return this.#sendBytes(piece.bytes);
      case 'end':
        this.#response.end();
        return undefined;
      case 'reset':
        return this.#written.then(() => this.#reset());
      default:
        piece satisfies never;
    }
    return undefined;
  }

  #sendHead(status: number, headers: Readonly<Record<string, string>>): undefined {
    this.#options.onHead(status);
    if ('stream' in this.#response) this.#response.writeHead(status, { ...headers });
    else this.#response.writeHead(status, { ...headers }).flushHeaders();
  }

  #sendBytes(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#options.behaviour.paceOf(this.#options.facts) !== 'whole') return this.#sendSingly(bytes);
    this.#writeOut(bytes, () => this.#sent(bytes.length));
    return undefined;
  }

  async #sendSingly(bytes: Uint8Array): Promise<void> {
    const gone = new Promise<void>((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
    for (let index = 0; index < bytes.length && !this.signal.aborted; index++) {
      const pace = this.#options.behaviour.paceOf(this.#options.facts);
      const rest = pace === 'whole' ? bytes.subarray(index) : bytes.subarray(index, index + 1);
      this.#writeOut(rest, () => this.#sent(rest.length));
      // Else the bytes are joined again on their way.
      await Promise.race([this.#written, gone]);
      if (pace === 'whole') return;
      if (pace === 'drips') await this.#options.clock.sleep(1_000, this.signal);
    }
  }

  #writeOut(bytes: Uint8Array, done: () => void): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#written = promise;
    // The two responses differ in their overloads only.
    (this.#response as ServerResponse).write(bytes, () => {
      done();
      resolve();
    });
  }

  #sent(count: number): void {
    this.#waitingBytes -= count;
    if (this.#waitingBytes < highWaterBytes) this.#drained?.();
  }

  #reset(): void {
    if ('stream' in this.#response) this.#response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else this.#response.socket?.destroy();
    this.#over.abort();
  }
}
