import type { ClusterFailure } from '../cluster-failure.ts';
import type { ByteRead, ByteSource } from './wire.ts';

/** Unread bytes from which the sender is paused. About the window of one HTTP/2 stream. */
const highWaterBytes = 1024 * 1024;

/** A queue between a connection, which pushes bytes, and one reader, which pulls them. */
export interface ByteQueue extends ByteSource {
  push(chunk: Uint8Array): void;
  /** Ends the queue without an error. Of all calls of `end` and `fail` only the first one counts. */
  end(): void;
  fail(failure: ClusterFailure): void;
}

export interface ByteQueueOptions {
  /** Called when too many bytes are unread. Bytes that still arrive are kept. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export function createByteQueue({ pause, resume }: ByteQueueOptions): ByteQueue {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  let paused = false;
  let last: ByteRead | undefined;
  let waiting: ((read: ByteRead) => void) | undefined;

  const take = (): ByteRead | undefined => {
    if (chunks.length === 0) return last;
    const read: ByteRead = { type: 'bytes', chunks };
    chunks = [];
    bytes = 0;
    if (paused) {
      paused = false;
      resume();
    }
    return read;
  };
  const wake = () => {
    if (waiting === undefined) return;
    const read = take();
    if (read === undefined) return;
    const resolve = waiting;
    waiting = undefined;
    resolve(read);
  };
  const finish = (read: ByteRead) => {
    last ??= read;
    wake();
  };

  return {
    push(chunk) {
      if (last !== undefined || chunk.length === 0) return;
      chunks.push(chunk);
      bytes += chunk.length;
      if (waiting !== undefined) return wake();
      if (paused || bytes <= highWaterBytes) return;
      paused = true;
      pause();
    },
    end: () => finish({ type: 'ended' }),
    fail: (failure) => finish({ type: 'broken', failure }),
    read() {
      const read = take();
      if (read !== undefined) return Promise.resolve(read);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
  };
}
