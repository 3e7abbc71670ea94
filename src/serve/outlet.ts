import type { FormattedExecutionResult } from 'graphql';

/** The bytes of one message, made once for all who get the same. */
export interface Payload {
  /** The execution result as JSON. */
  readonly json: Buffer;
  /** The same as an event of server-sent events, with its blank line. Made when first asked for. */
  readonly event: Buffer;
}

/** Where the messages of one stream go: an operation of a WebSocket, or the answer to a request for server-sent events. Nothing of it throws. */
export interface Outlet {
  readonly transport: 'websocket' | 'sse';
  /** False while 64 KiB or more wait to be written. Once it is true again, the transport calls `OpenStream.resume`. */
  hasRoom(): boolean;
  /**
   * Without effect once the stream has ended or the client has gone. `more`: another one follows in this turn, so that they may leave together.
   *
   * @returns How many bytes are written at the end of the turn only.
   */
  send(payload: Payload, next: 'more' | 'nothing'): number;
  /** The end, said by us: a last message, if there is one, then `complete`. */
  end(last: FormattedExecutionResult | undefined): void;
}

/** A stream as its transport sees it. */
export interface OpenStream {
  /** The outlet has room again. */
  resume(): void;
  /** The client has completed it, or has gone. Twice is once; leaves nothing behind. */
  close(): void;
}

/** A stream that has begun, in the place of a result of Yoga's `subscribe`: its messages go to its outlet by themselves. */
export class Begun {
  readonly data = null;
  readonly stream: OpenStream;

  constructor(stream: OpenStream) {
    this.stream = stream;
  }
}
