import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { keyOfKind, type ServedResource } from '../core/kinds.ts';
import { definitionOfResource, definitionsIn } from './convert-group-version.ts';
import { firstSentence } from './descriptions.ts';
import { builtInTypeName, embeddedTypeName, isKindDefinition } from './kind-names.ts';
import type { Model, ModelType } from './model.ts';
import { referenceOf } from './openapi-shapes.ts';
import { writtenShapeOf } from './written-shapes.ts';

/** The descriptions of one type and its fields. */
interface TypeDescription {
  readonly description?: string;
  /** The first sentence of the description of each field, by the key of the field. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The first sentences of the descriptions of types and their fields, by the name of the type. */
export type ModelDescriptions = ReadonlyMap<string, TypeDescription>;

/**
 * Reads the descriptions from the document of one group version (`/openapi/v3/…`): those of the given kinds, and of all types that they lead to.
 * Types that the model does not have are skipped, so the result is bounded by the model.
 *
 * @param resources Kinds at the version of the document.
 * @throws {MusterError} `BAD_INPUT` if the document is not OpenAPI 3.
 */
export function descriptionsIn(document: Json, resources: readonly ServedResource[], model: Model): ModelDescriptions {
  const definitions = definitionsIn(document);
  const found = new Map<string, TypeDescription>();
  const waiting: { readonly type: string; readonly schema: JsonObject }[] = [];
  for (const resource of resources) {
    const type = model.kinds.get(keyOfKind(resource))?.type;
    const schema = definitionOfResource(resource, definitions);
    if (type !== undefined && schema !== undefined) waiting.push({ type, schema });
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const type = model.types.get(next.type);
    if (type === undefined || found.has(type.name)) continue;
    found.set(type.name, describeType(type, next.schema));
    for (const name of referencesIn(next.schema)) {
      const schema = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
      if (writtenShapeOf(name) !== undefined || !isJsonObject(schema)) continue;
      waiting.push({ type: isKindDefinition(schema) ? embeddedTypeName(name) : builtInTypeName(name), schema });
    }
  }
  return found;
}

/** Returns the model with descriptions added where it has none. Types without a new description stay the same objects. */
export function describedModel(model: Model, descriptions: ModelDescriptions): Model {
  const types = [...model.types].map(([name, type]): [string, ModelType] => {
    const found = descriptions.get(name);
    if (found === undefined) return [name, type];
    const description = type.description ?? found.description;
    const fields = type.fields.map((field) => {
      const text = field.description ?? found.fields.get(field.key);
      return text === undefined ? field : { ...field, description: text };
    });
    return [name, { name, ...(description === undefined ? {} : { description }), fields }];
  });
  return { kinds: model.kinds, types: new Map(types) };
}

function describeType(type: ModelType, { description, properties }: JsonObject): TypeDescription {
  const sentence = firstSentence(description);
  const fields = new Map<string, string>();
  if (isJsonObject(properties)) {
    for (const { key } of type.fields) {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const text = isJsonObject(property) ? firstSentence(property.description) : undefined;
      if (text !== undefined) fields.set(key, text);
    }
  }
  return { ...(sentence === undefined ? {} : { description: sentence }), fields };
}

/** Returns the definitions that the fields of an object refer to, also in lists and maps. */
function referencesIn({ properties }: JsonObject): readonly string[] {
  if (!isJsonObject(properties)) return [];
  return Object.values(properties).flatMap((property) => {
    const reference = referenceWithin(property, 0);
    return reference === undefined ? [] : [reference];
  });
}

/** Maximum nesting of lists and maps. Lists of lists are rare, and deeper nesting does not occur. */
const maxListDepth = 8;

function referenceWithin(schema: Json | undefined, depth: number): string | undefined {
  if (!isJsonObject(schema) || depth > maxListDepth) return undefined;
  const reference = referenceOf(schema);
  if (reference !== undefined) return reference;
  const { items, additionalProperties } = schema;
  return referenceWithin(isJsonObject(items) ? items : additionalProperties, depth + 1);
}
