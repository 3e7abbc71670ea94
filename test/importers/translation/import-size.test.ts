import { describe, expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { sourceDocumentsOf } from '../../../src/importers/documents/source-documents.ts';
import { importDocuments } from '../../../src/importers/translation/import-documents.ts';

const policy = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: p, namespace: shop }
spec: { resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }] }\n`;
const overrides = (rules: readonly string[]) => `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: o, namespace: shop }
spec: { overrideRules: [${rules}] }\n`;
const rule = (value: string) => `{ overriders: { plaintext: [{ path: /metadata/annotations/x, operator: add, value: ${value} }] } }`;
const workloads = (count: number) =>
  Array.from({ length: count }, (_, index) => `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d${index}, namespace: shop }\n`);

/** Imports the documents, and counts the steps. */
function importedInSteps(documents: readonly string[], names: readonly string[] = []) {
  const context = { isExact: false, clusters: names.map((name) => ({ name: clusterName(name), labels: {} })) };
  const translation = importDocuments(runAtOnce(sourceDocumentsOf(documents.join('---\n'))), context);
  let steps = 0;
  for (;;) {
    const { done, value } = translation.next();
    if (done === true) return { steps, result: value };
    steps += 1;
  }
}

test('an import whose Propagations are too large is refused, with a remedy in the message', () => {
  const large = overrides([rule('x'.repeat(1_000_000))]);
  expect(() => importedInSteps([policy, large, ...workloads(80)])).toThrow(
    'expected Propagations of at most 64 MiB in one import, got more: each one has its own copy of what its policies add, such as overrides. ' +
      'Make these smaller, or import fewer resources at a time',
  );
  expect(importedInSteps([policy, large, ...workloads(2)]).result.propagations).toHaveLength(2);
});

test('a resource with more override rules than a Propagation may have is refused before all of them are made', () => {
  const most = importedInSteps([policy, overrides(Array(200).fill(rule('x'))), ...workloads(1)]);
  expect(most.result.propagations).toHaveLength(1);
  const { result } = importedInSteps([policy, overrides(Array(201).fill(rule('x'))), ...workloads(2)]);
  expect(result.unread.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  const message = 'no valid Propagation: overrides: expected at most 200 rules of override policies for one resource, got more';
  expect(result.notes).toEqual([
    ...[2, 3].map((index) => ({ severity: 'ERROR', code: 'INVALID', message, path: `[${index}]` })),
    ...['PropagationPolicy p', 'OverridePolicy o'].map((policyName, index) => ({
      severity: 'WARNING',
      code: 'NO_TEMPLATE',
      message: `${policyName} is only for resources that are not imported`,
      path: `[${index}]`,
    })),
  ]);
});

test('the search for the policy of each resource is a step of its own', () => {
  const [few, many] = [10, 60].map((count) => importedInSteps([policy, ...workloads(count)]).steps);
  expect((many ?? 0) - (few ?? 0)).toBe(3 * 50);
});

const template = 'template: { apiVersion: apps/v1, kind: Deployment, metadata: { name: web }, spec: { replicas: 1 } }';
const federated = (clusters: readonly string[]) => {
  const entries = clusters.map((name) => `{ clusterName: ${name}, clusterOverrides: [{ path: /spec/replicas, value: 2 }] }`);
  return `apiVersion: types.kubefed.io/v1beta1
kind: FederatedDeployment
metadata: { name: web, namespace: shop }
spec: { template: { spec: { replicas: 1 } }, placement: { clusterSelector: {} }, overrides: [${entries}] }\n`;
};
const customized = (clusters: readonly string[]) => {
  const entries = clusters.map((name) => `{ name: ${name}, action: [{ path: /spec/replicas, op: replace, value: [2] }] }`);
  const placement = `placement: { clusters: [${clusters.map((name) => `{ name: ${name} }`)}] }`;
  return `apiVersion: mulitcluster.practice.com/v1alpha1
kind: MultiClusterResource
metadata: { name: web.deployment, namespace: shop }
spec: { ${template}, ${placement}, customize: { clusters: [${entries}] } }\n`;
};

describe.each([
  ['a FederatedDeployment', federated, 'expected overrides for at most 200 clusters, got 201', '[0].spec.overrides'],
  ['a MultiClusterResource', customized, 'expected customizations for at most 200 clusters, got 201', '[0].spec.customize.clusters'],
])('%s with overrides', (_, written, message, path) => {
  const names = Array.from({ length: 201 }, (_, index) => `cluster-${index}`);

  test('is translated with a step for each cluster', () => {
    const [few, many] = [10, 200].map((count) => importedInSteps([written(names.slice(0, count))], names));
    expect([few?.result.notes, many?.result.notes]).toEqual([[], []]);
    expect((many?.steps ?? 0) - (few?.steps ?? 0)).toBe(190);
  });

  test('for too many clusters is refused before one of them is translated', () => {
    const [refused, most] = [201, 200].map((count) => importedInSteps([written(names.slice(0, count))], names));
    expect(refused?.result.notes).toEqual([{ severity: 'ERROR', code: 'INVALID', message, path }]);
    expect(refused?.steps).toBeLessThan((most?.steps ?? 0) - 190);
  });
});
