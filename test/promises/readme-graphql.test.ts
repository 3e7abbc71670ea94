import { readFileSync } from 'node:fs';
import { buildSchema, type DocumentNode, parse, specifiedRules, validate } from 'graphql';
import { expect, test } from 'vitest';
import { limitRules } from '../../src/graph/limits.ts';

// Whatever the README shows can be asked: of the schema that is printed beside it, within the bounds of documents.

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const schema = buildSchema(readFileSync(new URL('../../schema/muster.graphql', import.meta.url), 'utf8'));

const blocks = [...readme.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
/** The bodies of requests by curl. */
const bodies = [...readme.matchAll(/-d '(\{"query":.*\})'$/gm)].map(([, text = '']) => JSON.parse(text) as { readonly query: string });

const problemsOf = (document: DocumentNode) => validate(schema, document, [...limitRules, ...specifiedRules]).map(({ message }) => message);

test.each(blocks)('%s is valid', (text) => {
  expect(problemsOf(parse(text))).toEqual([]);
});

test.each(bodies)('$query, sent by curl, is valid', ({ query }) => {
  expect(problemsOf(parse(query))).toEqual([]);
});

test('the test finds what it looks for', () => {
  expect(blocks.length).toBe(readme.split('```graphql').length - 1);
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  expect(bodies.length).toBe(readme.split('curl ').length - 1);
  expect(problemsOf(parse('{ pods { colour } }'))).toHaveLength(1);
});
