import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { readInputInSlices } from '../../../src/propagate/api/read-input-in-slices.ts';
import { readPropagationInput } from '../../../src/propagate/api/read-propagation-input.ts';
import { createCountedSlices } from '../../support/counted-slices.ts';

const signal = new AbortController().signal;
const requester = { user: 'ann', groups: [], extra: {}, at: '2026-11-28T00:00:00Z' };
const configMap = (name: string, keys: number, kind = 'ConfigMap') =>
  [
    'apiVersion: v1',
    `kind: ${kind}`,
    `metadata: { name: ${name} }`,
    'data:',
    ...Array.from({ length: keys }, (_, at) => `  k${at}: "v"`),
  ].join('\n');
const json = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const inputOf = (template: Json) => ({ namespace: 'default', name: 'web', placement: {}, template });

async function read(template: Json) {
  const timeSlices = createCountedSlices();
  const result = await readInputInSlices({ caller: { key: 'a' }, signal, timeSlices }, inputOf(template), requester);
  return { result, steps: timeSlices.steps() };
}

test('reads long YAML texts in many steps, and keeps the order of the template', async () => {
  const template = [
    { json: json('first') },
    { yaml: `${configMap('b', 3_000)}\n---\n${configMap('c', 1)}` },
    { yaml: configMap('d', 1), json: null },
  ];
  const { result, steps } = await read(template);
  expect(result).toMatchObject({ result: 'valid' });
  expect(result).toEqual(readPropagationInput(inputOf(template), requester));
  expect(steps).toBeGreaterThan(50);
});

test.each([
  ['a problem of a long text', [{ json: json('first') }, { yaml: `${configMap('b', 3_000)}\n---\n{ kind: ConfigMap }` }]],
  ['a Secret', [{ yaml: configMap('s', 3_000, 'Secret') }]],
  ['a Secret among the documents of a long text', [{ yaml: `${configMap('b', 3_000)}\n---\n${configMap('s', 1, 'Secret')}` }]],
  ['a problem after a long text', [{ yaml: `${configMap('b', 3_000)}\n---\n${configMap('c', 1)}` }, { json: { kind: 'ConfigMap' } }]],
  ['a source of no form after a long text', [{ yaml: `${configMap('b', 3_000)}\n---\n${configMap('c', 1)}` }, {}]],
  ['too many objects', [{ yaml: Array.from({ length: 21 }, (_, at) => configMap(`m${at}`, 200)).join('\n---\n') }]],
])('reports %s as for a short text', async (_, template) => {
  const { result } = await read(template);
  expect(result).toMatchObject({ result: 'invalid' });
  expect(result).toEqual(readPropagationInput(inputOf(template), requester));
});

test.each([
  ['short texts', [{ yaml: configMap('a', 1) }]],
  ['a text beside JSON', [{ yaml: configMap('a', 3_000), json: json('a') }]],
  ['values of other types', ['text', null, 3, { yaml: 3 }]],
])('reads %s at once', async (_, template) => {
  const { result, steps } = await read(template);
  expect(result).toEqual(readPropagationInput(inputOf(template), requester));
  expect(steps).toBe(0);
});
