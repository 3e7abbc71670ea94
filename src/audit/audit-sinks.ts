import { type FileHandle, open, stat, statfs } from 'node:fs/promises';
import type { Writable } from 'node:stream';

/** A file or stream to which audit lines are written. The owner starts a write only when the one before has ended. */
export interface AuditSink extends AsyncDisposable {
  /**
   * Writes bytes, and resolves with the number of bytes written: at least one.
   *
   * @throws If none could be written.
   */
  write(bytes: Uint8Array): Promise<number>;
  /**
   * Finds out whether a write would succeed. A file that was moved away is opened anew under its name.
   *
   * @throws If a write would fail.
   */
  check(): Promise<void>;
}

/** The free bytes that the file system must have before an action. The line of 1,000 objects has about 300 KiB. */
const minFreeBytes = 1 << 20;

/**
 * Opens a file to append lines, and creates it if needed. If the last line has no line break, because a process ended during a write, adds
 * one. If the file is moved away later, the next `check` opens a new one.
 *
 * @throws The error of the system if the file cannot be opened or written.
 */
export async function openFileSink(path: string): Promise<AuditSink> {
  let file = await openToAppend(path);
  const reopenIfMoved = async () => {
    const [held, named] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
    if (named !== undefined && held.ino === named.ino && held.dev === named.dev) return;
    const moved = file;
    file = await openToAppend(path);
    await moved.close();
  };
  return {
    async write(bytes) {
      return (await file.write(bytes)).bytesWritten;
    },
    async check() {
      await reopenIfMoved();
      const { bavail, bsize } = await statfs(path);
      if (bavail * bsize < minFreeBytes) throw new Error(`expected ${minFreeBytes} bytes of room, got ${bavail * bsize}`);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

const newLine = 0x0a;

async function openToAppend(path: string): Promise<FileHandle> {
  const file = await open(path, 'a+', 0o600);
  try {
    if (!(await endsInNewLine(file))) await file.write(Uint8Array.of(newLine));
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * True for an empty file, and for one whose last byte ends a line. False for a device: the line break that is then written shows whether the
 * device can be written.
 */
async function endsInNewLine(file: FileHandle): Promise<boolean> {
  const facts = await file.stat();
  if (!facts.isFile()) return false;
  if (facts.size === 0) return true;
  const { buffer } = await file.read(new Uint8Array(1), 0, 1, facts.size - 1);
  return buffer[0] === newLine;
}

/** Creates a sink that writes to a stream, such as the standard output. Disposing of the sink does not end the stream. */
export function createStreamSink(stream: Writable): AuditSink {
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => (error == null ? resolve(bytes.length) : reject(error)));
      }),
    async check() {
      if (!stream.writable) throw stream.errored ?? new Error('the stream has ended');
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
