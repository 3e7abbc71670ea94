import { describe, expect, test } from 'vitest';
import { documentOf } from '../../../src/propagate/model/input-spec.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { configMap, deployment, imported, importedOne, noteTexts, policyFor } from './karmada-documents.ts';

const web = deployment('web');
const placed = policyFor('web', 'placement: {}');
const exactly = { isExact: true } as const;

/** An override policy. `spec` is YAML in flow style. */
function overridePolicy(name: string, spec: string, { kind = 'OverridePolicy', namespace = '' } = {}): string {
  const metadata = namespace === '' ? `{ name: ${name} }` : `{ name: ${name}, namespace: ${namespace} }`;
  return `apiVersion: policy.karmada.io/v1alpha1\nkind: ${kind}\nmetadata: ${metadata}\nspec: { ${spec} }`;
}

const wide = { kind: 'ClusterOverridePolicy' } as const;
const label = (value: string) => `overrideRules: [{ overriders: { labelsOverrider: [{ operator: add, value: { by: ${value} } }] } }]`;

/** Imports the Deployment with one rule of these overriders. */
const withOverriders = (overriders: string) => [web, placed, overridePolicy('o', `overrideRules: [{ overriders: { ${overriders} } }]`)];

describe('every overrider', () => {
  test.each([
    [
      'images',
      `imageOverrider: [{ component: Registry, operator: replace, value: mirror.example.com }, { component: Repository, operator: add, value: -slim }, { component: Tag, operator: remove },
         { predicate: { path: /spec/template/spec/containers/0/image }, component: Tag, operator: replace, value: '2' }]`,
      {
        image: [
          { component: 'REGISTRY', operator: 'REPLACE', value: 'mirror.example.com', scope: 'MAIN' },
          { component: 'REPOSITORY', operator: 'ADD', value: '-slim', scope: 'MAIN' },
          { component: 'TAG', operator: 'REMOVE', scope: 'MAIN' },
          { component: 'TAG', operator: 'REPLACE', value: '2', scope: 'MAIN', path: '/spec/template/spec/containers/0/image' },
        ],
      },
    ],
    [
      'commands and arguments',
      `commandOverrider: [{ containerName: web, operator: add, value: [sleep, '5'] }], argsOverrider: [{ containerName: web, operator: remove, value: [-v] }]`,
      {
        command: [{ container: 'web', operator: 'ADD', values: ['sleep', '5'] }],
        args: [{ container: 'web', operator: 'REMOVE', values: ['-v'] }],
      },
    ],
    [
      'labels and annotations',
      `labelsOverrider: [{ operator: add, value: { a: b } }], annotationsOverrider: [{ operator: remove, value: { example.com/c: any text } }]`,
      {
        labels: [{ operator: 'ADD', values: { a: 'b' } }],
        annotations: [{ operator: 'REMOVE', values: { 'example.com/c': 'any text' } }],
      },
    ],
    [
      'fields',
      `fieldOverrider: [{ fieldPath: /data/config, yaml: [{ subPath: /db/host, operator: replace, value: db2 }, { subPath: /old, operator: remove }] },
         { fieldPath: /data/json, json: [{ subPath: /list/-, operator: add, value: { a: [1] } }] }]`,
      {
        fields: [
          {
            path: '/data/config',
            format: 'YAML',
            patch: [
              { op: 'replace', path: '/db/host', value: 'db2' },
              { op: 'remove', path: '/old' },
            ],
          },
          { path: '/data/json', format: 'JSON', patch: [{ op: 'add', path: '/list/-', value: { a: [1] } }] },
        ],
      },
    ],
    [
      'plain text',
      `plaintext: [{ path: /spec/replicas, operator: replace, value: 2 }, { path: /spec/paused, operator: add, value: false }, { path: /metadata/annotations, operator: remove }]`,
      {
        jsonPatch: [
          { op: 'replace', path: '/spec/replicas', value: 2 },
          { op: 'add', path: '/spec/paused', value: false },
          { op: 'remove', path: '/metadata/annotations' },
        ],
      },
    ],
  ])('%s', (_, overriders, expected) => {
    const one = importedOne(withOverriders(overriders));
    expect([one.input, one.notes]).toEqual([expect.objectContaining({ overrides: [{ name: 'o', ...expected }] }), []]);
    expect(parseSpec(documentOf(one.input as never).document)).not.toHaveProperty('problems');
    expect(importedOne(withOverriders(overriders), exactly).input).toMatchObject({ overrides: [{ name: 'o', ...expected }] });
  });
});

