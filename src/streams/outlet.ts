import type { FormattedExecutionResult } from 'graphql';

const eventStart = Buffer.from('event: next\ndata: ');
const eventEnd = Buffer.from('\n\n');

/** Returns the bytes of a result as an event of graphql-sse, in pieces. JSON has no line breaks of its own, so one `data` line holds it. */
export function eventPieces(json: readonly Uint8Array[]): readonly Uint8Array[] {
  return [eventStart, ...json, eventEnd];
}

/** The bytes of one message, made once for all streams that send the same message. */
export class MessageBytes {
  /** The execution result as JSON. */
  readonly json: Buffer;
  #event: Buffer | undefined;

  constructor(json: Buffer) {
    this.json = json;
  }

  /** The same result as an event of server-sent events. Made when it is first read. */
  get event(): Buffer {
    this.#event ??= Buffer.concat(eventPieces([this.json]));
    return this.#event;
  }
}

/**
 * Sends the messages of one stream to its client. Implemented by `SocketOperation` (serve/web-socket/socket-operation.ts) and by
 * `EventStream` (serve/sse/event-stream.ts). No method throws.
 */
export interface StreamOutlet {
  readonly transport: 'websocket' | 'sse';
  /** False while 64 KiB or more wait to be written. When there is room again, the transport calls `StreamHandle.resume`. */
  hasRoom(): boolean;
  /**
   * Sends one message. Does nothing if the stream has ended or the client has gone.
   *
   * @param next `more` if another message follows in this event-loop turn, so that both can leave in one write.
   * @returns Number of bytes that will be written only at the end of the turn.
   */
  send(bytes: MessageBytes, next: 'more' | 'nothing'): number;
  /** Ends the stream from the side of the gateway: sends the last message, if there is one, then `complete`. */
  end(last: FormattedExecutionResult | undefined): void;
}

/** One open stream, as its transport sees it. Implemented by `StreamSender`. */
export interface StreamHandle {
  /** Continues to send messages. The transport calls this method when the outlet has room again. */
  resume(): void;
  /** Ends the stream without a last message, because the client has completed the stream or has gone. A second call does nothing. */
  close(): void;
}

/** Returned to Yoga as the result of `subscribe` when a stream has started. The stream sends its messages to its outlet without Yoga. */
export class StartedStream {
  readonly data = null;
  readonly stream: StreamHandle;

  constructor(stream: StreamHandle) {
    this.stream = stream;
  }
}
