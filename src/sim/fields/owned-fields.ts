import { equalJson } from '../../core/json/json-values.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { emptyFieldSet, type FieldSet, fieldElement, isEmptySet, unionOf } from './field-set.ts';
import { divisionOf, type FieldType, itemsByElement, itemType, memberType, untyped } from './field-types.ts';

/** The fields that differ between two values. */
export interface FieldComparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

const owned: FieldSet = { isMember: true, below: emptyFieldSet.below };
const unchanged: FieldComparison = { added: emptyFieldSet, removed: emptyFieldSet, modified: emptyFieldSet };

/** Returns the fields that an apply of this value claims: leaves, list items and empty objects. */
export function fieldSetOf(type: FieldType, value: Json | undefined): FieldSet {
  const division = divisionOf(type, value);
  if (division === 'whole') return owned;
  const below = new Map<string, FieldSet>();
  if (division === 'items') {
    for (const [element, item] of itemsByElement(type, value)) {
      below.set(element, isJsonObject(item) ? { ...fieldSetOf(itemType(type), item), isMember: true } : owned);
    }
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      const claimed = fieldSetOf(memberType(type, key) ?? untyped, member);
      const isNamed = type.type === 'struct' && type.fields.has(key);
      const isMember = claimed.isMember || !isNamed || member === null || (isJsonObject(member) && Object.keys(member).length === 0);
      if (isMember || claimed.below.size > 0) below.set(fieldElement(key), { ...claimed, isMember });
    }
  }
  return { isMember: false, below };
}

/** Compares two values. The sets include objects and items that contain changed fields. */
export function comparisonOf(type: FieldType, before: Json | undefined, after: Json | undefined): FieldComparison {
  const division = commonDivision(type, before, after);
  // An object that is empty on both sides counts as one field, so that `{}` and an absent object differ.
  if (division === 'whole' || (isVoid(before) && isVoid(after))) return comparedWhole(before, after);
  const found = { added: new Map<string, FieldSet>(), removed: new Map<string, FieldSet>(), modified: new Map<string, FieldSet>() };
  for (const [element, part] of partsOf(type, { before, after }, division)) {
    // Most parts of a write are unchanged.
    if (part.before === part.after || (part.before !== undefined && part.after !== undefined && equalJson(part.before, part.after)))
      continue;
    const compared = comparisonOf(part.type, part.before, part.after);
    for (const sort of ['added', 'removed', 'modified'] as const) {
      if (!isEmptySet(compared[sort])) found[sort].set(element, compared[sort]);
    }
  }
  return {
    added: { isMember: before === undefined, below: found.added },
    removed: { isMember: after === undefined, below: found.removed },
    modified: { isMember: false, below: found.modified },
  };
}

/** Returns the fields that were added or changed. */
export function changedIn({ added, modified }: FieldComparison): FieldSet {
  return unionOf(added, modified);
}

function comparedWhole(before: Json | undefined, after: Json | undefined): FieldComparison {
  if (before === undefined && after === undefined) return unchanged;
  if (before === undefined) return { ...unchanged, added: owned };
  if (after === undefined) return { ...unchanged, removed: owned };
  return equalJson(before, after) ? unchanged : { ...unchanged, modified: owned };
}

function commonDivision(type: FieldType, before: Json | undefined, after: Json | undefined): 'whole' | 'members' | 'items' {
  const divisions = [before, after].filter((value) => value !== undefined && value !== null).map((value) => divisionOf(type, value));
  const [first = 'whole', second = first] = divisions;
  return first === second ? first : 'whole';
}

interface Pair {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

interface Part extends Pair {
  readonly type: FieldType;
}

function* partsOf(type: FieldType, { before, after }: Pair, division: 'members' | 'items'): Iterable<readonly [string, Part]> {
  if (division === 'items') {
    const [old, next] = [itemsByElement(type, before), itemsByElement(type, after)];
    for (const element of new Set([...old.keys(), ...next.keys()])) {
      yield [element, { type: itemType(type), before: old.get(element), after: next.get(element) }];
    }
    return;
  }
  const [old, next] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}];
  for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
    yield [fieldElement(key), { type: memberType(type, key) ?? untyped, before: memberOf(old, key), after: memberOf(next, key) }];
  }
}

function memberOf(object: { readonly [key: string]: Json | undefined }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** True for null, an absent value, and an empty object or list. */
function isVoid(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}
