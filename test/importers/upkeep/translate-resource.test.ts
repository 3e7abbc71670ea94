import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { translateResource } from '../../../src/importers/upkeep/translate-resource.ts';

// The example of the operator's README.
const example = `apiVersion: mulitcluster.practice.com/v1alpha1
kind: MultiClusterResource
metadata:
  name: mypod.pod
  namespace: default
spec:
  template:
    apiVersion: v1
    kind: Pod
    metadata:
      name: multicluster-pod
      namespace: default
    spec:
      containers:
        - image: busybox
          name: busybox
  placement:
    clusters:
      - name: tencent1
      - name: tencent2
      - name: tencent4
  customize:
    clusters:
      - name: tencent1
        action:
          - path: "/spec/containers/0/image"
            op: "replace"
            value:
              - "nginx:1.19.0-alpine"
`;

const facts = { clusters: ['tencent1', 'tencent2'], hub: 'tencent2' };
const translated = (change: (text: string) => string = (text) => text, more: object = {}) =>
  translateResource(parse(change(example)) as KubernetesObject, { ...facts, ...more });

test('a resource is adopted in the clusters of the fleet that it names, with its customizations', () => {
  const translation = translated();
  if (translation.result === 'broken') throw new Error(translation.message);
  expect(translation.document()).toMatchObject({
    template: [{ json: { kind: 'Pod', metadata: { name: 'multicluster-pod' } } }],
    placement: { clusters: ['tencent1', 'tencent2'] },
    overrides: [
      {
        set: { clusters: ['tencent1'] },
        jsonPatch: [{ op: 'replace', path: '/spec/containers/0/image', value: 'nginx:1.19.0-alpine' }],
      },
    ],
    conflict: 'Adopt',
    source: {
      system: 'MultiClusterResource',
      objects: [{ kind: 'MultiClusterResource', namespace: 'default', name: 'mypod.pod', role: 'Template' }],
    },
  });
  expect(translation.document()).not.toHaveProperty('runAs');
  // `muster import --undo` finds Propagations by this cluster.
  expect(translation.document()).not.toHaveProperty('source.cluster');
  expect(translation.notes).toMatchObject([{ code: 'UNKNOWN_CLUSTER', path: 'spec.placement.clusters[2].name' }]);
});

test('equal resources have equal hashes, and the status does not count', () => {
  const hashOf = (translation: ReturnType<typeof translated>) => (translation.result === 'broken' ? '' : translation.hash);
  expect(hashOf(translated((text) => `${text}status: { phase: Settled }\n`))).toBe(hashOf(translated()));
  expect(hashOf(translated((text) => text.replace('busybox', 'nginx')))).not.toBe(hashOf(translated()));
});

test('a Namespace is deleted with its resource, as by the operator', () => {
  const translation = translated((text) => text.replace('kind: Pod', 'kind: Namespace'));
  expect(translation.result === 'broken' ? translation.message : translation.document()).not.toHaveProperty('deletion');
  expect(translation.notes.map(({ code }) => code)).not.toContain('NAMESPACE_KEPT');
});

test('without a usable cluster, the hub gets the copy', () => {
  const translation = translated((text) => text.replace(/tencent(\d)/g, 'other$1'));
  if (translation.result === 'broken') throw new Error(translation.message);
  expect(translation.document().placement).toEqual({ clusters: ['tencent2'] });
  expect(translation.notes.map(({ code }) => code)).toContain('MASTER');
});

test('a service account is that of the namespace of the resource, and requests its own work', () => {
  const text = (given: string) => given.replace('metadata:', "metadata:\n  creationTimestamp: '2026-11-23T08:00:00Z'");
  const translation = translated(text, { serviceAccount: 'deployer' });
  if (translation.result === 'broken') throw new Error(translation.message);
  const { runAs, requester } = translation.document();
  expect(runAs).toEqual({ serviceAccount: { namespace: 'default', name: 'deployer' } });
  // With authentication, a Propagation without a requester is refused.
  expect(requester).toMatchObject({ user: 'system:serviceaccount:default:deployer', at: '2026-11-23T08:00:00Z' });
});

test.each([
  [
    'a wrong pointer',
    (text: string) => text.replace('/spec/containers/0/image', 'spec.containers'),
    'spec.customize.clusters[0].action[0].path: ',
  ],
  ['a Secret', (text: string) => text.replace('kind: Pod', 'kind: Secret'), 'spec.template: '],
  ['no template', (text: string) => text.replace('template:', 'templates:'), 'spec.template: expected a manifest'],
])('the message for %s begins with its path', (_, change, begin) => {
  const translation = translated(change);
  expect([translation.result, translation.result === 'broken' && translation.message.slice(0, begin.length)]).toEqual(['broken', begin]);
});
