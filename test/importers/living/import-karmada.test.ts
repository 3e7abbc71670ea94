import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { startGateway } from '../../support/gateway/start-gateway.ts';
import { deletedWithOrphan, imported, planned, propagated } from './living-imports.ts';
import { definitionOf, deployment, karmadaCluster, karmadaDefinitions, karmadaPolicy, objectOf } from './living-systems.ts';

// A living Karmada: its API server is the cluster `karmada`, its members are `member1` and `member2`. The cluster `other` is unknown to it.

/** Exact mode writes the records of Karmada, so they are marks of Muster there. Karmada writes them again when it is started. */
function withoutRecords(annotations: Readonly<Record<string, string>> | null | undefined) {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !key.includes('/managed-')));
}

const selects = (...resourceSelectors: readonly JsonObject[]): JsonObject => ({ resourceSelectors });
const deployments = { apiVersion: 'apps/v1', kind: 'Deployment' };
const weights = ['member1', 'member2'].map((name) => ({ targetCluster: { clusterNames: [name] }, weight: 1 }));
const divided = {
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { staticWeightList: weights },
  },
};

/** The labels and annotations that Karmada writes to a resource that a policy propagates. */
const claim = {
  labels: { 'propagationpolicy.karmada.io/permanent-id': 'p1' },
  annotations: { 'propagationpolicy.karmada.io/namespace': 'shop', 'propagationpolicy.karmada.io/name': 'web' },
};

const karmada = [
  ...karmadaDefinitions,
  karmadaCluster('member1', { tier: 'gold' }),
  karmadaCluster('member2'),
  withMetadata(deployment('shop/web', 4), claim),
  objectOf('v1 Secret', 'shop/keys', { type: 'Opaque', data: { key: 'aGlkZGVu' } }),
  karmadaPolicy('PropagationPolicy', 'shop/web', { ...selects({ ...deployments, name: 'web' }), placement: divided }),
  karmadaPolicy('PropagationPolicy', 'shop/keys', {
    ...selects({ apiVersion: 'v1', kind: 'Secret', name: 'keys' }),
    placement: { clusterAffinity: { clusterNames: ['member1'] } },
  }),
  karmadaPolicy('PropagationPolicy', 'shop/nothing', selects({ ...deployments, name: 'gone' })),
];

function withMetadata(
  object: KubernetesObject,
  { labels, annotations }: { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> },
): KubernetesObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels }, annotations: { ...metadata.annotations, ...annotations } },
  };
}

/** A copy as Karmada leaves it in a member: with labels and annotations of its own, and a record of all of them. */
function copyOf(object: KubernetesObject): KubernetesObject {
  const labels = { 'karmada.io/managed': 'true', 'work.karmada.io/permanent-id': 'w1' };
  const annotations = {
    'resourcetemplate.karmada.io/uid': 'u1',
    'work.karmada.io/name': 'web-5f7b',
    'work.karmada.io/namespace': 'karmada-es-member1',
  };
  const records = {
    'resourcetemplate.karmada.io/managed-annotations': Object.keys({ ...claim.annotations, ...annotations }).join(','),
    'resourcetemplate.karmada.io/managed-labels': Object.keys({ ...claim.labels, ...labels }).join(','),
  };
  return withMetadata(withMetadata(object, claim), { labels, annotations: { ...annotations, ...records } });
}

const copies = [copyOf(deployment('shop/web', 2))];
const start = () =>
  startGateway(
    { hub: [objectOf('v1 Namespace', 'shop')], karmada, member1: copies, member2: copies, other: [] },
    { hub: 'hub', living: true },
  );

