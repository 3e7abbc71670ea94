import { createGunzip } from 'node:zlib';
import { clusterFailure } from '../cluster-failure.ts';
import { createByteQueue } from './byte-queue.ts';
import type { ByteSource } from './wire.ts';

/**
 * Unpacks a body while it is read, so that a small answer that unpacks to a gigabyte is never in memory as a whole.
 *
 * A body that ends too early is `UNREACHABLE`, like a broken connection. A body that is not gzip is `MALFORMED`. An abort frees the
 * unpacker.
 */
export function gunzip(source: ByteSource, signal: AbortSignal): ByteSource {
  const unpacker = createGunzip();
  const queue = createByteQueue({ pause: () => unpacker.pause(), resume: () => unpacker.resume() });
  unpacker.on('data', (chunk: Buffer) => queue.push(chunk));
  unpacker.on('end', () => queue.end());
  unpacker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'Z_BUF_ERROR') queue.fail(clusterFailure('UNREACHABLE', 'the answer was cut off'));
    else queue.fail(clusterFailure('MALFORMED', 'expected gzip, got something else'));
  });
  const destroy = () => unpacker.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  unpacker.once('close', () => signal.removeEventListener('abort', destroy));

  const feed = async () => {
    for (;;) {
      const read = await source.read();
      if (read.type === 'broken') {
        queue.fail(read.failure);
        return void unpacker.destroy();
      }
      if (read.type === 'ended') return void unpacker.end();
      for (const chunk of read.chunks) {
        if (unpacker.destroyed) return;
        // One chunk at a time. The callback runs when the chunk is unpacked and the queue has room.
        await new Promise<void>((resolve) => {
          unpacker.once('close', resolve);
          unpacker.write(chunk, () => {
            unpacker.off('close', resolve);
            resolve();
          });
        });
      }
    }
  };
  void feed();
  return queue;
}
