import { describe, expect, test } from 'vitest';
import { documentOf } from '../../../src/propagate/model/input-spec.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { configMap, deployment, imported, importedOne, inputOfOne, noteTexts, policyFor, withoutOrigin } from './karmada-documents.ts';

const web = deployment('web');
const exactly = { isExact: true } as const;

test('one Propagation per resource, in its namespace and named as Karmada names bindings', () => {
  const shop = web.replace('{ name: web,', '{ name: web, namespace: shop,');
  const policy = policyFor('web', 'placement: {}').replace('metadata: { name: web }', 'metadata: { name: web, namespace: shop }');
  const one = importedOne([shop, policy]);
  expect([one.system, withoutOrigin(one)]).toEqual(['Karmada', { namespace: 'shop', name: 'web-deployment', placement: {} }]);
  expect(Object(one.input).template).toMatchObject([{ json: { kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } } }]);
});

describe('other fields of a policy', () => {
  test.each([
    ['conflictResolution: Overwrite', { conflict: 'OVERWRITE' }],
    ['conflictResolution: Abort', {}],
    ['preserveResourcesOnDeletion: true', { deletion: { policy: 'ORPHAN' } }],
    ['suspension: { dispatching: true }', { suspend: { all: true } }],
    ['suspension: { dispatching: false }', {}],
    ['suspension: { dispatchingOnClusters: { clusterNames: [member1] } }', { suspend: { clusters: ['member1'] } }],
    ['propagateDeps: true', { dependencies: true }],
  ])('%s', (spec, expected) => {
    expect(inputOfOne([web, policyFor('web', spec)])).toEqual({ namespace: 'default', name: 'web-deployment', placement: {}, ...expected });
  });

  test('an annotation of the resource decides about conflicts before the policy', () => {
    const annotated = (value: string) => deployment('web', `, annotations: { work.karmada.io/conflict-resolution: ${value} }`);
    const conflictOf = (value: string, policy: string) =>
      inputOfOne([annotated(value), policyFor('web', `conflictResolution: ${policy}`)]).conflict;
    expect([conflictOf('overwrite', 'Abort'), conflictOf('abort', 'Overwrite'), conflictOf('other', 'Overwrite')]).toEqual([
      'OVERWRITE',
      undefined,
      'OVERWRITE',
    ]);
  });

  test('the ResourceBinding of a resource suspends its scheduling', () => {
    const binding = `apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: { name: web-deployment }
spec: { resource: { apiVersion: apps/v1, kind: Deployment, namespace: default, name: web }, suspension: { scheduling: true, dispatching: true } }`;
    const one = importedOne([web, binding, policyFor('web', 'suspension: { dispatchingOnClusters: { clusterNames: [member1] } }')]);
    expect(one.input).toMatchObject({ suspend: { scheduling: true, clusters: ['member1'] } });
    expect(one.documents.map(({ role }) => role)).toEqual(['TEMPLATE', 'SCHEDULING', 'PLACEMENT']);
  });

  test.each([
    ['schedulerName: mine', 'schedulerName'],
    ['activationPreference: Lazy', 'activationPreference'],
    ['schedulePriority: { priorityClassSource: KubePriorityClass, priorityClassName: high }', 'schedulePriority'],
    ['placement: { workloadAffinity: { affinity: { groupByLabelKey: app } } }', 'placement.workloadAffinity'],
    ['dependentOverrides: [absent]', 'dependentOverrides[0]'],
  ])('%s is not carried out, and that is said', (spec, path) => {
    expect(noteTexts(importedOne([web, policyFor('web', spec)]))).toEqual([`WARNING UNSUPPORTED [1].spec.${path}`]);
  });

  test.each(['ServiceExport', 'ServiceImport'])('a %s is only copied, and that is said', (kind) => {
    const service = `apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ${kind}\nmetadata: { name: web }\nspec: {}`;
    const policy = policyFor('web', 'placement: {}').replace('apps/v1, kind: Deployment', `multicluster.x-k8s.io/v1alpha1, kind: ${kind}`);
    expect(noteTexts(importedOne([service, policy]))).toEqual(['WARNING UNSUPPORTED [0]']);
  });

  test.each([
    ['Always', ['WARNING UNSUPPORTED [0].metadata.labels["resourcetemplate.karmada.io/deletion-protected"]']],
    ['Never', []],
  ])('a resource whose deletion Karmada protects with %s', (value, notes) => {
    const label = `resourcetemplate.karmada.io/deletion-protected: ${value}`;
    const one = importedOne([deployment('web').replace('labels: {', `labels: { ${label},`), policyFor('web', 'placement: {}')]);
    expect(noteTexts(one)).toEqual(notes);
  });

  test.each([
    ['FederatedHPA', '{ apiVersion: apps/v1, kind: Deployment, name: web }', true],
    ['CronFederatedHPA', '{ apiVersion: apps/v1, kind: Deployment, name: web }', true],
    ['CronFederatedHPA', '{ apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web }', false],
    ['FederatedHPA', '{ apiVersion: apps/v1, kind: Deployment, name: other }', false],
  ])('a %s of %s is noted at the workload: %s', (kind, target, isNoted) => {
    const autoscaler = `apiVersion: autoscaling.karmada.io/v1alpha1\nkind: ${kind}\nmetadata: { name: web }\nspec: { scaleTargetRef: ${target} }`;
    expect(noteTexts(importedOne([web, policyFor('web', 'placement: {}'), autoscaler]))).toEqual(
      isNoted ? ['WARNING UNSUPPORTED [2]'] : [],
    );
  });

  test('the older spellings of purge modes are accepted, with their default grace period', () => {
    for (const mode of ['Immediately', 'Graciously']) {
      const failover = `propagateDeps: true, failover: { application: { decisionConditions: {}, purgeMode: ${mode} } }`;
      const one = importedOne([web, policyFor('web', failover)]);
      expect(noteTexts(one)).toEqual(['INFO FAILOVER_GATE [1].spec.failover']);
      const purge = mode === 'Immediately' ? { purge: 'DIRECTLY' } : {};
      expect(one.input).toMatchObject({ failover: { unhealthyAfter: '5m', ...purge } });
    }
  });

  test('a failover becomes that of the Propagation', () => {
    const rules = 'statePreservation: { rules: [{ aliasLabelName: run, jsonPath: "{ .runID }" }] }';
    const application = `application: { decisionConditions: { tolerationSeconds: 120 }, purgeMode: Directly, ${rules} }`;
    const one = importedOne([
      web,
      policyFor('web', `propagateDeps: true, failover: { ${application}, cluster: { purgeMode: Gracefully } }`),
    ]);
    const preserve = [{ label: 'run', jsonPath: '{ .runID }' }];
    expect(one.input).toMatchObject({ failover: { after: '5m', unhealthyAfter: '2m', purge: 'DIRECTLY', preserve } });
    expect(noteTexts(one)).toEqual(['INFO FAILOVER_GATE [1].spec.failover', 'WARNING DROPPED [1].spec.failover.cluster']);
  });

  // From 1.14 on, Karmada taints no cluster itself. Before, its admission added tolerations of 300 s for these two taints.
  const outage = (more: string) => `{ key: cluster.karmada.io/unreachable, operator: Exists, effect: NoExecute${more} }`;
  const notReady = (more: string) => `{ key: cluster.karmada.io/not-ready, operator: Exists, effect: NoExecute${more} }`;
  const afterNoAnswer = (seconds: number) => `copies from a cluster that has not answered for ${seconds} s`;
  test.each<[string, string | undefined, string]>([
    ['', '5m', afterNoAnswer(300)],
    [outage(', tolerationSeconds: 30'), '30s', afterNoAnswer(30)],
    [outage(', tolerationSeconds: 400'), '5m', afterNoAnswer(300)],
    [outage(', tolerationSeconds: -3'), '0s', afterNoAnswer(0)],
    ['{ operator: Exists, effect: NoSchedule }', '5m', afterNoAnswer(300)],
    [`${outage('')}, ${notReady(', tolerationSeconds: 60')}`, '1m', afterNoAnswer(60)],
    ['{ operator: Exists }', undefined, 'no copies from a cluster that does not answer'],
    [`${outage(', tolerationSeconds: 1e15')}, ${notReady('')}`, undefined, 'no copies from a cluster that does not answer'],
  ])('a failover of clusters with the tolerations [%s] moves copies after %s', (tolerations, after, message) => {
    for (const context of [{}, exactly]) {
      const spec = `failover: { cluster: {} }, placement: { clusterTolerations: [${tolerations}] }`;
      const one = importedOne([web, policyFor('web', spec)], context);
      expect(one.input).toMatchObject({ failover: after === undefined ? {} : { after } });
      expect(Object.keys(Object(one.input).failover)).toEqual(after === undefined ? [] : ['after']);
      expect(one.notes.find(({ code }) => code === 'FAILOVER_GATE')?.message).toContain(message);
    }
  });

  test('an override that Karmada waits for is no news if it is among the documents', () => {
    const override = 'apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: { name: present }\nspec: {}';
    expect(importedOne([web, override, policyFor('web', 'dependentOverrides: [present]')]).notes).toEqual([]);
  });

  test('the defaults that a server fills in are no news', () => {
    const filled = policyFor('web', 'priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort').replace(
      'metadata: { name: web }',
      'metadata: { name: web, uid: a, resourceVersion: "1", generation: 2, finalizers: [f], labels: { propagationpolicy.karmada.io/permanent-id: b } }',
    );
    expect(importedOne([web, `${filled}\nstatus: {}`]).notes).toEqual([]);
  });

  test('exact mode writes whole objects and follows the planner of Karmada', () => {
    expect(inputOfOne([web, policyFor('web', 'placement: {}')], exactly)).toMatchObject({ write: 'REPLACE', exact: { system: 'KARMADA' } });
  });
});

