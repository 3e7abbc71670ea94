import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { ServedResource } from '../../src/core/kinds.ts';
import { convertGroupVersion } from '../../src/model/convert-group-version.ts';
import { createModel } from '../../src/model/create-model.ts';
import { committedModel } from '../support/graph/corpus.ts';

const podMetrics: ServedResource = {
  group: 'metrics.k8s.io',
  kind: 'PodMetrics',
  version: 'v1beta1',
  versions: ['v1beta1'],
  resource: 'pods',
  singular: '',
  namespaced: true,
  verbs: ['get', 'list'],
  shortNames: [],
  categories: [],
};

const reference = (name: string): Json => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });

const schemas: JsonObject = {
  PodMetrics: {
    type: 'object',
    description: 'PodMetrics sets resource usage metrics of a pod. And so on.',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: reference('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'),
      containers: { type: 'array', items: reference('ContainerMetrics'), 'x-kubernetes-patch-merge-key': 'name' },
      timestamp: reference('io.k8s.apimachinery.pkg.apis.meta.v1.Time'),
      window: reference('io.k8s.apimachinery.pkg.apis.meta.v1.Duration'),
      target: reference('io.k8s.apimachinery.pkg.util.intstr.IntOrString'),
      port: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
      replicas: { type: 'integer', format: 'int32', default: 0 },
      total: { type: 'integer', format: 'int64' },
      template: reference('Template'),
      tree: reference('Tree'),
    },
    'x-kubernetes-group-version-kind': [{ group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics' }],
  },
  ContainerMetrics: {
    type: 'object',
    properties: {
      name: { type: 'string', default: '' },
      usage: { type: 'object', additionalProperties: reference('io.k8s.apimachinery.pkg.api.resource.Quantity') },
    },
  },
  Template: {
    type: 'object',
    properties: { metadata: reference('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), raw: reference('Raw') },
  },
  Raw: { type: 'object' },
  Tree: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: reference('Tree') } } },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
};

describe('an aggregated API', () => {
  const kinds = convertGroupVersion({ document: { components: { schemas } }, resources: [podMetrics], source: 'AGGREGATED' });
  const shapes = new Map(kinds[0]?.shape.fields.map(({ key, shape }) => [key, shape]));

  test('gives the kinds that discovery lists, with their first sentence', () => {
    expect(kinds.map(({ group, kind, source, singular, description }) => ({ group, kind, source, singular, description }))).toEqual([
      {
        group: 'metrics.k8s.io',
        kind: 'PodMetrics',
        source: 'AGGREGATED',
        singular: 'podmetrics',
        description: 'PodMetrics sets resource usage metrics of a pod.',
      },
    ]);
  });

  test('is read in the dialect of OpenAPI 3', () => {
    expect(Object.fromEntries(shapes)).toEqual({
      containers: {
        list: {
          fields: [
            { key: 'name', shape: { scalar: 'String' } },
            { key: 'usage', shape: { type: 'ResourceList' } },
          ],
        },
      },
      timestamp: { scalar: 'DateTime' },
      window: { scalar: 'Duration' },
      target: { scalar: 'IntOrString' },
      port: { scalar: 'IntOrString' },
      replicas: { scalar: 'Int' },
      total: { scalar: 'Int64' },
      template: {
        fields: [
          { key: 'metadata', shape: { type: 'EmbeddedObjectMeta' } },
          { key: 'raw', shape: { scalar: 'JSON' } },
        ],
      },
      tree: {
        fields: [
          { key: 'children', shape: { scalar: 'JSON' } },
          { key: 'name', shape: { scalar: 'String' } },
        ],
      },
    });
  });

  test('is named by its group, as CRDs are', () => {
    const { model } = createModel({ baseline: committedModel(), custom: kinds, prefixes: new Map() });
    expect(model.kinds.get('PodMetrics.metrics.k8s.io')).toMatchObject({
      type: 'MetricsPodMetrics',
      many: 'metricsPods',
      one: 'metricsPodMetrics',
    });
    expect(model.types.has('MetricsPodMetricsContainers')).toBe(true);
  });
});

test('kinds that cannot be listed are passed over, those without a definition have no fields', () => {
  const document = { components: { schemas: {} } };
  const resources = [{ ...podMetrics, kind: 'Review', verbs: ['create'] }, podMetrics];
  expect(convertGroupVersion({ document, resources, source: 'AGGREGATED' }).map(({ kind, shape }) => ({ kind, shape }))).toEqual([
    { kind: 'PodMetrics', shape: { fields: [] } },
  ]);
});

test.each<[string, Json, string]>([
  ['no document', 'Not Found', 'OpenAPI of metrics.k8s.io/v1beta1: expected an object at components.schemas'],
  [
    'a reference to nothing',
    { components: { schemas: { PodMetrics: schemas.PodMetrics } } },
    'expected a schema ContainerMetrics, got none',
  ],
])('a document that cannot be read says of which API: %s', (_, document, message) => {
  expect(() => convertGroupVersion({ document, resources: [podMetrics], source: 'AGGREGATED' })).toThrow(message);
});

test('definitions that contain each other twice, 40 levels deep, are refused for their expanded size', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `D${n}`,
      { type: 'object', properties: { a: reference(`D${n + 1}`), b: reference(`D${n + 1}`) } },
    ]),
  );
  const root = { ...doubling.D0, 'x-kubernetes-group-version-kind': [{ group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics' }] };
  const document = { components: { schemas: { ...doubling, D0: root, D40: { type: 'object', properties: { x: { type: 'string' } } } } } };
  expect(() => convertGroupVersion({ document, resources: [podMetrics], source: 'AGGREGATED' })).toThrow('expected at most 60000 fields');
});
