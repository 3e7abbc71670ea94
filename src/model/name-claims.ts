import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import { isKindKey, keyOfPlace, kindOfPlaceKey, type NamedPlace, placeOfPlaceKey, useOfKey } from './given-names.ts';
import { capitalised, fieldNamesOf, legalName, legalPart } from './graphql-names.ts';
import { fullGroupPrefix, groupPrefix, type RootFieldNames, rootFieldNames } from './kind-names.ts';
import type { Model } from './model.ts';
import { companionSuffixes, reservedRootFields, reservedTypeNames } from './reserved-names.ts';

/** The names of a kind in the schema. */
export interface KindNames extends RootFieldNames {
  readonly type: string;
}

/** Assigns the names of types and root fields. No two types and no two root fields get the same name. */
export interface NameClaims {
  /** Returns the names of a kind. A kind whose names are in `remembered` keeps them. */
  claimKind(kind: GroupKind & { readonly plural: string }): KindNames;
  /**
   * Returns the part that names the types and fields inside the kinds of one group. Call it once for each group, after all its kinds have
   * claimed their names.
   */
  structureNames(): StructureNames;
  /** All names to remember, including the earlier ones. */
  readonly remembered: ReadonlyMap<string, string>;
}

/** Assigns the names of types and fields within kinds. A name that was assigned once keeps its meaning. */
export interface StructureNames {
  /** True if a field in the kind has a name that differs from its key. */
  hasFieldNames(kind: string): boolean;
  /** Returns the names of the fields of the object at a place, in the order of `keys`. */
  fieldNames(place: NamedPlace, keys: readonly string[], hidden: ReadonlySet<string> | undefined): readonly string[];
  /**
   * Returns the name of the type at a place. `structure` is a number that is equal for equal structures. The name is the first of these
   * that exists: the remembered name, unless another structure has it; the name of an equal structure; the wanted name. A number is added
   * to the wanted name if another structure has it. Places with equal structures may share a name.
   */
  typeName(place: NamedPlace, structure: number, wanted: string): string;
}

/**
 * Creates the part that assigns the names of types and root fields. Names of the baseline and names written by hand are in use from the
 * start.
 *
 * The type name of a kind is the prefix of its group and the kind, whichever clusters are connected. If two groups have the same prefix, or
 * two type names are equal, the whole group becomes the prefix of the later one. A root field whose name is in use gets the suffix `List`
 * or `ByName`. Earlier names are remembered.
 *
 * @param remembered The names of an earlier call: prefixes by group, types by `Kind/group`, and names within kinds by `keyOfPlace`.
 */
export function createNameClaims(baseline: Model, remembered: ReadonlyMap<string, string>): NameClaims {
  const memory = new Map(remembered);
  const prefixes = new Set([...remembered].filter(([key]) => !key.includes('/')).map(([, prefix]) => prefix));
  const types = new Set([...reservedTypeNames, ...baseline.types.keys()]);
  const owners = ownersOf(remembered);
  const rootFields = new Set(reservedRootFields);
  for (const { type, many, one } of baseline.kinds.values()) {
    for (const name of withCompanions(type)) types.add(name);
    rootFields.add(many).add(one);
  }

  const prefixFor = (group: string): string => {
    const known = memory.get(group);
    if (known !== undefined) return known;
    const prefix = firstFree([groupPrefix(group), fullGroupPrefix(group)], (name) => !prefixes.has(name));
    prefixes.add(prefix);
    memory.set(group, prefix);
    return prefix;
  };

  const claimRootField = (key: string, candidates: readonly string[]): string => {
    const known = memory.get(key);
    const isFree = (name: string) => !rootFields.has(name) && (owners.rootFields.get(name) ?? key) === key;
    const name = firstFree([...(known === undefined ? [] : [known]), ...candidates], isFree);
    rootFields.add(name);
    memory.set(key, name);
    return name;
  };

  const claimKind = (kind: GroupKind & { readonly plural: string }): KindNames => {
    const key = `${kind.kind}/${kind.group}`;
    const suffix = capitalised(legalPart(kind.kind));
    const free = (type: string) => withCompanions(type).every((name) => !types.has(name) && (owners.types.get(name) ?? key) === key);
    const candidates = [prefixFor(kind.group), fullGroupPrefix(kind.group)].map((prefix) => legalName(`${prefix}${suffix}`));
    const type = firstFree([...(memory.has(key) ? [memory.get(key) ?? ''] : []), ...candidates], free);
    memory.set(key, type);
    for (const name of withCompanions(type)) types.add(name);
    const prefix = type.endsWith(suffix) ? type.slice(0, -suffix.length) : prefixFor(kind.group);
    const names = rootFieldNames({ prefix, kind: kind.kind, plural: kind.plural });
    const many = claimRootField(keyOfPlace('many', [key]), [names.many, `${names.many}List`]);
    const one = claimRootField(keyOfPlace('one', [key]), [names.one, `${names.one}ByName`]);
    return { type, many, one };
  };

  const fieldOwners = fieldOwnersOf(remembered);
  const withFieldNames = new Set([...remembered.keys()].filter((key) => useOfKey(key) === 'field').map(kindOfPlaceKey));
  const structureNames = () => createStructureNames({ memory, types, ownedTypes: owners.types, fieldOwners, withFieldNames });
  return { claimKind, structureNames, remembered: memory };
}