describe('documents that are not imported', () => {
  test.each([
    ['two ways to choose clusters', 'placement: { clusterAffinity: {}, clusterAffinities: [{ affinityName: a }] }', '.placement'],
    ['a wrong value', 'conflictResolution: Maybe', '.conflictResolution'],
    ['a wrong type', 'placement: { clusterAffinity: { clusterNames: member1 } }', '.placement.clusterAffinity.clusterNames'],
    [
      'a weight of zero',
      'placement: { replicaScheduling: { weightPreference: { staticWeightList: [{ targetCluster: {}, weight: 0 }] } } }',
      '.placement.replicaScheduling.weightPreference.staticWeightList[0].weight',
    ],
    [
      'preemption without a name',
      'preemption: Always, resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }]',
      '.resourceSelectors[0].name',
    ],
    ['no selectors', 'resourceSelectors: []', '.resourceSelectors'],
    [
      'another namespace',
      'resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, namespace: shop }]',
      '.resourceSelectors[0].namespace',
    ],
    ['application failover alone', 'failover: { application: { decisionConditions: {} } }', '.propagateDeps'],
  ])('%s: Karmada refuses the policy', (_, spec, path) => {
    const policy = policyFor('web', spec).replace(/resourceSelectors: \[\{[^\]]*\}\], (?=.*resourceSelectors)/, '');
    const result = imported([web, policy]);
    expect([result.propagations, noteTexts(result)]).toEqual([[], [`ERROR INVALID [1].spec${path}`, 'WARNING UNCLAIMED [0]']]);
    expect(result.notes[0]?.message).toContain('PropagationPolicy web');
    expect(result.unread.map(({ index, role }) => [index, role])).toEqual([
      [0, 'OTHER'],
      [1, 'PLACEMENT'],
    ]);
  });

  test('an override policy that Karmada refuses', () => {
    const override = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: o }
spec: { overrideRules: [{ overriders: { fieldOverrider: [{ fieldPath: data }] } }] }`;
    const result = imported([web, policyFor('web', 'placement: {}'), override]);
    expect([result.propagations.length, noteTexts(result)]).toEqual([
      1,
      [
        'ERROR INVALID [2].spec.overrideRules[0].overriders.fieldOverrider[0]',
        'ERROR INVALID [2].spec.overrideRules[0].overriders.fieldOverrider[0].fieldPath',
      ],
    ]);
  });

  test('every field that the definition of a policy does not have is noted', () => {
    const policy = policyFor(
      'web',
      'placement: { clusterAffinity: { clusterNamez: [member1] }, spreadConstraints: [{ maxGroup: 1, maxGroups: 1 }] }, extra: {}',
    );
    const override = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: o, annotation: {} }
spec: { overrideRules: [{ overriders: { envOverrider: [] } }] }
more: 1`;
    expect(noteTexts(importedOne([web, policy, override]))).toEqual([
      'WARNING UNKNOWN_FIELD [1].spec.placement.clusterAffinity.clusterNamez',
      'WARNING UNKNOWN_FIELD [1].spec.placement.spreadConstraints[0].maxGroup',
      'WARNING UNKNOWN_FIELD [1].spec.extra',
      'WARNING UNKNOWN_FIELD [2].metadata.annotation',
      'WARNING UNKNOWN_FIELD [2].spec.overrideRules[0].overriders.envOverrider',
      'WARNING UNKNOWN_FIELD [2].more',
    ]);
  });

  test('an unknown field of a policy without a resource is noted too', () => {
    expect(noteTexts(imported(policyFor('absent', 'extra: 1')))).toEqual([
      'WARNING NO_TEMPLATE [0]',
      'WARNING UNKNOWN_FIELD [0].spec.extra',
    ]);
  });

  test('documents of other systems are left alone', () => {
    expect(imported([configMap('a')]).unread.map(({ role }) => role)).toEqual(['OTHER']);
  });
});

