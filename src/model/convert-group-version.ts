import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { apiVersionOf, type ServedResource } from '../core/kinds.ts';
import { compareText } from '../core/text.ts';
import { firstSentence } from './descriptions.ts';
import type { KindSource } from './model.ts';
import { type Dialect, fieldsOf, shapeOf } from './openapi-shapes.ts';
import { json, type KindSchema, keysOfEveryObject, type Shape } from './shapes.ts';
import { writtenShapeOf } from './written-shapes.ts';

/** Maximum number of fields in one group version. The largest one of Kubernetes has 2,000. */
const maxFields = 60_000;

/** One group version of an API server, with the resources that it serves. */
export interface GroupVersion {
  /** The answer of `/openapi/v3/apis/<group>/<version>`. */
  readonly document: Json;
  /** The resources of this group version. Those that cannot be listed are skipped. */
  readonly resources: readonly ServedResource[];
  readonly source: KindSource;
}

/**
 * Converts the kinds of one group version: of an aggregated API, of CRDs that may not be listed, or of built-in kinds that the committed
 * model does not have.
 *
 * A kind without a definition has only the fields that every object has. Where a definition contains itself, the inner type is `JSON`.
 *
 * @throws {MusterError} `BAD_INPUT` if the document is not OpenAPI 3. The message names the group version, the path, and the expected
 * value.
 */
export function convertGroupVersion({ document, resources, source }: GroupVersion): readonly KindSchema[] {
  const listed = resources.filter(({ verbs }) => verbs.includes('list'));
  const [first] = listed;
  if (first === undefined) return [];
  try {
    const definitions = definitionsIn(document);
    return listed.map((resource) => convertKind(resource, definitions, source));
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    throw new MusterError('BAD_INPUT', `OpenAPI of ${apiVersionOf(first)}: ${error.message}`, { cause: error });
  }
}

function convertKind(resource: ServedResource, definitions: JsonObject, source: KindSource): KindSchema {
  const schema = definitionOfResource(resource, definitions);
  const description = firstSentence(schema?.description);
  return {
    group: resource.group,
    kind: resource.kind,
    versions: [resource.version],
    plural: resource.resource,
    singular: resource.singular === '' ? resource.kind.toLowerCase() : resource.singular,
    shortNames: resource.shortNames.toSorted(compareText),
    categories: resource.categories.toSorted(compareText),
    namespaced: resource.namespaced,
    source,
    ...(description === undefined ? {} : { description }),
    shape: { fields: schema === undefined ? [] : fieldsOf(schema, dialectOf(definitions), { except: keysOfEveryObject }) },
    conflicts: [],
  };
}

/** Creates the dialect of one document. It expands references in place. Each definition is read once, and its shape is shared. */
function dialectOf(definitions: JsonObject): Dialect {
  const known = new Map<string, Shape | 'reading'>();
  const sizes = new Map<string, number>();
  let fields = 0;
  const count = (more: number) => {
    fields += more;
    if (fields > maxFields) throw new MusterError('BAD_INPUT', `expected at most ${maxFields} fields, got more`);
  };
  const dialect: Dialect = {
    integers: 'byFormat',
    describe: true,
    refer: (name, depth) => {
      const shape = writtenShapeOf(name) ?? known.get(name);
      if (shape === 'reading') return json;
      // A shared shape is stored once, but printed and joined at each place. So its fields count at each place. Otherwise a few definitions
      // could make any number of fields.
      count(sizes.get(name) ?? 0);
      if (shape !== undefined) return shape;
      const before = fields;
      const schema = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
      if (schema === undefined) throw new MusterError('BAD_INPUT', `expected a schema ${name}, got none`);
      known.set(name, 'reading');
      const read = shapeOf(schema, dialect, depth + 1);
      known.set(name, read);
      sizes.set(name, fields - before);
      return read;
    },
    count: () => count(1),
  };
  return dialect;
}

/**
 * Returns the schemas of a document, by name.
 *
 * @throws {MusterError} `BAD_INPUT` if it has none.
 */
export function definitionsIn(document: Json): JsonObject {
  const components = isJsonObject(document) ? document.components : undefined;
  const schemas = isJsonObject(components) ? components.schemas : undefined;
  if (isJsonObject(schemas)) return schemas;
  throw new MusterError('BAD_INPUT', 'expected an object at components.schemas');
}

/** Returns the schema of a kind at its version. Undefined if the document has none. */
export function definitionOfResource({ group, version, kind }: ServedResource, definitions: JsonObject): JsonObject | undefined {
  return Object.values(definitions)
    .filter((schema) => schema !== undefined && isJsonObject(schema))
    .find((schema) => {
      const kinds = schema['x-kubernetes-group-version-kind'];
      return (
        Array.isArray(kinds) &&
        (kinds as readonly Json[]).some((one) => isJsonObject(one) && one.group === group && one.version === version && one.kind === kind)
      );
    });
}