describe('the order of overrides', () => {
  test('cluster-wide policies first, then those of the namespace; each from the least specific to the most', () => {
    const byName = 'resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: web }]';
    const byLabel = 'resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, labelSelector: { matchLabels: { app: web } } }]';
    const one = importedOne([
      web,
      placed,
      overridePolicy('d-name', `${byName}, ${label('d')}`),
      overridePolicy('c-all', label('c')),
      overridePolicy('b-label', `${byLabel}, ${label('b')}`),
      overridePolicy('a-label', `${byLabel}, ${label('a')}`),
      overridePolicy('z-wide', label('z'), wide),
      overridePolicy('y-name', `${byName.replace('name: web', 'namespace: default, name: web')}, ${label('w')}`, wide),
      overridePolicy('elsewhere', label('x'), { namespace: 'shop' }),
      overridePolicy('other', `resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: other }], ${label('o')}`),
    ]);
    expect(Object(one.input).overrides.map(({ name }: { readonly name: string }) => name)).toEqual([
      'z-wide',
      'y-name',
      'c-all',
      'a-label',
      'b-label',
      'd-name',
    ]);
    expect(one.documents.filter(({ role }) => role === 'OVERRIDE').map(({ index }) => index)).toEqual([2, 3, 4, 5, 6, 7]);
  });

  test('the rules of a policy stay in their order, each with its clusters', () => {
    const rules = `overrideRules: [{ targetCluster: { clusterNames: [member1] }, overriders: { labelsOverrider: [{ operator: add, value: { a: b } }] } },
      { targetCluster: { labelSelector: { matchLabels: { env: test } }, exclude: [member2] }, overriders: { labelsOverrider: [{ operator: add, value: { a: c } }] } }]`;
    expect(importedOne([web, placed, overridePolicy('o', rules)]).input).toMatchObject({
      overrides: [
        { name: 'o[0]', set: { clusters: ['member1'] } },
        { name: 'o[1]', set: { selector: 'env in (test)', exclude: ['member2'] } },
      ],
    });
  });

  test('the deprecated form without rules counts as one rule', () => {
    const spec =
      'targetCluster: { clusterNames: [member1] }, overriders: { plaintext: [{ path: /spec/replicas, operator: replace, value: 1 }] }';
    expect(importedOne([web, placed, overridePolicy('o', spec)]).input).toMatchObject({
      overrides: [{ name: 'o', set: { clusters: ['member1'] }, jsonPatch: [{ path: '/spec/replicas' }] }],
    });
  });

  test('a policy without a resource is unread, and one without changes is accounted for', () => {
    const other = overridePolicy('other', `resourceSelectors: [{ apiVersion: v1, kind: Pod }], ${label('o')}`);
    const result = imported([web, placed, other, overridePolicy('empty', '')]);
    expect([result.unread.map(({ index, role }) => [index, role]), noteTexts(result)]).toEqual([
      [[2, 'OVERRIDE']],
      ['WARNING NO_TEMPLATE [2]'],
    ]);
    expect(result.propagations[0]?.documents.map(({ index }) => index)).toEqual([0, 1, 3]);
    expect(Object(result.propagations[0]?.input).overrides).toBeUndefined();
  });

  test('unknown clusters of a rule are noted, and left out in exact mode', () => {
    const documents = [
      web,
      placed,
      overridePolicy(
        'o',
        `overrideRules: [{ targetCluster: { clusterNames: [far] }, overriders: { labelsOverrider: [{ operator: add, value: { a: b } }] } }]`,
      ),
    ];
    const [ours, theirs] = [importedOne(documents), importedOne(documents, exactly)];
    expect(noteTexts(ours)).toEqual(['WARNING UNKNOWN_CLUSTER [2].spec.overrideRules[0].targetCluster.clusterNames[0]']);
    expect([ours.input, theirs.input]).toMatchObject([
      { overrides: [{ set: { clusters: ['far'] } }] },
      { overrides: [{ set: { clusters: [] } }] },
    ]);
  });
});

