import { expect, test } from 'vitest';
import { listAt, textAt } from '../../../src/core/json-at.ts';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { sourceDocumentOf } from '../../../src/importers/documents/source-documents.ts';
import type { ImportContext } from '../../../src/importers/model/importer.ts';
import { importDocuments, importText } from '../../../src/importers/translation/import-documents.ts';

test.each(['2024', 'n', '[shop]'])('an object with the namespace %s, which is no text, is INVALID', (namespace) => {
  const metadata = `metadata: { name: a, namespace: ${namespace}, annotations: { federation.kubernetes.io/deployment-preferences: "{}" } }`;
  const texts = [
    `apiVersion: apps/v1\nkind: Deployment\n${metadata}\n`,
    `apiVersion: types.kubefed.io/v1beta1\nkind: FederatedConfigMap\n${metadata}\nspec: {}\n`,
    `apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n${metadata}\nspec: { resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }] }\n`,
  ];
  const result = runAtOnce(importText(texts.join('---\n'), { isExact: true, clusters: [] }));
  expect([result.propagations, result.unread.map(({ index }) => index)]).toEqual([[], [0, 1, 2]]);
  expect(result.notes.map(({ severity, code, path }) => [severity, code, path])).toEqual(
    [0, 1, 2].map((index) => ['ERROR', 'INVALID', `[${index}].metadata.namespace`]),
  );
});

test('the last document of an object replaces the earlier ones, for resources and policies', () => {
  const web = (replicas: number, more = '') =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web${more} }\nspec: { replicas: ${replicas} }\n`;
  const policy = (member: string) => `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: web }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }]
  placement: { clusterAffinity: { clusterNames: [${member}] } }\n`;
  const clusters = ['eu', 'us'].map((name) => ({ name: clusterName(name), labels: {} }));
  const text = [web(1), policy('eu'), web(2, ', namespace: default'), policy('us')].join('---\n');
  const { propagations, unread, notes } = runAtOnce(importText(text, { isExact: false, clusters }));
  expect(propagations).toMatchObject([
    { input: { name: 'web-deployment', template: [{ json: { spec: { replicas: 2 } } }], placement: { clusters: ['us'] } } },
  ]);
  expect(unread.map(({ index, role }) => [index, role])).toEqual([
    [0, 'OTHER'],
    [1, 'OTHER'],
  ]);
  expect(notes).toEqual([
    {
      severity: 'WARNING',
      code: 'REPEATED',
      message: 'Deployment web is also the document [2], which replaces this one, as after kubectl apply of both',
      path: '[0]',
    },
    { severity: 'WARNING', code: 'REPEATED', message: expect.stringContaining('PropagationPolicy web is also'), path: '[1]' },
  ]);
});

test('a policy of several refused resources is unread once', () => {
  const policy = `apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: { name: p }
spec: { resourceSelectors: [{ apiVersion: v1, kind: Service }] }\n`;
  const services = ['A_1', 'A_2'].map((name) => `apiVersion: v1\nkind: Service\nmetadata: { name: ${name} }\n`);
  const result = runAtOnce(importText([policy, ...services].join('---\n'), { isExact: false, clusters: [] }));
  expect([result.propagations, result.unread.map(({ index }) => index)]).toEqual([[], [0, 1, 2]]);
});

test('an object that 200 workloads need has a Propagation with a short note', () => {
  const policy = `apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: { name: p }
spec: { propagateDeps: true, resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }] }\n`;
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ca }\n';
  const workloads = Array.from(
    { length: 200 },
    (_, at) => `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: payments-gateway-worker-${at} }
spec: { template: { spec: { containers: [{ name: x, image: x, envFrom: [{ configMapRef: { name: ca } }] }] } } }\n`,
  );
  const result = runAtOnce(importText([policy, map, ...workloads].join('---\n'), { isExact: false, clusters: [] }));
  expect([result.unread, result.notes, result.propagations.length]).toEqual([[], [], 201]);
  const shared = result.propagations.flatMap(({ notes }) => notes).find(({ code }) => code === 'SHARED_DEPENDENCY');
  expect(shared?.message).toMatch(/payments-gateway-worker-9 and 190 more may choose/);
});

test('a resource of Karmada that becomes nothing has a note that says so', () => {
  const text = 'apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: { name: a }\n';
  const { notes } = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  const message = 'FederatedHPA a belongs to Karmada itself, and a Propagation has no counterpart. The guide names alternatives';
  expect(notes).toMatchObject([{ code: 'UNCLAIMED', message }]);
});

test.each([
  { metadata: '{ name: y }', path: '[0].metadata.name', got: 'true' },
  { metadata: '{ name: 10 }', path: '[0].metadata.name', got: '10' },
  { metadata: '{ name: a, namespace: no }', path: '[0].metadata.namespace', got: 'false' },
])('a name that YAML does not read as a text is refused with what was read: $metadata', ({ metadata, path, got }) => {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: ${metadata}\n`;
  const { notes } = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  const message = `expected a text, got ${got}. YAML reads y, no and on as booleans, and 10 as a number, if they have no quotes`;
  expect(notes).toEqual([{ severity: 'ERROR', code: 'INVALID', message, path }]);
});

