import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FormattedExecutionResult } from 'graphql';
import type { Clock } from '../../core/clock.ts';
import { IntervalTimer } from '../../operations/interval-timer.ts';
import type { SocketBacklog, UnsentBytes } from '../../operations/unsent-bytes.ts';
import { eventPieces, MessageBytes, type StreamHandle, type StreamOutlet } from '../../streams/outlet.ts';

/** Interval of comments. Proxies close connections that are silent. */
const commentMs = 12_000;

const comment = Buffer.from(':\n\n');
const complete = Buffer.from('event: complete\ndata: \n\n');

/** Turns one answer into events: `next` with the answer, then `complete`. */
export function asEvents(json: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...eventPieces(json), complete];
}

export const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Without this header, nginx collects an answer before it passes it on.
  'x-accel-buffering': 'no',
};

/** Creates the timer that writes comments. One timer serves all streams. */
export function createCommentTimer(clock: Clock): IntervalTimer<EventStream> {
  return new IntervalTimer({ clock, everyMs: commentMs, onInterval: (stream) => stream.writeComment(clock.monotonic()) });
}

/**
 * The outlet of one stream in the distinct connections mode of graphql-sse: writes messages as events, a comment every 12 s, and `complete`.
 *
 * Nothing is written before the first message or `start`.
 */
export class EventStream implements StreamOutlet {
  readonly transport = 'sse';
  readonly #options: EventStreamOptions;
  #backlog: SocketBacklog | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /**
   * Sends the headers at once, before the first message. From then on calls `resume` of the stream each time the connection has room again.
   */
  start(stream: StreamHandle): void {
    const { response, comments, unsent } = this.#options;
    this.#begin();
    if (response.destroyed) return;
    const { socket } = response;
    const backlog = socket === null ? undefined : unsent.watch(socket);
    this.#backlog = backlog;
    comments.add(this);
    response.once('close', () => {
      comments.delete(this);
      backlog?.[Symbol.dispose]();
    });
    response.on('drain', () => stream.resume());
    // The connection may have got room before this call, when `drain` had no listener yet.
    if (this.hasRoom()) stream.resume();
  }

  /**
   * Returns false while 64 KiB or more wait to be written (the high-water mark of Node). A call that returns false also updates the count of
   * unsent bytes.
   */
  hasRoom(): boolean {
    if (!this.#options.response.writableNeedDrain) return true;
    this.#backlog?.update();
    return false;
  }

  /** Writes a message as an event. Returns the length of the event, because Node sends its bytes only at the end of the event-loop turn. */
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

  /**
   * Writes a comment, unless 64 KiB or more wait to be written. Cuts a client that has taken nothing for 60 s, because such a client would
   * hold its connection and the waiting bytes for ever.
   */
  writeComment(nowMs: number): void {
    const { response } = this.#options;
    if (this.#backlog?.isStalled(nowMs) === true) response.destroy();
    else if (!response.writableNeedDrain && !response.writableEnded) this.#write(comment);
  }

  #begin(): void {
    const { response, headers } = this.#options;
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, { 'x-content-type-options': 'nosniff', ...headers, ...eventHeaders });
    // The headers leave with the first bytes of the body.
    this.#write(comment);
  }

  #write(bytes: Uint8Array): void {
    const { response } = this.#options;
    if (!response.destroyed && !response.writableEnded) response.write(bytes);
  }
}

export interface EventStreamOptions {
  readonly response: ServerResponse;
  readonly headers: OutgoingHttpHeaders;
  readonly comments: IntervalTimer<EventStream>;
  readonly unsent: UnsentBytes;
}
