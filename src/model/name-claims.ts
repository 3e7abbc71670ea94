import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import { capitalised, legalName, legalPart } from './graphql-names.ts';
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
  /** The name, or with a number behind it if somebody has it. */
  claimType(name: string): string;
  /** What is to be remembered, with what was. */
  readonly remembered: ReadonlyMap<string, string>;
}

/**
 * Hands out the names of types and root fields beside those of the baseline and those written by hand.
 *
 * A kind's type is the prefix of its group and the kind, always, whoever else is connected. Where two groups have one prefix, or two names
 * meet, the later one takes its full group; what came first is remembered.
 *
 * @param remembered What an earlier call left: prefixes by group, types by `Kind/group`.
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

  const claimKind = (kind: GroupKind & { readonly plural: string }): KindNames => {
    const key = `${kind.kind}/${kind.group}`;
    const suffix = capitalised(legalPart(kind.kind));
    const free = (type: string) => withCompanions(type).every((name) => !types.has(name) && (owners.get(name) ?? key) === key);
    const candidates = [prefixFor(kind.group), fullGroupPrefix(kind.group)].map((prefix) => legalName(`${prefix}${suffix}`));
    const type = firstFree([...(memory.has(key) ? [memory.get(key) ?? ''] : []), ...candidates], free);
    memory.set(key, type);
    for (const name of withCompanions(type)) types.add(name);
    const prefix = type.endsWith(suffix) ? type.slice(0, -suffix.length) : prefixFor(kind.group);
    const names = rootFieldNames({ prefix, kind: kind.kind, plural: kind.plural });
    const many = firstFree([names.many, `${names.many}List`], (name) => !rootFields.has(name));
    rootFields.add(many);
    const one = firstFree([names.one, `${names.one}ByName`], (name) => !rootFields.has(name));
    rootFields.add(one);
    return { type, many, one };
  };

  const claimType = (wanted: string): string => {
    const name = firstFree([wanted], (candidate) => !types.has(candidate) && !owners.has(candidate));
    types.add(name);
    return name;
  };

  return { claimKind, claimType, remembered: memory };
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

/** Whose each remembered name is, also while its kind is nowhere served. */
function ownersOf(remembered: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const kinds = [...remembered].filter(([key]) => key.includes('/'));
  return new Map(kinds.flatMap(([key, type]) => withCompanions(type).map((name): [string, string] => [name, key])));
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
