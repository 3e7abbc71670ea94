import { compareOrderKeys, type OrderKey, orderKeyOf } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PathKinds } from '../../model/paths/paths-of-kinds.ts';
import type { CountReads } from '../query/count-reads.ts';
import type { SourceMatches } from '../query/query.ts';
import { anySingleValue, findValuePaths } from '../query/value-paths.ts';
import { printJsonValue } from './identities.ts';
import { distinctValuesPerStep, tallyValues } from './tallies.ts';

/** The wanted value: the smallest (`min`) or the largest (`max`). */
type Extreme = 'min' | 'max';

/**
 * Returns a function that finds the smallest or largest value at a path. The function returns the value as the API server sent it, or
 * undefined if there is none.
 *
 * Values compare as in `orderBy`. If values are equal but written differently, the one whose text comes first wins. Lists and maps are
 * ignored.
 *
 * @throws {MusterError} `BAD_INPUT`, from this call, if no kind has such a path, or if the path does not lead to single values.
 */
export function compileExtreme(
  kinds: PathKinds,
  text: string,
  extreme: Extreme,
): (matches: readonly SourceMatches[], countReads?: CountReads) => Steps<Json | undefined> {
  const paths = findValuePaths(kinds, text, anySingleValue(extreme));
  const sign = extreme === 'min' ? 1 : -1;
  return function* (matches, countReads) {
    let best: { readonly value: Json; readonly key: OrderKey } | undefined;
    for (const [type, tally] of yield* tallyValues(paths, matches, countReads)) {
      for (const [index, { value }] of tally.entries()) {
        if (index % distinctValuesPerStep === 0) yield;
        const key = orderKeyOf(value, type);
        if (key === undefined) continue;
        const order = best === undefined ? -1 : compareOrderKeys(key, best.key) * sign;
        if (best === undefined || order < 0 || (order === 0 && printJsonValue(value) < printJsonValue(best.value))) best = { value, key };
      }
    }
    return best?.value;
  };
}
