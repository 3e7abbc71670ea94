import { MusterError } from '../../core/errors.ts';
import { type OrderKey, orderKeyOf, type ValueType } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PathKinds } from '../../model/paths/paths-of-kinds.ts';
import { createPathContext, hasMatchingValue } from '../filter/path-values.ts';
import { type CountReads, createReadCounter, type ReadCounter } from '../query/count-reads.ts';
import type { SourceMatches } from '../query/query.ts';
import { compareOrderTerm, createTopEntries } from '../query/ranking.ts';
import { anySingleValue, findValuePaths, type ValuePath } from '../query/value-paths.ts';
import type { QuerySource } from '../query-source.ts';
import type { GroupedObjects } from './grouped-objects.ts';
import { printJsonValue, ValueNumbers } from './identities.ts';
import { IntList, PairNumbers } from './int-list.ts';

/** The order of groups. `COUNT_DESC`: the largest first, groups of equal size by their keys. `KEY_ASC`: by their keys. */
export type GroupOrder = 'COUNT_DESC' | 'KEY_ASC';

/** A request to group objects. */
interface GroupRequest {
  /** The paths to group by: 1 to 4. */
  readonly by: readonly string[];
  readonly order: GroupOrder;
  /** Maximum number of groups in the answer: at least 1. */
  readonly first: number;
}

/** A group: the objects that have the same values. */
interface ObjectGroup {
  /** One value for each path, as the API server sent it. Null if the objects of the group have no value at the path. */
  readonly keys: readonly Json[];
  /** Number of objects in the group. */
  readonly count: number;
}

/** The groups of an answer, in order. */
interface ObjectGroups {
  readonly groups: readonly ObjectGroup[];
  /** The objects of each group. The number of a group is its index in `groups`. */
  readonly members: GroupedObjects;
}

const maxPaths = 4;
/** Maximum number of groups. Each group takes 30 to 100 bytes during the grouping. */
const maxGroups = 100_000;
/** Number of groups that one step ranks. */
const rankedAtOnce = 100;
/**
 * Maximum number of places. A place is one object in one group. An object has one place for each combination of its values. Places and
 * objects take 4 bytes each.
 */
const maxPlaces = 2_000_000;

/**
 * Returns a function that groups objects by the values at one to four paths.
 *
 * A path through a list may give an object several values. The object is then once in the group of each value. With several paths, it is
 * once in the group of each combination of their values. Keys compare as in `orderBy`, and missing keys come last. Equal keys that are
 * written differently form separate groups, ordered by their text.
 *
 * @throws {MusterError} `BAD_INPUT`, from this call, unless each path exists in at least one kind and leads to single values. The returned
 * function throws `TOO_COSTLY` for more than 100,000 groups or 2,000,000 places. A place is one object in one group.
 */
export function compileGroups(
  kinds: PathKinds,
  request: GroupRequest,
): (matches: readonly SourceMatches[], countReads?: CountReads) => Steps<ObjectGroups> {
  const { by, order, first } = request;
  if (by.length < 1 || by.length > maxPaths) {
    throw new MusterError('BAD_INPUT', `groups: expected 1 to ${maxPaths} paths to group by, got ${by.length}`);
  }
  const paths = by.map((text) => findValuePaths(kinds, text, anySingleValue('groups')));
  const types = paths.map(typeOfAll);
  return function* (matches, countReads) {
    const leaders = createTopEntries<RankedGroup>(first, order === 'COUNT_DESC' ? compareCounts : compareKeys);
    const grouping = yield* groupsOf(paths, matches, countReads);
    for (let group = 0; group < grouping.size; group += 1) {
      leaders.offer(new RankedGroup(grouping, group, types));
      if (group % rankedAtOnce === 0) yield;
    }
    const groups = leaders.list();
    return { groups, members: grouping.membersOf(groups, matches) };
  };
}

