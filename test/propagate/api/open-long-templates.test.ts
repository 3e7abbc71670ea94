import { expect, test } from 'vitest';
import type { Steps } from '../../../src/core/scheduling/operation-scheduler.ts';
import { openLongTemplates } from '../../../src/propagate/api/open-long-templates.ts';

/** Runs the steps at once, and counts them. */
function createCountedSlices() {
  let steps = 0;
  const run = <T>(work: Steps<T>): T => {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      steps += 1;
    }
  };
  return { run, steps: () => steps };
}

const signal = new AbortController().signal;
const configMap = (name: string, keys: number) =>
  [
    'apiVersion: v1',
    'kind: ConfigMap',
    `metadata: { name: ${name} }`,
    'data:',
    ...Array.from({ length: keys }, (_, at) => `  k${at}: "v"`),
  ].join('\n');
const json = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const place = { namespace: 'default', name: 'web' };

test('reads long YAML texts in many steps, and keeps the order of the template', async () => {
  const slices = createCountedSlices();
  const template = [
    { json: json('first') },
    { yaml: `${configMap('b', 3_000)}\n---\n${configMap('c', 1)}` },
    { yaml: configMap('d', 1), json: null },
  ];
  const opened = await openLongTemplates({ caller: { key: 'a' }, signal, timeSlices: slices }, { ...place, template });
  expect(opened).toMatchObject({
    result: 'opened',
    input: { ...place, template: [template[0], { json: json('b') }, { json: { ...json('c'), data: { k0: 'v' } } }, template[2]] },
  });
  expect(slices.steps()).toBeGreaterThan(50);
});

test('reports the problem of a long YAML text with its path', async () => {
  const template = [{ json: json('first') }, { yaml: `${configMap('b', 3_000)}\n---\n{ kind: ConfigMap }` }];
  const opened = await openLongTemplates({ caller: { key: 'a' }, signal, timeSlices: createCountedSlices() }, { ...place, template });
  const note = {
    severity: 'ERROR',
    code: 'INVALID',
    path: 'template[1].yaml[1].apiVersion',
    message: 'expected a version such as v1 or apps/v1',
  };
  expect(opened).toEqual({ result: 'refused', note });
});

test.each([
  ['short texts', [{ yaml: configMap('a', 1) }]],
  ['a text beside JSON', [{ yaml: configMap('a', 3_000), json: json('a') }]],
  ['values of other types', ['text', null, 3, { yaml: 3 }]],
])('leaves %s to the definition', async (_, template) => {
  const given = { ...place, template };
  const opened = await openLongTemplates({ caller: { key: 'a' }, signal, timeSlices: createCountedSlices() }, given);
  expect(opened).toEqual({ result: 'opened', input: given });
});
