import { describe, expect, test } from 'vitest';
import { configMap, deployment, imported, importedOne, noteTexts, policyFor } from './karmada-documents.ts';

/** A policy that places its resources in one cluster, which tells the policies apart. */
function policy(
  name: string,
  cluster: string,
  { kind = 'PropagationPolicy', selector = 'name: web', more = '', namespace = '' } = {},
): string {
  const metadata = namespace === '' ? `{ name: ${name} }` : `{ name: ${name}, namespace: ${namespace} }`;
  return `apiVersion: policy.karmada.io/v1alpha1
kind: ${kind}
metadata: ${metadata}
spec: { resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, ${selector} }], placement: { clusterAffinity: { clusterNames: [${cluster}] } }${more} }`;
}

const web = deployment('web');
const wide = { kind: 'ClusterPropagationPolicy' } as const;

/** Annotations that Karmada records the policy of a resource in. */
const recorded = (name: string) =>
  deployment('web', `, annotations: { propagationpolicy.karmada.io/namespace: default, propagationpolicy.karmada.io/name: ${name} }`);

describe('the policy of a resource', () => {
  test.each([
    ['the higher priority', [policy('a', 'member1'), policy('b', 'member2', { selector: '', more: ', priority: 1' })], 'member2'],
    [
      'a negative priority loses',
      [policy('a', 'member1', { more: ', priority: -1' }), policy('b', 'member2', { selector: '' })],
      'member2',
    ],
    ['the more specific selector', [policy('a', 'member1', { selector: '' }), policy('b', 'member2')], 'member2'],
    [
      'labels before the kind',
      [policy('a', 'member1', { selector: '' }), policy('b', 'member2', { selector: 'labelSelector: { matchLabels: { app: web } }' })],
      'member2',
    ],
    ['the first name', [policy('b', 'member1'), policy('a', 'member2')], 'member2'],
    [
      'a PropagationPolicy before a cluster-wide one',
      [policy('a', 'member1', { ...wide, more: ', priority: 9' }), policy('b', 'member2')],
      'member2',
    ],
    ['a cluster-wide one in a namespace of its selector', [policy('a', 'member1', { ...wide, selector: 'namespace: default' })], 'member1'],
  ])('%s', (_, policies, cluster) => {
    const one = importedOne([web, ...policies]);
    expect(one.input).toMatchObject({ placement: { clusters: [cluster] } });
    expect(noteTexts(one)).toEqual(policies.length === 1 ? [] : ['INFO CLAIMED_BY [0]']);
  });

  test.each([
    ['the recorded one stays', recorded('b'), [policy('a', 'member1', { more: ', priority: 9' }), policy('b', 'member2')], 'member2'],
    [
      'one with preemption takes it by priority',
      recorded('b'),
      [policy('a', 'member1', { more: ', priority: 9, preemption: Always' }), policy('b', 'member2')],
      'member1',
    ],
    [
      'not by an equal priority',
      recorded('b'),
      [policy('a', 'member1', { more: ', preemption: Always' }), policy('b', 'member2')],
      'member2',
    ],
    [
      'any PropagationPolicy with preemption takes it from a cluster-wide one',
      deployment('web', ', annotations: { clusterpropagationpolicy.karmada.io/name: b }'),
      [policy('a', 'member1', { more: ', preemption: Always' }), policy('b', 'member2', { ...wide, more: ', priority: 9' })],
      'member1',
    ],
    [
      'a recorded one that selects it no more does not count',
      recorded('gone'),
      [policy('a', 'member1'), policy('gone', 'member2', { selector: 'name: other' })],
      'member1',
    ],
  ])('%s', (_, resource, policies, cluster) => {
    const { propagations } = imported([resource, ...policies]);
    expect(propagations.map(({ input }) => Object(input).placement)).toEqual([{ clusters: [cluster] }]);
  });

  test('a living Karmada has decided about preemption already', () => {
    const policies = [policy('a', 'member1', { more: ', priority: 9, preemption: Always' }), policy('b', 'member2')];
    const living = { cluster: 'karmada', members: new Map() };
    expect(importedOne([recorded('b'), ...policies], { living }).input).toMatchObject({ placement: { clusters: ['member2'] } });
  });

  test('a policy of another namespace, and resources of the namespaces that Karmada leaves out', () => {
    const elsewhere = policy('a', 'member1', { namespace: 'shop' });
    expect(imported([web, elsewhere]).unread.map(({ index }) => index)).toEqual([0, 1]);
    const system = deployment('web').replace('{ name: web,', '{ name: web, namespace: kube-system,');
    expect(imported([system, policy('a', 'member1', wide)]).propagations).toEqual([]);
  });

  test.each([
    ['networking.karmada.io/v1alpha1', 'MultiClusterService'],
    ['autoscaling.karmada.io/v1alpha1', 'FederatedHPA'],
    ['coordination.k8s.io/v1', 'Lease'],
    ['v1', 'Event'],
  ])('an object of %s %s, which Karmada never propagates', (apiVersion, kind) => {
    const object = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: web }`;
    const selecting = policy('a', 'member1', { kind: 'PropagationPolicy' }).replace(
      'apps/v1, kind: Deployment',
      `${apiVersion}, kind: ${kind}`,
    );
    const { propagations, notes } = imported([object, selecting]);
    expect(propagations).toEqual([]);
    expect(notes[0]).toMatchObject({ code: 'UNCLAIMED', message: expect.stringContaining('but Karmada propagates no objects') });
  });

  test('a PropagationPolicy never propagates a cluster-scoped resource', () => {
    const role = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: system:reader }\nrules: []';
    const selecting = (kind: string) =>
      policy('a', 'member1', { kind })
        .replace('apps/v1', 'rbac.authorization.k8s.io/v1')
        .replace('kind: Deployment, name: web', 'kind: ClusterRole');
    expect(imported([role, selecting('PropagationPolicy')]).propagations).toEqual([]);
    // The name follows the bindings of Karmada, which cannot have a colon.
    expect(importedOne([role, selecting('ClusterPropagationPolicy')]).input).toMatchObject({
      namespace: 'default',
      name: 'system.reader-clusterrole',
    });
  });

  test('names the winner and the losers, and a policy that wins nothing is unread', () => {
    const result = imported([web, policy('b', 'member1'), policy('a', 'member2'), policy('c', 'member3', wide)]);
    expect(result.propagations[0]?.notes.map(({ message }) => message)).toEqual([
      'Deployment web is propagated by PropagationPolicy a, and not by PropagationPolicy b, ClusterPropagationPolicy c',
    ]);
    expect(result.unread.map(({ index, role }) => [index, role])).toEqual([
      [1, 'PLACEMENT'],
      [3, 'PLACEMENT'],
    ]);
    expect(noteTexts(result)).toEqual(['WARNING NO_TEMPLATE [1]', 'WARNING NO_TEMPLATE [3]']);
  });

  test('the items of a List are resources too', () => {
    const list = `apiVersion: v1\nkind: List\nitems: [{ apiVersion: v1, kind: ConfigMap, metadata: { name: a } }, { apiVersion: v1, kind: ConfigMap, metadata: { name: b } }]`;
    const all = policy('all', 'member1', { selector: '' }).replace('apps/v1, kind: Deployment,', 'v1, kind: ConfigMap');
    const { propagations } = imported([list, all]);
    expect(propagations.map(({ input, documents }) => [Object(input).name, documents.map(({ index }) => index)])).toEqual([
      ['a-configmap', [0, 1]],
      ['b-configmap', [0, 1]],
    ]);
  });
});

describe('Secrets', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: { name: keys }\ndata: { key: aGlkZGVu }';
  const all = policy('all', 'member1', { selector: '' }).replace('apps/v1, kind: Deployment,', 'v1, kind: Secret');

  test('a selected Secret of a text is an error without its data, and its policy has nothing to propagate', () => {
    const result = imported([secret, all]);
    expect([result.propagations, noteTexts(result)]).toEqual([[], ['ERROR SECRET [0]', 'WARNING NO_TEMPLATE [1]']]);
    expect(JSON.stringify(result)).not.toContain('aGlkZGVu');
  });

  test('a selected object that contains a Secret is an error, too', () => {
    const nested =
      'apiVersion: example.com/v1\nkind: Bundle\nmetadata: { name: keys }\nspec: { objects: [{ kind: Secret, data: { key: aGlkZGVu } }] }';
    const bundles = all.replace('v1, kind: Secret', 'example.com/v1, kind: Bundle');
    const result = imported([nested, bundles]);
    expect(noteTexts(result)).toEqual(['ERROR SECRET [0]', 'WARNING NO_TEMPLATE [1]']);
    expect(JSON.stringify(result)).not.toContain('aGlkZGVu');
  });

  test("a Secret of a living Karmada is propagated by reference to Karmada's API server", () => {
    const one = importedOne([secret, all], { living: { cluster: 'karmada', members: new Map() } });
    expect(one.input).toMatchObject({
      template: [{ ref: { cluster: 'karmada', apiVersion: 'v1', kind: 'Secret', name: 'keys' } }],
      placement: { clusters: ['member1'], exclude: ['karmada'] },
      conflict: 'ADOPT',
    });
    expect(JSON.stringify(one)).not.toContain('aGlkZGVu');
  });
});

describe('a living Karmada', () => {
  const membersOf = (...names: readonly string[]) => new Map(names.map((name) => [name, { zone: name === 'member1' ? 'a' : 'b' }]));
  const living = (...names: readonly string[]) => ({ cluster: 'karmada', members: new Map([['Karmada', membersOf(...names)] as const]) });
  const placed = (placement: string) => policy('all', 'member1').replace(/placement: \{.*\}/, `placement: ${placement} }`);

  test('a placement without names gets the names of its clusters', () => {
    const one = importedOne([web, placed('{}')], { living: living('member2', 'member1') });
    expect(one.input).toMatchObject({ placement: { clusters: ['member1', 'member2'], exclude: ['karmada'] } });
    const groups = importedOne([web, placed('{ clusterAffinities: [{ affinityName: a, exclude: [member2] }] }')], {
      living: living('member1'),
    });
    expect(groups.input).toMatchObject({
      placement: { affinityGroups: [{ set: { clusters: ['member1'], exclude: ['member2', 'karmada'] } }] },
    });
  });

  test('labels that differ from those in Karmada are noted', () => {
    const documents = [web, placed('{ clusterAffinity: { labelSelector: { matchLabels: { zone: a } } } }')];
    const one = importedOne(documents, { living: living('member1', 'member2', 'gone') });
    expect(noteTexts(one)).toEqual([
      'WARNING LABELS_DIFFER [1].spec.placement.clusterAffinity',
      'WARNING UNKNOWN_CLUSTER [1].spec.placement.clusterAffinity',
    ]);
    expect(one.notes[0]?.message).toContain('member1');
    expect(one.notes[0]?.message).not.toContain('member2');
  });

  test.each([
    { what: 'in exact mode, the clusters that it matches in Karmada replace it', isExact: true, set: { clusters: ['member1'] } },
    { what: 'else it stays', isExact: false, set: { selector: 'zone in (a)' } },
  ])('the selector of a static weight and of an override has a note about different labels: $what', ({ isExact, set }) => {
    const target = 'targetCluster: { labelSelector: { matchLabels: { zone: a } } }';
    const weights = `weightPreference: { staticWeightList: [{ ${target}, weight: 2 }] }`;
    const divided = `replicaScheduling: { replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, ${weights} }`;
    const override = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: { name: far }
spec: { overrideRules: [{ ${target}, overriders: { labelsOverrider: [{ operator: add, value: { far: 'yes' } }] } }] }`;
    const one = importedOne([web, placed(`{ ${divided} }`), override], { living: living('member1', 'member2'), isExact });
    expect(one.input).toMatchObject({ replicas: { rules: [{ set, weight: 2 }] }, overrides: [{ set }] });
    expect(noteTexts(one)).toEqual(
      expect.arrayContaining([
        'WARNING LABELS_DIFFER [1].spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster',
        'WARNING LABELS_DIFFER [2].spec.overrideRules[0].targetCluster',
      ]),
    );
  });

  test('exact mode keeps the uid, with which Karmada decides ties', () => {
    const text = configMap('web', ', uid: 0c1d').replace('v1\nkind: ConfigMap', 'apps/v1\nkind: Deployment');
    expect(importedOne([text, placed('{}')], { isExact: true }).input).toMatchObject({
      exact: { system: 'KARMADA', uid: '0c1d' },
      write: 'REPLACE',
    });
  });
});

test.each([
  ['a broken field', policyFor('web', 'failover: { application: {} }'), 'PropagationPolicy web'],
  ['an unknown version', policyFor('web', 'placement: {}').replace('v1alpha1', 'v9'), 'PropagationPolicy web'],
  [
    'the namespace of another policy',
    policyFor('web', 'placement: {}')
      .replace('{ name: web }', '{ name: far, namespace: shop }')
      .replace(', name: web }]', ', namespace: default }]'),
    'PropagationPolicy far',
  ],
])('a resource whose only policy is refused for %s is unclaimed, and the note names the policy', (_, policy, name) => {
  const { notes } = imported([policy, deployment('web'), deployment('other', ', namespace: till')]);
  const unclaimed = notes.filter(({ code }) => code === 'UNCLAIMED').map(({ path, message }) => [path, message]);
  expect(unclaimed).toEqual([
    ['[1]', `the policy that selects Deployment web was refused: ${name}`],
    ['[2]', expect.stringContaining('no policy selects Deployment other')],
  ]);
});
