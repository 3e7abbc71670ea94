import { compareApiVersions } from '../../src/core/api-versions.ts';
import { invariant, MusterError } from '../../src/core/errors.ts';
import { isJsonObject, type JsonObject } from '../../src/core/json.ts';
import { keyOfKind, type ServedResource } from '../../src/core/kinds.ts';
import { compareText } from '../../src/core/text.ts';
import { fieldNamesOf } from '../../src/model/graphql-names.ts';
import { embeddedObjectMeta } from '../../src/model/hand-written-types.ts';
import { builtInTypeName, embeddedTypeName, isKindDefinition, rootFieldNames } from '../../src/model/kind-names.ts';
import type { Model, ModelField, ModelKind, ModelType, TypeReference } from '../../src/model/model.ts';
import { type Dialect, fieldsOf, shapeOf } from '../../src/model/openapi-shapes.ts';
import { reservedTypeNames, resourceFieldNames } from '../../src/model/reserved-names.ts';
import { keysOfEveryObject, type Shape, type ShapeField } from '../../src/model/shapes.ts';
import { writtenShapeOf } from '../../src/model/written-shapes.ts';

/** Kinds that can be listed but that no client should use: one is deprecated since 1.19, the other repeats the Events of the core group. */
const leftOut: ReadonlySet<string> = new Set(['ComponentStatus', 'Event.events.k8s.io']);

/**
 * Makes the model of the kinds that a bare API server serves: kinds that can be listed, GA or beta, and all types of their fields.
 * Deprecations are kept, descriptions are not.
 *
 * @param definitions The content of `definitions` in `/openapi/v2`.
 * @param resources The result of discovery, at the versions to read.
 * @throws {MusterError} `BAD_INPUT` if two definitions have the same name, or one has the name of a hand-written type; the table of
 * renamed definitions then needs a line. Also if a definition is missing or is not a schema.
 */
export function convertBuiltIns(definitions: JsonObject, resources: readonly ServedResource[]): Model {
  const converter = new Converter(definitions);
  const kinds = resources
    .filter((resource) => resource.verbs.includes('list') && !resource.version.includes('alpha') && !leftOut.has(keyOfKind(resource)))
    .map((resource): [string, ModelKind] => [keyOfKind(resource), converter.convertKind(resource)]);
  return { kinds: new Map(kinds), types: converter.convertReached() };
}

/** Converts definitions. They refer to each other in circles, so they are read from a queue, each once. */
class Converter {
  readonly #definitions: JsonObject;
  /** Names of types by their definition. For an object inside another one, by its name after `embedded `. */
  readonly #names = new Map<string, string>();
  readonly #owners = new Map<string, string>();
  readonly #types = new Map<string, ModelType>([[embeddedObjectMeta.name, embeddedObjectMeta]]);
  readonly #roots = new Set<string>();
  readonly #queue: { readonly definition: string; readonly name: string }[] = [];

  constructor(definitions: JsonObject) {
    this.#definitions = definitions;
  }

