import { describe, expect, test } from 'vitest';
import { codesOf, importedTexts, imports, specOf } from '../import-of-text.ts';

const clusters = ['cluster1', 'cluster2', 'cluster3'];
const federated = (name: string, spec: string, kind = 'FederatedConfigMap') =>
  `apiVersion: types.kubefed.io/v1beta1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: test }\nspec: ${spec}\n`;
const everywhere = '{ placement: { clusterSelector: {} } }';
const namespace = (spec = everywhere) => federated('test', spec, 'FederatedNamespace');
const preference = (spec: string, name = 'web') =>
  `apiVersion: scheduling.kubefed.io/v1alpha1\nkind: ReplicaSchedulingPreference\nmetadata: { name: ${name}, namespace: test }\nspec: ${spec}\n`;
const deployment = (spec: string) => federated('web', spec, 'FederatedDeployment');

/** Imports the documents of a namespace that is federated everywhere, and returns the spec of the object. */
const spec = (text: string, isExact = false) => specOf(importedTexts([namespace(), text], { clusters, isExact }), 1);
const notes = (text: string, isExact = false) => imports(importedTexts([namespace(), text], { clusters, isExact }), 1).notes;

describe('the example of the KubeFed user guide', () => {
  // https://github.com/kubernetes-retired/kubefed/tree/master/example/sample1
  const sample = `apiVersion: types.kubefed.io/v1beta1
kind: FederatedDeployment
metadata:
  name: test-deployment
  namespace: test-namespace
spec:
  template:
    metadata:
      labels:
        app: nginx
    spec:
      replicas: 3
      selector:
        matchLabels:
          app: nginx
      template:
        metadata:
          labels:
            app: nginx
        spec:
          containers:
          - image: nginx
            name: nginx
  placement:
    clusters:
    - name: cluster2
    - name: cluster1
  overrides:
  - clusterName: cluster2
    clusterOverrides:
    - path: "/spec/replicas"
      value: 5
    - path: "/spec/template/spec/containers/0/image"
      value: "nginx:1.17.0-alpine"
    - path: "/metadata/annotations"
      op: "add"
      value:
        foo: bar
    - path: "/metadata/annotations/foo"
      op: "remove"
`;
  const sampleNamespace = `apiVersion: types.kubefed.io/v1beta1
kind: FederatedNamespace
metadata:
  name: test-namespace
  namespace: test-namespace
spec:
  placement:
    clusters:
    - name: cluster2
`;

  test('becomes a Propagation for the Deployment and one for the Namespace', () => {
    const result = importedTexts([sampleNamespace, sample], { clusters });
    expect(result.unread).toEqual([]);
    expect(result.propagations.map(({ input }) => input)).toMatchObject([
      { namespace: 'default', name: 'test-namespace-namespace', deletion: { policy: 'ORPHAN' }, placement: { clusters: ['cluster2'] } },
      { namespace: 'test-namespace', name: 'test-deployment-deployment', conflict: 'ADOPT', placement: { clusters: ['cluster2'] } },
    ]);
    expect(imports(result, 1).documents.map(({ index, role }) => [index, role])).toEqual([
      [0, 'PLACEMENT'],
      [1, 'TEMPLATE'],
    ]);
    expect(specOf(result, 1)).toMatchObject({
      template: [
        { json: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'test-deployment', namespace: 'test-namespace' } } },
      ],
      overrides: [
        {
          set: { clusters: ['cluster2'] },
          jsonPatch: [
            { op: 'replace', path: '/spec/replicas', value: 5 },
            { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'nginx:1.17.0-alpine' },
            { op: 'add', path: '/metadata/annotations', value: { foo: 'bar' } },
            { op: 'remove', path: '/metadata/annotations/foo' },
          ],
        },
      ],
    });
    expect(codesOf(imports(result, 1).notes)).toEqual([]);
  });

  test('follows the planner of KubeFed in exact mode', () => {
    const result = importedTexts([sampleNamespace, sample], { clusters, isExact: true });
    expect(specOf(result, 1)).toMatchObject({ write: 'REPLACE', exact: { system: 'KUBEFED', key: 'test-namespace/test-deployment' } });
  });
});

