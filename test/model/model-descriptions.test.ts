import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { describedModel, descriptionsIn } from '../../src/model/model-descriptions.ts';
import { loadBaseline, servedAs } from '../support/kubernetes-objects.ts';

const baseline = loadBaseline();
const kind = (group: string, version: string, name: string) => ({ 'x-kubernetes-group-version-kind': [{ group, version, kind: name }] });
const reference = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });

function documentOf(schemas: Readonly<Record<string, Json>>): Json {
  return { openapi: '3.0.0', components: { schemas } };
}

const core = documentOf({
  'io.k8s.api.core.v1.Pod': {
    description: 'Pod is a collection of containers. It can run on a host.',
    ...kind('', 'v1', 'Pod'),
    properties: {
      metadata: { ...reference('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), description: 'Ours says more.' },
      spec: { ...reference('io.k8s.api.core.v1.PodSpec'), description: 'What is wanted. More of it.' },
    },
  },
  'io.k8s.api.core.v1.PodSpec': {
    description: 'PodSpec is a description of a pod.',
    properties: {
      nodeName: { type: 'string', description: 'NodeName is the node, e.g. north-1, of the pod. It may be empty.' },
      containers: { type: 'array', items: reference('io.k8s.api.core.v1.Container'), description: 'Its containers.' },
      overhead: { type: 'object', additionalProperties: reference('io.k8s.apimachinery.pkg.api.resource.Quantity') },
      volumes: { type: 'array', items: reference('io.k8s.api.core.v1.Volume') },
      ofTomorrow: { type: 'string', description: 'What no baseline knows.' },
    },
  },
  'io.k8s.api.core.v1.Container': { description: 'A container.', properties: { image: { description: 'Its image.' }, name: {} } },
  'io.k8s.api.core.v1.Volume': { properties: { ephemeral: reference('io.k8s.api.core.v1.EphemeralVolumeSource') } },
  'io.k8s.api.core.v1.EphemeralVolumeSource': { properties: { volumeClaimTemplate: reference('io.k8s.api.core.v1.Pod') } },
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': { description: 'Never read.', properties: { name: { description: 'No.' } } },
  'io.k8s.api.core.v1.NodeSpec': { description: 'Nothing leads here.', properties: {} },
});
const pod = servedAs(baseline, 'Pod');

test('kinds and the types of their fields are described by first sentences; unknown ones are ignored', () => {
  const said = descriptionsIn(core, [pod], baseline);
  expect(said.get('Pod')).toEqual({ description: 'Pod is a collection of containers.', fields: new Map([['spec', 'What is wanted.']]) });
  expect(said.get('PodSpec')).toEqual({
    description: 'PodSpec is a description of a pod.',
    fields: new Map([
      ['containers', 'Its containers.'],
      ['nodeName', 'NodeName is the node, e.g. north-1, of the pod.'],
    ]),
  });
  expect(said.get('Container')?.fields).toEqual(new Map([['image', 'Its image.']]));
  expect([...said.keys()].sort()).toEqual(['Container', 'EphemeralVolumeSource', 'Pod', 'PodSpec', 'Volume']);
});

test('a model takes over descriptions that it lacks', () => {
  const container = baseline.types.get('Container');
  const own = new Map(baseline.types).set('Container', { name: 'Container', description: 'Ours.', fields: container?.fields ?? [] });
  const model = describedModel({ ...baseline, types: own }, descriptionsIn(core, [pod], baseline));
  const descriptionOf = (type: string, field: string) => model.types.get(type)?.fields.find(({ name }) => name === field)?.description;
  expect(model.types.get('Container')?.description).toBe('Ours.');
  expect([descriptionOf('Container', 'image'), descriptionOf('PodSpec', 'nodeName')]).toEqual([
    'Its image.',
    'NodeName is the node, e.g. north-1, of the pod.',
  ]);
  expect(model.types.get('NodeSpec') === baseline.types.get('NodeSpec')).toBe(true);
  const bare = [...model.types.values()].map(({ name, fields }) => [name, fields.map(({ description: _, ...field }) => field)]);
  expect(bare, 'nothing else is changed').toEqual(
    [...own.values()].map(({ name, fields }) => [name, fields.map(({ description: _, ...field }) => field)]),
  );
});

describe('a document that is strange', () => {
  test.each<[string, Json]>([
    ['none', null],
    ['without schemas', { components: {} }],
  ])('%s is refused', (_, document) => {
    expect(() => descriptionsIn(document, [pod], baseline)).toThrow('components.schemas');
  });

  test.each<[string, Json]>([
    ['has no such kind', documentOf({})],
    ['refers to what is not there', documentOf({ Pod: { ...kind('', 'v1', 'Pod'), properties: { spec: reference('PodSpec') } } })],
    [
      'has texts that are none',
      documentOf({ Pod: { ...kind('', 'v1', 'Pod'), description: 7, properties: { spec: { description: [] } } } }),
    ],
    [
      'has names of JavaScript',
      documentOf({ Pod: { ...kind('', 'v1', 'Pod'), properties: { __proto__: {}, spec: reference('constructor') } } }),
    ],
  ])('%s says nothing', (_, document) => {
    const said = descriptionsIn(document, [pod], baseline);
    expect([...said.values()].every(({ description, fields }) => description === undefined && fields.size === 0)).toBe(true);
  });
});