function* groupsOf(
  paths: readonly ReadonlyMap<string, ValuePath>[],
  matches: readonly SourceMatches[],
  countReads: CountReads | undefined,
): Steps<Grouping> {
  const levels = paths.map(() => new ValueNumbers());
  const reads = createReadCounter(countReads);
  const grouping = new Grouping(levels);
  for (const { source, objects } of matches) {
    const readers = paths.map((ofKinds, level) =>
      createReader(ofKinds.get(keyOfKind(source.kind)), source, { keys: levels[level], reads }),
    );
    const values: (readonly number[])[] = [];
    const at = readers.map(() => 0);
    for (const object of objects) {
      for (let level = 0; level < readers.length; level += 1) values[level] = readers[level]?.(object) ?? [];
      // The loop below counts one read for each place, so at least one for each object. That read pays for the first path, and the reads of
      // the other paths are counted here.
      let isStep = reads.add(readers.length - 1);
      // Visits all combinations of values, from the first value of every path to the last ones.
      at.fill(0);
      do {
        grouping.put(values, at);
        if (reads.add(1) || isStep) yield;
        isStep = false;
      } while (advance(at, values));
      grouping.endObject();
    }
  }
  reads.end();
  return grouping;
}

/**
 * Advances `at`, the index of the current value of each path, to the next combination of values. Returns false after the last combination.
 */
function advance(at: number[], values: readonly (readonly number[])[]): boolean {
  for (let level = at.length - 1; level >= 0; level -= 1) {
    const next = (at[level] ?? 0) + 1;
    if (next < (values[level]?.length ?? 0)) {
      at[level] = next;
      return true;
    }
    at[level] = 0;
  }
  return false;
}

/**
 * Stores which objects are in which group. A place is one object in one group.
 *
 * Groups, objects and places are numbers in flat lists. If 100,000 groups were JavaScript objects, the garbage collector would move them,
 * and would stop the process repeatedly for about 20 ms.
 */
class Grouping {
  readonly #levels: readonly ValueNumbers[];
  /**
   * One entry for each path to group by, except the first. An entry numbers the different combinations of values up to its path. Each is a
   * pair: the number of the combination at the paths before, and the number of the value at this path. The numbers of the last entry are
   * the groups.
   */
  readonly #pairs: readonly PairNumbers[];
  readonly #counts = new IntList();
  /** The group of each place. The places of an object follow each other, in the order of the objects. */
  readonly #places = new IntList();
  /** For each object, the number of places of this object and all objects before it. */
  readonly #ends = new IntList();

  constructor(levels: readonly ValueNumbers[]) {
    this.#levels = levels;
    this.#pairs = levels.slice(1).map(() => new PairNumbers());
  }

  get size(): number {
    return this.#counts.length;
  }

  countOf(group: number): number {
    return this.#counts.at(group);
  }

  keysOf(group: number): readonly Json[] {
    const keys: Json[] = [];
    let number = group;
    for (let level = this.#pairs.length; level > 0; level -= 1) {
      const [before, value] = this.#pairs[level - 1]?.pairOf(number) ?? [0, 0];
      keys[level] = this.#levels[level]?.values[value] ?? null;
      number = before;
    }
    keys[0] = this.#levels[0]?.values[number] ?? null;
    return keys;
  }