test.each([false, true])('adopts the copies of Karmada, and releases them without a mark (exact: %s)', async (exact) => {
  await using gateway = await start();
  const { propagations, unread, notes, faults } = await imported(gateway, 'karmada', { exact });
  expect(faults).toEqual([]);
  expect(propagations.map(({ system, input }) => [system, input.namespace, input.name, input.conflict])).toEqual([
    ['KARMADA', 'shop', 'keys-secret', 'ADOPT'],
    ['KARMADA', 'shop', 'web-deployment', 'ADOPT'],
  ]);
  expect(unread).toEqual([{ key: { kind: 'PropagationPolicy', name: 'nothing' } }]);
  expect(notes.map(({ severity, code }) => [severity, code])).toEqual([
    ['WARNING', 'NO_TEMPLATE'],
    ['WARNING', 'STOP_FIRST'],
  ]);
  expect(notes[1]?.message).toContain('Karmada');
  expect(JSON.stringify(propagations)).not.toContain('aGlkZGVu');
  const [, web] = propagations;
  if (web === undefined) throw new Error('expected a Propagation');
  expect(web.input).toMatchObject({
    template: [{ ref: { cluster: 'karmada', apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' } }],
    placement: { exclude: ['karmada'] },
    source: { system: 'Karmada', cluster: 'karmada' },
  });
  expect(await planned(gateway, web.input)).toEqual([
    ['member1', [['ADOPT', '']]],
    ['member2', [['ADOPT', '']]],
  ]);

  const live = (name: string) => gateway.cluster(name).get({ group: 'apps', kind: 'Deployment' }, 'web', 'shop');
  const before = ['member1', 'member2'].map(live);
  const source = live('karmada');
  await propagated(gateway, web.input);
  expect(['member1', 'member2'].map((name) => live(name)?.metadata.uid)).toEqual(before.map((object) => object?.metadata.uid));
  expect(live('other')).toBeUndefined();
  expect(live('karmada')).toEqual(source);

  await deletedWithOrphan(gateway, web.input);
  for (const [index, name] of ['member1', 'member2'].entries()) {
    const [then, now] = [before[index], live(name)];
    expect(now?.metadata.labels).toEqual(then?.metadata.labels);
    expect(now?.metadata.annotations).toEqual(exact ? withoutRecords(then?.metadata.annotations) : then?.metadata.annotations);
    expect(now?.spec).toEqual(then?.spec);
  }
});

test('imports some kinds and namespaces, and leaves other policies unmentioned', async () => {
  await using gateway = await start();
  gateway.cluster('karmada').put(deployment('bank/api', 1));
  gateway.cluster('karmada').put(karmadaPolicy('ClusterPropagationPolicy', 'all', { ...selects(deployments), placement: {} }));
  const one = await imported(gateway, 'karmada', { kinds: ['deploy'], namespaces: ['bank'] });
  expect(one.propagations.map(({ input }) => [input.namespace, input.name, input.placement])).toEqual([
    ['bank', 'api-deployment', { clusters: ['member1', 'member2'], exclude: ['karmada'] }],
  ]);
  // The hub of this fleet has no namespace `bank`.
  expect([one.unread, one.notes.map(({ code }) => code).toSorted()]).toEqual([[], ['NO_NAMESPACE', 'STOP_FIRST']]);
  const none = await imported(gateway, 'karmada', { kinds: ['ConfigMap'] });
  expect(none).toEqual({ propagations: [], unread: [], notes: [], faults: [] });
});

test('a policy that cannot be read is a fault, and everything else is imported', async () => {
  await using gateway = await start();
  gateway.cluster('karmada').forbid({ group: 'policy.karmada.io', kind: 'ClusterOverridePolicy', verbs: ['list'] });
  const { propagations, faults } = await imported(gateway, 'karmada');
  expect(propagations).toHaveLength(2);
  expect(faults).toEqual([{ code: 'FORBIDDEN' }]);
});

test('autoscalers of Karmada are in the answer, and a list of them that fails is a warning', async () => {
  await using gateway = await start();
  const kinds = ['FederatedHPA', 'CronFederatedHPA'];
  const scaler = (kind: string, name: string, target: JsonObject) =>
    objectOf(`autoscaling.karmada.io/v1alpha1 ${kind}`, `shop/${name}`, { spec: { scaleTargetRef: target } });
  for (const kind of kinds) gateway.cluster('karmada').put(definitionOf('autoscaling.karmada.io/v1alpha1', kind));
  gateway.cluster('karmada').put(scaler('FederatedHPA', 'web', { ...deployments, name: 'web' }));
  gateway.cluster('karmada').put(scaler('FederatedHPA', 'other', { ...deployments, name: 'other' }));
  const viaAutoscaler = { apiVersion: 'autoscaling.karmada.io/v1alpha1', kind: 'FederatedHPA', name: 'web' };
  gateway.cluster('karmada').put(scaler('CronFederatedHPA', 'cron', viaAutoscaler));
  const all = await imported(gateway, 'karmada');
  const roles = all.propagations.flatMap(({ documents }) => documents.filter(({ key }) => kinds.includes(key.kind)));
  expect(roles.toSorted((a, b) => a.key.name.localeCompare(b.key.name))).toEqual([
    { role: 'SCHEDULING', key: { kind: 'CronFederatedHPA', name: 'cron' } },
    { role: 'SCHEDULING', key: { kind: 'FederatedHPA', name: 'web' } },
  ]);
  expect(all.unread).toContainEqual({ key: { kind: 'FederatedHPA', name: 'other' } });
  for (const kind of kinds) gateway.cluster('karmada').forbid({ group: 'autoscaling.karmada.io', kind, verbs: ['list'] });
  const { propagations, faults, notes } = await imported(gateway, 'karmada');
  expect([propagations.length, faults]).toEqual([2, []]);
  expect(notes.filter(({ code }) => code === 'UNSUPPORTED').map(({ severity }) => severity)).toEqual(['WARNING', 'WARNING']);
});

test('a claimed Namespace goes to all clusters of Karmada, whatever its policy chooses, and is never deleted', async () => {
  await using gateway = await start();
  gateway.cluster('karmada').put(objectOf('v1 Namespace', 'shop'));
  const selectors = selects({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' });
  const placement = { clusterAffinity: { clusterNames: ['member1'] } };
  gateway.cluster('karmada').put(karmadaPolicy('ClusterPropagationPolicy', 'shop', { ...selectors, placement }));
  const { propagations } = await imported(gateway, 'karmada', { kinds: ['Namespace'] });
  expect(propagations.map(({ input }) => input)).toMatchObject([
    {
      template: [{ ref: { cluster: 'karmada', kind: 'Namespace', name: 'shop' } }],
      placement: { clusters: ['member1', 'member2'], exclude: ['karmada'] },
      deletion: { policy: 'ORPHAN' },
    },
  ]);
});

/** A Deployment that mounts ConfigMaps and uses a Secret. */
function using(place: string, configMaps: readonly string[], secretName: string): KubernetesObject {
  const { spec, ...web } = deployment(place, 1);
  const volumes = [...configMaps.map((name) => ({ name, configMap: { name } })), { name: 'keys', secret: { secretName } }];
  const containers = [{ name: 'web', image: 'web:1' }];
  const template = { ...Object(spec).template, spec: { containers, volumes } };
  return { ...web, spec: { ...Object(spec), template } } as unknown as KubernetesObject;
}

test('workloads that share objects which no policy selects are taken over, with one Propagation for each shared object', async () => {
  const dependencies = [
    objectOf('v1 ConfigMap', 'shop/shared', { data: { a: '1' } }),
    objectOf('v1 ConfigMap', 'shop/own', { data: { a: '1' } }),
    objectOf('v1 Secret', 'shop/keys', { type: 'Opaque', data: { key: 'aGlkZGVu' } }),
    objectOf('v1 Secret', 'shop/token', { type: 'Opaque', data: { key: 'aGlkZGVu' } }),
  ];
  const workloads = [
    using('shop/a', ['shared', 'own'], 'keys'),
    using('shop/b', ['shared', 'gone'], 'keys'),
    using('shop/alone', ['alone'], 'token'),
  ];
  const alone = objectOf('v1 ConfigMap', 'shop/alone', { data: { a: '1' } });
  const members = [...workloads, ...dependencies, alone].map(copyOf);
  const follows = (name: string, cluster: string) =>
    karmadaPolicy('PropagationPolicy', `shop/${name}`, {
      ...selects({ ...deployments, name }),
      propagateDeps: true,
      placement: { clusterAffinity: { clusterNames: [cluster] } },
    });
  const annotate = { overriders: { annotationsOverrider: [{ operator: 'add', value: { team: 'red' } }] } };
  await using gateway = await startGateway(
    {
      hub: [objectOf('v1 Namespace', 'shop')],
      karmada: [
        ...karmadaDefinitions,
        karmadaCluster('member1'),
        karmadaCluster('member2'),
        ...[...workloads, ...dependencies, alone],
        objectOf('v1 ConfigMap', 'shop/unrelated', { data: {} }),
        follows('a', 'member1'),
        follows('b', 'member2'),
        follows('alone', 'member1'),
        karmadaPolicy('OverridePolicy', 'shop/red', {
          ...selects({ apiVersion: 'v1', kind: 'ConfigMap', name: 'alone' }),
          overrideRules: [annotate],
        }),
      ],
      member1: members,
      member2: members,
    },
    { hub: 'hub', living: true },
  );
  const { propagations, unread, faults } = await imported(gateway, 'karmada', { kinds: ['Deployment'] });
  expect([unread, faults]).toEqual([[], []]);
  const facts = propagations.map(({ input }) => [
    input.name,
    (input.template as JsonObject[]).map(({ ref }) => `${Object(ref).kind} ${Object(ref).name}`),
    Object(input.placement).clusters,
    input.dependencies,
  ]);
  expect(facts).toEqual([
    ['a-deployment', ['Deployment a', 'ConfigMap own'], ['member1'], undefined],
    ['alone-deployment', ['Deployment alone'], ['member1'], true],
    ['b-deployment', ['Deployment b'], ['member2'], undefined],
    ['shared-configmap', ['ConfigMap shared'], ['member1', 'member2'], undefined],
    ['keys-secret', ['Secret keys'], ['member1', 'member2'], undefined],
  ]);
  expect(propagations[1]?.input.overrides).toMatchObject([{ objects: { kind: 'ConfigMap', name: 'alone' } }]);
  const actions = await Promise.all(propagations.map(async ({ input }) => [input.name, await planned(gateway, input)]));
  expect(actions).toEqual([
    [
      'a-deployment',
      [
        [
          'member1',
          [
            ['ADOPT', ''],
            ['ADOPT', ''],
          ],
        ],
      ],
    ],
    [
      'alone-deployment',
      [
        [
          'member1',
          [
            ['ADOPT', expect.stringContaining('team')],
            ['ADOPT', ''],
            ['ADOPT', ''],
          ],
        ],
      ],
    ],
    ['b-deployment', [['member2', [['ADOPT', '']]]]],
    [
      'shared-configmap',
      [
        ['member1', [['ADOPT', '']]],
        ['member2', [['ADOPT', '']]],
      ],
    ],
    [
      'keys-secret',
      [
        ['member1', [['ADOPT', '']]],
        ['member2', [['ADOPT', '']]],
      ],
    ],
  ]);
  for (const { input } of propagations) await propagated(gateway, input);
});
