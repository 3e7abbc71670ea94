import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { type FieldPath, fieldElement, pathText } from './field-set.ts';
import { type FieldType, itemElement, itemType, memberType, type ScalarType } from './field-types.ts';

/**
 * Returns the errors that server-side apply reports: undeclared fields, values of a wrong type, and items with equal keys. Null fits every
 * type.
 */
export function typeErrorsOf(type: FieldType, value: Json | undefined, path: FieldPath = []): readonly string[] {
  if (value === undefined || value === null || type.type === 'untyped') return [];
  const expected = (what: string) => [`${pathText(path)}: expected ${what}, got ${JSON.stringify(value)}`];
  switch (type.type) {
    case 'scalar':
      return isScalar(type.scalar, value) ? [] : expected(scalarWords[type.scalar]);
    case 'list':
      return Array.isArray(value) ? listErrors(type, value, path) : expected('list');
    case 'map':
    case 'struct':
      return isJsonObject(value) ? memberErrors(type, value, path) : expected('map');
    default:
      return type satisfies never;
  }
}

/** A value without undeclared fields, and the paths of those fields: `spec.containers[0].foo`. */
export interface PrunedValue {
  readonly value: Json;
  readonly unknown: readonly string[];
}

/** Returns the value without undeclared fields and nulls, as a server reads a request. Null stays as a value of a map. */
export function prunedValue(type: FieldType, value: Json, place = ''): PrunedValue {
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item, index) => prunedValue(itemType(type), item, `${place}[${index}]`));
    return { value: items.map((item) => item.value), unknown: items.flatMap(({ unknown }) => unknown) };
  }
  if (!isJsonObject(value) || type.type === 'untyped') return { value, unknown: [] };
  const unknown: string[] = [];
  const known: (readonly [string, Json])[] = [];
  for (const [key, member] of Object.entries(value)) {
    const inner = memberType(type, key);
    const at = place === '' ? key : `${place}.${key}`;
    if (inner === undefined) unknown.push(at);
    // Null removes a field, so it is not stored.
    else if (member !== undefined && (member !== null || type.type === 'map')) {
      const pruned = prunedValue(inner, member, at);
      unknown.push(...pruned.unknown);
      known.push([key, pruned.value]);
    }
  }
  return { value: Object.fromEntries(known), unknown };
}

/** The path of a value of a wrong type, such as `spec.replicas`, and the expected type. */
export interface TypeMismatch {
  readonly place: string;
  readonly expected: 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object';
  readonly value: Json;
}

/** Returns the first value of a wrong type. Null fits every type. */
export function firstTypeMismatch(type: FieldType, value: Json | undefined, place = ''): TypeMismatch | undefined {
  if (value === undefined || value === null || type.type === 'untyped') return undefined;
  if (type.type === 'scalar') {
    const fits = isScalar(type.scalar, value) && !(type.scalar === 'integer' && typeof value === 'number' && !Number.isInteger(value));
    return fits ? undefined : { place, expected: type.scalar === 'any' ? 'string' : type.scalar, value };
  }
  if (type.type === 'list') {
    if (!Array.isArray(value)) return { place, expected: 'array', value };
    return firstOf(value as readonly Json[], (item, index) => firstTypeMismatch(type.items, item, `${place}[${index}]`));
  }
  if (!isJsonObject(value)) return { place, expected: 'object', value };
  return firstOf(Object.entries(value), ([key, member]) =>
    firstTypeMismatch(memberType(type, key) ?? { type: 'untyped' }, member, place === '' ? key : `${place}.${key}`),
  );
}

const scalarWords: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'numeric (int or float)',
  number: 'numeric (int or float)',
  any: 'string or numeric',
};

function isScalar(scalar: ScalarType, value: Json): boolean {
  const isNumber = typeof value === 'number' || isRawNumber(value);
  switch (scalar) {
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return isNumber;
    case 'any':
      return isNumber || typeof value === 'string';
    default:
      return scalar satisfies never;
  }
}

function listErrors(type: FieldType, items: readonly Json[], path: FieldPath): readonly string[] {
  if (type.type !== 'list' || type.listType === 'atomic') return items.flatMap((item) => typeErrorsOf(itemType(type), item, path));
  const seen = new Set<string>();
  return items.flatMap((item) => {
    const element = itemElement(type, item);
    const isTwice = seen.has(element);
    seen.add(element);
    const errors = typeErrorsOf(itemType(type), item, [...path, element]);
    return isTwice ? [`${pathText(path)}: duplicate entries for key ${pathText([element])}`, ...errors] : errors;
  });
}

function memberErrors(type: FieldType, value: JsonObject, path: FieldPath): readonly string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const inner = memberType(type, key);
    const at = [...path, fieldElement(key)];
    return inner === undefined ? [`${pathText(at)}: field not declared in schema`] : typeErrorsOf(inner, member, at);
  });
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item, index: number) => Found | undefined): Found | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
