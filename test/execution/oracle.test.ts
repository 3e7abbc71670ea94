import { expect, test } from 'vitest';
import { compareCorpusOperations, corpusModel } from '../support/execution/corpus-operations.ts';
import { compareRandomOperations } from '../support/execution/random-operations.ts';

const seed = 2_026_000_000;

test('compiled answers equal those of graphql-js for random schemas, documents and data', { timeout: 180_000 }, async () => {
  const counts = await compareRandomOperations(seed, 18_500);
  expect(counts.documents).toBeGreaterThanOrEqual(18_300);
  expect(counts.compiled / counts.documents).toBeGreaterThan(0.5);
  expect(counts.bailed / counts.documents).toBeGreaterThan(0.05);
});

test('compiled answers equal those of graphql-js for messages about the kinds of real projects', { timeout: 180_000 }, async () => {
  const counts = await compareCorpusOperations(corpusModel(), seed, 2_000);
  expect(counts.documents).toBeGreaterThanOrEqual(1_990);
  expect(counts.compiled / counts.documents).toBeGreaterThan(0.5);
  expect(counts.bailed).toBeGreaterThan(0);
});