describe('the placement', () => {
  test.each<[string, string, string, unknown]>([
    [
      'of both names',
      '{ clusters: [{ name: cluster1 }] }',
      '{ clusters: [{ name: cluster1 }, { name: cluster2 }] }',
      { clusters: ['cluster1'] },
    ],
    ['of an empty list', '{ clusters: [], clusterSelector: {} }', '{ clusterSelector: {} }', { clusters: [] }],
    ['of nothing', '{}', '{ clusterSelector: {} }', { clusters: [] }],
    ['of every cluster', '{ clusterSelector: {} }', '{ clusterSelector: { matchLabels: {} } }', {}],
    [
      'of names and a selector',
      '{ clusterSelector: { matchLabels: { env: prod } } }',
      '{ clusters: [{ name: cluster2 }] }',
      { clusters: ['cluster2'], selector: 'env in (prod)' },
    ],
    [
      'of two selectors',
      '{ clusterSelector: { matchLabels: { env: prod } } }',
      '{ clusterSelector: { matchLabels: { env: dev }, matchExpressions: [{ key: zone, operator: Exists }] } }',
      { selector: 'env in (dev),env in (prod),zone' },
    ],
  ])('%s is the intersection with the FederatedNamespace', (_, own, ofNamespace, expected) => {
    const result = importedTexts([namespace(`{ placement: ${ofNamespace} }`), federated('a', `{ placement: ${own} }`)], { clusters });
    expect(specOf(result, 1).placement).toEqual(expected);
  });

  test('applies without a FederatedNamespace, and chooses nothing in exact mode', () => {
    const text = federated('a', '{ placement: { clusters: [{ name: cluster1 }] } }');
    for (const isExact of [false, true]) {
      const result = importedTexts([text], { clusters, isExact });
      expect(specOf(result, 0).placement).toEqual({ clusters: isExact ? [] : ['cluster1'] });
      expect(codesOf(imports(result, 0).notes)).toEqual(['NAMESPACE_NOT_FEDERATED']);
    }
  });

  test('applies alone for cluster-scoped kinds and for a KubeFed of one namespace', () => {
    const role =
      'apiVersion: types.kubefed.io/v1beta1\nkind: FederatedClusterRole\nmetadata: { name: a }\nspec: { placement: { clusterSelector: {} } }\n';
    const config =
      'apiVersion: core.kubefed.io/v1beta1\nkind: KubeFedConfig\nmetadata: { name: kubefed, namespace: test }\nspec: { scope: Namespaced, syncController: { adoptResources: Disabled } }\n';
    const result = importedTexts([role, config, federated('b', everywhere)], { clusters, isExact: true });
    expect(result.propagations.map(({ input, notes: own }) => [input, codesOf(own)])).toMatchObject([
      [{ namespace: 'default', name: 'a-clusterrole', placement: {} }, []],
      [{ namespace: 'test', name: 'b-configmap', placement: {} }, []],
    ]);
    expect(specOf(result, 1).conflict).toBeUndefined();
    expect(imports(result, 1).documents.map(({ role: one }) => one)).toEqual(['OTHER', 'TEMPLATE']);
  });

  test('of null is none, and does not hide unknown fields', () => {
    const text = '{ placement: { clusters: null, clusterSelector: { matchLabels: null }, other: 1 } }';
    expect(spec(federated('a', text)).placement).toEqual({});
    expect(notes(federated('a', text))).toMatchObject([{ code: 'UNKNOWN_FIELD', path: '[1].spec.placement.other' }]);
  });

  test('of a kind whose propagation is disabled has a warning, and is empty in exact mode', () => {
    const config = `apiVersion: core.kubefed.io/v1beta1
kind: FederatedTypeConfig
metadata: { name: configmaps, namespace: kube-federation-system }
spec:
  federatedType: { group: types.kubefed.io, kind: FederatedConfigMap, pluralName: federatedconfigmaps, scope: Namespaced, version: v1beta1 }
  targetType: { kind: ConfigMap, pluralName: configmaps, scope: Namespaced, version: v1 }
  propagation: Disabled
`;
    for (const isExact of [false, true]) {
      const result = importedTexts([namespace(), federated('a', everywhere), config], { clusters, isExact });
      expect(specOf(result, 1).placement).toEqual(isExact ? { clusters: [] } : {});
      expect(imports(result, 1).notes).toMatchObject([{ severity: 'WARNING', code: 'UNSUPPORTED', path: '[2].spec.propagation' }]);
    }
  });

  test('keeps the names of unknown clusters, except in exact mode', () => {
    const text = '{ placement: { clusters: [{ name: cluster1 }, { name: other }] } }';
    expect(spec(federated('a', text)).placement).toEqual({ clusters: ['cluster1', 'other'] });
    expect(spec(federated('a', text), true).placement).toEqual({ clusters: ['cluster1'] });
    expect(notes(federated('a', text), true)).toMatchObject([
      { severity: 'WARNING', code: 'UNKNOWN_CLUSTER', path: '[1].spec.placement.clusters[1].name' },
    ]);
  });

  test('of a living federation names its members, and notes where labels differ', () => {
    const members = new Map([
      ['cluster1', { env: 'prod' }],
      ['cluster2', {}],
    ]);
    const text = federated('a', '{ placement: { clusterSelector: { matchLabels: { env: prod } } } }');
    const living = { cluster: 'cluster1', members: new Map([['Kubefed', members] as const]) };
    const result = importedTexts([namespace(), text], { clusters, living });
    expect(specOf(result, 0).placement).toEqual({ clusters: ['cluster1', 'cluster2'] });
    expect(specOf(result, 1).placement).toEqual({ clusters: ['cluster1', 'cluster2'], selector: 'env in (prod)' });
    const [note] = imports(result, 1).notes;
    expect(note).toMatchObject({ severity: 'WARNING', code: 'LABELS_DIFFER' });
    expect(note?.message).toMatch(/^the labels of cluster1 differ .*: give these clusters the same labels in Muster$/);
    // The clusters have no labels in Muster, so only a list of names selects the same one.
    const exact = importedTexts([namespace(), text], { clusters, living, isExact: true });
    expect(specOf(exact, 1).placement).toEqual({ clusters: ['cluster1'] });
    expect(imports(exact, 1).notes[0]?.message).toMatch(/^the labels of cluster1 differ .* are listed instead of it$/);
  });

  test('of the first versions, clusterNames, is converted, except in exact mode', () => {
    const text = federated('a', '{ placement: { clusterNames: [cluster1] } }').replace(
      'types.kubefed.io/v1beta1',
      'types.federation.k8s.io/v1alpha1',
    );
    expect(spec(text).placement).toEqual({ clusters: ['cluster1'] });
    expect(codesOf(notes(text))).toEqual(['PATH_CONVERTED']);
    expect(codesOf(notes(text, true))).toEqual(['UNKNOWN_FIELD']);
  });
});

