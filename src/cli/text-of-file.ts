import { readFile } from 'node:fs/promises';
import { CommandFailure, exitCodes } from './command-failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * What stands in the file; in standard input for `-`.
 *
 * @throws {CommandFailure} if it cannot be read: why.
 */
export function textOfFile(file: string, { readInput }: Pick<Terminal, 'readInput'>): Promise<string> {
  return file === '-'
    ? readInput()
    : readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => Promise.reject(unreadable(file, error)));
}

/** Why it cannot be read, as the end of a command. */
export function unreadable(file: string, error: NodeJS.ErrnoException): CommandFailure {
  const why = error.code === 'ENOENT' ? 'there is no such file' : (error.code ?? error.message);
  return new CommandFailure(exitCodes.refused, `${file} cannot be read: ${why}`, { cause: error });
}
