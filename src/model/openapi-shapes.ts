import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { compareText } from '../core/text.ts';
import { deprecationReasonOf, firstSentence } from './descriptions.ts';
import { embeddedObjectMeta } from './hand-written-types.ts';
import type { ListRules, ScalarName } from './model.ts';
import { json, keysOfEveryObject, listOf, type Shape, type ShapeField } from './shapes.ts';

/** Decides how one kind of OpenAPI document is read. The schemas of CRDs and of group versions differ in these points. */
export interface Dialect {
  /**
   * Returns the shape of the definition that a `$ref` names. `depth` is the nesting of the `$ref`. A dialect that expands definitions in
   * place continues to count from there, so that `maxDepth` also ends long chains of references.
   */
  refer(name: string, depth: number): Shape;
  /** `byFormat`: an integer of the format `int32` is `Int`, any other is `Int64`. `int64`: every integer is `Int64`. */
  readonly integers: 'byFormat' | 'int64';
  /** True: each field gets the first sentence of its description. False: fields get no description. */
  readonly describe: boolean;
  /** Called once per field. Throws if the document has more fields than any real one, so that memory stays bounded. */
  count(): void;
}

/** Schemas that are nested deeper, including lists and maps, are `JSON` from there on. No operation can select that deep. */
const maxDepth = 40;

/** The beginning of the pattern that controller-gen writes for quantities. Nothing else distinguishes them from other int-or-string fields. */
const quantityPattern = '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)';

const stringFormats: ReadonlyMap<Json | undefined, ScalarName> = new Map<Json | undefined, ScalarName>([
  ['date-time', 'DateTime'],
  ['byte', 'Bytes'],
  ['duration', 'Duration'],
  ['int-or-string', 'IntOrString'],
]);

/**
 * Converts a schema to a shape. `enum`, `required` and validation are ignored, because clusters differ most in them.
 *
 * @throws {MusterError} `BAD_INPUT` if it is no schema, and the errors of `dialect.count`.
 */
export function shapeOf(schema: Json | undefined, dialect: Dialect, depth = 0): Shape {
  if (!isJsonObject(schema)) throw notASchema(schema);
  if (depth >= maxDepth) return json;
  const reference = referenceOf(schema);
  if (reference !== undefined) return dialect.refer(reference, depth);
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return json;
  if (isIntOrString(schema)) return { scalar: isQuantity(schema) ? 'Quantity' : 'IntOrString' };
  switch (schema.type) {
    case 'string':
      return { scalar: stringFormats.get(schema.format) ?? 'String' };
    case 'boolean':
      return { scalar: 'Boolean' };
    case 'integer':
      return { scalar: dialect.integers === 'byFormat' && schema.format === 'int32' ? 'Int' : 'Int64' };
    case 'number':
      return { scalar: 'Float' };
    case 'array':
      return listShape(schema.items, dialect, depth);
    case 'object':
    case undefined:
      return objectShape(schema, dialect, depth);
    default:
      throw new MusterError('BAD_INPUT', `expected a type of OpenAPI, got ${JSON.stringify(schema.type).slice(0, 80)}`);
  }
}

/** Returns the fields that the schema of an object declares, in the order of their keys, without those in `except`. Throws like `shapeOf`. */
export function fieldsOf(
  schema: JsonObject,
  dialect: Dialect,
  { except, depth = 0 }: { readonly except?: ReadonlySet<string>; readonly depth?: number } = {},
): readonly ShapeField[] {
  const { properties } = schema;
  if (properties === undefined) return [];
  if (!isJsonObject(properties)) throw notASchema(properties);
  return Object.entries(properties)
    .filter(([key]) => except?.has(key) !== true)
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, property]) => fieldOf(key, property, { dialect, depth }));
}

/**
 * Returns the name of the definition that a schema refers to. Undefined if it is no reference. In OpenAPI 3, the reference is in an `allOf`
 * with one entry.
 */
export function referenceOf(schema: JsonObject): string | undefined {
  const { $ref, allOf } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (!Array.isArray(allOf) || allOf.length !== 1 || schema.properties !== undefined) return undefined;
  const [only] = allOf as readonly Json[];
  return only !== undefined && isJsonObject(only) && typeof only.$ref === 'string' ? referenceOf(only) : undefined;
}

