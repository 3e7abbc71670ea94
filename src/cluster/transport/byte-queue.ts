import type { Breakage } from '../classify.ts';
import type { ByteRead, ByteSource } from './wire.ts';

/** More than this unread, and the sender is told to wait: about the window of one HTTP/2 stream. */
const highWaterBytes = 1024 * 1024;

/** Where bytes that arrive by themselves wait for the one who reads them. */
export interface ByteQueue extends ByteSource {
  push(chunk: Uint8Array): void;
  /** The clean end. Like `fail`, only the first of them counts. */
  end(): void;
  fail(breakage: Breakage): void;
}

export interface ByteQueueOptions {
  /** Too much is unread: stop sending. Bytes that come nevertheless are kept. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export function byteQueue({ pause, resume }: ByteQueueOptions): ByteQueue {
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
    fail: (breakage) => finish({ type: 'broken', breakage }),
    read() {
      const read = take();
      if (read !== undefined) return Promise.resolve(read);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
  };
}
