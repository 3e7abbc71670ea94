import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** What a scalar may be; `any` of them for what is a number to some and text to others, as quantities are. */
export type ScalarType = 'string' | 'boolean' | 'integer' | 'number' | 'any';

/** What is known of a field: how its values look, and in which parts they are owned and merged. */
export type FieldType =
  | { readonly type: 'scalar'; readonly scalar: ScalarType; readonly format?: 'quantity' | 'bytes' }
  /** Owned as one (`atomic`), by value (`set`), or item by item (`map`, told apart by `keys`). */
  | { readonly type: 'list'; readonly items: FieldType; readonly listType: 'atomic' | 'set' | 'map'; readonly keys: readonly string[] }
  /** Any keys, values of one type. */
  | { readonly type: 'map'; readonly values: FieldType; readonly isAtomic: boolean }
  /** The keys that a schema names; `isOpen`: others too, of which nothing is known. */
  | StructType
  /** Nothing is known: objects are owned by member, all else as one. */
  | { readonly type: 'untyped' };

export interface StructType {
  readonly type: 'struct';
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly isAtomic: boolean;
  readonly isOpen: boolean;
}

export const untyped: FieldType = { type: 'untyped' };

/** The parts in which a value is owned: as one, by its members, or by its items. */
export type ValueDivision = 'whole' | 'members' | 'items';

/** How a value of the type is divided. What is not of its type, is one. */
export function divisionOf(type: FieldType, value: Json | undefined): ValueDivision {
  switch (type.type) {
    case 'scalar':
      return 'whole';
    case 'list':
      return type.listType !== 'atomic' && Array.isArray(value) ? 'items' : 'whole';
    case 'map':
    case 'struct':
      return !type.isAtomic && isJsonObject(value) ? 'members' : 'whole';
    case 'untyped':
      return isJsonObject(value) ? 'members' : 'whole';
    default: {
      return type satisfies never;
    }
  }
}

/** The type of an object's member; undefined for one that no schema names. */
export function memberType(type: FieldType, key: string): FieldType | undefined {
  switch (type.type) {
    case 'struct':
      return type.fields.get(key) ?? (type.isOpen ? untyped : undefined);
    case 'map':
      return type.values;
    case 'untyped':
      return untyped;
    default:
      return undefined;
  }
}

/** The type of a list's items. */
export function itemType(type: FieldType): FieldType {
  return type.type === 'list' ? type.items : untyped;
}

/** The items of a list that is owned item by item, each under its path element: the first of those that are equal there. */
export function itemsByElement(type: FieldType, value: Json | undefined): ReadonlyMap<string, Json> {
  const items = new Map<string, Json>();
  for (const item of Array.isArray(value) ? (value as readonly Json[]) : []) {
    const element = itemElement(type, item);
    if (!items.has(element)) items.set(element, item);
  }
  return items;
}

/** Keys that a schema gives a default: what is meant where an item does not say. */
const keyDefaults: JsonObject = { protocol: 'TCP' };

/** How an item of such a list is spelled in a path. */
export function itemElement(type: FieldType, item: Json): string {
  if (type.type !== 'list' || type.listType !== 'map' || !isJsonObject(item)) return `v:${JSON.stringify(item)}`;
  const keys = type.keys.toSorted().map((key) => [key, item[key] ?? keyDefaults[key]] as const);
  return `k:${JSON.stringify(Object.fromEntries(keys.filter(([, value]) => value !== undefined)))}`;
}
