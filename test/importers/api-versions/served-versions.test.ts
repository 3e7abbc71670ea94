import { describe, expect, test } from 'vitest';
import { importedTexts, imports, specOf } from '../import-of-text.ts';

const clusters = ['eu', 'us'];

interface OldObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** The members besides the identity, in the YAML of one line. */
  readonly content?: string;
}

/** The documents of each system that propagate one object, and the path of the object's apiVersion. */
const systems: Readonly<Record<string, (object: OldObject) => { readonly texts: readonly string[]; readonly path: string }>> = {
  Karmada: ({ apiVersion, kind, content = '' }) => ({
    path: '[0].apiVersion',
    texts: [
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a, namespace: shop }\n${content}\n`,
      `apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: { name: p, namespace: shop }\nspec: { resourceSelectors: [{ apiVersion: ${apiVersion}, kind: ${kind} }], placement: {} }\n`,
    ],
  }),
  KubeFed: ({ apiVersion, kind, content = '' }) => ({
    path: '[0].spec.template.apiVersion',
    texts: [
      `apiVersion: types.kubefed.io/v1beta1\nkind: Federated${kind}\nmetadata: { name: a, namespace: shop }\nspec:\n  placement: { clusterSelector: {} }\n  template:\n    apiVersion: ${apiVersion}\n    ${content}\n`,
    ],
  }),
  'Federation v1': ({ apiVersion, kind, content = '' }) => ({
    path: '[0].apiVersion',
    texts: [
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a, namespace: shop, annotations: { federation.alpha.kubernetes.io/cluster-selector: "[]" } }\n${content}\n`,
    ],
  }),
  MultiClusterResource: ({ apiVersion, kind, content = '' }) => ({
    path: '[0].spec.template.apiVersion',
    texts: [
      `apiVersion: mulitcluster.practice.com/v1alpha1\nkind: MultiClusterResource\nmetadata: { name: a, namespace: shop }\nspec:\n  placement: { clusters: [{ name: eu }] }\n  template:\n    apiVersion: ${apiVersion}\n    kind: ${kind}\n    metadata: { name: a, namespace: shop }\n    ${content}\n`,
    ],
  }),
};

describe.each(Object.keys(systems))('%s', (system) => {
  const imported = (object: OldObject) => {
    const { texts, path } = systems[system]?.(object) ?? { texts: [], path: '' };
    const result = importedTexts(texts, { clusters });
    const { notes } = imports(result, 0);
    return { template: specOf(result, 0).template, codes: notes.filter((note) => note.path === path).map(({ code }) => code), notes };
  };

  test.each<[string, string, string, string?]>([
    ['batch/v1beta1', 'CronJob', 'batch/v1', 'spec: { schedule: "@daily" }'],
    ['policy/v1beta1', 'PodDisruptionBudget', 'policy/v1', 'spec: { selector: { matchLabels: { app: web } } }'],
    ['policy/v1beta1', 'PodDisruptionBudget', 'policy/v1', 'spec: { minAvailable: 1 }'],
    ['autoscaling/v2beta2', 'HorizontalPodAutoscaler', 'autoscaling/v2', 'spec: { metrics: [{ type: Resource }] }'],
    ['autoscaling/v2beta1', 'HorizontalPodAutoscaler', 'autoscaling/v2', 'spec: { maxReplicas: 3 }'],
    ['rbac.authorization.k8s.io/v1beta1', 'RoleBinding', 'rbac.authorization.k8s.io/v1'],
    ['extensions/v1beta1', 'NetworkPolicy', 'networking.k8s.io/v1', 'spec: { podSelector: {} }'],
    ['storage.k8s.io/v1beta1', 'StorageClass', 'storage.k8s.io/v1'],
    ['scheduling.k8s.io/v1beta1', 'PriorityClass', 'scheduling.k8s.io/v1'],
  ])('converts %s %s to %s', (apiVersion, kind, served, content) => {
    const { template, codes } = imported({ apiVersion, kind, ...(content === undefined ? {} : { content }) });
    expect(template).toMatchObject([{ json: { apiVersion: served, kind } }]);
    expect(codes).toEqual(['API_CONVERTED']);
  });

  test.each<[string, string, string?]>([
    ['autoscaling/v2beta1', 'HorizontalPodAutoscaler', 'spec: { metrics: [{ type: Resource, resource: { name: cpu } }] }'],
    ['policy/v1beta1', 'PodDisruptionBudget', 'spec: { selector: {} }'],
    ['policy/v1beta1', 'PodDisruptionBudget', 'spec: { selector: { matchLabels: {} } }'],
    ['policy/v1beta1', 'PodSecurityPolicy'],
    ['extensions/v1beta1', 'PodSecurityPolicy'],
    ['rbac.authorization.k8s.io/v1alpha1', 'RoleBinding'],
    ['batch/v2alpha1', 'CronJob'],
    ['apiextensions.k8s.io/v1beta1', 'CustomResourceDefinition'],
    ['admissionregistration.k8s.io/v1beta1', 'ValidatingWebhookConfiguration'],
  ])('warns that %s %s is not served', (apiVersion, kind, content) => {
    const { template, codes } = imported({ apiVersion, kind, ...(content === undefined ? {} : { content }) });
    expect(template).toMatchObject([{ json: { apiVersion, kind } }]);
    expect(codes).toEqual(['UNSUPPORTED']);
  });

  test.each([
    ['v1', 'ConfigMap'],
    ['autoscaling/v1', 'HorizontalPodAutoscaler'],
    ['gateway.networking.k8s.io/v1beta1', 'HTTPRoute'],
    ['example.com/v1beta1', 'CronJob'],
  ])('leaves %s %s as it is', (apiVersion, kind) => {
    const { template, codes } = imported({ apiVersion, kind });
    expect(template).toMatchObject([{ json: { apiVersion, kind } }]);
    expect(codes).toEqual([]);
  });

  test('converts the version of the workload that an autoscaler scales', () => {
    const content = 'spec: { scaleTargetRef: { apiVersion: extensions/v1beta1, kind: Deployment, name: web } }';
    const { template, notes } = imported({ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', content });
    expect(template).toMatchObject([{ json: { spec: { scaleTargetRef: { apiVersion: 'apps/v1' } } } }]);
    expect(notes.filter(({ path = '' }) => path.endsWith('.spec.scaleTargetRef.apiVersion')).map(({ code }) => code)).toEqual([
      'API_CONVERTED',
    ]);
  });
});

test('a living Karmada propagates its own object, so an old version is a warning', () => {
  const { texts, path } = systems.Karmada?.({ apiVersion: 'batch/v1beta1', kind: 'CronJob' }) ?? { texts: [], path: '' };
  const living = { cluster: 'karmada', members: new Map() };
  const { notes } = imports(importedTexts(texts, { clusters, living }), 0);
  expect(notes.filter((note) => note.path === path).map(({ code }) => code)).toEqual(['UNSUPPORTED']);
});