  convertKind(resource: ServedResource): ModelKind {
    const definition = this.#definitionOf(resource);
    const name = this.#claim(definition, builtInTypeName(definition));
    this.#roots.add(definition);
    const fields = fieldsOf(this.#schema(definition), this.#dialect, { except: keysOfEveryObject });
    this.#types.set(name, { name, fields: modelFields(fields, referenceOf, resourceFieldNames) });
    return {
      group: resource.group,
      kind: resource.kind,
      versions: resource.versions.filter((version) => !version.includes('alpha')).toSorted(compareApiVersions),
      plural: resource.resource,
      singular: resource.singular,
      shortNames: resource.shortNames.toSorted(compareText),
      categories: resource.categories.toSorted(compareText),
      namespaced: resource.namespaced,
      source: 'BUILT_IN',
      type: name,
      ...rootFieldNames({ prefix: '', kind: resource.kind, plural: resource.resource }),
      conflicts: [],
    };
  }

  convertReached(): ReadonlyMap<string, ModelType> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const { definition, name } = next;
      const fields = fieldsOf(this.#schema(definition), this.#dialect);
      this.#types.set(name, { name, fields: modelFields(fields, referenceOf) });
    }
    const reached = this.#reachable();
    return new Map([...this.#types].filter(([name]) => reached.has(name)).sort(([a], [b]) => compareText(a, b)));
  }

  /**
   * Returns the types that a field leads to. Values of maps were converted to find out what they are, but most maps are `JSON`, so their
   * types are not used.
   */
  #reachable(): ReadonlySet<string> {
    const reached = new Set([embeddedObjectMeta.name, ...[...this.#roots].map((definition) => this.#names.get(definition) ?? '')]);
    for (const name of reached) {
      for (const { type } of this.#types.get(name)?.fields ?? []) {
        const item = elementOf(type);
        if ('type' in item) reached.add(item.type);
      }
    }
    return reached;
  }

  readonly #dialect: Dialect = {
    integers: 'byFormat',
    describe: false,
    count: () => undefined,
    refer: (definition, depth) => {
      const written = writtenShapeOf(definition);
      if (written !== undefined) return written;
      const schema = this.#schema(definition);
      if (!isJsonObject(schema.properties)) return shapeOf(schema, this.#dialect, depth + 1);
      return { type: this.#typeOf(definition, schema) };
    },
  };

  #typeOf(definition: string, schema: JsonObject): string {
    const isKind = isKindDefinition(schema);
    const key = isKind ? `embedded ${definition}` : definition;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = this.#claim(key, isKind ? embeddedTypeName(definition) : builtInTypeName(definition));
    this.#queue.push({ definition, name });
    return name;
  }

  #claim(definition: string, name: string): string {
    const owner = this.#owners.get(name);
    if (owner !== undefined)
      throw new MusterError('BAD_INPUT', `expected one definition with the name ${name}, got ${owner} and ${definition}`);
    if (reservedTypeNames.has(name))
      throw new MusterError('BAD_INPUT', `${definition}: the name ${name} belongs to a type written by hand`);
    this.#owners.set(name, definition);
    this.#names.set(definition, name);
    return name;
  }

  #definitionOf({ group, version, kind }: ServedResource): string {
    for (const [name, schema] of Object.entries(this.#definitions)) {
      const kinds = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
      if (!Array.isArray(kinds) || kinds.length !== 1) continue;
      const [only] = kinds;
      if (isJsonObject(only) && only.group === group && only.version === version && only.kind === kind) return name;
    }
    throw new MusterError('BAD_INPUT', `expected a definition of ${group}/${version} ${kind}, got none`);
  }

  #schema(definition: string): JsonObject {
    const schema = Object.hasOwn(this.#definitions, definition) ? this.#definitions[definition] : undefined;
    if (isJsonObject(schema)) return schema;
    throw new MusterError('BAD_INPUT', `expected a definition ${definition}, got none`);
  }
}

function elementOf(type: TypeReference): TypeReference {
  return 'list' in type ? elementOf(type.list) : type;
}

function referenceOf(shape: Shape): TypeReference {
  if ('list' in shape) return { list: referenceOf(shape.list) };
  invariant(!('fields' in shape), 'a definition of a built-in kind holds an object without a name');
  return shape;
}

/**
 * Returns the fields of a generated type, in the order of `fields`. Each has its name in GraphQL. `reference` resolves its type.
 *
 * @param hidden Names that belong to an interface of the type.
 */
export function modelFields(
  fields: readonly ShapeField[],
  reference: (shape: Shape) => TypeReference,
  hidden?: ReadonlySet<string>,
): readonly ModelField[] {
  const names = fieldNamesOf(
    fields.map(({ key }) => key),
    hidden,
  );
  return fields.map(({ shape, ...field }, index) => ({ name: names[index] ?? field.key, type: reference(shape), ...field }));
}