interface TakenNames {
  /** The names by `keyOfPlace`. Each new name is added. */
  readonly memory: Map<string, string>;
  /** The names of types that are in use. Each new name is added. */
  readonly types: Set<string>;
  /** The names of types in the schema lock. The value is the key of `memory` to which the name belongs. */
  readonly ownedTypes: ReadonlyMap<string, string>;
  readonly fieldOwners: ReadonlyMap<string, readonly string[]>;
  /** The kinds that have a field whose name differs from its key. */
  readonly withFieldNames: ReadonlySet<string | undefined>;
}

function createStructureNames({ memory, types, ownedTypes, fieldOwners, withFieldNames }: TakenNames): StructureNames {
  const structures = new Map<string, number>();
  const shared = new Map<number, string>();
  return {
    hasFieldNames: (kind) => withFieldNames.has(kind),
    fieldNames(place, keys, hidden) {
      const keyOf = (key: string) => keyOfPlace('field', [...place, key]);
      const earlier = {
        nameOf: (key: string) => memory.get(keyOf(key)),
        isOfAbsentKey: (name: string) => fieldOwners.get(keyOf(name))?.some((key) => !keys.includes(key)) === true,
      };
      const names = fieldNamesOf(keys, hidden, earlier);
      for (const [index, key] of keys.entries()) if (names[index] !== key) memory.set(keyOf(key), names[index] ?? key);
      return names;
    },
    typeName(place, structure, wanted) {
      const key = keyOfPlace('type', place);
      const known = memory.get(key);
      const isKept = known !== undefined && (structures.has(known) ? structures.get(known) === structure : !types.has(known));
      const isNew = (name: string) => !types.has(name) && !ownedTypes.has(name);
      const name = isKept ? known : (shared.get(structure) ?? firstFree([wanted], isNew));
      types.add(name);
      structures.set(name, structure);
      if (!shared.has(structure)) shared.set(structure, name);
      memory.set(key, name);
      return name;
    },
  };
}

/** Returns kinds in the order in which they choose names: first the remembered ones in order of arrival, then the new ones by group and kind. */
export function inOrderOfArrival<T extends GroupKind>(kinds: readonly T[], remembered: ReadonlyMap<string, string>): readonly T[] {
  const arrivals = new Map([...remembered.keys()].map((key, index) => [key, index]));
  const arrivalOf = ({ kind, group }: T) => arrivals.get(`${kind}/${group}`) ?? Number.POSITIVE_INFINITY;
  return kinds.toSorted((a, b) => {
    const [left, right] = [arrivalOf(a), arrivalOf(b)];
    if (left !== right) return left < right ? -1 : 1;
    return a.group === b.group ? (keyOfKind(a) < keyOfKind(b) ? -1 : 1) : a.group < b.group ? -1 : 1;
  });
}

/**
 * Returns, for each remembered name of a type or a root field, the key that it belongs to. Names of kinds that no cluster serves are included. If
 * a kind and a structure have the same type name, the name belongs to the kind.
 */
function ownersOf(remembered: ReadonlyMap<string, string>) {
  const types = new Map<string, string>();
  const rootFields = new Map<string, string>();
  for (const [key, name] of remembered) {
    const use = useOfKey(key);
    if (use === 'type') types.set(name, key);
    if (use === 'many' || use === 'one') rootFields.set(name, key);
  }
  for (const [key, type] of remembered) if (isKindKey(key)) for (const name of withCompanions(type)) types.set(name, key);
  return { types, rootFields };
}

/**
 * Returns, for each remembered field name, the keys that had this name. The keys of the map are results of `keyOfPlace`, for the place of
 * the field with the name, instead of the JSON key, as its last segment.
 */
function fieldOwnersOf(remembered: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const [remembering, name] of remembered) {
    if (useOfKey(remembering) !== 'field') continue;
    const place = placeOfPlaceKey(remembering);
    const key = place.at(-1);
    if (key === undefined) continue;
    const named = keyOfPlace('field', [...place.slice(0, -1), name]);
    owners.set(named, [...(owners.get(named) ?? []), key]);
  }
  return owners;
}

function withCompanions(type: string): readonly string[] {
  return [type, ...companionSuffixes.map((suffix) => `${type}${suffix}`)];
}

function firstFree(candidates: readonly string[], free: (name: string) => boolean): string {
  const found = candidates.find(free);
  if (found !== undefined) return found;
  const last = candidates.at(-1) ?? '';
  let number = 2;
  while (!free(`${last}_${number}`)) number++;
  return `${last}_${number}`;
}
