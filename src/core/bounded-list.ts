import { MusterError } from './errors.ts';

/** The elements that an argument may have, unless a smaller bound is natural. */
const maxElements = 1_000;

/**
 * The list that an argument was given, if it is not too long.
 *
 * @param name The argument, for the message.
 * @throws {MusterError} `BAD_INPUT` for more than 1,000 elements: what was expected and what came.
 */
export function boundedList<T extends { readonly length: number } | null | undefined>(name: string, list: T): T {
  const length = list?.length ?? 0;
  if (length <= maxElements) return list;
  throw new MusterError('BAD_INPUT', `${name}: expected at most ${maxElements}, got ${length}`);
}
