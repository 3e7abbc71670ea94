import { describe, expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { configMap, deployment, imported, importedOne, noteTexts, policyFor } from './karmada-documents.ts';

/** A Deployment that mounts a ConfigMap and uses a Secret. */
function using(name: string, config: string): string {
  return deployment(name).replace(
    'containers: [{',
    `volumes: [{ name: c, configMap: { name: ${config} } }, { name: s, secret: { secretName: keys } }], containers: [{`,
  );
}

const withDependencies = (name: string, placement = '{}') => policyFor(name, `placement: ${placement}, propagateDeps: true`);
const templateNames = ({ input }: { readonly input: unknown }) =>
  Object(input).template.map(({ json }: { readonly json: { readonly metadata: { readonly name: string } } }) => json.metadata.name);

test('the objects that a workload needs become part of its template, with overrides for each object', () => {
  const labels = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: o }
spec: { overrideRules: [{ overriders: { labelsOverrider: [{ operator: add, value: { a: b } }] } }] }`;
  const one = importedOne([using('web', 'settings'), configMap('settings'), withDependencies('web'), labels]);
  expect([templateNames(one), one.input]).toMatchObject([
    ['web', 'settings'],
    {
      dependencies: true,
      overrides: [
        { objects: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
        { objects: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' } },
      ],
    },
  ]);
  expect(one.documents.map(({ index, role }) => [index, role])).toEqual([
    [0, 'TEMPLATE'],
    [1, 'TEMPLATE'],
    [2, 'PLACEMENT'],
    [3, 'OVERRIDE'],
  ]);
});

test('the older field association does the same', () => {
  const policy = policyFor('web', 'association: true');
  expect(templateNames(importedOne([using('web', 'settings'), configMap('settings'), policy]))).toEqual(['web', 'settings']);
});

test('a Secret that a workload needs is an error, as its data would be in the Propagation', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: { name: keys }\nstringData: { key: hidden-value }';
  const result = imported([using('web', 'settings'), secret, withDependencies('web')]);
  expect([result.unread.map(({ index }) => index), noteTexts(result)]).toEqual([[1], ['ERROR SECRET [1]']]);
  expect(JSON.stringify(result)).not.toContain('hidden-value');
});

test('a dependency of several workloads of one policy has its own Propagation, in all clusters of the policy', () => {
  const both = withDependencies('a', '{ replicaScheduling: { replicaSchedulingType: Divided } }').replace('name: a }],', '}],');
  const { propagations } = imported([using('a', 'settings'), using('b', 'settings'), configMap('settings'), both]);
  expect(propagations.map((one) => [Object(one.input).name, templateNames(one), Object(one.input).dependencies ?? false])).toEqual([
    ['a-deployment', ['a'], false],
    ['b-deployment', ['b'], false],
    ['settings-configmap', ['settings'], false],
  ]);
  const note = propagations[0]?.notes.find(({ code }) => code === 'UNSUPPORTED');
  expect([note?.severity, note?.message]).toEqual(['WARNING', expect.stringMatching(/ConfigMap settings.*Secret keys/)]);
});

test.each([
  [
    '{ clusterAffinity: { clusterNames: [member1, member4], exclude: [member4] } }',
    { clusters: ['member1', 'member2'] },
    'INFO SHARED_DEPENDENCY [2]',
  ],
  ['{}', {}, 'INFO SHARED_DEPENDENCY [2]'],
  [
    '{ clusterAffinities: [{ affinityName: g1, clusterNames: [member3] }, { affinityName: g2, clusterNames: [member1] }] }',
    { clusters: ['member3', 'member1', 'member2'] },
    'INFO SHARED_DEPENDENCY [2]',
  ],
  ['{ clusterAffinity: { labelSelector: { matchLabels: { a: b } } } }', { clusters: ['member2'] }, 'WARNING UNSUPPORTED [2]'],
])('a dependency of workloads of two policies, one with %s, goes to the clusters of both', (placement, united, note) => {
  const other = withDependencies('b', '{ clusterAffinity: { clusterNames: [member2] } }');
  const documents = [using('a', 'settings'), using('b', 'settings'), configMap('settings'), withDependencies('a', placement), other];
  const { propagations } = imported(documents);
  expect(propagations.map(templateNames)).toEqual([['a'], ['b'], ['settings']]);
  const settings = propagations[2];
  expect(Object(settings?.input).placement).toEqual(united);
  expect(settings?.documents.map(({ index, role }) => [index, role])).toEqual([
    [2, 'TEMPLATE'],
    [3, 'PLACEMENT'],
    [4, 'PLACEMENT'],
  ]);
  expect(settings && noteTexts(settings)).toEqual([note]);
});

describe('a dependency of workloads of two policies, one with conditions on the location,', () => {
  const fleet = [
    { name: 'eu', region: 'eu', zones: ['eu-1', 'eu-2'] },
    { name: 'us', region: 'us', zones: ['us-1'] },
    { name: 'unknown', zones: [] },
    { name: 'other', zones: [] },
  ].map(({ name, ...location }) => ({ name: clusterName(name), labels: {}, ...location }));

  test.each([
    ['{ key: region, operator: In, values: [eu] }', ['eu', 'other'], ['unknown']],
    ['{ key: region, operator: NotIn, values: [us] }', ['eu', 'other'], ['unknown']],
    ['{ key: zone, operator: In, values: [us-1, us-9] }', ['us', 'other'], ['unknown']],
    ['{ key: provider, operator: In, values: [a] }', ['other'], ['eu', 'us', 'unknown']],
  ])('goes to the clusters that %s allows: %j', (requirement, names, unlocated) => {
    const limited = withDependencies('a', `{ clusterAffinity: { fieldSelector: { matchExpressions: [${requirement}] } } }`);
    const other = withDependencies('b', '{ clusterAffinity: { clusterNames: [other] } }');
    const documents = [using('a', 'settings'), using('b', 'settings'), configMap('settings'), limited, other];
    const settings = imported(documents, { clusters: fleet }).propagations[2];
    expect(Object(settings?.input).placement).toEqual({ clusters: names });
    expect(settings && noteTexts(settings)).toEqual(['WARNING UNSUPPORTED [2]']);
    expect(settings?.notes[0]?.message).toContain(`The provider, region or zone of ${unlocated.join(', ')} is not known`);
  });
});

test('a dependency that a policy selects itself goes to the clusters of its workloads too', () => {
  const named = (name: string) => `{ clusterAffinity: { clusterNames: [${name}] } }`;
  const own = policyFor('settings', `placement: ${named('member1')}`)
    .replace('apps/v1', 'v1')
    .replace('kind: Deployment', 'kind: ConfigMap');
  const { propagations } = imported([using('web', 'settings'), configMap('settings'), withDependencies('web', named('member2')), own]);
  expect(propagations.map(({ input }) => Object(input).placement.clusters)).toEqual([['member2'], ['member1', 'member2']]);
});

test('a dependency that a policy selects itself stays in its own Propagation', () => {
  const own = policyFor('settings', 'placement: {}').replace('apps/v1', 'v1').replace('kind: Deployment', 'kind: ConfigMap');
  const { propagations } = imported([using('web', 'settings'), configMap('settings'), withDependencies('web'), own]);
  expect(propagations.map(templateNames)).toEqual([['web'], ['settings']]);
});

test('a dependency keeps its own conflict resolution only if the workload has the same', () => {
  const settings = configMap('settings', `, annotations: { work.karmada.io/conflict-resolution: overwrite }`);
  const one = importedOne([using('web', 'settings'), settings, withDependencies('web')]);
  expect([Object(one.input).conflict, noteTexts(one)]).toEqual([undefined, ['WARNING UNSUPPORTED [1].metadata.annotations']]);
});

test('a shared dependency is suspended by no policy, and is overwritten and preserved if one policy of its workloads says so', () => {
  const suspending = policyFor(
    'a',
    'propagateDeps: true, suspension: { dispatching: true }, failover: { application: { decisionConditions: {} } }',
  );
  const preserving = policyFor('b', 'propagateDeps: true, preserveResourcesOnDeletion: true, conflictResolution: Overwrite');
  const workloads = [using('a', 'settings'), using('b', 'settings')];
  const { propagations } = imported([...workloads, configMap('settings'), suspending, preserving]);
  const settings = ({ input }: { readonly input: unknown }) => {
    const { suspend, conflict, deletion, failover } = Object(input);
    return { suspend, conflict, deletion, hasFailover: failover !== undefined };
  };
  expect(propagations.map(settings)).toEqual([
    { suspend: { all: true }, hasFailover: true },
    { conflict: 'OVERWRITE', deletion: { policy: 'ORPHAN' }, hasFailover: false },
    { conflict: 'OVERWRITE', deletion: { policy: 'ORPHAN' }, hasFailover: false },
  ]);
  const abort = configMap('settings', `, annotations: { work.karmada.io/conflict-resolution: abort }`);
  const [, , aborting] = imported([...workloads, abort, suspending, preserving]).propagations;
  expect(aborting && settings(aborting)).toEqual({ deletion: { policy: 'ORPHAN' }, hasFailover: false });
});

test('a note says that the dependencies of a suspended workload are suspended too', () => {
  const one = importedOne([
    using('web', 'settings'),
    configMap('settings'),
    policyFor('web', 'propagateDeps: true, suspension: { dispatching: true }'),
  ]);
  expect(noteTexts(one)).toEqual(['INFO UNSUPPORTED [2].spec.suspension']);
});

test('overrides of a workload do not change the dependencies that the plan will find', () => {
  const replicas = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: o }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }]
  overrideRules: [{ overriders: { plaintext: [{ path: /spec/replicas, operator: replace, value: 2 }] } }]`;
  const one = importedOne([using('web', 'settings'), withDependencies('web'), replicas]);
  expect(one.input).toMatchObject({ dependencies: true, overrides: [{ objects: { kind: 'Deployment', name: 'web' } }] });
});

test('dependencies beyond those that a template may have get Propagations of their own', () => {
  const names = Array.from({ length: 21 }, (_, index) => `c${String(index).padStart(2, '0')}`);
  const web = deployment('web').replace(
    'containers: [{',
    `containers: [{ envFrom: [${names.map((name) => `{ configMapRef: { name: ${name} } }`)}],`,
  );
  const { propagations, unread } = imported([web, ...names.map((name) => configMap(name)), withDependencies('web')]);
  expect([unread, propagations.map(templateNames)]).toEqual([[], [['web', ...names.slice(0, 19)], ['c19'], ['c20']]]);
  expect(propagations.map(({ input }) => Object(input).dependencies)).toEqual([undefined, undefined, undefined]);
});
