import { equalJson } from '../../core/json/json-values.ts';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt } from '../../core/json-at.ts';
import type { StatusCause } from '../kinds/api-status.ts';
import { customType } from './custom-types.ts';
import { itemElement } from './field-types.ts';

/** Returns the value with the defaults of its schema. A null counts as absent if the schema has a default. */
export function defaultedValue(schema: JsonObject, value: Json): Json {
  if (Array.isArray(value)) {
    const items = objectAt(schema, 'items');
    return (value as readonly Json[]).map((item) => defaultedValue(items, item));
  }
  if (!isJsonObject(value)) return value;
  const properties = objectAt(schema, 'properties');
  const filled: Record<string, Json | undefined> = { ...value };
  for (const [key, inner] of Object.entries(properties)) {
    if (!isJsonObject(inner)) continue;
    const given = Object.hasOwn(filled, key) ? filled[key] : undefined;
    if (inner.default !== undefined && (given === undefined || given === null)) filled[key] = inner.default;
  }
  const others = objectAt(schema, 'additionalProperties');
  const entries = Object.entries(filled).map(([key, member]) => {
    if (member === undefined) return [key, member] as const;
    return [key, defaultedValue(Object.hasOwn(properties, key) ? objectAt(properties, key) : others, member)] as const;
  });
  return Object.fromEntries(entries);
}

/** Validates the value against the schema and returns the causes of a 422. CEL rules are not evaluated. */
export function schemaFaults(schema: JsonObject, value: Json | undefined, place = ''): readonly StatusCause[] {
  if (value === undefined) return [];
  if (value === null) return schema.nullable === true || place === '' ? [] : [typeFault(schema, value, place)];
  if (!isOfType(schema, value)) return [typeFault(schema, value, place)];
  const own = valueFaults(schema, value, place);
  if (Array.isArray(value)) return [...own, ...itemFaults(schema, value as readonly Json[], place)];
  return isJsonObject(value) ? [...own, ...memberFaults(schema, value, place)] : own;
}

function memberFaults(schema: JsonObject, value: JsonObject, place: string): readonly StatusCause[] {
  const at = (key: string) => (place === '' ? key : `${place}.${key}`);
  const properties = objectAt(schema, 'properties');
  const missing = listAt(schema, 'required').filter((key): key is string => typeof key === 'string' && value[key] === undefined);
  const required = missing.map((key) => ({ reason: 'FieldValueRequired', message: 'Required value', field: at(key) }));
  const inner = Object.entries(value).flatMap(([key, member]) => {
    const known = Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
    return isJsonObject(known) ? schemaFaults(known, member, at(key)) : [];
  });
  return [...required, ...inner];
}

function itemFaults(schema: JsonObject, items: readonly Json[], place: string): readonly StatusCause[] {
  const list = customType({ properties: { list: schema } });
  const type = list.type === 'struct' ? list.fields.get('list') : undefined;
  const isKeyed = type?.type === 'list' && type.listType !== 'atomic';
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const at = `${place}[${index}]`;
    const faults = schemaFaults(objectAt(schema, 'items'), item, at);
    if (!isKeyed) return faults;
    const element = itemElement(type, item);
    if (!seen.has(element)) {
      seen.add(element);
      return faults;
    }
    return [{ reason: 'FieldValueDuplicate', message: `Duplicate value: ${element.slice(2)}`, field: at }, ...faults];
  });
}

function valueFaults(schema: JsonObject, value: Json, place: string): readonly StatusCause[] {
  const allowed = listAt(schema, 'enum');
  if (allowed.length > 0 && !allowed.some((one) => equalJson(one, value))) {
    const supported = allowed.map((one) => JSON.stringify(one)).join(', ');
    return [
      {
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`,
        field: place,
      },
    ];
  }
  const invalid = (why: string): StatusCause => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${place} in body ${why}`,
    field: place,
  });
  return boundsOf(schema, value)
    .map(invalid)
    .concat(longer(schema, value, place));
}

/** Returns the schema bounds that a number, text or list violates. */
function boundsOf(schema: JsonObject, value: Json): string[] {
  const bound = (key: string): number | undefined => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const why: string[] = [];
  if (typeof value === 'number') {
    if (value < (bound('minimum') ?? value)) why.push(`should be greater than or equal to ${bound('minimum')}`);
    if (value > (bound('maximum') ?? value)) why.push(`should be less than or equal to ${bound('maximum')}`);
  }
  if (typeof value === 'string') {
    if (value.length < (bound('minLength') ?? 0)) why.push(`should be at least ${bound('minLength')} chars long`);
    if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern, 'u').test(value)) why.push(`should match '${schema.pattern}'`);
  }
  if (Array.isArray(value) && value.length < (bound('minItems') ?? 0)) why.push(`should have at least ${bound('minItems')} items`);
  return why;
}

function longer(schema: JsonObject, value: Json, place: string): StatusCause[] {
  const { maxLength, maxItems, maxProperties } = schema;
  if (typeof value === 'string' && typeof maxLength === 'number' && value.length > maxLength) {
    return [{ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${maxLength} bytes`, field: place }];
  }
  const [count, most] = Array.isArray(value)
    ? [value.length, maxItems]
    : [isJsonObject(value) ? Object.keys(value).length : 0, maxProperties];
  if (typeof most !== 'number' || count <= most) return [];
  return [{ reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${most} items`, field: place }];
}

function typeFault(schema: JsonObject, value: Json, place: string): StatusCause {
  const found = value === null ? 'null' : Array.isArray(value) ? 'array' : isRawNumber(value) ? 'integer' : typeof value;
  const expected = typeof schema.type === 'string' ? schema.type : 'integer,string';
  const message = `Invalid value: ${JSON.stringify(found)}: ${place} in body must be of type ${expected}: ${JSON.stringify(found)}`;
  return { reason: 'FieldValueTypeInvalid', message, field: place };
}

function isOfType(schema: JsonObject, value: Json): boolean {
  const isNumber = typeof value === 'number' || isRawNumber(value);
  if (schema['x-kubernetes-int-or-string'] === true) return isNumber || typeof value === 'string';
  switch (schema.type) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return isRawNumber(value) || Number.isInteger(value);
    case 'number':
      return isNumber;
    case 'string':
    case 'boolean':
      return typeof value === schema.type;
    default:
      return true;
  }
}