test('the Namespace of an imported FederatedNamespace needs no Propagation, and another one is unclaimed', () => {
  const texts = [
    ...['shop', 'other'].map((name) => `apiVersion: v1\nkind: Namespace\nmetadata: { name: ${name} }\n`),
    `apiVersion: types.kubefed.io/v1beta1\nkind: FederatedNamespace\nmetadata: { name: shop, namespace: shop }
spec: { placement: { clusters: [{ name: eu }] } }\n`,
  ];
  const { propagations, notes } = runAtOnce(importText(texts.join('---\n'), { isExact: false, clusters: [] }));
  expect(propagations).toHaveLength(1);
  const ofNamespaces = notes.filter(({ code }) => code === 'UNCLAIMED').map(({ severity, path, message }) => [severity, path, message]);
  expect(ofNamespaces).toEqual([
    ['INFO', '[0]', 'Namespace shop needs no Propagation: that of FederatedNamespace shop makes it'],
    ['WARNING', '[1]', expect.stringContaining('no policy selects Namespace other')],
  ]);
});

test('documents that no importer takes are unread, each with a note', () => {
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\njust a text\n---\n[1, 2]\n';
  const result = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  expect(result).toEqual({
    propagations: [],
    unread: [
      { index: 0, key: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }, role: 'OTHER' },
      { index: 1, role: 'OTHER' },
      { index: 2, role: 'OTHER' },
    ],
    notes: [
      {
        severity: 'WARNING',
        code: 'UNCLAIMED',
        message:
          'no policy selects ConfigMap a, and it has none of the other forms that are imported: a federated kind, a MultiClusterResource of mulitcluster.practice.com, or annotations of Federation v1 in its own metadata',
        path: '[0]',
      },
      {
        severity: 'WARNING',
        code: 'NOT_AN_OBJECT',
        message: '[1] is no Kubernetes object: expected apiVersion, kind and metadata.name',
        path: '[1]',
      },
      {
        severity: 'WARNING',
        code: 'NOT_AN_OBJECT',
        message: '[2] is no Kubernetes object: expected apiVersion, kind and metadata.name',
        path: '[2]',
      },
    ],
    faults: [],
  });
});

test('`source` of a living resource names the object in the paths of its notes', () => {
  const metadata = { name: 'web', namespace: 'shop' };
  const spec = { template: { data: {} }, placement: { clusters: [{ name: 'nowhere' }] } };
  const object = { apiVersion: 'types.kubefed.io/v1beta1', kind: 'FederatedConfigMap', metadata, spec };
  const recordedPaths = (living: Partial<ImportContext>) => {
    const steps = importDocuments([sourceDocumentOf({}, 0), sourceDocumentOf(object, 1)], { isExact: false, clusters: [], ...living });
    const { propagations } = runAtOnce(steps);
    return propagations.flatMap(({ input }) => listAt(input, 'source', 'notes').map((note) => textAt(note, 'path')));
  };
  expect(recordedPaths({})).toContain('[1].spec.placement.clusters[0].name');
  const paths = recordedPaths({ living: { cluster: 'host', members: new Map() } });
  expect(paths).toContain('FederatedConfigMap shop/web spec.placement.clusters[0].name');
});
test('a resource that makes no valid Propagation is an error, and its policy stays with the others', () => {
  const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: shop }\n`;
  const policy =
    'apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: { name: p, namespace: shop }\n' +
    'spec:\n  resourceSelectors: [{ apiVersion: v1, kind: ConfigMap }]\n  placement: {}\n';
  const text = [configMap('good'), configMap('ünï'), policy].join('---\n');
  const result = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  expect(result.propagations.map(({ documents }) => documents.map(({ index }) => index))).toEqual([[0, 2]]);
  expect(result.unread.map(({ index, role }) => [index, role])).toEqual([[1, 'TEMPLATE']]);
  expect(result.notes).toEqual([
    {
      severity: 'ERROR',
      code: 'INVALID',
      message: 'no valid Propagation: name: expected lower-case letters, digits, - and ., at most 253, got ünï-configmap',
      path: '[1]',
    },
  ]);
});

test('a colon in the name of a resource becomes a dot', () => {
  const text =
    'apiVersion: types.kubefed.io/v1beta1\nkind: FederatedClusterRole\nmetadata: { name: "team:Reader" }\n' +
    'spec: { template: { rules: [] }, placement: { clusterSelector: {} } }\n';
  const { propagations } = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  expect(propagations.map(({ input }) => input)).toMatchObject([{ name: 'team.reader-clusterrole', namespace: 'default' }]);
});
