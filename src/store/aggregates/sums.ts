import type { ValueType } from '../../core/json-values.ts';
import { orderKeyOf } from '../../core/json-values.ts';
import { parseQuantity, type Quantity, quantityOfNumber, type Summand, sumQuantities } from '../../core/quantities.ts';
import type { Steps } from '../../core/slices.ts';
import type { AskedOfKinds } from '../../model/paths-of-kinds.ts';
import type { Look } from '../looks.ts';
import type { Matches } from '../query.ts';
import { type PathUse, valuePathsIn } from '../value-paths.ts';
import { type Counted, tallyValues, valuesAtOnce } from './tallies.ts';

const numeric: ReadonlySet<ValueType> = new Set(['Int', 'Int64', 'Float', 'Quantity', 'JSON']);
const numbers: PathUse = { name: 'sum', expected: 'a path to numbers or quantities', takes: (type) => numeric.has(type) };

/**
 * The exact sum of all values at a path; undefined if there is none. What is no number or quantity is no value: text at a path of numbers, and of
 * `JSON` all but numbers and the text of quantities.
 *
 * @throws {MusterError} `BAD_INPUT`, here and not later, if no kind has such a path, or it leads to no numbers: what was expected there, and what came.
 */
export function compileSum(asked: AskedOfKinds, text: string): (matches: readonly Matches[], look?: Look) => Steps<Quantity | undefined> {
  const paths = valuePathsIn(asked, text, numbers);
  return function* (matches, look) {
    return sumQuantities(yield* summandsOf(yield* tallyValues(paths, matches, look)));
  };
}

function* summandsOf(tallies: ReadonlyMap<ValueType, readonly Counted[]>): Steps<readonly Summand[]> {
  const summands: Summand[] = [];
  for (const [type, tally] of tallies) {
    for (const [index, { value, times }] of tally.entries()) {
      const quantity = amountOf(value, type);
      if (quantity !== undefined) summands.push({ quantity, times });
      if (index % valuesAtOnce === 0) yield;
    }
  }
  return summands;
}

function amountOf(value: Counted['value'], type: ValueType): Quantity | undefined {
  const key = orderKeyOf(value, type);
  if (key?.type === 'quantity') return key.value;
  if (key?.type === 'number') return quantityOfNumber(key.value);
  return key?.type === 'text' && type === 'JSON' ? parseQuantity(key.value) : undefined;
}
