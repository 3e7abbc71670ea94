import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';

/** The output of one answer: first the headers, then bytes, then the end. */
export interface ResponseOutlet {
  /** Aborts when the answer has ended or the client has gone. */
  readonly signal: AbortSignal;
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** Resolves when the bytes are written to the connection. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Ends the answer after all written bytes. */
  end(): void;
  /** Resets the stream (HTTP/2) or the connection (HTTP/1.1). */
  reset(): void;
  /** Resolves when there is room for more bytes, or the answer has ended. */
  room(): Promise<void>;
}

/** The largest number of bytes that wait for a client. An answer beyond it is reset, as a real server ends slow watches. */
const maxWaitingBytes = 256 * 2 ** 20;
/** `room` waits while this many bytes or more wait for the client, so that a list is not rendered faster than the client reads. */
const highWaterBytes = 1 << 20;

/** Creates an outlet that writes to the response. */
export function createResponseOutlet(response: ServerResponse | Http2ServerResponse): ResponseOutlet {
  const ended = new AbortController();
  let waitingBytes = 0;
  let drained: (() => void) | undefined;
  const reset = () => {
    if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else response.socket?.destroy();
    ended.abort();
  };
  response.on('error', () => undefined);
  response.on('close', () => {
    ended.abort();
    drained?.();
  });
  return {
    signal: ended.signal,
    head(status, headers) {
      if (ended.signal.aborted) return;
      if ('stream' in response) response.writeHead(status, { ...headers });
      else response.writeHead(status, { ...headers }).flushHeaders();
    },
    write(bytes) {
      if (ended.signal.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const length = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
      waitingBytes += length;
      // The two response types differ only in their overloads.
      (response as ServerResponse).write(bytes, () => {
        waitingBytes -= length;
        if (waitingBytes < highWaterBytes) drained?.();
        resolve();
      });
      if (waitingBytes > maxWaitingBytes) reset();
      return promise;
    },
    end: () => void (ended.signal.aborted || response.end()),
    reset,
    async room() {
      if (waitingBytes < highWaterBytes || ended.signal.aborted) return;
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    },
  };
}
