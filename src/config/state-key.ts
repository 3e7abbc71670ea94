import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MusterError } from '../core/errors.ts';

/** Bytes of the key that seals cursors. */
const stateKeyBytes = 32;

/**
 * The key that seals cursors, so that those of an earlier run stay good: `key` in the state directory, readable by its owner only. Made when it
 * is missing; two gateways that start at once get the same.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if there is a file that is no key, or none can be made.
 */
export async function readOrCreateStateKey(directory: string): Promise<Uint8Array> {
  const file = path.join(directory, 'key');
  try {
    return await readKey(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await makeKey(file);
    return await readKey(file);
  } catch (error) {
    if (error instanceof MusterError) throw error;
    throw new MusterError('BAD_INPUT', `the key ${file} cannot be made: ${reasonOf(error)}`, { cause: error });
  }
}

async function readKey(file: string): Promise<Uint8Array> {
  const key = await readFile(file).catch((error: unknown) => {
    if (isMissing(error)) throw error;
    throw new MusterError('BAD_INPUT', `the key ${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  });
  if (key.length === stateKeyBytes) return key;
  throw new MusterError(
    'BAD_INPUT',
    `the key ${file}: expected ${stateKeyBytes} bytes, got ${key.length}; without the file a new one is made`,
  );
}

/** Whole or not at all, and never over another's: written aside, then linked. */
async function makeKey(file: string): Promise<void> {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, randomBytes(stateKeyBytes), { mode: 0o600, flag: 'wx' });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
