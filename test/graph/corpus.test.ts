import { expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/graph.ts';
import { convertDefinition } from '../../src/model/convert-definition.ts';
import { createModel } from '../../src/model/create-model.ts';
import { committedModel, corpusDefinitions } from '../support/graph/corpus.ts';

test.skipIf(corpusDefinitions === undefined)('the CRDs of real projects make a valid schema together with the built-in kinds', () => {
  const custom = (corpusDefinitions ?? []).map(convertDefinition);
  const { model, problems } = createModel({ baseline: committedModel(), custom, prefixes: new Map() });
  const query = buildGraph(model).getQueryType()?.getFields() ?? {};
  expect(problems).toEqual([]);
  expect(model.kinds.size).toBeGreaterThan(committedModel().kinds.size);
  expect([...model.kinds.values()].filter(({ many, one }) => query[many] === undefined || query[one] === undefined)).toEqual([]);
});
