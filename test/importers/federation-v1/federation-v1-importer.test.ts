import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { listAt, valueAt } from '../../../src/core/json-at.ts';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { importText } from '../../../src/importers/translation/import-documents.ts';
import { codesOf, importedTexts, imports, specOf } from '../import-of-text.ts';

const clusters = ['foo', 'bar', 'baz'];
const annotation = 'federation.kubernetes.io/deployment-preferences';
const at = `[0].metadata.annotations["${annotation}"]`;
const deployment = (preferences: string, more = '') =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    ${annotation}: '${preferences}'\n${more}spec: { replicas: 9 }\n`;

test('the example of the documentation becomes a Propagation', () => {
  // The page "Federated ReplicaSets" of the website of Kubernetes 1.8
  const text = deployment(
    '{ "rebalance": true, "clusters": { "foo": { "minReplicas": 2, "maxReplicas": 5, "weight": 1 }, "*": { "weight": 2 } } }',
  );
  const result = importedTexts([text], { clusters });
  expect(imports(result, 0)).toMatchObject({ system: 'FederationV1', documents: [{ index: 0, role: 'TEMPLATE' }] });
  expect(specOf(result, 0)).toMatchObject({
    namespace: 'default',
    name: 'web-deployment',
    placement: {},
    replicas: {
      mode: 'DIVIDED',
      rebalance: true,
      rules: [
        { set: { clusters: ['foo'] }, min: 2, max: 5 },
        { set: { exclude: ['foo'] }, weight: 2 },
      ],
    },
    conflict: 'ADOPT',
  });
  expect(imports(result, 0).notes.map(({ code, path }) => [code, path])).toEqual([
    ['MIN_FIRST', `${at}.clusters`],
    ['TIE_BY_HASH', `${at}.clusters`],
  ]);
  const exact = importedTexts([text], { clusters, isExact: true });
  expect(specOf(exact, 0)).toMatchObject({ write: 'REPLACE', exact: { system: 'FEDERATION_V1', key: 'default/web' } });
  expect(imports(exact, 0).notes).toEqual([]);
});

describe('preferences', () => {
  test.each<[string, string, unknown, readonly (readonly [string, string | undefined])[]]>([
    ['that are no JSON give each cluster the weight 1', '{', { mode: 'DIVIDED', rules: [{}] }, [['UNPARSABLE', at]]],
    ...['2.0', '1e3', '9223372036854775808'].map(
      (weight): [string, string, unknown, readonly (readonly [string, string | undefined])[]] => [
        `with the number ${weight}, which Go refuses, do so too`,
        `{"clusters": {"foo": {"weight": ${weight}}}}`,
        { mode: 'DIVIDED', rules: [{}] },
        [['UNPARSABLE', at]],
      ],
    ),
    [
      'of two equal fields are merged, as in Go',
      '{"rebalance": true, "clusters": {"foo": {"weight": 2}, "bar": {"weight": 2}}, "rebalance": null, "clusters": {"bar": {"minReplicas": 3}}}',
      {
        mode: 'DIVIDED',
        rebalance: true,
        rules: [
          { set: { clusters: ['foo'] }, weight: 2 },
          { set: { clusters: ['bar'] }, weight: 0, min: 3 },
        ],
      },
      [],
    ],
    [
      'of a field that is null again keep its value, but a maximum and all clusters are removed',
      '{"clusters": {"a": {}}, "Clusters": null, "clusters": {"*": {"weight": 2, "maxReplicas": 1, "Weight": null, "maxReplicas": null}}}',
      { mode: 'DIVIDED', rules: [{ weight: 2 }] },
      [],
    ],
    [
      'of a wrong type that another field replaces do so too',
      '{"clusters": 5, "clusters": {"*": {"weight": 2}}}',
      { mode: 'DIVIDED', rules: [{}] },
      [['UNPARSABLE', at]],
    ],
    [
      'with integers of 64 bits have no larger bounds than a workload',
      '{"clusters": {"*": {"weight": 1, "minReplicas": 9007199254740993, "maxReplicas": 9223372036854775807}}}',
      { mode: 'DIVIDED', rules: [{ min: 2_147_483_647 }] },
      [],
    ],
    ['of a wrong type do so too', '{"clusters": {"*": {"weight": "2"}}}', { mode: 'DIVIDED', rules: [{}] }, [['UNPARSABLE', at]]],
    ['without clusters give no cluster a replica', '{"rebalance": true}', { mode: 'DIVIDED', rebalance: true, rules: [{ weight: 0 }] }, []],
    [
      'with an unknown field',
      '{"clusters": {"*": {"weight": 2, "color": 1}}}',
      { mode: 'DIVIDED', rules: [{ weight: 2 }] },
      [['UNKNOWN_FIELD', `${at}.clusters["*"].color`]],
    ],
    [
      'of an unknown cluster leave it out',
      '{"clusters": {"qux": {"weight": 2}, "*": {"weight": 1}}}',
      { mode: 'DIVIDED', rules: [{ set: { exclude: ['qux'] } }] },
      [['UNKNOWN_CLUSTER', `${at}.clusters.qux`]],
    ],
  ])('%s', (_, preferences, replicas, notes) => {
    const result = importedTexts([deployment(preferences)], { clusters, isExact: true });
    expect(specOf(result, 0).replicas).toEqual(replicas);
    expect(imports(result, 0).notes.map(({ code, path }) => [code, path])).toEqual(notes);
  });

  test('of another kind count as none', () => {
    const result = importedTexts([deployment('{}').replace('kind: Deployment', 'kind: ReplicaSet')], { clusters, isExact: true });
    expect(specOf(result, 0).replicas).toEqual({ mode: 'DIVIDED', rules: [{}] });
    expect(codesOf(imports(result, 0).notes)).toEqual(['UNPARSABLE', 'UNSUPPORTED']);
  });
});

describe('a cluster selector', () => {
  const selected = (selector: string, kind = 'ConfigMap') =>
    `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: a\n  annotations:\n    federation.alpha.kubernetes.io/cluster-selector: '${selector}'\n`;

  // The page "ClusterSelector Annotation" of the website of Kubernetes 1.8
  test.each<[string, unknown, readonly string[]]>([
    [
      '[{"key": "pci", "operator": "In", "values": ["true"]}, {"key": "environment", "operator": "==", "values": ["test"]}]',
      { selector: 'environment in (test),pci in (true)' },
      [],
    ],
    [
      '[{"key": "a", "operator": "!"}, {"key": "b", "operator": "exists"}, {"key": "c", "operator": "!=", "values": ["d"]}]',
      { selector: '!a,b,c notin (d)' },
      [],
    ],
    ['[]', { selector: '' }, []],
    ['null', { selector: '' }, []],
    ['[{"Key": "a", "OPERATOR": "in", "Values": ["b", "c", null], "x": 1}]', { selector: 'a in (,b,c)' }, ['UNKNOWN_FIELD']],
  ])('%s becomes a selector', (selector, placement, codes) => {
    const result = importedTexts([selected(selector)], { clusters });
    expect(specOf(result, 0)).toMatchObject({ name: 'a-configmap', placement });
    expect(specOf(result, 0).replicas).toBeUndefined();
    expect(codesOf(imports(result, 0).notes)).toEqual(codes);
  });

  // labels.NewRequirement of Kubernetes refuses all but the first ones, and encoding/json of Go the first ones.
  test.each([
    ['of a Secret', selected('[]', 'Secret'), 'SECRET', ''],
    ['that is empty', selected(''), 'INVALID', ''],
    ['that is no list', selected('{}'), 'INVALID', ''],
    ['with a text for a list', selected('[{"key": "a", "operator": "in", "values": "[true]"}]'), 'INVALID', '[0].values'],
    ['with a number for a text', selected('[{"key": "a", "operator": "in", "values": [1]}]'), 'INVALID', '[0].values[0]'],
    ['with an unknown operator', selected('[{"key": "a", "operator": "like"}]'), 'INVALID', '[0].operator'],
    ['with an operator in another case', selected('[{"key": "a", "operator": "IN", "values": ["b"]}]'), 'INVALID', '[0].operator'],
    ['with a wrong key', selected('[{"key": "a b/", "operator": "exists"}]'), 'INVALID', '[0].key'],
    ['without a key', selected('[null]'), 'INVALID', '[0].key'],
    ['without values for in', selected('[{"key": "a", "operator": "in", "values": []}]'), 'INVALID', '[0].values'],
    ['with two values for =', selected('[{"key": "a", "operator": "=", "values": ["b", "c"]}]'), 'INVALID', '[0].values'],
    ['with a value for exists', selected('[{"key": "a", "operator": "exists", "values": ["b"]}]'), 'INVALID', '[0].values'],
    ['with a wrong value', selected('[{"key": "a", "operator": "in", "values": ["b c"]}]'), 'INVALID', '[0].values'],
    ['with a text for gt', selected('[{"key": "a", "operator": "gt", "values": ["b"]}]'), 'INVALID', '[0].values'],
    [
      'with a number above 64 bits',
      selected('[{"key": "a", "operator": "lt", "values": ["9223372036854775808"]}]'),
      'INVALID',
      '[0].values',
    ],
  ])('%s is refused', (_, text, code, path) => {
    const result = importedTexts([text], { clusters });
    expect([result.propagations, result.unread.map(({ index }) => index)]).toEqual([[], [0]]);
    const at = code === 'INVALID' ? `[0].metadata.annotations["federation.alpha.kubernetes.io/cluster-selector"]${path}` : '[0]';
    expect(result.notes).toMatchObject([{ severity: 'ERROR', code, path: at }]);
  });

  test.each<[string, readonly Readonly<Record<string, string>>[], unknown]>([
    ['>', [{ n: '3' }, { n: '10' }, { n: '4' }, { n: '04' }, { n: 'x' }, {}], { selector: 'n in (04,10,4),tier in (prod)' }],
    ['lt', [{ n: '3' }, { n: '2' }, {}], { selector: 'n in (2),tier in (prod)' }],
    ['Gt', [{ n: '3' }, { m: '9' }], { clusters: [] }],
  ])('%s selects no cluster that Federation v1 does not select', (operator, labels, placement) => {
    const text = selected(
      `[{"key": "tier", "operator": "in", "values": ["prod"]}, {"key": "n", "operator": "${operator}", "values": ["3"]}]`,
    );
    for (const isExact of [false, true]) {
      const fleet = labels.map((one, index) => ({ name: clusterName(`c${index}`), labels: one }));
      const result = runAtOnce(importText(text, { isExact, clusters: fleet }));
      expect(specOf(result, 0)).toMatchObject({ placement });
      expect(imports(result, 0).notes).toMatchObject([{ severity: 'WARNING', code: 'UNSUPPORTED' }]);
    }
  });
});

test('a HorizontalPodAutoscaler has a warning, because Federation v1 divides its bounds', () => {
  const text =
    'apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\n' +
    "metadata: { name: a, annotations: { federation.alpha.kubernetes.io/cluster-selector: '[]' } }\nspec: { maxReplicas: 10 }\n";
  expect(imports(importedTexts([text], { clusters, isExact: true }), 0).notes).toMatchObject([
    { severity: 'WARNING', code: 'UNSUPPORTED', path: '[0].spec' },
  ]);
});

test('a workload that an autoscaler of Federation v1 scales has a warning', () => {
  const scaled = deployment('{}').replace('annotations:', "annotations:\n    federation.kubernetes.io/hpa-target-cluster-list: '{}'");
  expect(imports(importedTexts([scaled], { clusters, isExact: true }), 0).notes).toMatchObject([
    { severity: 'WARNING', code: 'UNSUPPORTED', message: expect.stringContaining('set replicas.mode to External') },
  ]);
});

describe('old versions', () => {
  const old = (apiVersion: string, kind: string, spec: string) =>
    `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a, annotations: { ${annotation}: "{}" } }\nspec: ${spec}\n`;
  const labelled = '{ template: { metadata: { labels: { app: a } } } }';

  test.each(['extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2'])('%s becomes apps/v1 with a selector', (apiVersion) => {
    const result = importedTexts([old(apiVersion, 'Deployment', labelled)], { clusters, isExact: true });
    expect(specOf(result, 0).template).toMatchObject([
      { json: { apiVersion: 'apps/v1', spec: { selector: { matchLabels: { app: 'a' } } } } },
    ]);
    expect(imports(result, 0).notes).toMatchObject([{ severity: 'INFO', code: 'API_CONVERTED', path: '[0].apiVersion' }]);
  });

  test('lose the fields that apps/v1 does not have, and keep their selector', () => {
    const spec = '{ selector: { matchLabels: { b: c } }, rollbackTo: { revision: 1 }, template: { metadata: { labels: { app: a } } } }';
    const result = importedTexts([old('extensions/v1beta1', 'Deployment', spec)], { clusters, isExact: true });
    expect(specOf(result, 0).template).toMatchObject([{ json: { spec: { selector: { matchLabels: { b: 'c' } } } } }]);
    expect(JSON.stringify(specOf(result, 0).template)).not.toContain('rollbackTo');
    expect(codesOf(imports(result, 0).notes)).toEqual(['API_CONVERTED', 'DROPPED']);
  });

  const unlimited = 2147483647;
  // The defaults of pkg/apis/extensions/v1beta1/defaults.go and pkg/apis/apps/v1beta1/defaults.go of Kubernetes 1.15
  test.each<[string, string, JsonObject, JsonObject]>([
    ['extensions/v1beta1', 'DaemonSet', {}, { updateStrategy: { type: 'OnDelete' } }],
    ['extensions/v1beta1', 'DaemonSet', { updateStrategy: { type: '' } }, { updateStrategy: { type: 'OnDelete' } }],
    ['extensions/v1beta1', 'DaemonSet', { updateStrategy: { type: 'RollingUpdate' } }, {}],
    [
      'extensions/v1beta1',
      'Deployment',
      {},
      {
        strategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } },
        progressDeadlineSeconds: unlimited,
        revisionHistoryLimit: unlimited,
      },
    ],
    [
      'extensions/v1beta1',
      'Deployment',
      { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } }, revisionHistoryLimit: 3 },
      { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }, progressDeadlineSeconds: unlimited },
    ],
    [
      'extensions/v1beta1',
      'Deployment',
      { strategy: { type: 'Recreate' }, progressDeadlineSeconds: 5 },
      { revisionHistoryLimit: unlimited },
    ],
    ['extensions/v1beta1', 'ReplicaSet', {}, {}],
    ['apps/v1beta1', 'Deployment', {}, { revisionHistoryLimit: 2 }],
    ['apps/v1beta1', 'StatefulSet', {}, { updateStrategy: { type: 'OnDelete' } }],
    ['apps/v1beta2', 'StatefulSet', {}, {}],
    ['apps/v1beta2', 'DaemonSet', {}, {}],
    ['apps/v1beta2', 'Deployment', {}, {}],
  ])('%s %s with %j gets the defaults of its version', (apiVersion, kind, spec, defaults) => {
    const result = importedTexts([old(apiVersion, kind, JSON.stringify(spec))], { clusters, isExact: true });
    expect(valueAt(listAt(specOf(result, 0), 'template')[0], 'json', 'spec')).toEqual({ ...spec, ...defaults });
    const told = imports(result, 0).notes.find(({ code }) => code === 'API_CONVERTED')?.message ?? '';
    expect(Object.keys(defaults).filter((field) => !told.includes(`spec.${field}`))).toEqual([]);
  });

  test.each([
    ['extensions/v1beta1', { app: 'a' }],
    ['apps/v1beta1', { app: 'a' }],
    ['apps/v1beta2', undefined],
  ])('%s has the labels of its template if it has none itself: %s', (apiVersion, labels) => {
    const result = importedTexts([old(apiVersion, 'ReplicaSet', labelled)], { clusters });
    expect(valueAt(listAt(specOf(result, 0), 'template')[0], 'json', 'metadata', 'labels')).toEqual(labels);
  });

  test('of an Ingress become networking.k8s.io/v1', () => {
    const spec = {
      backend: { serviceName: 'all', servicePort: 'http' },
      tls: [{ hosts: ['a.example.com'] }],
      rules: [
        { host: 'a.example.com', http: { paths: [{ path: '/', backend: { serviceName: 'a', servicePort: 80 } }] } },
        { host: 'b.example.com' },
      ],
    };
    const result = importedTexts([old('extensions/v1beta1', 'Ingress', JSON.stringify(spec))], { clusters });
    expect(Object(specOf(result, 0)).template).toMatchObject([
      {
        json: {
          apiVersion: 'networking.k8s.io/v1',
          spec: {
            defaultBackend: { service: { name: 'all', port: { name: 'http' } } },
            tls: spec.tls,
            rules: [
              {
                host: 'a.example.com',
                http: {
                  paths: [{ path: '/', pathType: 'ImplementationSpecific', backend: { service: { name: 'a', port: { number: 80 } } } }],
                },
              },
              { host: 'b.example.com' },
            ],
          },
        },
      },
    ]);
    expect(imports(result, 0).notes).toContainEqual(expect.objectContaining({ code: 'API_CONVERTED', path: '[0].apiVersion' }));
  });

  test('of other kinds stay', () => {
    const result = importedTexts([old('extensions/v1beta1', 'PodSecurityPolicy', '{}')], { clusters });
    expect(specOf(result, 0).template).toMatchObject([{ json: { apiVersion: 'extensions/v1beta1' } }]);
  });
});

test('a resource without an annotation of Federation v1 is no document of it', () => {
  const result = importedTexts(['apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: a, annotations: { other: x } }\n'], { clusters });
  expect(codesOf(result.notes)).toEqual(['UNCLAIMED']);
});

test('an old annotation on an object of a living cluster is ignored', () => {
  const living = { cluster: 'foo', members: new Map() };
  const { propagations, notes } = importedTexts([deployment('{"clusters":{"*":{"weight":1}}}')], { clusters, living });
  expect([propagations, codesOf(notes)]).toEqual([[], ['UNCLAIMED']]);
});

test('a Namespace stays when its Propagation is deleted', () => {
  const selector = 'federation.alpha.kubernetes.io/cluster-selector';
  const text = `apiVersion: v1\nkind: Namespace\nmetadata: { name: fedns, annotations: { ${selector}: '[]' } }\n`;
  const result = importedTexts([text], { clusters });
  expect(specOf(result, 0).deletion).toEqual({ policy: 'ORPHAN' });
  expect(imports(result, 0).notes).toMatchObject([{ severity: 'WARNING', code: 'NAMESPACE_KEPT', path: '[0]' }]);
});