describe('the template', () => {
  test('has no annotations and finalizers, and takes its names from the federated object', () => {
    const text =
      '{ template: { kind: Other, metadata: { name: b, labels: { app: a }, annotations: { x: y }, finalizers: [f] }, data: { k: v } } }';
    expect(spec(federated('a', text)).template).toEqual([
      { json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'test', labels: { app: 'a' } }, data: { k: 'v' } } },
    ]);
    expect(notes(federated('a', text)).map(({ code, path }) => [code, path])).toEqual([
      ['DROPPED', '[1].spec.template.metadata.annotations'],
      ['DROPPED', '[1].spec.template.metadata.finalizers'],
      ['DROPPED', '[1].spec.template.kind'],
      ['DROPPED', '[1].spec.template.metadata.name'],
    ]);
  });

  // https://github.com/kubernetes-retired/kubefed/blob/master/example/sample1/federatedingress.yaml has no apiVersion in its template.
  test.each(['', 'apiVersion: extensions/v1beta1, ', 'apiVersion: networking.k8s.io/v1beta1, '])(
    'of an Ingress with old backends (%s) is converted',
    (version) => {
      const backend = '{ serviceName: test-service, servicePort: 80 }';
      const ingress = `{ template: { ${version}spec: { rules: [{ host: a.example.com, http: { paths: [{ backend: ${backend} }] } }] } }, placement: { clusterSelector: {} } }`;
      const text = federated('web', ingress, 'FederatedIngress');
      const path = { pathType: 'ImplementationSpecific', backend: { service: { name: 'test-service', port: { number: 80 } } } };
      expect(spec(text).template).toMatchObject([
        {
          json: {
            apiVersion: 'networking.k8s.io/v1',
            kind: 'Ingress',
            spec: { rules: [{ host: 'a.example.com', http: { paths: [path] } }] },
          },
        },
      ]);
      expect(codesOf(notes(text))).toEqual(['API_CONVERTED']);
    },
  );

  test.each(['"true"', 'yes please', '1'])('with retainReplicas %s is refused', (value) => {
    const { unread, notes } = importedTexts(
      [deployment(`{ template: {}, placement: { clusterSelector: {} }, retainReplicas: ${value} }`)],
      {
        clusters,
      },
    );
    expect([unread.length, notes.map(({ code, path }) => [code, path])]).toEqual([1, [['INVALID', '[0].spec.retainReplicas']]]);
  });

  const backend = (name: string) => `{ serviceName: ${name}, servicePort: 80 }`;
  const rules = (name: string) => `[{ http: { paths: [{ path: /, backend: ${backend(name)} }] } }]`;
  const oldIngress = `apiVersion: extensions/v1beta1, spec: { backend: ${backend('web')}, rules: ${rules('web')} }`;
  const oldDeployment =
    'apiVersion: extensions/v1beta1, spec: { replicas: 3, strategy: { type: RollingUpdate }, selector: { matchLabels: { a: b } } }';
  const service = '/spec/rules/0/http/paths/0/backend/service';
  test.each<[string, string, string, string, unknown, readonly string[]]>([
    [
      'the port of the default backend',
      'FederatedIngress',
      oldIngress,
      '{ path: /spec/backend/servicePort, value: http }',
      [
        { op: 'remove', path: '/spec/defaultBackend/service/port/number' },
        { op: 'add', path: '/spec/defaultBackend/service/port/name', value: 'http' },
      ],
      ['API_CONVERTED', 'API_CONVERTED'],
    ],
    [
      'all rules',
      'FederatedIngress',
      oldIngress,
      `{ path: /spec/rules, value: ${rules('other')} }`,
      [{ op: 'replace', path: `${service}/name`, value: 'other' }],
      ['API_CONVERTED', 'API_CONVERTED'],
    ],
    [
      'the name of a backend, next to the class',
      'FederatedIngress',
      oldIngress,
      '{ path: /spec/rules/0/http/paths/0/backend/serviceName, value: other }, { path: /spec/ingressClassName, value: nginx }',
      [
        { op: 'add', path: '/spec/ingressClassName', value: 'nginx' },
        { op: 'replace', path: `${service}/name`, value: 'other' },
      ],
      ['API_CONVERTED', 'REPLACE_ADDS', 'API_CONVERTED'],
    ],
    [
      'the default backend of an Ingress without a version',
      'FederatedIngress',
      'spec: {}',
      `{ path: /spec/backend, value: ${backend('web')} }`,
      [{ op: 'add', path: '/spec/defaultBackend', value: { service: { name: 'web', port: { number: 80 } } } }],
      ['API_CONVERTED'],
    ],
    [
      'the type of the strategy',
      'FederatedDeployment',
      oldDeployment,
      '{ path: /spec/strategy/type, value: Recreate }',
      [
        { op: 'replace', path: '/spec/strategy/type', value: 'Recreate' },
        { op: 'remove', path: '/spec/strategy/rollingUpdate' },
      ],
      ['API_CONVERTED', 'API_CONVERTED'],
    ],
    [
      'a removed field, next to the replicas',
      'FederatedDeployment',
      oldDeployment,
      '{ path: /spec/rollbackTo, value: { revision: 2 } }, { path: /spec/replicas, value: 3 }',
      [{ op: 'replace', path: '/spec/replicas', value: 3 }],
      ['API_CONVERTED', 'API_CONVERTED'],
    ],
    [
      'a field that both versions have',
      'FederatedDeployment',
      oldDeployment,
      '{ path: /spec/paused, value: true }',
      [{ op: 'add', path: '/spec/paused', value: true }],
      ['API_CONVERTED', 'REPLACE_ADDS'],
    ],
    [
      'a field of a list that the template does not have',
      'FederatedDeployment',
      oldDeployment,
      '{ path: /spec/template/spec/hostname, value: a }',
      [{ op: 'replace', path: '/spec/template/spec/hostname', value: 'a' }],
      ['API_CONVERTED', 'UNSUPPORTED'],
    ],
    [
      'a selector that means another thing in the current version',
      'FederatedPodDisruptionBudget',
      'apiVersion: policy/v1beta1, spec: { selector: { matchLabels: { app: web } } }',
      '{ path: /spec/selector, value: {} }',
      [{ op: 'replace', path: '/spec/selector', value: {} }],
      ['API_CONVERTED', 'UNSUPPORTED'],
    ],
  ])('of an old version is converted with an override of %s', (_, kind, template, override, jsonPatch, codes) => {
    const overrides = `overrides: [{ clusterName: ${clusters[0]}, clusterOverrides: [${override}] }]`;
    const text = federated('web', `{ template: { ${template} }, placement: { clusterSelector: {} }, ${overrides} }`, kind);
    expect(spec(text).overrides).toMatchObject([{ jsonPatch }]);
    expect(codesOf(notes(text))).toEqual(codes);
  });

  test('with overrides for more than 200 clusters is refused', () => {
    const overrides = Array.from(
      { length: 201 },
      (_, index) => `{ clusterName: c${index}, clusterOverrides: [{ path: /data, value: {} }] }`,
    );
    const { notes, unread } = importedTexts([federated('a', `{ overrides: [${overrides.join(', ')}] }`)], { clusters });
    expect([unread.length, notes.map(({ code, path }) => [code, path])]).toEqual([1, [['INVALID', '[0].spec.overrides']]]);
  });

  test('of an old version is converted with its overrides in exact mode, too', () => {
    const overrides = `overrides: [{ clusterName: ${clusters[0]}, clusterOverrides: [{ path: /spec/strategy/type, value: Recreate }] }]`;
    const text = deployment(`{ template: { ${oldDeployment} }, placement: { clusterSelector: {} }, ${overrides} }`);
    const jsonPatch = [
      { op: 'replace', path: '/spec/strategy/type', value: 'Recreate' },
      { op: 'remove', path: '/spec/strategy/rollingUpdate' },
    ];
    expect(spec(text, true)).toMatchObject({ template: [{ json: { apiVersion: 'apps/v1' } }], overrides: [{ jsonPatch }] });
  });

  test('of a Deployment of an old version is converted', () => {
    const text = deployment('{ template: { apiVersion: apps/v1beta1, spec: { replicas: 3 } }, placement: { clusterSelector: {} } }');
    expect(spec(text).template).toMatchObject([{ json: { apiVersion: 'apps/v1', spec: { replicas: 3, revisionHistoryLimit: 2 } } }]);
    expect(codesOf(notes(text))).toEqual(['API_CONVERTED']);
  });

  test.each([
    ['targetCPUUtilizationPercentage: 60', 'autoscaling/v1'],
    ['metrics: []', 'autoscaling/v2'],
  ])('of an autoscaler without a version, with %s, is of %s', (field, apiVersion) => {
    const template = `{ spec: { scaleTargetRef: { kind: Deployment, name: web }, ${field} } }`;
    const text = federated('web', `{ template: ${template}, placement: { clusterSelector: {} } }`, 'FederatedHorizontalPodAutoscaler');
    expect(spec(text).template).toMatchObject([{ json: { apiVersion } }]);
    expect(notes(text)).toEqual([]);
  });

  test('of a Deployment of an old version gets its selector from the Pods, but no labels', () => {
    const old = 'apiVersion: apps/v1beta1, spec: { template: { metadata: { labels: { app: web } } } }';
    const overrides = `overrides: [{ clusterName: ${clusters[0]}, clusterOverrides: [{ path: /spec/template/metadata/labels/app, value: b }] }]`;
    const text = deployment(`{ template: { ${old} }, placement: { clusterSelector: {} }, ${overrides} }`);
    const { template, overrides: patches } = spec(text);
    expect(template).toMatchObject([{ json: { spec: { selector: { matchLabels: { app: 'web' } } } } }]);
    expect(Object(template)[0].json.metadata.labels).toBeUndefined();
    expect(patches).toMatchObject([
      {
        jsonPatch: [
          { op: 'replace', path: '/spec/template/metadata/labels/app', value: 'b' },
          { op: 'replace', path: '/spec/selector/matchLabels/app', value: 'b' },
        ],
      },
    ]);
  });

  test('has the kind and the version of a FederatedTypeConfig', () => {
    const config = `apiVersion: core.kubefed.io/v1beta1
kind: FederatedTypeConfig
metadata: { name: widgets.example.com, namespace: kube-federation-system }
spec:
  federatedType: { group: types.example.com, kind: FederatedWidget, pluralName: federatedwidgets, scope: Namespaced, version: v1beta1 }
  targetType: { group: example.com, kind: Widget, pluralName: widgets, scope: Namespaced, version: v1 }
`;
    const widget = federated('a', everywhere, 'FederatedWidget').replace('types.kubefed.io', 'types.example.com');
    const result = importedTexts([config, namespace(), widget], { clusters });
    expect(specOf(result, 1).template).toMatchObject([{ json: { apiVersion: 'example.com/v1', kind: 'Widget' } }]);
    expect(imports(result, 1).documents.map(({ role }) => role)).toEqual(['OTHER', 'PLACEMENT', 'TEMPLATE']);
    expect(result.unread).toEqual([]);
  });

  test.each<[string, string, string, string]>([
    ['a Secret', federated('a', '{ template: { data: { password: aHVudGVyMg== } } }', 'FederatedSecret'), 'SECRET', '[1].spec.template'],
    [
      'a Secret of a version that does not exist',
      federated('a', '{ template: { apiVersion: v2, data: { password: aHVudGVyMg== } } }', 'FederatedSecret'),
      'SECRET',
      '[1].spec.template',
    ],
    [
      'a template that is written as a Secret',
      federated('a', '{ template: { apiVersion: v1, kind: Secret, data: { password: aHVudGVyMg== } } }'),
      'SECRET',
      '[1].spec.template',
    ],
    ['a kind without a version', federated('a', '{}', 'FederatedWidget'), 'INVALID', '[1].spec.template.apiVersion'],
    ['a template that is a text', federated('a', '{ template: text }'), 'INVALID', '[1].spec.template'],
    ['a spec that is a list', federated('a', '[]'), 'INVALID', '[1].spec'],
    [
      'a cluster twice',
      federated('a', '{ overrides: [{ clusterName: c }, { clusterName: c }] }'),
      'INVALID',
      '[1].spec.overrides[1].clusterName',
    ],
    [
      'a wrong selector',
      federated('a', '{ placement: { clusterSelector: { matchExpressions: [{ key: a, operator: Like }] } } }'),
      'INVALID',
      '[1].spec.placement.clusterSelector.matchExpressions[0].operator',
    ],
    ...(
      [
        ['placement: text', ''],
        ['placement: [cluster1]', ''],
        ['placement: { clusters: cluster1 }', '.clusters'],
        ['placement: { clusters: [cluster1, { name: cluster2 }] }', '.clusters[0]'],
        ['placement: { clusters: [{ name: cluster1 }, { nam: cluster2 }] }', '.clusters[1].name'],
        ['placement: { clusters: [{ name: 5 }] }', '.clusters[0].name'],
        ['placement: { clusters: [{ name: null }] }', '.clusters[0].name'],
        ['placement: { clusterSelector: tier }', '.clusterSelector'],
        ['placement: { clusterSelector: { matchLabels: { tier: 5 } } }', '.clusterSelector.matchLabels.tier'],
        [
          'placement: { clusterSelector: { matchExpressions: [{ key: tier, operator: In, values: [] }] } }',
          '.clusterSelector.matchExpressions[0].values',
        ],
      ] as const
    ).map(([text, path]): [string, string, string, string] => [
      text,
      federated('a', `{ ${text} }`),
      'INVALID',
      `[1].spec.placement${path}`,
    ]),
    ['a FederatedNamespace of another name', federated('b', everywhere, 'FederatedNamespace'), 'INVALID', '[1].metadata.namespace'],
  ])('is refused with %s', (_, text, code, path) => {
    const result = importedTexts([namespace(), text], { clusters });
    expect(result.propagations).toHaveLength(1);
    expect(result.unread.map(({ index, role }) => [index, role])).toEqual([[1, 'TEMPLATE']]);
    expect(result.notes).toMatchObject([{ severity: 'ERROR', code, path }]);
    expect(JSON.stringify(result)).not.toContain('aHVudGVyMg');
  });
});

