import { MusterError } from './errors.ts';

/** Maximum number of elements of a list argument. Some arguments have a smaller maximum, which is checked elsewhere. */
const maxElements = 1_000;

/**
 * Returns the list of an argument if it is not too long.
 *
 * @param name The argument, for the message.
 * @throws {MusterError} `BAD_INPUT` for more than 1,000 elements. The message gives the bound and the length.
 */
export function boundedList<T extends { readonly length: number } | null | undefined>(name: string, list: T): T {
  const length = list?.length ?? 0;
  if (length <= maxElements) return list;
  throw new MusterError('BAD_INPUT', `${name}: expected at most ${maxElements}, got ${length}`);
}
