import type { ValueType } from '../../core/json/json-values.ts';
import { isRawNumber, type Json, type RawNumber } from '../../core/json.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { createPathContext, hasMatchingValue } from '../filter/path-values.ts';
import { type CountReads, createReadCounter } from '../query/count-reads.ts';
import type { SourceMatches } from '../query/query.ts';
import type { ValuePath } from '../query/value-paths.ts';
import { createValueIdentities, type ValueIdentity } from './identities.ts';

/** A value as the API server sent it, and how often it occurs. Lists and maps are not counted. */
export interface ValueCount {
  readonly value: string | number | boolean | RawNumber;
  readonly times: number;
}

/** Number of different values that one step reads. */
export const distinctValuesPerStep = 500;

/**
 * Counts how often each value occurs at a path in these objects. Returns one list of counts for each type that the path has in the kinds.
 * Sums and extremes then handle each different value once, and many objects usually have few different values. Absent and null values are
 * not counted. If the path leads through a list, each value in the list is counted.
 *
 * @param paths The path for each kind, by `keyOfKind`. Objects of other kinds have no value.
 */
export function* tallyValues(
  paths: ReadonlyMap<string, ValuePath>,
  matches: readonly SourceMatches[],
  countReads?: CountReads,
): Steps<ReadonlyMap<ValueType, readonly ValueCount[]>> {
  const tallies = new Map<ValueType, Map<ValueIdentity, Counting>>();
  const identityOf = createValueIdentities();
  const reads = createReadCounter(countReads);
  for (const { source, objects } of matches) {
    const found = paths.get(keyOfKind(source.kind));
    if (found === undefined) continue;
    const tally = tallies.get(found.type) ?? new Map<ValueIdentity, Counting>();
    tallies.set(found.type, tally);
    let values = 0;
    const count = (value: Json): false => {
      values += 1;
      if (value === null || (typeof value === 'object' && !isRawNumber(value))) return false;
      const identity = identityOf(value);
      const counting = tally.get(identity);
      if (counting === undefined) tally.set(identity, { value, times: 1 });
      else counting.times += 1;
      return false;
    };
    const context = createPathContext(source);
    for (const value of objects) {
      values = 0;
      hasMatchingValue(found.path, { value, context }, count);
      if (reads.add(Math.max(1, values))) yield;
    }
  }
  reads.end();
  return new Map([...tallies].map(([type, tally]) => [type, [...tally.values()]]));
}

interface Counting extends ValueCount {
  times: number;
}
