import type { ValueType } from '../../core/json/json-values.ts';
import { isRawNumber, type Json, type RawNumber } from '../../core/json.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { createPathContext, hasMatchingValue } from '../filter/path-values.ts';
import { type CountReads, createReadCounter } from '../query/count-reads.ts';
import type { ValuePath } from '../query/value-paths.ts';
import type { GroupedObjects } from './grouped-objects.ts';
import { ValueNumbers } from './identities.ts';
import { IntList, PairNumbers } from './int-list.ts';

/** A value as the API server sent it. Lists and maps are not counted. */
type CountedValue = string | number | boolean | RawNumber;

/** How often a value occurs in the objects of a group. */
interface ValueCount {
  readonly group: number;
  /** The number of the value: its index in the results of `mapValues`. */
  readonly value: number;
  readonly times: number;
}

/** Number of different values that one step reads. */
const distinctValuesPerStep = 500;
/** Number of objects after which a step ends, even if no path of them is read. */
const objectsPerStep = 2_000;

/** Counts how often each value occurs in each group. */
export class Tally {
  readonly #values = new ValueNumbers<CountedValue>();
  /** Pairs of a group and the number of a value. */
  readonly #pairs = new PairNumbers();
  readonly #times = new IntList();

  add(value: CountedValue, groups: readonly number[]): void {
    const number = this.#values.numberOf(value);
    for (const group of groups) {
      const pair = this.#pairs.numberOf(group, number);
      if (pair === this.#times.length) this.#times.push(1);
      else this.#times.set(pair, this.#times.at(pair) + 1);
    }
  }

  /** Returns the result of the function for each different value, by the number of the value. */
  *mapValues<T>(use: (value: CountedValue) => T): Steps<readonly T[]> {
    const results: T[] = [];
    for (const value of this.#values.values) {
      results.push(use(value));
      if (results.length % distinctValuesPerStep === 0) yield;
    }
    return results;
  }

  /** Calls the function for each group and each different value in it, in order of first appearance. */
  *forEach(use: (count: ValueCount) => void): Steps<void> {
    for (let pair = 0; pair < this.#pairs.size; pair += 1) {
      const [group, value] = this.#pairs.pairOf(pair);
      use({ group, value, times: this.#times.at(pair) });
      if (pair % distinctValuesPerStep === 0) yield;
    }
  }
}

/**
 * Counts how often each value occurs at a path in the objects of each group. Returns one tally for each type that the path has in the kinds.
 * Sums and extremes then handle each different value once, and many objects usually have few different values. Absent and null values are
 * not counted. If the path leads through a list, each value in the list is counted.
 *
 * All groups are counted in one walk, because memory is read fastest in the order of the objects.
 *
 * @param paths The path for each kind, by `keyOfKind`. Objects of other kinds have no value.
 */
export function* tallyValues(
  paths: ReadonlyMap<string, ValuePath>,
  grouped: GroupedObjects,
  countReads?: CountReads,
): Steps<ReadonlyMap<ValueType, Tally>> {
  const tallies = new Map<ValueType, Tally>();
  const reads = createReadCounter(countReads);
  let end = 0;
  for (const { source, objects } of grouped.matches) {
    let index = end;
    end += objects.length;
    const found = paths.get(keyOfKind(source.kind));
    if (found === undefined) continue;
    const tally = tallies.get(found.type) ?? new Tally();
    tallies.set(found.type, tally);
    let groups: readonly number[] = [];
    let values = 0;
    const count = (value: Json): false => {
      values += 1;
      if (value !== null && (typeof value !== 'object' || isRawNumber(value))) tally.add(value, groups);
      return false;
    };
    const context = createPathContext(source);
    for (const value of objects) {
      groups = grouped.groupsOf(index);
      index += 1;
      values = 0;
      if (groups.length > 0) hasMatchingValue(found.path, { value, context }, count);
      // An object counts for each of its groups.
      if (reads.add(groups.length * Math.max(1, values)) || index % objectsPerStep === 0) yield;
    }
  }
  reads.end();
  return tallies;
}
