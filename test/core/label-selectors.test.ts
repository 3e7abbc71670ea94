import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { labelSelectorOf } from '../../src/core/label-selectors.ts';
import { matchesLabelSelector } from '../../src/core/selectors.ts';

const expression = (operator: string, values?: readonly Json[]): JsonObject => ({
  matchExpressions: [{ key: 'app', operator, ...(values === undefined ? {} : { values: [...values] }) }],
});
const selected = { web: { app: 'web' }, api: { app: 'api' }, bare: {} };

// LabelSelectorAsSelector in apimachinery gives the same results.
test.each<readonly [string, JsonObject, readonly (keyof typeof selected)[]]>([
  ['no condition', {}, ['web', 'api', 'bare']],
  ['a label', { matchLabels: { app: 'web' } }, ['web']],
  ['a label and another one', { matchLabels: { app: 'web', tier: 'front' } }, []],
  ['In', expression('In', ['web', 'db']), ['web']],
  ['NotIn, which an absent label meets', expression('NotIn', ['web']), ['api', 'bare']],
  ['Exists', expression('Exists'), ['web', 'api']],
  ['DoesNotExist', expression('DoesNotExist'), ['bare']],
  [
    'both, of which all must hold',
    { matchLabels: { app: 'api' }, matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['api'] }] },
    [],
  ],
])('%s', (_case, value, expected) => {
  const selector = labelSelectorOf(value);
  expect(selector).toBeDefined();
  const found = Object.entries(selected).filter(
    ([, labels]) => selector !== undefined && matchesLabelSelector(selector, labels as Record<string, string>),
  );
  expect(found.map(([name]) => name)).toEqual(expected);
  expect(labelSelectorOf(value)).toBe(selector);
});

test.each<readonly [string, JsonObject | undefined]>([
  ['nothing', undefined],
  ['a text', 'app=web' as unknown as JsonObject],
  ['an operator that nobody knows', expression('Like', ['w*'])],
  ['an expression without a key', { matchExpressions: [{ operator: 'Exists' }] }],
])('%s selects nothing', (_case, value) => {
  expect(labelSelectorOf(value)).toBeUndefined();
});
