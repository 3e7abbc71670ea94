import { readFile } from 'node:fs/promises';
import { MusterError } from '../core/errors.ts';

/**
 * Reads the bearer token in a file, without the white space around it.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if there is no file, or its content is not 8 to 12,288 visible ASCII characters.
 */
export async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : (error.code ?? error.message);
    throw new MusterError('BAD_INPUT', `the token file ${file} cannot be read: ${why}`, { cause: error });
  });
  return checkedToken(text, `the token file ${file}`);
}

/**
 * Returns the bearer token in a text, without the white space around it. Tokens of issuers may be long, because they have all groups of
 * the user. A request with its token may have 16 KiB of headers.
 *
 * @param source The place of the text, for the error.
 * @throws {MusterError} `BAD_INPUT`, one line, if the text is not 8 to 12,288 visible ASCII characters.
 */
export function checkedToken(text: string, source: string): string {
  const token = text.trim();
  if (/^[!-~]{8,12288}$/.test(token)) return token;
  throw new MusterError('BAD_INPUT', `${source}: expected 8 to 12288 visible characters without space, got ${token.length} characters`);
}
