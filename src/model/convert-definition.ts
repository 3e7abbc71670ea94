import { conditionOf } from '../core/conditions.ts';
import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { textAt as textIn, valueAt } from '../core/json-at.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { compareText } from '../core/text.ts';
import { firstSentence } from './descriptions.ts';
import { joinKindSchemas } from './join-kinds.ts';
import { type Dialect, fieldsOf } from './openapi-shapes.ts';
import { json, type KindSchema, keysOfEveryObject } from './shapes.ts';

/** Maximum number of fields in one CRD, over all its versions. The largest real CRD that was tested has 6,000. */
const maxFields = 60_000;

/**
 * Converts a CustomResourceDefinition (`apiextensions.k8s.io/v1`) to a kind, with its served versions joined. If it serves no version, all
 * versions are joined and `versions` is empty.
 *
 * @throws {MusterError} `BAD_INPUT` if it defines no valid kind. The message names the CRD, the path in it, and the expected value.
 */
export function convertDefinition(definition: KubernetesObject): KindSchema {
  try {
    const spec = objectAt(definition, 'spec');
    return convertSpec(spec, namesOf(definition, spec));
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    const name = definition.metadata.name.slice(0, 253);
    throw new MusterError('BAD_INPUT', `CustomResourceDefinition ${name}: ${error.message}`, { cause: error });
  }
}

/**
 * True if the API server serves the kind, according to the conditions `Established` and `NamesAccepted`. True without conditions, because they
 * follow a moment later.
 */
export function isEstablished(definition: KubernetesObject): boolean {
  const established = conditionOf(definition, 'Established');
  return established === undefined ? areNamesAccepted(definition) : established.status === 'True';
}

/**
 * True if the names of the kind are accepted or not checked yet. The kind may then be served some seconds later. False if another
 * definition has the names, so that the kind is never served.
 */
export function areNamesAccepted(definition: KubernetesObject): boolean {
  return conditionOf(definition, 'NamesAccepted')?.status !== 'False';
}

/**
 * Returns the names under which the kind is served: the accepted names. Before the server has accepted any, returns the requested names.
 */
function namesOf(definition: KubernetesObject, spec: JsonObject): JsonObject {
  const accepted = valueAt(definition, 'status', 'acceptedNames');
  const isServed = textIn(accepted, 'kind') !== undefined && textIn(accepted, 'kind') !== '' && (textIn(accepted, 'plural') ?? '') !== '';
  return isServed && isJsonObject(accepted) ? accepted : objectAt(spec, 'names');
}

function convertSpec(spec: JsonObject, names: JsonObject): KindSchema {
  const kind = textAt(names, 'kind');
  const scope = textAt(spec, 'scope');
  if (!Array.isArray(spec.versions) || spec.versions.length === 0)
    throw new MusterError('BAD_INPUT', 'spec.versions: expected at least one');
  const versions = (spec.versions as readonly Json[]).filter(isJsonObject);
  const served = versions.filter((version) => version.served === true);
  const base = {
    group: textAt(spec, 'group'),
    kind,
    plural: textAt(names, 'plural'),
    singular: typeof names.singular === 'string' && names.singular !== '' ? names.singular : kind.toLowerCase(),
    shortNames: textsIn(names.shortNames),
    categories: textsIn(names.categories),
    namespaced: scope === 'Namespaced',
    source: 'CUSTOM' as const,
    conflicts: [],
  };
  return (served.length > 0 ? served : versions)
    .map((version): KindSchema => ({ ...base, ...convertVersion(version), versions: served.length > 0 ? [textAt(version, 'name')] : [] }))
    .reduce(joinKindSchemas);
}

function convertVersion(version: JsonObject): Pick<KindSchema, 'shape' | 'description'> {
  const name = textAt(version, 'name');
  const schema = isJsonObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
  if (schema === undefined) return { shape: { fields: [] } };
  if (!isJsonObject(schema)) throw new MusterError('BAD_INPUT', `${name}: expected a schema`);
  try {
    const description = firstSentence(schema.description);
    return {
      shape: { fields: fieldsOf(schema, customDialect(), { except: keysOfEveryObject }) },
      ...(description === undefined ? {} : { description }),
    };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    throw new MusterError('BAD_INPUT', `${name}.${error.message}`, { cause: error });
  }
}

/**
 * Returns the dialect of structural schemas. They have no references. Formats of integers are ignored, because they change between releases
 * of the same CRD.
 */
function customDialect(): Dialect {
  let fields = 0;
  return {
    refer: () => json,
    integers: 'int64',
    describe: true,
    count: () => {
      fields++;
      if (fields > maxFields) throw new MusterError('BAD_INPUT', `expected at most ${maxFields} fields, got more`);
    },
  };
}

function objectAt(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  if (isJsonObject(value)) return value;
  throw new MusterError('BAD_INPUT', `expected an object at ${key}, got ${printed(value)}`);
}

function textAt(parent: JsonObject, key: string): string {
  const value = parent[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new MusterError('BAD_INPUT', `expected text at ${key}, got ${printed(value)}`);
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.filter((item) => typeof item === 'string'))].sort(compareText) : [];
}

function printed(value: Json | undefined): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80);
}
