import { expect, test } from 'vitest';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { importText } from '../../../src/importers/translation/import-documents.ts';

const policy = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: p, namespace: shop }
spec: { resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }] }\n`;
const workload = (name: string, annotations: string) => `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, namespace: shop${annotations} }
spec: { replicas: 3, template: { spec: { containers: [{ name: x, image: x }] } } }\n`;

test('an object that two systems propagate has a warning with both Propagations, and other objects have none', () => {
  const preferences = `, annotations: { federation.kubernetes.io/deployment-preferences: '{"clusters":{"*":{"weight":1}}}' }`;
  const text = [policy, workload('web', preferences), workload('api', '')].join('---\n');
  const { propagations } = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  const warnings = propagations.map(({ input, notes }) => [input, notes.filter(({ code }) => code === 'TWO_SYSTEMS')]);
  const message =
    'expected one Propagation for Deployment web, got shop/web-deployment, shop/web-deployment-2: in a cluster of several, only one can own the copy. Delete all but one';
  const warning = { severity: 'WARNING', code: 'TWO_SYSTEMS', path: '[1]', message };
  expect(warnings).toMatchObject([
    [{ name: 'web-deployment', source: { notes: expect.arrayContaining([warning]) } }, [warning]],
    [{ name: 'web-deployment-2' }, [warning]],
    [{ name: 'api-deployment' }, []],
  ]);
});

test.each([
  [['eu'], ['us'], 0],
  [['eu', 'us'], ['us'], 2],
])('resources for one object in clusters %j and %j have %i warnings', (first, second, count) => {
  const resource = (name: string, clusters: readonly string[]) => `apiVersion: mulitcluster.practice.com/v1alpha1
kind: MultiClusterResource
metadata: { name: ${name}, namespace: shop }
spec:
  template: { apiVersion: v1, kind: ConfigMap, metadata: { name: settings } }
  placement: { clusters: [${clusters.map((cluster) => `{ name: ${cluster} }`)}] }\n`;
  const text = [resource('a', first), resource('b', second)].join('---\n');
  const { propagations } = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  expect(propagations.flatMap(({ notes }) => notes).filter(({ code }) => code === 'TWO_SYSTEMS')).toHaveLength(count);
});

test.each([
  ['ConfigMap', '', 'b', '', 0],
  ['ConfigMap', '', 'b', ', namespace: a', 2],
  ['ClusterRole', '', 'b', '', 2],
])('a %s%s of a resource in a, and one of a resource in %s%s, have %i warnings', (kind, first, namespace, second, count) => {
  const apiVersion = kind === 'ConfigMap' ? 'v1' : 'rbac.authorization.k8s.io/v1';
  const resource = (own: string, of: string) => `apiVersion: mulitcluster.practice.com/v1alpha1
kind: MultiClusterResource
metadata: { name: settings, namespace: ${own} }
spec:
  template: { apiVersion: ${apiVersion}, kind: ${kind}, metadata: { name: settings${of} } }
  placement: { clusters: [{ name: eu }] }\n`;
  const text = [resource('a', first), resource(namespace, second)].join('---\n');
  const { propagations } = runAtOnce(importText(text, { isExact: false, clusters: [] }));
  expect(propagations.flatMap(({ notes }) => notes).filter(({ code }) => code === 'TWO_SYSTEMS')).toHaveLength(count);
});
