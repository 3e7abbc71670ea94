import { isJsonObject, type Json } from '../../core/json.ts';
import { equalJson } from '../../core/json-values.ts';
import { type FieldPath, type FieldSet, fieldElement, fieldSetFrom, unionOf } from './field-set.ts';
import { divisionOf, type FieldType, itemsByElement, itemType, memberType, untyped } from './field-types.ts';

/** What one value has that another has not, and what differs in both. */
export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** The fields that somebody claims who applies this value: each that says something, each item, and each empty object. */
export function fieldSetOf(type: FieldType, value: Json | undefined): FieldSet {
  const paths: FieldPath[] = [];
  claim(type, value, { path: [], claim: (path) => paths.push(path) });
  return fieldSetFrom(paths);
}

interface Claiming {
  readonly path: FieldPath;
  readonly claim: (path: FieldPath) => void;
}

function claim(type: FieldType, value: Json | undefined, { path, claim: add }: Claiming): void {
  const division = divisionOf(type, value);
  if (division === 'whole') {
    add(path);
  } else if (division === 'items') {
    for (const [element, item] of itemsByElement(type, value)) {
      const at = [...path, element];
      add(at);
      if (isJsonObject(item)) claim(itemType(type), item, { path: at, claim: add });
    }
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      const at = [...path, fieldElement(key)];
      const isNamed = type.type === 'struct' && type.fields.has(key);
      if (!isNamed || member === null || (isJsonObject(member) && Object.keys(member).length === 0)) add(at);
      claim(memberType(type, key) ?? untyped, member, { path: at, claim: add });
    }
  }
}

/** What became of one value: fields, and the objects and items that hold them. */
export function comparisonOf(type: FieldType, before: Json | undefined, after: Json | undefined): Comparison {
  const found: Found = { added: [], removed: [], modified: [] };
  if (!equalJson(before, after)) compare(type, { before, after, path: [] }, found);
  return { added: fieldSetFrom(found.added), removed: fieldSetFrom(found.removed), modified: fieldSetFrom(found.modified) };
}

/** What was added or changed. */
export function changedIn({ added, modified }: Comparison): FieldSet {
  return unionOf(added, modified);
}

interface Found {
  readonly added: FieldPath[];
  readonly removed: FieldPath[];
  readonly modified: FieldPath[];
}

interface Pair {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly path: FieldPath;
}

function compare(type: FieldType, pair: Pair, found: Found): void {
  const { before, after, path } = pair;
  const division = commonDivision(type, before, after);
  // An object that is empty on both sides is one field: that is how `{}` and nothing are told apart.
  if (division === 'whole' || (isVoid(before) && isVoid(after))) {
    if (before === undefined) found.added.push(path);
    else if (after === undefined) found.removed.push(path);
    else if (!equalJson(before, after)) found.modified.push(path);
    return;
  }
  if (before === undefined && path.length > 0) found.added.push(path);
  if (after === undefined && path.length > 0) found.removed.push(path);
  for (const [element, child] of partsOf(type, { before, after, path }, division)) {
    if (equalJson(child.before, child.after)) continue;
    compare(child.type, { ...child, path: [...path, element] }, found);
  }
}

function commonDivision(type: FieldType, before: Json | undefined, after: Json | undefined): 'whole' | 'members' | 'items' {
  const divisions = [before, after].filter((value) => value !== undefined && value !== null).map((value) => divisionOf(type, value));
  const [first = 'whole', second = first] = divisions;
  return first === second ? first : 'whole';
}

interface Part {
  readonly type: FieldType;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
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

/** Nothing, null, or an object or list without content. */
function isVoid(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}
