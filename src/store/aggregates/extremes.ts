import type { Json } from '../../core/json.ts';
import { compareOrderKeys, type OrderKey, orderKeyOf } from '../../core/json-values.ts';
import type { Steps } from '../../core/slices.ts';
import type { AskedOfKinds } from '../../model/paths-of-kinds.ts';
import type { Look } from '../looks.ts';
import type { Matches } from '../query.ts';
import { singleValues, valuePathsIn } from '../value-paths.ts';
import { printedValue } from './identities.ts';
import { tallyValues, valuesAtOnce } from './tallies.ts';

/** The smallest or the largest. */
type Extreme = 'min' | 'max';

/**
 * The smallest or largest of all values at a path, as it was served; undefined if there is none. They compare as `orderBy` does; of equal ones that
 * are written differently, it is the one whose text comes first. Lists and maps do not compare, and are no values here.
 *
 * @throws {MusterError} `BAD_INPUT`, here and not later, if no kind has such a path, or it leads to no single value.
 */
export function compileExtreme(
  asked: AskedOfKinds,
  text: string,
  extreme: Extreme,
): (matches: readonly Matches[], look?: Look) => Steps<Json | undefined> {
  const paths = valuePathsIn(asked, text, singleValues(extreme));
  const sign = extreme === 'min' ? 1 : -1;
  return function* (matches, look) {
    let best: { readonly value: Json; readonly key: OrderKey } | undefined;
    for (const [type, tally] of yield* tallyValues(paths, matches, look)) {
      for (const [index, { value }] of tally.entries()) {
        if (index % valuesAtOnce === 0) yield;
        const key = orderKeyOf(value, type);
        if (key === undefined) continue;
        const order = best === undefined ? -1 : compareOrderKeys(key, best.key) * sign;
        if (best === undefined || order < 0 || (order === 0 && printedValue(value) < printedValue(best.value))) best = { value, key };
      }
    }
    return best?.value;
  };
}
