import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MusterError } from '../core/errors.ts';

/** Bytes of the key that seals cursors. */
const stateKeyBytes = 32;

/**
 * Returns the key that seals cursors. It is kept in the file `key` in the state directory, so that cursors of earlier runs stay valid.
 *
 * Only the owner can read the file. If it is missing, it is created; two gateways that start at the same time get the same key.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if the file is not a key or cannot be created.
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

/**
 * Creates the file with its whole content, or not at all. Does nothing if the file exists. Writes a draft and links it to the name, because
 * `link` never replaces a file.
 */
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
