import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import { isKindKey, keyOfPlace, kindOfPlaceKey, type NamedPlace, placeOfPlaceKey, useOfKey } from './given-names.ts';
import { capitalised, fieldNamesOf, legalName, legalPart } from './graphql-names.ts';
import { fullGroupPrefix, groupPrefix, type RootFieldNames, rootFieldNames } from './kind-names.ts';
import type { Model } from './model.ts';
import { companionSuffixes, reservedRootFields, reservedTypeNames } from './reserved-names.ts';

/** What a kind is called in the schema. */
export interface KindNames extends RootFieldNames {
  readonly type: string;
}

/** Gives out names, each once. */
export interface NameClaims {
  /** The names of a kind of a group; the same as last time if `remembered` has them. */
  claimKind(kind: GroupKind & { readonly plural: string }): KindNames;
  /** The names of the structures of one group, whose kinds have claimed theirs. */
  structureNames(): StructureNames;
  /** What is to be remembered, with what was. */
  readonly remembered: ReadonlyMap<string, string>;
}

/** Gives out names of types and fields within kinds. A name that was given once keeps its meaning. */
export interface StructureNames {
  /** True if some place in the kind has a field name that is not its key. */
  hasFieldNames(kind: string): boolean;
  /** The names of the fields of the object at a place, in the order of its keys. */
  fieldNames(place: NamedPlace, keys: readonly string[], hidden: ReadonlySet<string> | undefined): readonly string[];
  /**
   * The name of the type at a place: the remembered one, else that of an equal structure, else the wanted one, with a number behind it if it is
   * taken. Places with equal structures may have one name.
   */
  typeName(place: NamedPlace, structure: number, wanted: string): string;
}

/**
 * Hands out the names of types and root fields beside those of the baseline and those written by hand.
 *
 * A kind's type is the prefix of its group and the kind, always, whoever else is connected. Where two groups have one prefix, or two names
 * meet, the later one takes its full group; what came first is remembered.
 *
 * @param remembered What an earlier call left: prefixes by group, types by `Kind/group`, and names within kinds by `keyOfPlace`.
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

  const fieldNames: StructureNames['fieldNames'] = (place, keys, hidden) => {
    const keyOf = (key: string) => keyOfPlace('field', [...place, key]);
    const earlier = {
      nameOf: (key: string) => memory.get(keyOf(key)),
      isOfAbsentKey: (name: string) => fieldOwners.get(keyOf(name))?.some((key) => !keys.includes(key)) === true,
    };
    const names = fieldNamesOf(keys, hidden, earlier);
    for (const [index, key] of keys.entries()) if (names[index] !== key) memory.set(keyOf(key), names[index] ?? key);
    return names;
  };

  const structureNames = (): StructureNames => {
    const structures = new Map<string, number>();
    const shared = new Map<number, string>();
    const typeName: StructureNames['typeName'] = (place, structure, wanted) => {
      const key = keyOfPlace('type', place);
      const known = memory.get(key);
      const isKept = known !== undefined && (structures.has(known) ? structures.get(known) === structure : !types.has(known));
      const isNew = (name: string) => !types.has(name) && !owners.types.has(name);
      const name = isKept ? known : (shared.get(structure) ?? firstFree([wanted], isNew));
      types.add(name);
      structures.set(name, structure);
      if (!shared.has(structure)) shared.set(structure, name);
      memory.set(key, name);
      return name;
    };
    return { hasFieldNames: (kind) => withFieldNames.has(kind), fieldNames, typeName };
  };

  return { claimKind, structureNames, remembered: memory };
}

/** The order in which kinds choose: those that are remembered, as they came; then the new ones by group and kind. */
export function inOrderOfArrival<T extends GroupKind>(kinds: readonly T[], remembered: ReadonlyMap<string, string>): readonly T[] {
  const arrivals = new Map([...remembered.keys()].map((key, index) => [key, index]));
  const arrivalOf = ({ kind, group }: T) => arrivals.get(`${kind}/${group}`) ?? Number.POSITIVE_INFINITY;
  return kinds.toSorted((a, b) => {
    const [left, right] = [arrivalOf(a), arrivalOf(b)];
    if (left !== right) return left < right ? -1 : 1;
    return a.group === b.group ? (keyOfKind(a) < keyOfKind(b) ? -1 : 1) : a.group < b.group ? -1 : 1;
  });
}

/** By whom each remembered name of a type and of a root field is held, also while its kind is nowhere served. Kinds win over structures. */
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

/** The keys that had a name, by `keyOfPlace` of that name in place of its key. */
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
