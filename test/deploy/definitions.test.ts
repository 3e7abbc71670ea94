import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isJsonObject, type JsonObject } from '../../src/core/json.ts';
import { listAt, objectAt } from '../../src/core/json-at.ts';
import { shareContent } from '../../src/propagate/hub/share-document.ts';
import { status } from '../../src/propagate/hub/status-document.ts';
import type { Shape } from '../../src/propagate/spec/shape.ts';
import { spec } from '../../src/propagate/spec/spec-codec.ts';

async function definition(file: string): Promise<JsonObject> {
  return objectAt({ definition: parse(await readFile(new URL(`../../deploy/crds/${file}`, import.meta.url), 'utf8')) }, 'definition');
}

const versionOf = (of: JsonObject): JsonObject => objectAt({ version: listAt(of, 'spec', 'versions')[0] }, 'version');
const schemaOf = (of: JsonObject): JsonObject => objectAt(versionOf(of), 'schema', 'openAPIV3Schema');

/** Where the schema of a definition and what we read differ. */
function differences(schema: JsonObject, shape: Shape, path: string): readonly string[] {
  const wrong = (what: string) => [`${path}: ${what}`];
  const same = (member: string, wanted: unknown) =>
    JSON.stringify(schema[member]) === JSON.stringify(wanted)
      ? []
      : wrong(`${member} is ${JSON.stringify(schema[member])}, we say ${JSON.stringify(wanted)}`);
  switch (shape.type) {
    case 'text':
      return same('type', 'string');
    case 'flag':
      return same('type', 'boolean');
    case 'integer':
      return [...same('type', 'integer'), ...same('minimum', shape.min), ...same('maximum', shape.max)];
    case 'amount':
      return same('x-kubernetes-int-or-string', true);
    case 'choice':
      return [...same('type', 'string'), ...same('enum', shape.values)];
    case 'selector':
      return Object.keys(objectAt(schema, 'properties')).join() === 'matchLabels,matchExpressions' ? [] : wrong('is no LabelSelector');
    case 'map':
      return objectAt(schema, 'additionalProperties').type === 'string' ? [] : wrong('is no map of texts');
    case 'lists':
      return objectAt(schema, 'additionalProperties').type === 'array' ? [] : wrong('is no map of lists');
    case 'object':
      return [...same('type', 'object'), ...same('x-kubernetes-preserve-unknown-fields', true)];
    case 'json':
      return [...same('type', undefined), ...same('x-kubernetes-preserve-unknown-fields', true), ...same('nullable', true)];
    case 'list':
      return [
        ...same('type', 'array'),
        ...same('maxItems', shape.max),
        ...same('minItems', shape.min === 0 ? undefined : shape.min),
        ...differences(objectAt(schema, 'items'), shape.of, `${path}[]`),
      ];
    case 'record': {
      const properties = objectAt(schema, 'properties');
      const fields = Object.entries(shape.fields);
      const required = fields.filter(([, { presence }]) => presence === 'required').map(([name]) => name);
      return [
        ...same('type', 'object'),
        ...same('required', required.length === 0 ? undefined : required),
        ...Object.keys(properties)
          .filter((name) => !Object.hasOwn(shape.fields, name))
          .map((name) => `${path}.${name}: we do not read it`),
        ...fields.flatMap(([name, field]) =>
          isJsonObject(properties[name])
            ? differences(properties[name], field.shape, `${path}.${name}`)
            : [`${path}.${name}: is not defined`],
        ),
      ];
    }
    default:
      return shape satisfies never;
  }
}

describe('our definitions', () => {
  test('hold every field of a Propagation that we read, and no other', async () => {
    const properties = objectAt(schemaOf(await definition('propagations.yaml')), 'properties');
    expect(Object.keys(properties)).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
    expect(differences(objectAt(properties, 'spec'), spec.shape, 'spec')).toEqual([]);
    expect(differences(objectAt(properties, 'status'), status.shape, 'status')).toEqual([]);
  });

  test('hold every field of a ClusterShare that we read, and no other', async () => {
    const { apiVersion, kind, metadata, ...properties } = objectAt(schemaOf(await definition('clustershares.yaml')), 'properties');
    expect([apiVersion, kind, metadata].every(isJsonObject)).toBe(true);
    const required = schemaOf(await definition('clustershares.yaml')).required ?? null;
    expect(differences({ type: 'object', required, properties }, shareContent.shape, 'share')).toEqual([]);
  });

  test('would tell of a field that only one of the two knows, and of a bound that differs', () => {
    const schema = { type: 'object', properties: { extra: { type: 'string' }, count: { type: 'integer', minimum: 0, maximum: 1 } } };
    const shape: Shape = {
      type: 'record',
      fields: {
        count: { shape: { type: 'integer', min: 0, max: 2 }, presence: 'optional' },
        missing: { shape: { type: 'flag' }, presence: 'optional' },
      },
    };
    expect(differences(schema, shape, 'x')).toEqual([
      'x.extra: we do not read it',
      'x.count: maximum is 1, we say 2',
      'x.missing: is not defined',
    ]);
  });

  test('describe every field that does not speak for itself', async () => {
    const properties = objectAt(schemaOf(await definition('propagations.yaml')), 'properties', 'spec', 'properties');
    const silent = Object.entries(properties).filter(([, property]) => !isJsonObject(property) || typeof property.description !== 'string');
    expect(silent).toEqual([]);
  });

  test('are of one version, found by category and short name, and only a Propagation has a status of its own', async () => {
    const [propagations, shares] = [await definition('propagations.yaml'), await definition('clustershares.yaml')];
    expect(objectAt(propagations, 'spec').names).toMatchObject({
      kind: 'Propagation',
      plural: 'propagations',
      shortNames: ['prop'],
      categories: ['muster', 'all'],
    });
    expect(objectAt(shares, 'spec').names).toMatchObject({ kind: 'ClusterShare', plural: 'clustershares', categories: ['muster'] });
    for (const of of [propagations, shares]) {
      expect(objectAt(of, 'spec')).toMatchObject({ group: 'muster.dev', scope: 'Namespaced' });
      expect(versionOf(of)).toMatchObject({ name: 'v1alpha1', served: true, storage: true });
    }
    expect(versionOf(propagations).subresources).toEqual({ status: {} });
    expect(versionOf(shares)).not.toHaveProperty('subresources');
  });
});
