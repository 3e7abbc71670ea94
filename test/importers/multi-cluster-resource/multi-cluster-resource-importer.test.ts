import { describe, expect, test } from 'vitest';
import { codesOf, importedTexts, imports, specOf } from '../import-of-text.ts';

const clusters = ['tencent1', 'tencent2', 'tencent4'];
const template = 'template: { apiVersion: apps/v1, kind: Deployment, metadata: { name: web, namespace: shop }, spec: { replicas: 3 } }';
const resource = (spec: string) =>
  `apiVersion: mulitcluster.practice.com/v1alpha1\nkind: MultiClusterResource\nmetadata: { name: mydeployment.deployment, namespace: default }\nspec: { ${spec} }\n`;
const customized = (action: string, more = template) =>
  resource(`${more}, placement: { clusters: [{ name: tencent1 }] }, customize: { clusters: [{ name: tencent1, action: [${action}] }] }`);
const imported = (text: string, options: { readonly isExact?: boolean; readonly isKeptInSync?: true; readonly hub?: string } = {}) =>
  importedTexts([text], { clusters, ...options });

describe('a MultiClusterResource', () => {
  test('keeps its namespace and its name', () => {
    const result = imported(customized('{ path: /spec/replicas, op: replace, value: [2] }'));
    expect(specOf(result, 0)).toMatchObject({
      namespace: 'default',
      name: 'mydeployment.deployment',
      template: [{ json: { kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } } }],
      placement: { clusters: ['tencent1'] },
      overrides: [{ set: { clusters: ['tencent1'] }, jsonPatch: [{ op: 'replace', path: '/spec/replicas', value: 2 }] }],
      conflict: 'ADOPT',
    });
    expect(specOf(result, 0).write).toBeUndefined();
    expect(imports(result, 0)).toMatchObject({ system: 'MultiClusterResource', documents: [{ index: 0, role: 'TEMPLATE' }], notes: [] });
  });

  test('of an old version is converted with its customizations', () => {
    const old =
      'template: { apiVersion: extensions/v1beta1, kind: Deployment, metadata: { name: web }, spec: { strategy: { type: RollingUpdate } } }';
    const result = imported(customized('{ path: /spec/strategy/type, op: replace, value: [Recreate] }', old));
    expect(specOf(result, 0)).toMatchObject({
      template: [{ json: { apiVersion: 'apps/v1', spec: { strategy: { rollingUpdate: { maxSurge: 1 } } } } }],
      overrides: [{ jsonPatch: [{ op: 'replace' }, { op: 'remove', path: '/spec/strategy/rollingUpdate' }] }],
    });
    expect(imports(result, 0).notes.map(({ code, path }) => [code, path])).toEqual([
      ['API_CONVERTED', '[0].spec.template.apiVersion'],
      ['API_CONVERTED', '[0].spec.customize.clusters[0].action[0]'],
    ]);
  });

  test('of an old version keeps its selector when its Pod labels are customized', () => {
    const old = `template: { apiVersion: extensions/v1beta1, kind: Deployment, metadata: { name: web }, spec: { template: { metadata: { labels: { app: web } } } } }`;
    const result = imported(customized('{ path: /spec/template/metadata/labels/app, op: replace, value: [other] }', old));
    expect(specOf(result, 0)).toMatchObject({
      template: [{ json: { metadata: { labels: { app: 'web' } }, spec: { selector: { matchLabels: { app: 'web' } } } } }],
      overrides: [{ jsonPatch: [{ op: 'replace', path: '/spec/template/metadata/labels/app', value: 'other' }] }],
    });
    expect(codesOf(imports(result, 0).notes)).toEqual(['API_CONVERTED']);
  });

  test('is written as a whole in exact mode', () => {
    const result = imported(customized('{ path: /spec/replicas, op: replace, value: [2] }'), { isExact: true });
    expect(specOf(result, 0)).toMatchObject({ write: 'REPLACE', exact: { system: 'MULTI_CLUSTER_RESOURCE' } });
  });

  test.each<[string, string, string]>([
    ['no template', 'placement: {}', '[0].spec.template'],
    ['a template without a kind', 'template: { apiVersion: v1, metadata: { name: a } }', '[0].spec.template.kind'],
    [
      'a template whose namespace is a number',
      'template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: 7 } }',
      '[0].spec.template.metadata.namespace',
    ],
    ['a template that is a list', 'template: { apiVersion: v1, kind: List, metadata: { name: a }, items: [] }', '[0].spec.template'],
    ['a template without a name', 'template: { apiVersion: v1, kind: ConfigMap }', '[0].spec.template.metadata.name'],
    ['a placement that is a text', `${template}, placement: tencent1`, '[0].spec.placement'],
    ['clusters that are a text', `${template}, placement: { clusters: tencent1 }`, '[0].spec.placement.clusters'],
    ['a cluster that is a text', `${template}, placement: { clusters: [{ name: tencent1 }, tencent2] }`, '[0].spec.placement.clusters[1]'],
    ['a cluster without a name', `${template}, placement: { clusters: [{ nam: tencent2 }] }`, '[0].spec.placement.clusters[0].name'],
    ['a name that is a number', `${template}, placement: { clusters: [{ name: 5 }] }`, '[0].spec.placement.clusters[0].name'],
    ['a customization that is a number', `${template}, customize: 5`, '[0].spec.customize'],
    ['a customized name that is a number', `${template}, customize: { clusters: [{ name: 5 }] }`, '[0].spec.customize.clusters[0].name'],
    ['customizations that are no list', `${template}, customize: { clusters: {} }`, '[0].spec.customize.clusters'],
    [
      'actions that are no list',
      `${template}, customize: { clusters: [{ name: tencent1, action: x }] }`,
      '[0].spec.customize.clusters[0].action',
    ],
  ])('is refused with %s', (_, spec, path) => {
    const result = imported(resource(spec));
    expect([result.propagations, result.unread.map(({ role }) => role)]).toEqual([[], ['TEMPLATE']]);
    expect(result.notes).toMatchObject([{ severity: 'ERROR', code: 'INVALID', path }]);
  });

  const secret = '{ apiVersion: v1, kind: Secret, metadata: { name: a }, data: { p: aHVudGVyMg== } }';
  test.each([
    ['a Secret', secret],
    ['a list with a Secret', `{ apiVersion: v1, kind: List, metadata: { name: a }, items: [${secret}] }`],
    ['a SecretList', '{ apiVersion: v1, kind: SecretList, metadata: { name: a }, items: [{ data: { p: aHVudGVyMg== } }] }'],
    [
      'another MultiClusterResource with a Secret',
      `{ apiVersion: mulitcluster.practice.com/v1alpha1, kind: MultiClusterResource, metadata: { name: a }, spec: { template: ${secret} } }`,
    ],
  ])('is refused with %s, whose data are in no answer', (_, one) => {
    const result = imported(resource(`template: ${one}`));
    expect(result.notes).toMatchObject([{ severity: 'ERROR', code: 'SECRET' }]);
    expect(JSON.stringify(result)).not.toContain('aHVudGVyMg');
  });

  test('notes unknown fields', () => {
    const result = imported(resource(`${template}, placement: { clusters: [{ name: tencent1, weight: 2 }] }, priority: 1`));
    expect(imports(result, 0).notes.map(({ code, path }) => [code, path])).toEqual([
      ['UNKNOWN_FIELD', '[0].spec.placement.clusters[0].weight'],
      ['UNKNOWN_FIELD', '[0].spec.priority'],
    ]);
  });
});

