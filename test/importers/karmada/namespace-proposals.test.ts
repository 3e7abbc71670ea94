import { expect, test } from 'vitest';
import { imported, noteTexts } from './karmada-documents.ts';

const namespace = (name: string, labels = '') => `apiVersion: v1\nkind: Namespace\nmetadata: { name: ${name}${labels} }\n`;
const policyIn = (name: string) =>
  `apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: { name: p, namespace: ${name} }\n` +
  'spec: { resourceSelectors: [{ apiVersion: v1, kind: ConfigMap }], placement: { clusterAffinity: { clusterNames: [member1] } } }\n';
const mapIn = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: ${name} }\n`;

test('a namespace of a propagated resource goes to all clusters and stays, as Karmada creates every namespace', () => {
  const { propagations, unread } = imported([namespace('shop'), mapIn('shop'), policyIn('shop')]);
  expect(unread).toEqual([]);
  const [made] = propagations;
  expect(made?.input).toMatchObject({
    namespace: 'default',
    name: 'shop-namespace',
    template: [{ json: { kind: 'Namespace', metadata: { name: 'shop' } } }],
    placement: {},
    conflict: 'ADOPT',
    deletion: { policy: 'ORPHAN' },
  });
  expect(made && noteTexts(made)).toEqual(['WARNING NAMESPACE_KEPT [0]']);
});

test('a namespace that a policy claims goes to all clusters and stays too, and the policy is not unread', () => {
  const claim =
    'apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: { name: c }\nspec:\n' +
    '  resourceSelectors: [{ apiVersion: v1, kind: Namespace, name: shop }]\n  placement: { clusterAffinity: { clusterNames: [member1] } }\n';
  const { propagations, unread, notes } = imported([namespace('shop'), claim]);
  expect([unread, notes, propagations.length]).toEqual([[], [], 1]);
  expect(propagations[0]?.input).toMatchObject({ placement: {}, conflict: 'ADOPT', deletion: { policy: 'ORPHAN' } });
  expect(propagations[0]?.documents.map(({ index, role }) => [index, role])).toEqual([
    [0, 'TEMPLATE'],
    [1, 'PLACEMENT'],
  ]);
  expect(propagations.flatMap(noteTexts)).toEqual(['WARNING NAMESPACE_KEPT [0]', 'INFO CLAIMED_BY [0]']);
});

test('ClusterOverridePolicies change namespaces', () => {
  const overrides =
    'apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterOverridePolicy\nmetadata: { name: o }\nspec:\n' +
    '  resourceSelectors: [{ apiVersion: v1, kind: Namespace, name: shop }]\n' +
    '  overrideRules: [{ overriders: { labelsOverrider: [{ operator: add, value: { tier: gold } }] } }]\n';
  const { propagations } = imported([namespace('shop'), mapIn('shop'), policyIn('shop'), overrides], { isExact: true });
  expect(propagations[0]?.documents.map(({ index, role }) => [index, role])).toEqual([
    [0, 'TEMPLATE'],
    [3, 'OVERRIDE'],
  ]);
  expect(propagations[0]?.input).toMatchObject({
    overrides: [{ labels: [{ operator: 'ADD', values: { tier: 'gold' } }] }],
    write: 'REPLACE',
    exact: { system: 'KARMADA' },
  });
});

test.each([
  ['no propagated resource is in it', namespace('other'), 'shop'],
  ['it is reserved', namespace('karmada-shop'), 'karmada-shop'],
  ['it has the label to skip it', namespace('shop', ", labels: { namespace.karmada.io/skip-auto-propagation: 'True' }"), 'shop'],
])('a namespace is unclaimed if %s', (_why, document, used) => {
  const { unread, notes } = imported([document, mapIn(used), policyIn(used)]);
  expect(unread.map(({ index }) => index)).toEqual([0]);
  expect(notes.map(({ code }) => code)).toEqual(['UNCLAIMED']);
});

test('a claimed namespace that Karmada does not create everywhere stays when its Propagation is deleted, too', () => {
  const claim =
    'apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: { name: c }\nspec:\n' +
    '  resourceSelectors: [{ apiVersion: v1, kind: Namespace }]\n  placement: { clusterAffinity: { clusterNames: [member1] } }\n';
  const { propagations } = imported([namespace('shop', ", labels: { namespace.karmada.io/skip-auto-propagation: 'true' }"), claim]);
  expect(propagations[0]?.input).toMatchObject({ placement: { clusters: ['member1'] }, deletion: { policy: 'ORPHAN' } });
  expect(propagations.flatMap(noteTexts)).toEqual(['WARNING NAMESPACE_KEPT [0]']);
});