  /**
   * Adds the current object to the group of one combination of its values. `values` has the numbers of its values for each path, and `at`
   * selects one of them for each path.
   */
  put(values: readonly (readonly number[])[], at: readonly number[]): void {
    let group = values[0]?.[at[0] ?? 0] ?? 0;
    for (let level = 1; level < at.length; level += 1) {
      group = this.#pairs[level - 1]?.numberOf(group, values[level]?.[at[level] ?? 0] ?? 0) ?? group;
    }
    if (this.#places.length === maxPlaces) throw tooCostly(`${maxPlaces} places of objects in groups`);
    if (group === maxGroups) throw tooCostly(`${maxGroups} groups`);
    this.#places.push(group);
    if (group === this.size) this.#counts.push(1);
    else this.#counts.set(group, this.#counts.at(group) + 1);
  }

  /** Ends the current object. The next call of `put` is about the next object. */
  endObject(): void {
    this.#ends.push(this.#places.length);
  }

  /**
   * Returns the objects of these groups only. The groups get new numbers, in this order.
   *
   * @param matches All objects that were grouped.
   */
  membersOf(groups: readonly RankedGroup[], matches: readonly SourceMatches[]): GroupedObjects {
    const ranks = new Int32Array(this.size).fill(-1);
    for (const [rank, { group }] of groups.entries()) ranks[group] = rank;
    const found: number[] = [];
    return {
      matches,
      size: groups.length,
      groupsOf: (object) => {
        found.length = 0;
        for (let place = object === 0 ? 0 : this.#ends.at(object - 1); place < this.#ends.at(object); place += 1) {
          const rank = ranks[this.#places.at(place)] ?? -1;
          if (rank >= 0) found.push(rank);
        }
        return found;
      },
    };
  }
}

/**
 * Returns a function that reads the different values of one object. The function returns, for each value, the number that `keys` assigns to
 * it. An object without a value has the number of null. The next call may overwrite the returned list.
 */
function createReader(
  found: ValuePath | undefined,
  source: QuerySource,
  { keys, reads }: { readonly keys: ValueNumbers | undefined; readonly reads: ReadCounter },
): (object: KubernetesObject) => readonly number[] {
  const numberOf = (value: Json): number => keys?.numberOf(value) ?? 0;
  const numbers: number[] = [];
  if (found === undefined) {
    return () => {
      // A number is assigned only for an object, because each number of a value is a group.
      numbers[0] = numberOf(null);
      return numbers;
    };
  }
  const context = createPathContext(source);
  const collect = (value: Json): false => {
    numbers.push(numberOf(value));
    return false;
  };
  return (value) => {
    numbers.length = 0;
    hasMatchingValue(found.path, { value, context }, collect);
    if (numbers.length === 0) numbers.push(numberOf(null));
    if (numbers.length === 1) return numbers;
    reads.add(numbers.length - 1);
    return [...new Set(numbers)];
  };
}

/** A group that is ranked among others. Its keys, their order keys and its text are computed only if a comparison needs them. */
class RankedGroup {
  readonly group: number;
  readonly count: number;
  readonly #grouping: Grouping;
  readonly #types: readonly ValueType[];
  #keys: readonly Json[] | undefined;
  #orderKeys: readonly (OrderKey | undefined)[] | undefined;

  constructor(grouping: Grouping, group: number, types: readonly ValueType[]) {
    this.group = group;
    this.count = grouping.countOf(group);
    this.#grouping = grouping;
    this.#types = types;
  }

  get keys(): readonly Json[] {
    this.#keys ??= this.#grouping.keysOf(this.group);
    return this.#keys;
  }

  get orderKeys(): readonly (OrderKey | undefined)[] {
    this.#orderKeys ??= this.keys.map((key, index) => orderKeyOf(key, this.#types[index] ?? 'JSON'));
    return this.#orderKeys;
  }

  get text(): string {
    return printJsonValue(this.keys);
  }
}

function compareCounts(a: RankedGroup, b: RankedGroup): number {
  return b.count - a.count || compareKeys(a, b);
}

function compareKeys(a: RankedGroup, b: RankedGroup): number {
  for (const [index, key] of a.orderKeys.entries()) {
    const order = compareOrderTerm(key, b.orderKeys[index], false);
    if (order !== 0) return order;
  }
  return a.text < b.text ? -1 : 1;
}

/**
 * Returns the type by which the keys of a path compare. If the path has different types in several kinds, the keys of all kinds compare as
 * `JSON`.
 */
function typeOfAll(paths: ReadonlyMap<string, ValuePath>): ValueType {
  const types = new Set([...paths.values()].map(({ type }) => type));
  const [only = 'JSON'] = types;
  return types.size === 1 ? only : 'JSON';
}

function tooCostly(bound: string): MusterError {
  return new MusterError('TOO_COSTLY', `groups: expected at most ${bound}, got more: group by fewer paths, or narrow the list`);
}
