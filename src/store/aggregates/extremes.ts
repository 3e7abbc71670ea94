import { compareOrderKeys, type OrderKey, orderKeyOf, type ValueType } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PathKinds } from '../../model/paths/paths-of-kinds.ts';
import type { CountReads } from '../query/count-reads.ts';
import { anySingleValue, findValuePaths } from '../query/value-paths.ts';
import type { GroupedObjects } from './grouped-objects.ts';
import { printJsonValue } from './identities.ts';
import { tallyValues } from './tallies.ts';

/** The wanted value: the smallest (`min`) or the largest (`max`). */
type Extreme = 'min' | 'max';

/**
 * Returns a function that finds the smallest or largest value at a path, for each group. The function returns values as the API server sent
 * them, and undefined for a group without values.
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
): (grouped: GroupedObjects, countReads?: CountReads) => Steps<readonly (Json | undefined)[]> {
  const paths = findValuePaths(kinds, text, anySingleValue(extreme));
  const sign = extreme === 'min' ? 1 : -1;
  return function* (grouped, countReads) {
    const best: (Candidate | undefined)[] = Array.from({ length: grouped.size }, () => undefined);
    for (const [type, tally] of yield* tallyValues(paths, grouped, countReads)) {
      const candidates = yield* tally.mapValues((value) => candidateOf(value, type));
      yield* tally.forEach(({ group, value }) => {
        const [candidate, known] = [candidates[value], best[group]];
        if (candidate === undefined) return;
        if (known === undefined || compareCandidates(candidate, known, sign) < 0) best[group] = candidate;
      });
    }
    return best.map((candidate) => candidate?.value);
  };
}

interface Candidate {
  readonly value: Json;
  readonly key: OrderKey;
}

function candidateOf(value: Json, type: ValueType): Candidate | undefined {
  const key = orderKeyOf(value, type);
  return key === undefined ? undefined : { value, key };
}

function compareCandidates(a: Candidate, b: Candidate, sign: 1 | -1): number {
  const order = compareOrderKeys(a.key, b.key) * sign;
  if (order !== 0) return order;
  return printJsonValue(a.value) < printJsonValue(b.value) ? -1 : 1;
}
