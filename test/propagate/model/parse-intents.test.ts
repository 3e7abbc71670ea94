import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printYaml } from '../../../src/core/json/print-yaml.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { documentOf } from '../../../src/propagate/model/input-spec.ts';
import { type Intent, parseIntents } from '../../../src/propagate/model/parse-intents.ts';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { rightDocument } from './arbitrary-document.ts';

const spec: JsonObject = { template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } } }], placement: {} };

const manifest = (parts: JsonObject = {}): JsonObject => ({
  apiVersion: 'muster.dev/v1alpha1',
  kind: 'Propagation',
  metadata: { name: 'web' },
  spec,
  ...parts,
});

function intentsIn(text: string, namespace?: string): readonly Intent[] {
  const read = parseIntents(text, { namespace });
  if (read.result === 'refused') throw new Error(JSON.stringify(read.problems));
  return read.intents;
}

function problemsIn(value: Json, namespace?: string): readonly string[] {
  const read = parseIntents(JSON.stringify(value), { namespace });
  if (read.result === 'read') throw new Error(`expected problems, got ${JSON.stringify(read.intents)}`);
  return read.problems.map(({ document, path, message }) => [document, path, message].join('|'));
}

function inputIn(text: string): PropagationInput {
  const [intent] = intentsIn(text);
  if (!isJsonObject(intent?.input)) throw new Error('expected an input');
  return intent.input as PropagationInput;
}

describe('an intent', () => {
  test('is an input of the schema: enum values in capitals, selectors as text, manifests as JSON', () => {
    const text = `
apiVersion: muster.dev/v1alpha1
kind: Propagation
metadata: {name: web, namespace: shop, labels: {team: shop}, annotations: {who: me}}
spec:
  template:
    - yaml: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: web}
        data: {mode: "0644"}
  placement: {selector: {matchLabels: {tier: gold}, matchExpressions: [{key: old, operator: DoesNotExist}]}}
  conflict: ServerSideApply
  rollout: {onFailure: Rollback, soak: 60s}
`;
    const [intent] = intentsIn(text);
    expect(intent).toEqual({
      namespace: 'shop',
      name: 'web',
      input: {
        namespace: 'shop',
        name: 'web',
        labels: { team: 'shop' },
        template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { mode: '0644' } } }],
        placement: { selector: '!old,tier in (gold)' },
        conflict: 'SERVER_SIDE_APPLY',
        rollout: { onFailure: 'ROLLBACK', soak: '1m' },
      },
    });
  });

  test('has the same spec as its resource, for random specs', () => {
    fc.assert(
      fc.property(rightDocument, (document) => {
        const { requester: _, ...asked } = document;
        const { document: again, problems } = documentOf(inputIn(printYaml(manifest({ spec: document }))));
        expect(problems).toEqual([]);
        expect(parseSpec(again)).toEqual(parseSpec(asked));
      }),
      { numRuns: 100 },
    );
  });

  test('may come from the hub: fields of the hub and the gateway are left out', () => {
    const served = manifest({
      metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 2, finalizers: ['muster.dev/propagation'] },
      spec: { ...spec, requester: { user: 'alice', groups: [], extra: {} } },
      status: { phase: 'Settled' },
    });
    expect(inputIn(JSON.stringify(served))).toEqual(inputIn(JSON.stringify(manifest({ metadata: { name: 'web', namespace: 'shop' } }))));
  });

  test.each([
    ['where it says', { name: 'web', namespace: 'shop' }, undefined, 'shop'],
    ['in default where it says nothing', { name: 'web' }, undefined, 'default'],
    ['where it is put', { name: 'web' }, 'shop', 'shop'],
    ['where both say', { name: 'web', namespace: 'shop' }, 'shop', 'shop'],
    ['in default where null is said', { name: 'web', namespace: null }, undefined, 'default'],
  ])('stands %s', (_, metadata, namespace, expected) => {
    const [intent] = intentsIn(JSON.stringify(manifest({ metadata })), namespace);
    expect([intent?.namespace, isJsonObject(intent?.input) && intent.input.namespace]).toEqual([expected, expected]);
  });
});