describe('where Karmada does something else', () => {
  const at = '[2].spec.overrideRules[0].overriders';

  test('it ignores replace of commands', () => {
    const documents = withOverriders('commandOverrider: [{ containerName: web, operator: replace, value: [a] }]');
    expect(noteTexts(importedOne(documents))).toEqual([`INFO REPLACE_IGNORED ${at}.commandOverrider[0]`]);
    expect(importedOne(documents, exactly).notes).toEqual([]);
    expect(importedOne(documents).input).toMatchObject({ overrides: [{ command: [{ operator: 'REPLACE', values: ['a'] }] }] });
  });

  test('it changes no containers of some kinds, and no init containers', () => {
    const job = `apiVersion: batch/v1
kind: CronJob
metadata: { name: web }
spec: { schedule: '@daily', jobTemplate: { spec: { template: { spec: { initContainers: [{ name: i, image: a }], containers: [{ name: c, image: b }] } } } } }`;
    const policy = placed.replace('apps/v1', 'batch/v1').replace('kind: Deployment', 'kind: CronJob');
    const documents = [job, policy, withOverriders('imageOverrider: [{ component: Tag, operator: add, value: x }]')[2] ?? ''];
    expect(noteTexts(importedOne(documents))).toEqual([`INFO KIND_NOT_COVERED ${at}`, `INFO INIT_CONTAINERS ${at}.imageOverrider`]);
    expect(importedOne(documents, exactly).notes).toEqual([]);
  });

  test('it empties a field without a patch, which only the deprecated form can have', () => {
    const spec =
      'overriders: { fieldOverrider: [{ fieldPath: /data/key }, { fieldPath: /data/both, json: [{ subPath: /a, operator: remove }], yaml: [{ subPath: /b, operator: remove }] }] }';
    const documents = [web, placed, overridePolicy('o', spec)];
    const [ours, theirs] = [importedOne(documents), importedOne(documents, exactly)];
    const dropped = 'WARNING DROPPED [2].spec.overriders.fieldOverrider[1].json';
    expect(noteTexts(ours)).toEqual(['INFO FIELD_EMPTIED [2].spec.overriders.fieldOverrider[0]', dropped]);
    expect(noteTexts(theirs)).toEqual([dropped]);
    const both = { path: '/data/both', format: 'YAML', patch: [{ op: 'remove', path: '/b' }] };
    expect(Object(ours.input).overrides[0].fields).toEqual([both]);
    expect(Object(theirs.input).overrides[0].fields).toEqual([{ path: '/data/key', format: 'JSON', patch: [] }, both]);
  });

  test('an image overrider without a value removes the registry, or changes nothing', () => {
    const one = importedOne(
      withOverriders('imageOverrider: [{ component: Registry, operator: replace }, { component: Tag, operator: add }]'),
    );
    expect(one.input).toMatchObject({ overrides: [{ image: [{ component: 'REGISTRY', operator: 'REMOVE' }] }] });
    expect(noteTexts(one)).toEqual([`WARNING DROPPED ${at}.imageOverrider[1]`]);
  });

  test('changes of containers are left out for objects that have none', () => {
    const policy = placed.replace('apps/v1', 'v1').replace('kind: Deployment', 'kind: ConfigMap');
    const overriders = `imageOverrider: [{ component: Tag, operator: add, value: x }, { predicate: { path: /data/key }, component: Tag, operator: add, value: v }], labelsOverrider: [{ operator: add, value: { a: b } }]`;
    const one = importedOne([configMap('web'), policy, withOverriders(overriders)[2] ?? '']);
    expect([one.input, one.notes]).toMatchObject([{ overrides: [{ image: [{ path: '/data/key' }], labels: [{}] }] }, []]);
  });
});

test.each([
  ['metadata/labels', '/labels', 1],
  ['/metadata/annotations/a~b', '/metadata/annotations/a~0b', 1],
  ['/metadata/annotations/a~1b', '/metadata/annotations/a~1b', 0],
])('the plaintext path %s becomes the pointer that Karmada changes', (written, pointer, notes) => {
  const one = importedOne(withOverriders(`plaintext: [{ path: '${written}', operator: add, value: x }]`), exactly);
  expect(Object(one.input).overrides).toMatchObject([{ jsonPatch: [{ op: 'add', path: pointer, value: 'x' }] }]);
  expect(
    noteTexts(one).filter((text) => text === 'INFO PATH_CONVERTED [2].spec.overrideRules[0].overriders.plaintext[0].path'),
  ).toHaveLength(notes);
});

test('an override of a field that the old version of a converted object has in another form is reported', () => {
  const budget =
    'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: { name: web, namespace: shop }\nspec: { selector: { matchLabels: { app: web } } }';
  const policy = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: p, namespace: shop }
spec: { resourceSelectors: [{ apiVersion: policy/v1beta1, kind: PodDisruptionBudget, name: web }], placement: {} }`;
  const overriders = (path: string) => `overrideRules: [{ overriders: { plaintext: [{ path: ${path}, operator: replace, value: {} }] } }]`;
  const notesFor = (path: string) => {
    const { notes } = importedOne([budget, policy, overridePolicy('o', overriders(path), { namespace: 'shop' })]);
    return notes.filter(({ code }) => code === 'UNSUPPORTED').map(({ message, path: at }) => [message, at]);
  };
  expect(notesFor('/spec/selector')).toEqual([
    [
      '/spec/selector is written for policy/v1beta1, and is not converted. PodDisruptionBudget web was converted to policy/v1: check what the operation changes there',
      '[2].spec.overrideRules[0].overriders.plaintext',
    ],
  ]);
  expect(notesFor('/metadata/annotations')).toEqual([]);
});
