import { hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Config } from './config.ts';

/** Bytes of the key that seals cursors. */
const stateKeyBytes = 32;

/** Minimum bytes of a file that the key is derived from. */
const minSecretBytes = 8;

/**
 * Returns the key that seals cursors: derived from `keyFile`, else from the token file, else the key of the state directory.
 *
 * Gateways with the same file accept each other's cursors. If the state directory cannot be written, the log gets a warning, and the key is
 * random: cursors are valid until the process ends.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if a named file cannot be read, or the key of the state directory is broken.
 */
export async function readSealKey(
  { keyFile, tokenFile, stateDirectory }: Pick<Config, 'keyFile' | 'tokenFile' | 'stateDirectory'>,
  log: Log,
): Promise<Uint8Array> {
  const secretFile = keyFile ?? tokenFile;
  if (secretFile !== undefined) return derivedKey(await readSecret(secretFile));
  const key = await readOrCreateStateKey(stateDirectory);
  if (key.result === 'kept') return key.key;
  log.warn({ reason: key.reason }, 'the state directory cannot be written: cursors and remembered kinds are lost when the gateway ends');
  return randomBytes(stateKeyBytes);
}

/** Reads a secret, without the white space around it: an editor may have added a line feed. */
async function readSecret(file: string): Promise<string> {
  const text = await readFile(file, 'latin1').catch((error: unknown) => {
    throw new MusterError('BAD_INPUT', `the key file ${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  });
  const secret = text.trim();
  if (secret.length >= minSecretBytes) return secret;
  throw new MusterError('BAD_INPUT', `the key file ${file}: expected at least ${minSecretBytes} bytes, got ${secret.length}`);
}

/** Derives the key from a secret with another purpose. The key reveals nothing about the secret. */
function derivedKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(secret, 'latin1'), '', 'muster cursors', stateKeyBytes));
}

/** The key of a state directory. `lost`: the directory cannot be written. `reason` is the code of the system. */
type StateKey = { readonly result: 'kept'; readonly key: Uint8Array } | { readonly result: 'lost'; readonly reason: string };

/**
 * Returns the key that is kept in the file `key` in the state directory, so that cursors of earlier runs stay valid.
 *
 * Only the owner can read the file. If it is missing, it is created; two gateways that start at the same time get the same key.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if the file is not a key or cannot be read.
 */
async function readOrCreateStateKey(directory: string): Promise<StateKey> {
  const file = path.join(directory, 'key');
  try {
    return { result: 'kept', key: await readKey(file) };
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await makeKey(file);
    return { result: 'kept', key: await readKey(file) };
  } catch (error) {
    if (error instanceof MusterError) throw error;
    return { result: 'lost', reason: reasonOf(error) };
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

/** True if there is no such file, also because a folder of its path is a file. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
