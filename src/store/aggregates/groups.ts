import { MusterError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { type OrderKey, orderKeyOf, type ValueType } from '../../core/json-values.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/slices.ts';
import type { AskedOfKinds } from '../../model/paths-of-kinds.ts';
import { type CountedLooks, countLooks, type Look } from '../looks.ts';
import { someValue, surroundingsOf } from '../path-values.ts';
import type { Matches } from '../query.ts';
import type { QuerySource } from '../query-source.ts';
import { compareTerm, createLeaders } from '../ranking.ts';
import { singleValues, type ValuePath, valuePathsIn } from '../value-paths.ts';
import { createIdentities, type Identity, printedValue } from './identities.ts';

/** Which groups come first: the largest, then by keys; or by keys alone. */
export type GroupOrder = 'COUNT_DESC' | 'KEY_ASC';

/** What objects are grouped by. */
export interface GroupQuestion {
  /** 1 to 4 paths. */
  readonly by: readonly string[];
  readonly order: GroupOrder;
  /** Most groups in the answer, at least 1. */
  readonly first: number;
}

/** The objects that have these values. */
export interface ObjectGroup {
  /** One for each path, as it was served; null for objects that have none. */
  readonly keys: readonly Json[];
  /** How many objects. */
  readonly count: number;
  readonly matches: readonly Matches[];
}

const maxPaths = 4;
/** Each takes some 500 bytes while they are made. */
const maxGroups = 100_000;
/** Groups in one step. */
const rankedAtOnce = 100;
/** Places of objects in groups: paths through lists, several of them, multiply. */
const maxPlaces = 2_000_000;

/**
 * Groups objects by the values at these paths. An object that has several, through lists, stands once in the group of each, and of several paths in
 * that of each combination. Keys compare as `orderBy` does, what is missing last; equal ones that are written differently are groups of their own, by
 * their text.
 *
 * @throws {MusterError} `BAD_INPUT`, here and not later, unless each path fits one kind at least and leads to single values; the function it gives
 * throws `TOO_COSTLY` for more than 100,000 groups, or objects that stand in more than 2,000,000 places.
 */
export function compileGroups(
  asked: AskedOfKinds,
  question: GroupQuestion,
): (matches: readonly Matches[], look?: Look) => Steps<readonly ObjectGroup[]> {
  const { by, order, first } = question;
  if (by.length < 1 || by.length > maxPaths) {
    throw new MusterError('BAD_INPUT', `groups: expected 1 to ${maxPaths} paths to group by, got ${by.length}`);
  }
  const paths = by.map((text) => valuePathsIn(asked, text, singleValues('groups')));
  const types = paths.map(typeOfAll);
  return function* (matches, look) {
    const leaders = createLeaders<Ranked>(first, order === 'COUNT_DESC' ? compareCounts : compareKeys);
    const groups = yield* groupsOf(paths, matches, look);
    for (const [index, group] of groups.entries()) {
      leaders.offer(rankedOf(group, types));
      if (index % rankedAtOnce === 0) yield;
    }
    return leaders.list().map(({ group }) => group);
  };
}

interface Making extends ObjectGroup {
  count: number;
  readonly matches: { readonly source: QuerySource; readonly objects: KubernetesObject[] }[];
}

/** Where keys that begin alike part. */
interface Fork {
  readonly ways: Map<Identity, Fork>;
  group: Making | undefined;
}

function* groupsOf(
  paths: readonly ReadonlyMap<string, ValuePath>[],
  matches: readonly Matches[],
  look: Look | undefined,
): Steps<readonly Making[]> {
  const identityOf = createIdentities();
  const looks = countLooks(look);
  const grouping = createGrouping(identityOf, looks);
  for (const { source, objects } of matches) {
    const readers = paths.map((ofKinds) => createReader(ofKinds.get(keyOfKind(source.kind)), source, { identityOf, looks }));
    const values: (readonly Json[])[] = [];
    const at = readers.map(() => 0);
    for (const object of objects) {
      for (let level = 0; level < readers.length; level += 1) values[level] = readers[level]?.(object) ?? missing;
      // Its first place is what the first path was read for.
      let isStep = looks.add(readers.length - 1);
      // From the first values of all paths to the last ones.
      at.fill(0);
      do {
        if (grouping.put({ source, object, values, at })) isStep = true;
        if (isStep) yield;
        isStep = false;
      } while (advance(at, values));
    }
  }
  looks.end();
  return grouping.groups;
}

/** Goes on to the next combination of values. False after the last one. */
function advance(at: number[], values: readonly (readonly Json[])[]): boolean {
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

interface Grouping {
  readonly groups: readonly Making[];
  /** Puts an object into the group of one combination of its values. True after some hundred looks: it is time to yield. */
  put(placed: Placed): boolean;
}

function createGrouping(identityOf: (value: Json) => Identity, looks: CountedLooks): Grouping {
  const groups: Making[] = [];
  const root: Fork = { ways: new Map(), group: undefined };
  let places = 0;

  const groupAt = (fork: Fork, keysOf: () => readonly Json[]): Making => {
    if (fork.group !== undefined) return fork.group;
    fork.group = { keys: keysOf(), count: 0, matches: [] };
    groups.push(fork.group);
    if (groups.length > maxGroups) throw tooCostly(`${maxGroups} groups`);
    return fork.group;
  };

  return {
    groups,
    put(placed) {
      const { values, at } = placed;
      let fork = root;
      for (let level = 0; level < at.length; level += 1) fork = wayOf(fork, identityOf(valueAt(placed, level)));
      addTo(
        groupAt(fork, () => values.map((_, level) => valueAt(placed, level))),
        placed,
      );
      places += 1;
      if (places > maxPlaces) throw tooCostly(`${maxPlaces} places of objects in groups`);
      return looks.add(1);
    },
  };
}

/** An object, where it was found, what it has of each path, and which value of each is meant. */
interface Placed {
  readonly source: QuerySource;
  readonly object: KubernetesObject;
  readonly values: readonly (readonly Json[])[];
  readonly at: readonly number[];
}

function valueAt({ values, at }: Placed, level: number): Json {
  return values[level]?.[at[level] ?? 0] ?? null;
}

function wayOf({ ways }: Fork, identity: Identity): Fork {
  const known = ways.get(identity);
  if (known !== undefined) return known;
  const made: Fork = { ways: new Map(), group: undefined };
  ways.set(identity, made);
  return made;
}

function addTo(group: Making, { source, object }: Placed): void {
  const last = group.matches[group.matches.length - 1];
  if (last?.source === source) last.objects.push(object);
  else group.matches.push({ source, objects: [object] });
  group.count += 1;
}

const missing: readonly Json[] = [null];

/** Reads the different values of an object of this source; one null where there is none. What it gives is good until it is called again. */
function createReader(
  found: ValuePath | undefined,
  source: QuerySource,
  { identityOf, looks }: { readonly identityOf: (value: Json) => Identity; readonly looks: CountedLooks },
): (object: KubernetesObject) => readonly Json[] {
  if (found === undefined) return () => missing;
  const around = surroundingsOf(source);
  const values: Json[] = [];
  const collect = (value: Json): false => {
    values.push(value);
    return false;
  };
  return (here) => {
    values.length = 0;
    someValue(found.path, { here, around }, collect);
    if (values.length === 1) return values;
    if (values.length === 0) return missing;
    looks.add(values.length - 1);
    return [...new Map(values.map((value) => [identityOf(value), value])).values()];
  };
}

/** A group with what its keys compare by: only where something compares it that far. */
interface Ranked {
  readonly group: ObjectGroup;
  readonly keys: readonly (OrderKey | undefined)[];
  readonly text: string;
}

function rankedOf(group: ObjectGroup, types: readonly ValueType[]): Ranked {
  let keys: Ranked['keys'] | undefined;
  return {
    group,
    get keys() {
      keys ??= group.keys.map((key, index) => orderKeyOf(key, types[index] ?? 'JSON'));
      return keys;
    },
    get text() {
      return printedValue(group.keys);
    },
  };
}

function compareCounts(a: Ranked, b: Ranked): number {
  return b.group.count - a.group.count || compareKeys(a, b);
}

function compareKeys(a: Ranked, b: Ranked): number {
  for (const [index, key] of a.keys.entries()) {
    const order = compareTerm(key, b.keys[index], false);
    if (order !== 0) return order;
  }
  return a.text < b.text ? -1 : 1;
}

/** Kinds in which a path has different types have one order all the same. */
function typeOfAll(paths: ReadonlyMap<string, ValuePath>): ValueType {
  const types = new Set([...paths.values()].map(({ type }) => type));
  const [only = 'JSON'] = types;
  return types.size === 1 ? only : 'JSON';
}

function tooCostly(bound: string): MusterError {
  return new MusterError('TOO_COSTLY', `groups: expected at most ${bound}, got more: group by fewer paths, or narrow the list`);
}