describe('the policies of the documentation', () => {
  test.each([
    [
      'a policy for several kinds, with region spread and dynamic weights',
      [
        web,
        configMap('web'),
        `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: { name: everything }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }, { apiVersion: v1, kind: ConfigMap }]
  placement:
    replicaScheduling: { replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: { dynamicWeight: AvailableReplicas } }
    spreadConstraints: [{ spreadByField: region, minGroups: 2, maxGroups: 2 }, { spreadByField: cluster, minGroups: 2, maxGroups: 4 }]
    clusterTolerations: [{ key: cluster.karmada.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300 }]`,
      ],
      2,
    ],
    [
      'groups of clusters with a cluster-wide override',
      [
        web,
        policyFor(
          'web',
          'placement: { clusterAffinities: [{ affinityName: primary, clusterNames: [member1] }, { affinityName: backup, clusterNames: [member2] }] }',
        ),
        `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: { name: mirror }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }]
  overrideRules:
    - targetCluster: { fieldSelector: { matchExpressions: [{ key: region, operator: In, values: [eu] }] } }
      overriders: { imageOverrider: [{ component: Registry, operator: replace, value: eu.registry.example.com }] }`,
      ],
      1,
    ],
  ])('%s', (_, documents, count) => {
    for (const context of [{}, exactly]) {
      const { propagations, unread } = imported(documents, context);
      expect([propagations.length, unread]).toEqual([count, []]);
      for (const { input } of propagations) expect(parseSpec(documentOf(input as never).document)).not.toHaveProperty('problems');
    }
  });
});
