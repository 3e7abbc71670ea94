import { parseInstant } from '../../core/json-values.ts';

/** The later of two times, as it was written; of two that are equal the first. What is no time does not count. */
export function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined && b === undefined) return undefined;
  const [x, y] = [a, b].map((text) => (text === undefined ? undefined : parseInstant(text)));
  if (y === undefined) return x === undefined ? undefined : a;
  if (x === undefined) return b;
  return y.ms > x.ms || (y.ms === x.ms && y.nanos > x.nanos) ? b : a;
}