describe('the overrides', () => {
  const overridden = (override: string) =>
    federated('a', `{ template: { data: { k: v } }, overrides: [{ clusterName: cluster1, clusterOverrides: [${override}] }] }`);

  const convertedAndAdded = ['PATH_CONVERTED', 'REPLACE_ADDS'];

  test.each<[string, string, unknown, readonly string[]]>([
    ['add a missing leaf', '{ path: /data/new, value: x }', [{ op: 'add', path: '/data/new', value: 'x' }], ['REPLACE_ADDS']],
    ['have dots before June 2019', '{ path: data.k, value: x }', [{ op: 'replace', path: '/data/k', value: 'x' }], ['PATH_CONVERTED']],
    [
      'have indexes before June 2019',
      '{ path: "data.k[0].l", value: x }',
      [{ op: 'replace', path: '/data/k/0/l', value: 'x' }],
      ['PATH_CONVERTED'],
    ],
    ['lose the text before their first slash', '{ path: data/k, value: x }', [{ op: 'add', path: '/k', value: 'x' }], convertedAndAdded],
    [
      'have a tilde that escapes nothing',
      '{ path: "/data/k~v", value: x }',
      [{ op: 'add', path: '/data/k~0v', value: 'x' }],
      convertedAndAdded,
    ],
    ['stay if they cannot apply', '{ op: remove, path: /data/missing }', [{ op: 'remove', path: '/data/missing' }], []],
    ['do not change the version', '{ path: /apiVersion, value: v2 }', undefined, ['UNSUPPORTED']],
  ])('%s', (_, override, jsonPatch, codes) => {
    expect(spec(overridden(override)).overrides).toEqual(
      jsonPatch === undefined ? undefined : [{ set: { clusters: ['cluster1'] }, jsonPatch }],
    );
    expect(codesOf(notes(overridden(override)))).toEqual(codes);
  });

  test.each<[string, string, boolean]>([
    ['a path with dots in exact mode', '{ path: data.k, value: x }', true],
    ['an unknown operation', '{ op: merge, path: /data/k, value: x }', false],
    ['a copy, as KubeFed has no from', '{ op: copy, from: /data/k, path: /data/l }', false],
    ['the name', '{ path: metadata.name, value: x }', false],
    ['the kind behind a text', '{ path: x/kind, value: Pod }', false],
    ['the whole object', '{ path: "", value: {} }', false],
  ])('are refused with %s', (_, override, isExact) => {
    expect(importedTexts([namespace(), overridden(override)], { clusters, isExact }).notes).toMatchObject([
      { severity: 'ERROR', code: 'INVALID' },
    ]);
  });

  test('keep in exact mode the path that the library of KubeFed reads', () => {
    const text = overridden('{ path: /data/a~b, value: x }, { op: add, path: data/k, value: y }');
    expect(spec(text, true).overrides).toMatchObject([
      {
        jsonPatch: [
          { op: 'replace', path: '/data/a~0b' },
          { op: 'add', path: '/k' },
        ],
      },
    ]);
    expect(codesOf(notes(text, true))).toEqual(['PATH_CONVERTED', 'PATH_CONVERTED']);
  });

  test('have no note about the spelling in exact mode', () => {
    expect(codesOf(notes(overridden('{ path: /data/new, value: x }'), true))).toEqual([]);
  });
});

