import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { definedResources, definitionText, fieldsPage } from '../../scripts/crds.ts';
import { isJsonObject, type JsonObject } from '../../src/core/json.ts';
import { listAt, objectAt } from '../../src/core/json-at.ts';

async function definition(file: string): Promise<JsonObject> {
  return objectAt({ definition: parse(await readFile(new URL(`../../deploy/crds/${file}`, import.meta.url), 'utf8')) }, 'definition');
}

const versionOf = (of: JsonObject): JsonObject => objectAt({ version: listAt(of, 'spec', 'versions')[0] }, 'version');
const schemaOf = (of: JsonObject): JsonObject => objectAt(versionOf(of), 'schema', 'openAPIV3Schema');

describe('our definitions', () => {
  test.each(definedResources)('of $kind are generated: npm run crds writes them', async (resource) => {
    await expect(definitionText(resource)).toMatchFileSnapshot(`../../deploy/crds/${resource.plural}.yaml`);
  });

  test('have a page that names every field', async () => {
    await expect(fieldsPage(definedResources)).toMatchFileSnapshot('../../docs/propagation-fields.md');
  });

  test('describe every field that does not speak for itself', async () => {
    const properties = objectAt(schemaOf(await definition('propagations.yaml')), 'properties', 'spec', 'properties');
    const silent = Object.entries(properties).filter(([, property]) => !isJsonObject(property) || typeof property.description !== 'string');
    expect(silent).toEqual([]);
  });

  test('are of one version, found by category and short name, and only a ClusterShare has no status of its own', async () => {
    const [propagations, shares] = [await definition('propagations.yaml'), await definition('clustershares.yaml')];
    const migrations = await definition('migrations.yaml');
    expect(objectAt(propagations, 'spec').names).toMatchObject({
      kind: 'Propagation',
      plural: 'propagations',
      shortNames: ['prop'],
      categories: ['muster', 'all'],
    });
    expect(objectAt(shares, 'spec').names).toMatchObject({ kind: 'ClusterShare', plural: 'clustershares', categories: ['muster'] });
    expect(objectAt(migrations, 'spec').names).toMatchObject({
      kind: 'Migration',
      plural: 'migrations',
      shortNames: ['mig'],
      categories: ['muster', 'all'],
    });
    for (const of of [propagations, shares, migrations]) {
      expect(objectAt(of, 'spec')).toMatchObject({ group: 'muster.dev', scope: 'Namespaced' });
      expect(versionOf(of)).toMatchObject({ name: 'v1alpha1', served: true, storage: true });
    }
    expect(versionOf(migrations).subresources).toEqual({ status: {} });
    expect(versionOf(propagations).subresources).toEqual({ status: {} });
    expect(versionOf(shares)).not.toHaveProperty('subresources');
  });
});
