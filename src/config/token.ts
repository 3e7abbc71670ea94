import { readFile } from 'node:fs/promises';
import { MusterError } from '../core/errors.ts';

/**
 * Reads the bearer token in a file, without the white space around it.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if there is no file, or its content is not 8 to 4,096 visible ASCII characters.
 */
export async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : (error.code ?? error.message);
    throw new MusterError('BAD_INPUT', `the token file ${file} cannot be read: ${why}`, { cause: error });
  });
  const token = text.trim();
  if (/^[!-~]{8,4096}$/.test(token)) return token;
  throw new MusterError(
    'BAD_INPUT',
    `the token file ${file}: expected 8 to 4096 visible characters without space, got ${token.length} characters`,
  );
}
