import { openEventStream, openWebSocket, type StreamSocket } from '../bench/stream-socket.ts';

/** What comes of one stream. */
export interface LineListener {
  /** The text of one execution result. */
  next(text: string): void;
  /** Nothing follows. `failure`: why, if it was not completed in order. */
  over(failure: string | undefined): void;
}

/** Where streams run: one socket for several, or a connection for each. */
export interface ReaderLine {
  /** The text of the request is told again to a new socket by nobody: who is `over` asks anew. */
  start(request: object, listener: LineListener): StartedStream;
  /** Reads nothing until `resume`. */
  pause(): void;
  resume(): void;
}

export interface StartedStream {
  /** Nothing is told any more; the gateway learns of it. */
  stop(): void;
}

/** One stream per connection. */
export function eventLine(port: number): ReaderLine {
  let socket: StreamSocket | undefined;
  return {
    start(request, listener) {
      let isOver = false;
      const opened = openEventStream(port, request, {
        message: (text) => (isOver ? undefined : listener.next(text)),
        closed: (reason) => {
          if (!isOver) listener.over(reason === 'complete' ? undefined : reason);
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

/** One WebSocket, opened when first needed and again when it was lost. It is cut with its last stream if it is `alone`, as by a client that goes. */
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
        if (this.#socket === socket) this.#hear(text);
      },
      closed: (reason) => {
        if (this.#socket === socket) this.#lost(reason);
      },
    });
    socket.send('{"type":"connection_init"}');
    return socket;
  }

  #hear(text: string): void {
    // What stands before the payload is short, and the payload is what others get too.
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
      listener.over(type === 'complete' ? undefined : text);
    }
  }

  #lost(reason: string): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    this.#forget();
    for (const stream of streams) stream.over(reason);
  }

  #forget(): void {
    this.#socket = undefined;
    this.#isAcknowledged = false;
    this.#waiting = [];
  }
}
