import { expect, test } from 'vitest';
import { yamlDocumentsInSteps } from '../../src/manifests/yaml-documents.ts';

/** Runs all steps. Returns the result, and the number of interruptions. */
function inSteps(text: string): { readonly result: unknown; readonly steps: number } {
  const reading = yamlDocumentsInSteps(text);
  for (let steps = 0; ; steps += 1) {
    const step = reading.next();
    if (step.done === true) return { result: step.value, steps };
  }
}

test('a large document can be interrupted while it is read', () => {
  const keys = Array.from({ length: 2_000 }, (_, index) => `key-${index}`);
  const { result, steps } = inSteps(keys.map((key) => `${key}: value\n`).join(''));
  expect(result).toEqual({ result: 'read', documents: [Object.fromEntries(keys.map((key) => [key, 'value']))] });
  // Each line has 5 words and marks.
  expect(steps).toBeGreaterThan(30);
});

test('a problem in a large document has its line', () => {
  const { result } = inSteps(`a: b\n---\n${'key: [1, 2]\n'.repeat(500)}`);
  expect(result).toEqual({ result: 'refused', message: 'line 4: expected each key once' });
});