describe('the placement', () => {
  const placed = (names: string) => resource(`${template}, placement: { clusters: [${names}] }`);

  test.each<[string, Parameters<typeof imported>[1], readonly string[], readonly string[]]>([
    ['{ name: tencent1 }, { name: other }', {}, ['tencent1', 'other'], ['UNKNOWN_CLUSTER']],
    ['{ name: tencent1 }, { name: other }', { isExact: true }, ['tencent1'], ['UNKNOWN_CLUSTER']],
    ['{ name: tencent1 }, { name: other }', { isKeptInSync: true }, ['tencent1'], ['UNKNOWN_CLUSTER']],
    ['{ name: other }', { isExact: true, hub: 'tencent2' }, ['tencent2'], ['UNKNOWN_CLUSTER', 'MASTER']],
    ['{ name: other }', { hub: 'tencent2' }, ['other'], ['UNKNOWN_CLUSTER', 'MASTER']],
    ['{ name: "" }', { hub: 'tencent2' }, ['tencent2'], ['UNKNOWN_CLUSTER', 'MASTER']],
    ['', { hub: 'tencent2' }, ['tencent2'], ['MASTER']],
    ['', {}, [], ['MASTER']],
    ['{ name: tencent1 }, { name: tencent1 }', {}, ['tencent1'], []],
  ])('[%s] with %j', (names, options, expected, codes) => {
    const result = imported(placed(names), options);
    expect(specOf(result, 0).placement).toEqual({ clusters: expected });
    expect(codesOf(imports(result, 0).notes)).toEqual(codes);
  });

  test('leaves out the customizations of other clusters', () => {
    const result = imported(
      resource(
        `${template}, placement: { clusters: [{ name: tencent1 }] }, customize: { clusters: [{ name: tencent2, action: [{ path: /spec/replicas, op: replace, value: [2] }] }] }`,
      ),
    );
    expect(specOf(result, 0).overrides).toBeUndefined();
    expect(imports(result, 0).notes).toMatchObject([
      { severity: 'WARNING', code: 'OUTSIDE_PLACEMENT', path: '[0].spec.customize.clusters[0]' },
    ]);
  });
});

