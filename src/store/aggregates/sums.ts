import type { ValueType } from '../../core/json/json-values.ts';
import { orderKeyOf } from '../../core/json/json-values.ts';
import { parseQuantity, type Quantity, quantityOfNumber, type Summand, sumQuantities } from '../../core/quantities.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PathKinds } from '../../model/paths/paths-of-kinds.ts';
import type { CountReads } from '../query/count-reads.ts';
import type { SourceMatches } from '../query/query.ts';
import { findValuePaths, type PathUse } from '../query/value-paths.ts';
import { distinctValuesPerStep, tallyValues, type ValueCount } from './tallies.ts';

const numeric: ReadonlySet<ValueType> = new Set(['Int', 'Int64', 'Float', 'Quantity', 'JSON']);
const numbers: PathUse = { name: 'sum', expected: 'a path to numbers or quantities', accepts: (type) => numeric.has(type) };

/**
 * Returns a function that computes the exact sum of all values at a path. The function returns undefined if there is no value.
 *
 * Values that are not numbers or quantities are ignored: text at a path of numbers, and at a path of type `JSON` everything that is neither
 * a number nor the text of a quantity.
 *
 * @throws {MusterError} `BAD_INPUT`, from this call, if no kind has such a path, or if the path does not lead to numbers. The message names
 * the expected and the actual type.
 */
export function compileSum(
  kinds: PathKinds,
  text: string,
): (matches: readonly SourceMatches[], countReads?: CountReads) => Steps<Quantity | undefined> {
  const paths = findValuePaths(kinds, text, numbers);
  return function* (matches, countReads) {
    return sumQuantities(yield* summandsOf(yield* tallyValues(paths, matches, countReads)));
  };
}

function* summandsOf(tallies: ReadonlyMap<ValueType, readonly ValueCount[]>): Steps<readonly Summand[]> {
  const summands: Summand[] = [];
  for (const [type, tally] of tallies) {
    for (const [index, { value, times }] of tally.entries()) {
      const quantity = amountOf(value, type);
      if (quantity !== undefined) summands.push({ quantity, times });
      if (index % distinctValuesPerStep === 0) yield;
    }
  }
  return summands;
}

function amountOf(value: ValueCount['value'], type: ValueType): Quantity | undefined {
  const key = orderKeyOf(value, type);
  if (key?.type === 'quantity') return key.value;
  if (key?.type === 'number') return quantityOfNumber(key.value);
  return key?.type === 'text' && type === 'JSON' ? parseQuantity(key.value) : undefined;
}
