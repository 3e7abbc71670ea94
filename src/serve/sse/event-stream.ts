import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FormattedExecutionResult } from 'graphql';
import type { Clock } from '../../core/clock.ts';
import { IntervalTimer } from '../../operations/interval-timer.ts';
import type { SocketBacklog, UnsentBytes } from '../../operations/unsent-bytes.ts';
import { eventPieces, MessageBytes, type StreamHandle, type StreamOutlet } from '../../streams/outlet.ts';

/** So often a comment is written to each stream: proxies cut what is silent. */
const commentMs = 12_000;

const comment = Buffer.from(':\n\n');
const complete = Buffer.from('event: complete\ndata: \n\n');

/** One answer as a stream of events: it, then `complete`. */
export function asEvents(json: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...eventPieces(json), complete];
}

export const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // nginx gathers an answer before it passes it on, unless it is told not to.
  'x-accel-buffering': 'no',
};

/** Streams over server-sent events: graphql-sse, distinct connections. One sleeper serves them all. */
export class EventStreams {
  readonly #beats: IntervalTimer<EventStream>;
  readonly #unsent: UnsentBytes;

  constructor(clock: Clock, unsent: UnsentBytes) {
    this.#unsent = unsent;
    this.#beats = new IntervalTimer({ clock, everyMs: commentMs, onInterval: (stream) => stream.writeComment(clock.monotonic()) });
  }

  /** The outlet of one stream. Nothing is written before its first message or `begin`. */
  outlet(response: ServerResponse, headers: OutgoingHttpHeaders): EventStream {
    return new EventStream({ response, headers, beats: this.#beats, unsent: this.#unsent });
  }
}

/** One answer that goes on: messages as events, a comment now and then, and `complete`. */
export class EventStream implements StreamOutlet {
  readonly transport = 'sse';
  readonly #options: EventStreamOptions;
  #backlog: SocketBacklog | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** The stream has begun: who asked gets to know at once, before there is any message. */
  start(stream: StreamHandle): void {
    const { response, beats, unsent } = this.#options;
    this.#begin();
    if (response.destroyed) return;
    const { socket } = response;
    const backlog = socket === null ? undefined : unsent.watch(socket);
    this.#backlog = backlog;
    beats.add(this);
    response.once('close', () => {
      beats.delete(this);
      backlog?.[Symbol.dispose]();
    });
    response.on('drain', () => stream.resume());
    // It may have got room before there was anybody to tell.
    if (this.hasRoom()) stream.resume();
  }

  /** Node's bound is ours: 64 KiB that wait to be written. */
  hasRoom(): boolean {
    if (!this.#options.response.writableNeedDrain) return true;
    this.#backlog?.update();
    return false;
  }

  /** Node gathers the chunks of an answer until the end of the turn by itself. */
  send({ event }: MessageBytes): number {
    this.#begin();
    this.#write(event);
    return event.length;
  }

  end(last: FormattedExecutionResult | undefined): void {
    this.#begin();
    if (last !== undefined) this.#write(new MessageBytes(Buffer.from(JSON.stringify(last))).event);
    this.#write(complete);
    this.#options.response.end();
  }

  /** Writes a comment where nothing waits. Cuts a client that has taken nothing for 60 s: it would keep its connection, and what waits, for ever. */
  writeComment(nowMs: number): void {
    const { response } = this.#options;
    if (this.#backlog?.isStalled(nowMs) === true) response.destroy();
    else if (!response.writableNeedDrain && !response.writableEnded) this.#write(comment);
  }

  #begin(): void {
    const { response, headers } = this.#options;
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, { 'x-content-type-options': 'nosniff', ...headers, ...eventHeaders });
    // With the first bytes go the headers.
    this.#write(comment);
  }

  #write(bytes: Uint8Array): void {
    const { response } = this.#options;
    if (!response.destroyed && !response.writableEnded) response.write(bytes);
  }
}

interface EventStreamOptions {
  readonly response: ServerResponse;
  readonly headers: OutgoingHttpHeaders;
  readonly beats: IntervalTimer<EventStream>;
  readonly unsent: UnsentBytes;
}
