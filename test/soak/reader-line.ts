import { openEventStream, openWebSocket, type StreamSocket } from '../bench/stream-socket.ts';

/** Receives the messages and the end of one stream. */
export interface LineListener {
  /** The text of one execution result. */
  next(text: string): void;
  /** Called once, at the end of the stream. `failure` is the reason. Undefined if the stream completed normally. */
  ended(failure: string | undefined): void;
}

/** The connection of one or more streams. */
export interface ReaderLine {
  /** Starts a stream. It is not started again on a new socket: a listener whose stream ended calls `start` again. */
  start(request: object, listener: LineListener): StartedStream;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
}

export interface StartedStream {
  /** Ends the stream at the gateway. The listener is not called any more. */
  stop(): void;
}

/** Creates a line that opens one server-sent event connection per stream. */
export function eventLine(port: number): ReaderLine {
  let socket: StreamSocket | undefined;
  return {
    start(request, listener) {
      let isOver = false;
      const opened = openEventStream(port, request, {
        message: (text) => (isOver ? undefined : listener.next(text)),
        closed: (reason) => {
          if (!isOver) listener.ended(reason === 'complete' ? undefined : reason);
        },
      });
      socket = opened;
      return {
        stop: () => {
          isOver = true;
          opened.destroy();
        },
      };
    },
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
  };
}

const payloadStart = '"payload":';

/**
 * One WebSocket, opened by the first stream and again after it was lost. With `alone`, stopping a stream cuts the socket, as when a client
 * disappears.
 */
export class SocketLine implements ReaderLine {
  readonly #port: number;
  readonly #alone: boolean;
  readonly #streams = new Map<string, LineListener>();
  #socket: StreamSocket | undefined;
  #isAcknowledged = false;
  #waiting: string[] = [];
  #ids = 0;

  constructor(port: number, { alone }: { readonly alone: boolean }) {
    this.#port = port;
    this.#alone = alone;
  }

  start(request: object, listener: LineListener): StartedStream {
    this.#ids += 1;
    const id = String(this.#ids);
    this.#streams.set(id, listener);
    this.#socket ??= this.#open();
    this.#send(JSON.stringify({ id, type: 'subscribe', payload: request }));
    return { stop: () => this.#stop(id) };
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  #stop(id: string): void {
    if (!this.#streams.delete(id)) return;
    if (this.#alone) {
      this.#socket?.destroy();
      this.#forget();
    } else this.#send(JSON.stringify({ id, type: 'complete' }));
  }

  #send(text: string): void {
    if (this.#isAcknowledged) this.#socket?.send(text);
    else this.#waiting.push(text);
  }

  #open(): StreamSocket {
    const socket = openWebSocket(this.#port, {
      message: (text) => {
        if (this.#socket === socket) this.#receive(text);
      },
      closed: (reason) => {
        if (this.#socket === socket) this.#lost(reason);
      },
    });
    socket.send('{"type":"connection_init"}');
    return socket;
  }

  #receive(text: string): void {
    // Parses only the short text before the payload. The payload is parsed later, once for all readers that get an equal one.
    const at = text.indexOf(payloadStart);
    const { type, id } = JSON.parse(at === -1 ? text : `${text.slice(0, at - 1)}}`) as { readonly type: string; readonly id?: string };
    if (type === 'connection_ack') {
      this.#isAcknowledged = true;
      for (const message of this.#waiting.splice(0)) this.#socket?.send(message);
    }
    const listener = this.#streams.get(id ?? '');
    if (id === undefined || listener === undefined) return;
    if (type === 'next') listener.next(text.slice(at + payloadStart.length, -1));
    else {
      this.#streams.delete(id);
      listener.ended(type === 'complete' ? undefined : text);
    }
  }

  #lost(reason: string): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    this.#forget();
    for (const stream of streams) stream.ended(reason);
  }

  #forget(): void {
    this.#socket = undefined;
    this.#isAcknowledged = false;
    this.#waiting = [];
  }
}