describe('a ReplicaSchedulingPreference', () => {
  const web = deployment(
    '{ template: { spec: { replicas: 1 } }, placement: { clusters: [{ name: cluster1 }] }, overrides: [{ clusterName: cluster1, clusterOverrides: [{ path: /spec/replicas, value: 4 }] }] }',
  );
  const withPreference = (text: string, { isExact = false, object = web, ns = namespace() } = {}) =>
    importedTexts([ns, object, preference(text)], { clusters, isExact });

  // The user guide of KubeFed
  test.each<[string, string, unknown]>([
    ['without clusters', '{ targetKind: FederatedDeployment, totalReplicas: 9 }', { mode: 'DIVIDED', total: 9, rules: [{}] }],
    [
      'with weights',
      '{ targetKind: FederatedDeployment, totalReplicas: 9, clusters: { A: { weight: 1 }, B: { weight: 2 } } }'
        .replaceAll('A:', 'cluster1:')
        .replaceAll('B:', 'cluster2:'),
      { mode: 'DIVIDED', total: 9, rules: [{ set: { clusters: ['cluster1'] } }, { set: { clusters: ['cluster2'] }, weight: 2 }] },
    ],
    [
      'with bounds',
      '{ targetKind: FederatedDeployment, totalReplicas: 9, rebalance: true, clusters: { cluster1: { minReplicas: 4, maxReplicas: 6, weight: 1 }, "*": { weight: 3 } } }',
      {
        mode: 'DIVIDED',
        total: 9,
        rebalance: true,
        rules: [
          { set: { clusters: ['cluster1'] }, min: 4, max: 6 },
          { set: { exclude: ['cluster1'] }, weight: 3 },
        ],
      },
    ],
    [
      'with an empty cluster',
      '{ targetKind: FederatedDeployment, totalReplicas: 1, clusters: { cluster1: } }',
      { mode: 'DIVIDED', total: 1, rules: [{ set: { clusters: ['cluster1'] }, weight: 0 }] },
    ],
  ])('%s becomes rules, and owns placement and count', (_, text, replicas) => {
    const read = specOf(withPreference(text), 1);
    expect(read.replicas).toEqual(replicas);
    expect(read.placement).toEqual({});
    expect(read.overrides).toBeUndefined();
    expect(codesOf(imports(withPreference(text), 1).notes)).toEqual(expect.arrayContaining(['OVERRIDE_OWNED', 'TIE_BY_HASH']));
    expect(codesOf(imports(withPreference(text, { isExact: true }), 1).notes)).toEqual(['OVERRIDE_OWNED']);
  });

  test('that intersects takes the selectors of the object and of its namespace', () => {
    const text = '{ targetKind: FederatedDeployment, totalReplicas: 1, intersectWithClusterSelector: true }';
    const object = deployment('{ placement: { clusters: [{ name: cluster1 }], clusterSelector: { matchLabels: { env: prod } } } }');
    expect(specOf(withPreference(text, { object }), 1).placement).toEqual({ selector: 'env in (prod)' });
    const ignored = imports(withPreference(text), 1);
    expect([codesOf(ignored.notes), ignored.documents.map(({ role }) => role)]).toEqual([
      ['DROPPED'],
      ['PLACEMENT', 'TEMPLATE', 'SCHEDULING'],
    ]);
    expect(specOf(withPreference(text), 1).overrides).toHaveLength(1);
  });

  test('that intersects divides by the selectors, and places by the names of the namespace', () => {
    const text = '{ targetKind: FederatedDeployment, totalReplicas: 4, intersectWithClusterSelector: true }';
    const object = deployment('{ placement: { clusterSelector: { matchLabels: { env: prod } } } }');
    const ns = namespace('{ placement: { clusters: [{ name: cluster2 }], clusterSelector: { matchLabels: { zone: a } } } }');
    const exact = withPreference(text, { ns, object, isExact: true });
    expect(specOf(exact, 1)).toMatchObject({
      placement: { selector: 'env in (prod),zone in (a)' },
      exact: { policies: { namespaceClusters: { clusters: ['cluster2'] } } },
    });
    expect(codesOf(imports(exact, 1).notes)).toContain('NAMESPACE_NOT_FEDERATED');
    const inDefault = withPreference(text, { ns, object });
    expect(specOf(inDefault, 1).placement).toEqual({ clusters: ['cluster2'], selector: 'env in (prod),zone in (a)' });
    // All clusters of the preference are in the namespace, so no replicas are lost.
    const named = text.replace('}', ', clusters: { cluster2: { weight: 1 } } }');
    expect(specOf(withPreference(named, { ns, object, isExact: true }), 1).exact).not.toHaveProperty('policies.namespaceClusters');
    // Without a selector of the namespace, KubeFed ignores the preference.
    const byNames = withPreference(text, { ns: namespace('{ placement: { clusters: [{ name: cluster2 }] } }'), object });
    expect(specOf(byNames, 1)).toMatchObject({ placement: { clusters: ['cluster2'], selector: 'env in (prod)' } });
    expect(specOf(byNames, 1).replicas).toBeUndefined();
  });

  test('that intersects has no effect in a KubeFed of one namespace without a FederatedNamespace', () => {
    const config =
      'apiVersion: core.kubefed.io/v1beta1\nkind: KubeFedConfig\nmetadata: { name: kubefed, namespace: test }\nspec: { scope: Namespaced }\n';
    const text = '{ targetKind: FederatedDeployment, totalReplicas: 4, intersectWithClusterSelector: true }';
    const result = importedTexts([config, deployment('{ placement: { clusterSelector: {} } }'), preference(text)], { clusters });
    expect(codesOf(imports(result, 0).notes)).toContain('DROPPED');
    expect(specOf(result, 0).replicas).toBeUndefined();
  });

  test('notes that KubeFed also plans for clusters without the namespace', () => {
    const ns = namespace('{ placement: { clusters: [{ name: cluster2 }] } }');
    const result = withPreference('{ targetKind: FederatedDeployment, totalReplicas: 2 }', { ns, isExact: true });
    // In exact mode, the replicas are divided between all clusters, and those outside the namespace are lost.
    expect(specOf(result, 1)).toMatchObject({ placement: {}, exact: { policies: { namespaceClusters: { clusters: ['cluster2'] } } } });
    expect(codesOf(imports(result, 1).notes)).toEqual(['NAMESPACE_NOT_FEDERATED', 'OVERRIDE_OWNED']);
    const inDefault = withPreference('{ targetKind: FederatedDeployment, totalReplicas: 2 }', { ns });
    expect(specOf(inDefault, 1).placement).toEqual({ clusters: ['cluster2'] });
    const inside = '{ targetKind: FederatedDeployment, totalReplicas: 2, clusters: { cluster2: { weight: 1 } } }';
    expect(codesOf(imports(withPreference(inside, { ns, isExact: true }), 1).notes)).toEqual(['OVERRIDE_OWNED']);
  });

  test.each<[string, string, string, string]>([
    ['without its object', preference('{ targetKind: FederatedReplicaSet, totalReplicas: 1 }'), 'NO_TEMPLATE', '[2]'],
    ['of another kind', preference('{ targetKind: Deployment, totalReplicas: 1 }'), 'INVALID', '[2].spec.targetKind'],
    ['with a negative count', preference('{ targetKind: FederatedDeployment, totalReplicas: -1 }'), 'INVALID', '[2].spec.totalReplicas'],
    [
      'with a weight that is a text',
      preference('{ targetKind: FederatedDeployment, clusters: { "*": { weight: "1" } } }'),
      'INVALID',
      '[2].spec.clusters["*"].weight',
    ],
  ])('%s is unread', (_, text, code, path) => {
    const result = importedTexts([namespace(), web, text], { clusters });
    expect(result.unread.map(({ index, role }) => [index, role])).toEqual([[2, 'SCHEDULING']]);
    expect(result.notes).toMatchObject([{ code, path }]);
    expect(specOf(result, 1).replicas).toBeUndefined();
  });

  test('retainReplicas leaves a count that an override sets', () => {
    const override = '[{ clusterName: cluster1, clusterOverrides: [{ path: /spec/replicas, value: 4 }] }]';
    const object = deployment(`{ template: { spec: { replicas: 1, paused: true } }, retainReplicas: true, overrides: ${override} }`);
    expect(spec(object)).toMatchObject({
      replicas: { mode: 'EXTERNAL' },
      overrides: [{ jsonPatch: [{ op: 'add', path: '/spec/replicas', value: 4 }] }],
    });
  });

  test('overrides retainReplicas, as KubeFed applies overrides last', () => {
    const object = deployment('{ retainReplicas: true, placement: { clusterSelector: {} } }');
    const result = withPreference('{ targetKind: FederatedDeployment, totalReplicas: 2 }', { object });
    expect(specOf(result, 1).replicas).toEqual({ mode: 'DIVIDED', total: 2, rules: [{}] });
    expect(imports(result, 1).notes).toContainEqual(
      expect.objectContaining({ severity: 'INFO', code: 'OVERRIDE_OWNED', path: '[1].spec.retainReplicas' }),
    );
  });

  test('with a minimum above its maximum has the maximum for both', () => {
    const result = withPreference(
      '{ targetKind: FederatedDeployment, totalReplicas: 9, clusters: { "*": { minReplicas: 4, maxReplicas: 2 } } }',
    );
    expect(specOf(result, 1).replicas).toEqual({ mode: 'DIVIDED', total: 9, rules: [{ weight: 0, min: 2, max: 2 }] });
    expect(codesOf(imports(result, 1).notes)).toContain('UNSUPPORTED');
  });

  test.each<[string, Readonly<Record<string, number>>]>([
    ['a minimum above its maximum', { minReplicas: 4, maxReplicas: 2 }],
    ['a negative weight', { weight: -1 }],
  ])('with %s is kept in exact mode, as no rule can hold it', (_, written) => {
    const text = `{ targetKind: FederatedDeployment, totalReplicas: 9, clusters: { "*": ${JSON.stringify(written)} } }`;
    const result = withPreference(text, { isExact: true });
    expect(specOf(result, 1)).toMatchObject({ exact: { policies: { preferences: { '*': written } } } });
    expect(codesOf(imports(result, 1).notes)).toEqual(['OVERRIDE_OWNED']);
  });
});