describe('a text', () => {
  const named = (name: string) => printYaml(manifest({ metadata: { name } }));

  test('may have several documents and lists, in order; empty ones are skipped', () => {
    const list = printYaml({
      apiVersion: 'v1',
      kind: 'List',
      items: [manifest({ metadata: { name: 'c' } }), manifest({ metadata: { name: 'd' } })],
    });
    const text = `---\n${named('a')}---\n# nothing\n---\n${named('b')}---\n${list}`;
    expect(intentsIn(text).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('is refused with all problems, their documents and paths', () => {
    const wrong = [
      printYaml(manifest({ spec: { ...spec, conflict: 'Never', placement: { clusters: 'north' } } })),
      printYaml({ apiVersion: 'v1', kind: 'List', items: [manifest(), manifest({ metadata: {} })] }),
    ].join('---\n');
    const read = parseIntents(wrong);
    const told = read.result === 'refused' ? read.problems.map(({ document, path }) => [document, path]) : [];
    expect(told).toEqual([
      ['document 1', 'spec.placement.clusters'],
      ['document 1', 'spec.conflict'],
      ['document 2, items[1]', 'metadata.name'],
    ]);
  });

  test.each<readonly [string, string, string]>([
    ['that is no YAML', 'a: [', 'line'],
    ['with nothing in it', '# nothing\n---\n', 'expected a Propagation, got none'],
    ['with a list of nothing', '{"apiVersion":"v1","kind":"List","items":[]}', 'expected a Propagation, got none'],
  ])('%s is refused as a whole', (_, text, message) => {
    const read = parseIntents(text);
    expect(read).toEqual({ result: 'refused', problems: [{ document: '', path: '', message: expect.stringContaining(message) }] });
  });
});

test.each<readonly [string, Json, readonly string[]]>([
  ['text', 'web', ['||expected a Propagation']],
  [
    'another kind',
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
    [
      '||expected a Propagation of muster.dev/v1alpha1, got a Deployment of apps/v1: put the objects to propagate into spec.template of a Propagation',
    ],
  ],
  [
    'another version',
    manifest({ apiVersion: 'muster.dev/v9' }),
    ['||expected a Propagation of muster.dev/v1alpha1, got a Propagation of muster.dev/v9'],
  ],
  [
    'a kind that is no text',
    manifest({ kind: 7 }),
    ['||expected a Propagation of muster.dev/v1alpha1, got an object without a text in kind'],
  ],
  [
    'no version',
    manifest({ apiVersion: null }),
    ['||expected a Propagation of muster.dev/v1alpha1, got an object without a text in apiVersion'],
  ],
  ['no name', manifest({ metadata: { namespace: 'shop' } }), ['|metadata.name|expected a name']],
  ['no metadata', manifest({ metadata: null }), ['|metadata.name|expected a name']],
  [
    'a namespace that is no text',
    manifest({ metadata: { name: 'web', namespace: 7 } }),
    ['|metadata.namespace|expected the name of a namespace'],
  ],
  ['a label that is no text', manifest({ metadata: { name: 'web', labels: { a: 1 } } }), ['|metadata.labels.a|expected a text, got 1']],
  ['a field of no Propagation', manifest({ data: {} }), ['|data|expected no such field']],
  ['no spec', manifest({ spec: null }), ['|spec|expected an object']],
  [
    'a field of no spec',
    manifest({ spec: { ...spec, replica: {} } }),
    [expect.stringMatching(/^\|spec\.replica\|.*did you mean replicas\?/)],
  ],
  [
    'the data of a Secret',
    manifest({
      spec: { ...spec, template: [{ json: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: 'aHVzaA==' } } }] },
    }),
    [expect.stringMatching(/^\|spec\.template\[0\]\.json\|expected a Secret by ref only/)],
  ],
])('refuses %s', (_, value, expected) => {
  expect(problemsIn(value)).toEqual(expected);
});

test('refuses a Propagation of another namespace than the given one', () => {
  expect(problemsIn(manifest({ metadata: { name: 'web', namespace: 'shop' } }), 'pay')).toEqual([
    '|metadata.namespace|expected pay, which was named, or none, got shop',
  ]);
});
