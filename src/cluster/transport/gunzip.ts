import { createGunzip } from 'node:zlib';
import { breakage } from '../classify.ts';
import { byteQueue } from './byte-queue.ts';
import type { ByteSource } from './wire.ts';

/**
 * The same body, unpacked as it is read: a small answer that unpacks to a gigabyte is never in memory whole.
 *
 * Cut off in the middle it breaks as the connection would; what is no gzip is `MALFORMED`. An abort frees the unpacker.
 */
export function gunzip(source: ByteSource, signal: AbortSignal): ByteSource {
  const unpacker = createGunzip();
  const queue = byteQueue({ pause: () => unpacker.pause(), resume: () => unpacker.resume() });
  unpacker.on('data', (chunk: Buffer) => queue.push(chunk));
  unpacker.on('end', () => queue.end());
  unpacker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'Z_BUF_ERROR') queue.fail(breakage('UNREACHABLE', 'the answer was cut off'));
    else queue.fail(breakage('MALFORMED', 'expected gzip, got something else'));
  });
  const destroy = () => unpacker.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  unpacker.once('close', () => signal.removeEventListener('abort', destroy));

  const feed = async () => {
    for (;;) {
      const read = await source.read();
      if (read.type === 'broken') {
        queue.fail(read.breakage);
        return void unpacker.destroy();
      }
      if (read.type === 'ended') return void unpacker.end();
      for (const chunk of read.chunks) {
        if (unpacker.destroyed) return;
        // One chunk at a time: the callback comes when it is unpacked and there is room for more.
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
