import { orderKeyOf, type ValueType } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import { parseQuantity, type Quantity, QuantitySum, quantityOfNumber } from '../../core/quantities.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PathKinds } from '../../model/paths/paths-of-kinds.ts';
import type { CountReads } from '../query/count-reads.ts';
import { findValuePaths, type PathUse } from '../query/value-paths.ts';
import type { GroupedObjects } from './grouped-objects.ts';
import { tallyValues } from './tallies.ts';

const numeric: ReadonlySet<ValueType> = new Set(['Int', 'Int64', 'Float', 'Quantity', 'JSON']);
const numbers: PathUse = { name: 'sum', expected: 'a path to numbers or quantities', accepts: (type) => numeric.has(type) };

/**
 * Returns a function that computes the exact sum of all values at a path, for each group. The sum of a group without values is undefined.
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
): (grouped: GroupedObjects, countReads?: CountReads) => Steps<readonly (Quantity | undefined)[]> {
  const paths = findValuePaths(kinds, text, numbers);
  return function* (grouped, countReads) {
    const sums = Array.from({ length: grouped.size }, () => new QuantitySum());
    for (const [type, tally] of yield* tallyValues(paths, grouped, countReads)) {
      const amounts = yield* tally.mapValues((value) => amountOf(value, type));
      yield* tally.forEach(({ group, value, times }) => {
        const quantity = amounts[value];
        if (quantity !== undefined) sums[group]?.add({ quantity, times });
      });
    }
    return sums.map(({ total }) => total);
  };
}

function amountOf(value: Json, type: ValueType): Quantity | undefined {
  const key = orderKeyOf(value, type);
  if (key?.type === 'quantity') return key.value;
  if (key?.type === 'number') return quantityOfNumber(key.value);
  return key?.type === 'text' && type === 'JSON' ? parseQuantity(key.value) : undefined;
}
