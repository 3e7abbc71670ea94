import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt } from '../../core/json-at.ts';
import { metadataType, objectType } from './built-in-types.ts';
import { type FieldType, type StructType, untyped } from './field-types.ts';

const scalars: Readonly<Record<string, FieldType>> = {
  string: { type: 'scalar', scalar: 'string' },
  boolean: { type: 'scalar', scalar: 'boolean' },
  integer: { type: 'scalar', scalar: 'integer' },
  number: { type: 'scalar', scalar: 'number' },
};

/** Returns the type for a structural schema (`openAPIV3Schema`). An empty schema allows every field. */
export function customType(schema: JsonObject): FieldType {
  if (Object.keys(schema).length === 0) return objectType({}, { isOpen: true });
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...fields } = fieldsOf(schema);
  return objectType(fields, { isOpen: isOpen(schema) });
}

function typeOf(schema: Json | undefined): FieldType {
  if (!isJsonObject(schema)) return untyped;
  if (schema['x-kubernetes-int-or-string'] === true) return { type: 'scalar', scalar: 'any' };
  if (schema['x-kubernetes-embedded-resource'] === true) return embedded(schema);
  switch (schema.type) {
    case 'array':
      return listOf(schema);
    case 'object':
      return mapping(schema);
    default:
      return (typeof schema.type === 'string' ? scalars[schema.type] : undefined) ?? untyped;
  }
}

function mapping(schema: JsonObject): FieldType {
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
  if (isJsonObject(schema.additionalProperties)) return { type: 'map', values: typeOf(schema.additionalProperties), isAtomic };
  // An open object without properties: nothing is known about its members.
  if (!isJsonObject(schema.properties) && isOpen(schema)) return isAtomic ? { type: 'map', values: untyped, isAtomic } : untyped;
  return { type: 'struct', fields: new Map(Object.entries(fieldsOf(schema))), isAtomic, isOpen: isOpen(schema) };
}

function embedded(schema: JsonObject): StructType {
  const { type: _type, ...own } = objectType(fieldsOf(schema), { isOpen: isOpen(schema) });
  return { ...own, type: 'struct', fields: new Map([...own.fields, ['metadata', metadataType]]) };
}

function listOf(schema: JsonObject): FieldType {
  const listType = schema['x-kubernetes-list-type'];
  const keys = listAt(schema, 'x-kubernetes-list-map-keys').filter((key) => typeof key === 'string');
  return { type: 'list', items: typeOf(schema.items), listType: listType === 'map' || listType === 'set' ? listType : 'atomic', keys };
}

function fieldsOf(schema: JsonObject): Readonly<Record<string, FieldType>> {
  return Object.fromEntries(Object.entries(objectAt(schema, 'properties')).map(([key, value]) => [key, typeOf(value)]));
}

function isOpen(schema: JsonObject): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}
