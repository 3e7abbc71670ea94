import type { FormattedExecutionResult } from 'graphql';

const eventStart = Buffer.from('event: next\ndata: ');
const eventEnd = Buffer.from('\n\n');

/** The bytes of a result as an event of graphql-sse, in pieces. JSON has no line breaks of its own, so one `data` line holds it. */
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

/** Where the messages of one stream go: an operation of a WebSocket, or the answer to a request for server-sent events. Nothing of it throws. */
export interface StreamOutlet {
  readonly transport: 'websocket' | 'sse';
  /** False while 64 KiB or more wait to be written. Once it is true again, the transport calls `StreamHandle.resume`. */
  hasRoom(): boolean;
  /**
   * Without effect once the stream has ended or the client has gone. `more`: another one follows in this turn, so that they may leave together.
   *
   * @returns How many bytes are written at the end of the turn only.
   */
  send(bytes: MessageBytes, next: 'more' | 'nothing'): number;
  /** The end, said by us: a last message, if there is one, then `complete`. */
  end(last: FormattedExecutionResult | undefined): void;
}

/** A stream as its transport sees it. */
export interface StreamHandle {
  /** The outlet has room again. */
  resume(): void;
  /** The client has completed it, or has gone. Twice is once; leaves nothing behind. */
  close(): void;
}

/** A stream that has begun, in the place of a result of Yoga's `subscribe`: its messages go to its outlet by themselves. */
export class StartedStream {
  readonly data = null;
  readonly stream: StreamHandle;

  constructor(stream: StreamHandle) {
    this.stream = stream;
  }
}
