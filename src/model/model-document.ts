import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { keyOfKind } from '../core/kinds.ts';
import { embeddedObjectMeta } from './hand-written-types.ts';
import type { KindSource, ListRules, Model, ModelField, ModelKind, ModelType, ScalarName, TypeReference } from './model.ts';
import { printTypeReference, scalarNames } from './model.ts';

/**
 * Parses a model.
 *
 * @throws {MusterError} `BAD_INPUT` if `npm run model` cannot have written the document. The message names the path and the expected value.
 */
export function parseModel(document: unknown): Model {
  if (!isJsonObject(document)) throw malformed('the document', 'an object');
  const { kinds, types } = document;
  if (!Array.isArray(kinds)) throw malformed('kinds', 'a list');
  if (!isJsonObject(types)) throw malformed('types', 'an object');
  const model: Model = {
    types: new Map([
      [embeddedObjectMeta.name, embeddedObjectMeta],
      ...Object.entries(types).map(([name, type]): [string, ModelType] => [name, parseType(name, type)]),
    ]),
    kinds: new Map(
      (kinds as readonly Json[]).map((value) => {
        const kind = parseKind(value);
        return [keyOfKind(kind), kind];
      }),
    ),
  };
  checkReferences(model);
  return model;
}

function parseType(name: string, value: Json | undefined): ModelType {
  if (!isJsonObject(value)) throw malformed(`types.${name}`, 'an object');
  return { name, fields: Object.entries(value).map(([field, printed]) => parseField(`types.${name}.${field}`, field, printed)) };
}

function parseField(at: string, name: string, value: Json | undefined): ModelField {
  if (typeof value === 'string') return { name, key: name, type: parseTypeReference(at, value) };
  if (!isJsonObject(value) || typeof value.type !== 'string') throw malformed(at, 'a type, or an object with one');
  const { key, deprecated } = value;
  return {
    name,
    key: typeof key === 'string' ? key : name,
    type: parseTypeReference(at, value.type),
    ...parseListRules(value),
    ...(typeof deprecated === 'string' ? { deprecated } : {}),
  };
}

/** Parses the rules for merging a list. Unknown values are ignored. */
export function parseListRules({ listType, listMapKeys, patchMergeKey }: JsonObject): ListRules {
  return {
    ...(listType === 'atomic' || listType === 'set' || listType === 'map' ? { listType } : {}),
    ...(Array.isArray(listMapKeys) ? { listMapKeys: parseTexts(listMapKeys) } : {}),
    ...(typeof patchMergeKey === 'string' ? { patchMergeKey } : {}),
  };
}

function parseTypeReference(at: string, text: string): TypeReference {
  if (text.startsWith('[') && text.endsWith(']')) return { list: parseTypeReference(at, text.slice(1, -1)) };
  if (!/^[A-Za-z_]\w*$/.test(text)) throw malformed(at, 'the name of a type');
  const scalar = scalarNames.find((name): name is ScalarName => name === text);
  return scalar === undefined ? { type: text } : { scalar };
}

const kindSources: readonly KindSource[] = ['BUILT_IN', 'CUSTOM', 'AGGREGATED'];

function parseKind(value: Json): ModelKind {
  if (!isJsonObject(value)) throw malformed('kinds', 'a list of objects');
  const at = `kinds.${String(value.kind)}`;
  const text = (key: string): string => {
    const found = value[key];
    if (typeof found === 'string') return found;
    throw malformed(`${at}.${key}`, 'text');
  };
  const source = kindSources.find((name) => name === value.source);
  if (source === undefined) throw malformed(`${at}.source`, kindSources.join(' or '));
  return {
    group: text('group'),
    kind: text('kind'),
    versions: parseTexts(value.versions),
    plural: text('plural'),
    singular: text('singular'),
    shortNames: parseTexts(value.shortNames),
    categories: parseTexts(value.categories),
    namespaced: value.namespaced === true,
    source,
    type: text('type'),
    many: text('many'),
    one: text('one'),
    conflicts: parseTexts(value.conflicts),
    ...(typeof value.deprecated === 'string' ? { deprecated: value.deprecated } : {}),
  };
}

function checkReferences({ types, kinds }: Model): void {
  for (const { name, fields } of types.values()) {
    for (const field of fields) {
      const target = printTypeReference(field.type).replace(/[[\]]/g, '');
      const known = types.has(target) || target === 'ResourceList' || scalarNames.some((scalar) => scalar === target);
      if (!known) throw malformed(`types.${name}.${field.name}`, `a type of the document, not ${target}`);
    }
  }
  for (const kind of kinds.values()) if (!types.has(kind.type)) throw malformed(`kinds.${kind.kind}.type`, 'a type of the document');
}

/** Returns the texts in a list of a document. Empty if it is no list. */
export function parseTexts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function malformed(at: string, expected: string): MusterError {
  return new MusterError('BAD_INPUT', `not a model: ${at}: expected ${expected}`);
}
