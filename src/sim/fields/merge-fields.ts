import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { type FieldSet, fieldElement } from './field-set.ts';
import { divisionOf, type FieldType, itemElement, itemsByElement, itemType, memberType, untyped } from './field-types.ts';

/**
 * Merges applied fields into the live value. Objects are merged by member, and lists of type `map` or `set` by item. Other values are
 * replaced as a whole. Without applied fields, returns the live value. Items in both lists take the order of the applied list. An item that
 * only the live list has stays before the next item that both lists have.
 */
export function mergedFields(type: FieldType, live: Json | undefined, applied: Json | undefined): Json | undefined {
  if (applied === undefined) return live;
  const division = divisionOf(type, applied);
  if (live === undefined || live === null || division === 'whole' || divisionOf(type, live) !== division) {
    // Null claims a field without changing an object in it.
    return applied === null && live !== undefined && divisionOf(type, live) !== 'whole' ? live : applied;
  }
  if (division === 'items') return mergedItems(type, live, applied);
  return mergedMembers(type, isJsonObject(live) ? live : {}, isJsonObject(applied) ? applied : {});
}

function mergedMembers(type: FieldType, live: JsonObject, applied: JsonObject): JsonObject {
  const merged = Object.entries(applied).map(([key, value]) => {
    const before = Object.hasOwn(live, key) ? live[key] : undefined;
    return [key, mergedFields(memberType(type, key) ?? untyped, before, value)] as const;
  });
  return { ...live, ...Object.fromEntries(merged) };
}

function mergedItems(type: FieldType, live: Json, applied: Json): readonly Json[] {
  const [old, next] = [itemsByElement(type, live), itemsByElement(type, applied)];
  const merged = new Map<string, Json>();
  const waiting = [...next];
  const take = () => {
    const [element, item] = waiting.shift() ?? [];
    if (element !== undefined && item !== undefined) merged.set(element, mergedFields(itemType(type), old.get(element), item) ?? item);
    return element;
  };
  for (const [element, item] of old) {
    if (!next.has(element)) merged.set(element, item);
    else while (!merged.has(element)) take();
  }
  while (waiting.length > 0) take();
  return [...merged.values()];
}

/** Removes the fields of the set with their content. Containers that become empty are removed too. Undefined if nothing remains. */
export function withoutFields(type: FieldType, value: Json, fields: FieldSet): Json | undefined {
  const division = divisionOf(type, value);
  if (fields.below.size === 0 || division === 'whole') return value;
  if (division === 'items') {
    const kept = (Array.isArray(value) ? (value as readonly Json[]) : []).flatMap((item) => {
      const left = remaining(itemType(type), item, fields.below.get(itemElement(type, item)));
      return left === undefined ? [] : [left];
    });
    return kept.length === 0 ? undefined : kept;
  }
  const members = Object.entries(isJsonObject(value) ? value : {}).flatMap(([key, member]) => {
    const left =
      member === undefined ? undefined : remaining(memberType(type, key) ?? untyped, member, fields.below.get(fieldElement(key)));
    return left === undefined ? [] : [[key, left] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function remaining(type: FieldType, value: Json, fields: FieldSet | undefined): Json | undefined {
  if (fields === undefined) return value;
  return fields.isMember ? undefined : withoutFields(type, value, fields);
}

/** Adds every declared field that has a descendant in the set: `spec` for a set with `spec.replicas`. */
export function withNamedFields(type: FieldType, set: FieldSet): FieldSet {
  const below = [...set.below].map(([element, node]) => {
    const key = element.startsWith('f:') ? element.slice(2) : undefined;
    const inner = key === undefined ? itemType(type) : (memberType(type, key) ?? untyped);
    const isNamed = key !== undefined && type.type === 'struct' && type.fields.has(key);
    const named = withNamedFields(inner, node);
    return [element, isNamed ? { ...named, isMember: true } : named] as const;
  });
  return { isMember: set.isMember, below: new Map(below) };
}
