import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** The type of a scalar. `any`: a number or text, such as a quantity. */
export type ScalarType = 'string' | 'boolean' | 'integer' | 'number' | 'any';

/** The type of a field: the shape of its values, and how they are divided for ownership and merging. */
export type FieldType =
  | { readonly type: 'scalar'; readonly scalar: ScalarType; readonly format?: 'quantity' | 'bytes' }
  /** `atomic`: one owner for the whole list. `set`: an owner per value. `map`: an owner per item, which `keys` identify. */
  | { readonly type: 'list'; readonly items: FieldType; readonly listType: 'atomic' | 'set' | 'map'; readonly keys: readonly string[] }
  /** A map with any keys, whose values have one type. `isAtomic`: one owner for the whole map. */
  | { readonly type: 'map'; readonly values: FieldType; readonly isAtomic: boolean }
  /** An object with the keys of a schema. `isOpen`: unknown keys are allowed too. `isAtomic`: one owner for the whole object. */
  | StructType
  /** An unknown type: objects have an owner per member, other values have one owner. */
  | { readonly type: 'untyped' };

export interface StructType {
  readonly type: 'struct';
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly isAtomic: boolean;
  readonly isOpen: boolean;
}

export const untyped: FieldType = { type: 'untyped' };

/** How a value is divided among owners: not at all, by members, or by items. */
export type ValueDivision = 'whole' | 'members' | 'items';

/** Returns how a value is divided. A value that does not have this type is not divided. */
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

/** Returns the type of a member. Undefined if the schema does not declare it. */
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

/** Returns the type of the items of a list. */
export function itemType(type: FieldType): FieldType {
  return type.type === 'list' ? type.items : untyped;
}

/** Returns the items of a list by path element. The first of several equal items wins. */
export function itemsByElement(type: FieldType, value: Json | undefined): ReadonlyMap<string, Json> {
  const items = new Map<string, Json>();
  for (const item of Array.isArray(value) ? (value as readonly Json[]) : []) {
    const element = itemElement(type, item);
    if (!items.has(element)) items.set(element, item);
  }
  return items;
}

/** Defaults for keys that an item leaves out. */
const keyDefaults: JsonObject = { protocol: 'TCP' };

/** Returns the path element of an item. */
export function itemElement(type: FieldType, item: Json): string {
  if (type.type !== 'list' || type.listType !== 'map' || !isJsonObject(item)) return `v:${JSON.stringify(item)}`;
  const keys = type.keys.toSorted().map((key) => [key, item[key] ?? keyDefaults[key]] as const);
  return `k:${JSON.stringify(Object.fromEntries(keys.filter(([, value]) => value !== undefined)))}`;
}
