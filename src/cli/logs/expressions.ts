import { type Context, createContext, Script } from 'node:vm';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';

/** Milliseconds in which expressions must decide about one page of names or lines. */
const matchMs = 3_000;

/** Flags that users of Go write at the start of an expression, such as `(?i)`. */
const leadingFlags = /^\(\?([ims]+)\)/;

/**
 * Parses a regular expression of JavaScript, and accepts what Go's users are used to: flags at the start, as in `(?i)error`, and brackets that are no
 * quantifier, as in `"line":3}`.
 *
 * @throws {CommandFailure} with exit code 2 if it is broken.
 */
export function parseExpression(text: string): RegExp {
  const flags = leadingFlags.exec(text)?.[1] ?? '';
  const source = text.replace(leadingFlags, '');
  const distinctFlags = [...new Set(flags)].join('');
  try {
    return new RegExp(source, `${distinctFlags}u`);
  } catch {
    return parseLenient(source, { text, flags: distinctFlags });
  }
}

/** Parses without the flag `u`, which refuses single brackets and needless backslashes. */
function parseLenient(source: string, { text, flags }: { readonly text: string; readonly flags: string }): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new CommandFailure(
      exitCodes.refused,
      `expected a regular expression, got ${text}: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

const script = new Script('match()');

/** The global object of `script`. Made at the first use and kept, because to make one takes a millisecond. */
let context: Context | undefined;

/**
 * Runs `match`, which tests regular expressions, for at most three seconds.
 *
 * @throws {CommandFailure} with exit code 2 if the time is up: an expression such as `(a+)+$` takes years for a long line, and no signal is handled meanwhile.
 */
export function matchInTime<T>(match: () => T): T {
  context ??= createContext({});
  context.match = match;
  try {
    return script.runInContext(context, { timeout: matchMs }) as T;
  } catch (error) {
    // The error is of another realm, so it is no instance of this one's Error.
    if ((error as { readonly code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new CommandFailure(
      exitCodes.refused,
      'expected regular expressions that find their match within three seconds: use no repetition of a repetition, such as (a+)+',
    );
  }
}
