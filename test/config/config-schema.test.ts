import { expect, test } from 'vitest';
import { z } from 'zod';
import { configFile } from '../../src/config/config-file.ts';

const configFileSchema = z.toJSONSchema(configFile, {
  io: 'input',
  unrepresentable: 'any',
  override({ jsonSchema }) {
    delete jsonSchema.readOnly;
  },
});

test('schema/config.schema.json is the schema that the parser describes', async () => {
  await expect(`${JSON.stringify(configFileSchema, undefined, 2)}\n`).toMatchFileSnapshot('../../schema/config.schema.json');
});

test('every key has a description', () => {
  const silent: string[] = [];
  visit(configFileSchema, '', silent);
  expect(silent).toEqual([]);
});

function visit(schema: unknown, path: string, silent: string[]): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, items } = schema as { properties?: Record<string, { description?: string }>; items?: unknown };
  for (const [name, property] of Object.entries(properties ?? {})) {
    if ((property.description ?? '').length < 10) silent.push(`${path}.${name}`);
    visit(property, `${path}.${name}`, silent);
  }
  visit(items, `${path}[]`, silent);
}
