import { readdir, readFile } from 'node:fs/promises';
import { parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { refusalOfCost } from '../../src/graph/context/cost.ts';
import { limitRules } from '../../src/graph/context/limits.ts';
import { buildGraph } from '../../src/graph/graph.ts';
import { readExamples } from '../../src/serve/examples.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

const schema = buildGraph(loadBaseline());
const examples = await readExamples();
const folder = new URL('../../schema/examples/', import.meta.url);

describe.each(examples.all.map((example) => [example.title, example] as const))('the example "%s"', (title, { query, variables }) => {
  const document = parse(query);
  const [operation] = document.definitions;

  test('is one valid operation with a name, within the bounds', () => {
    expect(validate(schema, document)).toEqual([]);
    expect(validate(schema, document, limitRules)).toEqual([]);
    if (operation?.kind !== 'OperationDefinition') throw new Error('expected an operation');
    expect(operation.name?.value).toMatch(/^[A-Z]/);
    expect(document.definitions).toHaveLength(1);
    const values = variables === undefined ? undefined : JSON.parse(variables);
    expect(refusalOfCost({ schema, document, operation, variables: values })).toBeUndefined();
  });

  test('begins with its title, and runs as it is', () => {
    expect(title).toMatch(/^[A-Z].{10,}/);
    if (operation?.kind !== 'OperationDefinition') throw new Error('expected an operation');
    const needed = (operation.variableDefinitions ?? []).filter(
      ({ type, defaultValue }) => type.kind === 'NonNullType' && defaultValue === undefined,
    );
    expect(needed.map(({ variable }) => variable.name.value).filter((name) => !(variables ?? '').includes(`"${name}"`))).toEqual([]);
  });
});

test('every file is an example, with a title and a name of its own', async () => {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.graphql'));
  expect(files.length).toBeGreaterThanOrEqual(15);
  expect(examples.all).toHaveLength(files.length);
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')));
  expect(new Set(examples.all.map(({ query }) => query))).toEqual(new Set(texts));
  expect(new Set(examples.all.map(({ title }) => title)).size).toBe(files.length);
  expect(new Set(texts.map((text) => /^(?:query|mutation|subscription) (\w+)/m.exec(text)?.[1])).size).toBe(files.length);
});

test('three examples are short enough to paste', () => {
  expect(examples.forTerminal).toHaveLength(3);
  for (const query of examples.forTerminal) expect(examples.all).toContain(query);
});