function fieldOf(
  key: string,
  schema: Json | undefined,
  { dialect, depth }: { readonly dialect: Dialect; readonly depth: number },
): ShapeField {
  dialect.count();
  const shape = within(key, () => shapeOf(schema, dialect, depth + 1));
  const { description } = isJsonObject(schema) ? schema : {};
  const deprecated = deprecationReasonOf(description);
  const sentence = dialect.describe ? firstSentence(description) : undefined;
  return {
    key,
    shape,
    ...(isJsonObject(schema) && 'list' in shape ? listRulesOf(schema) : {}),
    ...(sentence === undefined ? {} : { description: sentence }),
    ...(deprecated === undefined ? {} : { deprecated }),
  };
}

function listShape(items: Json | undefined, dialect: Dialect, depth: number): Shape {
  if (!isJsonObject(items) || items.nullable === true) return json;
  return listOf(shapeOf(items, dialect, depth + 1));
}

function objectShape(schema: JsonObject, dialect: Dialect, depth: number): Shape {
  const { additionalProperties } = schema;
  if (schema['x-kubernetes-embedded-resource'] === true) return embeddedShape(schema, dialect, depth);
  const fields = fieldsOf(schema, dialect, { depth });
  if (isJsonObject(additionalProperties)) return fields.length > 0 ? json : mapShape(shapeOf(additionalProperties, dialect, depth + 1));
  return fields.length === 0 || additionalProperties === true ? json : { fields };
}

/** The fields that the API server allows in every embedded resource, even if they are not declared. */
const impliedFields: readonly ShapeField[] = [
  { key: 'apiVersion', shape: { scalar: 'String' } },
  { key: 'kind', shape: { scalar: 'String' } },
  { key: 'metadata', shape: { type: embeddedObjectMeta.name } },
];

function embeddedShape(schema: JsonObject, dialect: Dialect, depth: number): Shape {
  for (const _ of impliedFields) dialect.count();
  const declared = fieldsOf(schema, dialect, { depth, except: keysOfEveryObject });
  return { fields: [...impliedFields, ...declared].sort((a, b) => compareText(a.key, b.key)) };
}

/**
 * Returns the shape of a map with values of this shape. Only maps of quantities and of texts have types; any other map is `JSON`. Texts of
 * a format, such as `date-time`, count as texts.
 */
function mapShape(value: Shape): Shape {
  if (!('scalar' in value)) return json;
  switch (value.scalar) {
    case 'Quantity':
      return { type: 'ResourceList' };
    case 'String':
    case 'DateTime':
    case 'Bytes':
    case 'Duration':
      return { scalar: 'StringMap' };
    default:
      return json;
  }
}

function listRulesOf(schema: JsonObject): ListRules {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'];
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  return {
    ...(listType === 'atomic' || listType === 'set' || listType === 'map' ? { listType } : {}),
    ...(listType === 'map' && Array.isArray(keys) && keys.every((key) => typeof key === 'string')
      ? { listMapKeys: [...keys].sort(compareText) }
      : {}),
    ...(typeof mergeKey === 'string' ? { patchMergeKey: mergeKey } : {}),
  };
}

function isIntOrString(schema: JsonObject): boolean {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') return true;
  if (schema.type !== undefined || schema.properties !== undefined) return false;
  return [schema.anyOf, schema.oneOf].some((choices) => {
    if (!Array.isArray(choices)) return false;
    const types = (choices as readonly Json[]).map((choice) => (isJsonObject(choice) ? choice.type : undefined));
    return types.length === 2 && types.includes('integer') && types.includes('string');
  });
}

function isQuantity(schema: JsonObject): boolean {
  return typeof schema.pattern === 'string' && schema.pattern.startsWith(quantityPattern);
}

function notASchema(value: Json | undefined): MusterError {
  return new MusterError('BAD_INPUT', `expected a schema, got ${(JSON.stringify(value) ?? 'nothing').slice(0, 80)}`);
}

/** Adds the key in front of the message of an error below it, so that the message ends up with the whole path. */
function within(key: string, read: () => Shape): Shape {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    throw new MusterError(error.code, `${key}${/^expected/.test(error.message) ? ': ' : '.'}${error.message}`, { cause: error });
  }
}