test('annotations say how copies are deleted', () => {
  const annotated = federated('a', everywhere).replace(
    'namespace: test }',
    `namespace: test, annotations: { kubefed.io/orphan: "true", kubefed.io/deleteoption: '{"propagationPolicy":"Foreground","gracePeriodSeconds":5}' } }`,
  );
  expect(spec(annotated).deletion).toEqual({ policy: 'ORPHAN', cascade: 'FOREGROUND' });
  expect(notes(annotated)).toMatchObject([
    { code: 'UNSUPPORTED', path: '[1].metadata.annotations["kubefed.io/deleteoption"].gracePeriodSeconds' },
  ]);
});

test.each([
  ['"Sideways"', '"Sideways"'],
  ['7', '7'],
])('a note reports the unknown deletion policy %s', (written, shown) => {
  const annotated = federated('a', everywhere).replace(
    'namespace: test }',
    `namespace: test, annotations: { kubefed.io/deleteoption: '{"propagationPolicy":${written}}' } }`,
  );
  expect(spec(annotated).deletion).toBeUndefined();
  expect(notes(annotated)).toMatchObject([
    {
      code: 'UNSUPPORTED',
      path: '[1].metadata.annotations["kubefed.io/deleteoption"].propagationPolicy',
      message: `expected one of Background, Foreground, Orphan, got ${shown}`,
    },
  ]);
});

test('every document is accounted for', () => {
  const texts = [
    'apiVersion: core.kubefed.io/v1beta1\nkind: KubeFedCluster\nmetadata: { name: cluster1 }\n',
    'apiVersion: core.kubefed.io/v1beta1\nkind: FederatedTypeConfig\nmetadata: { name: services }\nspec: {}\n',
    federated('a', '{ template: {}, placment: {} }'),
    'apiVersion: multiclusterdns.kubefed.io/v1alpha1\nkind: Domain\nmetadata: { name: a }\n',
  ];
  const result = importedTexts(texts, { clusters });
  expect(result.unread.map(({ index }) => index)).toEqual([0, 1, 3]);
  expect(result.notes.map(({ code, path }) => [code, path])).toEqual([
    ['UNSUPPORTED', '[0]'],
    ['UNSUPPORTED', '[3]'],
    ['UNSUPPORTED', '[1]'],
  ]);
  expect(imports(result, 0).notes.map(({ code, path }) => [code, path])).toContainEqual(['UNKNOWN_FIELD', '[2].spec.placment']);
});
