import { readFile } from 'node:fs/promises';
import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/graph.ts';
import { limitRules } from '../../src/graph/limits.ts';
import { parseModel } from '../../src/model/model-document.ts';
import { demoQueries, exampleQueries } from '../../src/serve/examples.ts';

test.each(exampleQueries)('the example "$title" is valid, within the bounds, and says what it shows', async ({ query, variables }) => {
  const baseline = await readFile(new URL('../../schema/kubernetes.json', import.meta.url), 'utf8');
  const schema = buildGraph(parseModel(JSON.parse(baseline)));
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  expect(validate(schema, document, limitRules)).toEqual([]);
  expect(query).toMatch(/^# \w/);
  expect(variables === undefined || typeof JSON.parse(variables) === 'object').toBe(true);
});

test('three of them are worth pasting', () => {
  expect(demoQueries).toHaveLength(3);
  for (const query of demoQueries) expect(exampleQueries).toContain(query);
});