describe('an action', () => {
  test.each<[string, string, unknown, readonly string[]]>([
    [
      'makes missing annotations',
      '{ path: /metadata/annotations/a, op: add, value: [b] }',
      [
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/metadata/annotations/a', value: 'b' },
      ],
      [],
    ],
    [
      'makes missing labels',
      '{ path: /metadata/labels/a, op: replace, value: [b] }',
      [
        { op: 'add', path: '/metadata/labels', value: {} },
        { op: 'add', path: '/metadata/labels/a', value: 'b' },
      ],
      ['REPLACE_ADDS'],
    ],
    [
      'makes no other map',
      '{ path: /spec/strategy/type, op: add, value: [Recreate] }',
      [{ op: 'add', path: '/spec/strategy/type', value: 'Recreate' }],
      ['PATCH_FAILS'],
    ],
    [
      'adds a missing leaf',
      '{ path: /spec/paused, op: replace, value: [true] }',
      [{ op: 'add', path: '/spec/paused', value: true }],
      ['REPLACE_ADDS'],
    ],
    [
      'makes labels of texts',
      '{ path: /metadata/labels, op: add, value: ["a=b", "c=d"] }',
      [{ op: 'add', path: '/metadata/labels', value: { a: 'b', c: 'd' } }],
      [],
    ],
    ['removes', '{ path: /spec/replicas, op: remove }', [{ op: 'remove', path: '/spec/replicas' }], []],
    [
      'appends once',
      '{ path: /spec/list/-, op: add, value: [1] }',
      [{ op: 'add', path: '/spec/list/-', value: 1 }],
      ['WRITES_TWICE', 'PATCH_FAILS'],
    ],
  ])('%s', (_, action, jsonPatch, codes) => {
    const result = imported(customized(action));
    expect(specOf(result, 0).overrides).toEqual([{ set: { clusters: ['tencent1'] }, jsonPatch }]);
    expect(codesOf(imports(result, 0).notes)).toEqual(codes);
  });

  test('makes the annotations once for all actions of a cluster', () => {
    const action = (key: string) => `{ name: tencent1, action: [{ path: /metadata/annotations/${key}, op: add, value: [x] }] }`;
    const result = imported(
      resource(`${template}, placement: { clusters: [{ name: tencent1 }] }, customize: { clusters: [${action('a')}, ${action('b')}] }`),
    );
    expect(JSON.stringify(specOf(result, 0).overrides).match(/"\/metadata\/annotations"/g)).toHaveLength(1);
    expect(specOf(result, 0).overrides).toHaveLength(1);
  });

  test.each<[string, string, string]>([
    ['without an operation', '{ path: /spec/replicas, value: [2] }', 'op'],
    ['with an unknown operation', '{ path: /spec/replicas, op: set, value: [2] }', 'op'],
    ['with a copy, as it has no from', '{ path: /spec/replicas, op: copy, from: /spec/x }', 'op'],
    ['with a path that is no pointer', '{ path: spec.replicas, op: replace, value: [2] }', 'path'],
    ['with a value that is no list', '{ path: /spec/replicas, op: replace, value: 2 }', 'value'],
  ])('%s is refused', (_, action, field) => {
    expect(imported(customized(action)).notes).toMatchObject([
      { code: 'INVALID', path: `[0].spec.customize.clusters[0].action[0].${field}` },
    ]);
  });
});

test('a Namespace stays when its Propagation is deleted, but not if the leader keeps it in sync', () => {
  const text = resource(
    'template: { apiVersion: v1, kind: Namespace, metadata: { name: mns } }, placement: { clusters: [{ name: tencent1 }] }',
  );
  const result = imported(text);
  expect(specOf(result, 0).deletion).toEqual({ policy: 'ORPHAN' });
  expect(imports(result, 0).notes).toMatchObject([{ severity: 'WARNING', code: 'NAMESPACE_KEPT', path: '[0]' }]);
  const kept = imported(text, { isKeptInSync: true });
  expect([specOf(kept, 0).deletion, imports(kept, 0).notes]).toEqual([undefined, []]);
});
