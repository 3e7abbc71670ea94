import { describe, expect, test } from 'vitest';
import { controlledBy, type Inventory, inShop, relatedWorld } from '../../support/graph/related-world.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';

const web = { app: 'web' };
const selector = { matchLabels: web };
const volumes = [
  { name: 'a', configMap: { name: 'files' } },
  {
    name: 'b',
    projected: { sources: [{ configMap: { name: 'parts' } }, { secret: { name: 'hidden' } }, { configMap: { name: 'files' } }] },
  },
  { name: 'c', persistentVolumeClaim: { claimName: 'data' } },
  { name: 'scratch', ephemeral: { volumeClaimTemplate: {} } },
];
const containers = [
  { name: 'main', envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'hidden' } }] },
  {
    name: 'side',
    env: [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'keys', key: 'a' } } },
      { name: 'B', value: 'b' },
    ],
  },
];
const initContainers = [{ name: 'init', envFrom: [{ configMapRef: { name: 'absent' } }] }];
const endpoints = [{ addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'uid-web-1' } }];
const backend = (name: string) => ({ backend: { service: { name, port: { number: 80 } } }, path: '/', pathType: 'Prefix' });

/** Objects that are related to the Pod web-1, and next to each an unrelated one. */
const inventory: Inventory = {
  Pod: [
    inShop(
      'web-1',
      { labels: { ...web, tier: 'front' }, ...controlledBy('ReplicaSet', 'web-a') },
      { spec: { nodeName: 'n1', serviceAccountName: 'web', volumes, containers, initContainers } },
    ),
    // Selected too, but controlled by another object, by none, or by a set of another Deployment.
    inShop('web-2', { labels: web, ...controlledBy('StatefulSet', 'web') }, { spec: { nodeName: 'n2' } }),
    inShop('web-3', { labels: web }, { spec: {} }),
    inShop('web-4', { labels: web, ...controlledBy('ReplicaSet', 'other-a') }, { spec: {} }),
    // Owned by the set, and not selected by it.
    inShop('web-5', { labels: { app: 'api' }, ...controlledBy('ReplicaSet', 'web-a') }, { spec: {} }),
    // Controlled by a set that the Deployment owns, but does not control.
    inShop('web-6', { labels: web, ...controlledBy('ReplicaSet', 'web-c') }, { spec: {} }),
    inShop('far-1', { namespace: 'far', labels: web, ...controlledBy('ReplicaSet', 'web-a') }, { spec: { nodeName: 'n1' } }),
    inShop('job-1', { labels: { job: 'one' }, ...controlledBy('Job', 'one', { apiVersion: 'batch/v1' }) }, { spec: {} }),
    inShop('set-1', { labels: web, ...controlledBy('DaemonSet', 'agents') }, { spec: {} }),
  ],
  Node: [objectNamed('n1', { uid: 'node-1' }), objectNamed('n2', { uid: 'node-2' })],
  ServiceAccount: [inShop('web'), inShop('web', { namespace: 'far' })],
  Service: [
    inShop('web', {}, { spec: { selector: web } }),
    inShop('front', {}, { spec: { selector: { tier: 'front', app: 'web' } } }),
    inShop('back', {}, { spec: { selector: { app: 'web', tier: 'back' } } }),
    inShop('bare', {}, { spec: {} }),
    inShop('outside', {}, { spec: { type: 'ExternalName', selector: web } }),
    inShop('far', { namespace: 'far' }, { spec: { selector: web } }),
  ],
  'EndpointSlice.discovery.k8s.io': [
    inShop('web-x', { labels: { 'kubernetes.io/service-name': 'web' } }, { endpoints }),
    inShop('front-x', { labels: { 'kubernetes.io/service-name': 'front' } }, { endpoints: [] }),
  ],
  ConfigMap: ['files', 'parts', 'settings', 'keys', 'unused'].map((name) => inShop(name)),
  PersistentVolumeClaim: [
    inShop('data', {}, { spec: { volumeName: 'disk' } }),
    inShop('web-1-scratch', {}, { spec: {} }),
    inShop('loose', {}, { spec: {} }),
  ],
  PersistentVolume: [
    objectNamed('disk', {}, { spec: { claimRef: { kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'data', uid: 'uid-data' } } }),
  ],
  'Ingress.networking.k8s.io': [
    inShop(
      'web',
      {},
      {
        spec: { defaultBackend: backend('front').backend, rules: [{ http: { paths: [backend('web'), backend('web'), backend('gone')] } }] },
      },
    ),
  ],
  'HorizontalPodAutoscaler.autoscaling': [
    inShop('web', {}, { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } } }),
  ],
  'Deployment.apps': [inShop('web', { uid: 'uid-deployment' }, { spec: { selector } }), inShop('other', {}, { spec: { selector } })],
  'ReplicaSet.apps': [
    inShop('web-a', controlledBy('Deployment', 'web', { uid: 'uid-deployment' }), { spec: { selector } }),
    inShop('web-b', controlledBy('Deployment', 'web', { uid: 'uid-deployment' }), { spec: { selector } }),
    inShop(
      'web-c',
      { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-deployment' }] },
      { spec: { selector } },
    ),
    inShop('other-a', controlledBy('Deployment', 'other'), { spec: { selector } }),
  ],
  'StatefulSet.apps': [inShop('web', { uid: 'uid-web' }, { spec: { selector } })],
  'DaemonSet.apps': [inShop('agents', {}, { spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] } } })],
  'Job.batch': [inShop('one', {}, { spec: { selector: { matchLabels: { job: 'one' } } } })],
};

/** Enough unrelated objects that queries use indexes. */
const crowded: Inventory = Object.fromEntries(
  Object.entries(inventory).map(([key, objects]) => [
    key,
    [
      ...objects,
      ...Array.from({ length: 100 }, (_, index) =>
        objectNamed(`z-${index}`, { namespace: 'crowd', labels: { app: `z-${index}` } }, { spec: {} }),
      ),
    ],
  ]),
);

// The other cluster has objects with the same names and uids. No relation leads to them.
const worlds = {
  small: relatedWorld({ north: inventory, south: inventory }),
  crowded: relatedWorld({ north: crowded, south: crowded }),
};

interface Relation {
  readonly of: string;
  readonly name: string;
  readonly field: string;
  readonly leadsTo: readonly string[] | string | null;
}

const toOne: readonly Relation[] = [
  { of: 'pod', name: 'web-1', field: 'node', leadsTo: 'n1' },
  { of: 'pod', name: 'web-3', field: 'node', leadsTo: null },
  { of: 'pod', name: 'web-1', field: 'serviceAccount', leadsTo: 'web' },
  { of: 'persistentVolumeClaim', name: 'data', field: 'volume', leadsTo: 'disk' },
  { of: 'persistentVolumeClaim', name: 'loose', field: 'volume', leadsTo: null },
  { of: 'horizontalPodAutoscaler', name: 'web', field: 'target', leadsTo: 'web' },
];

const toMany: readonly Relation[] = [
  { of: 'pod', name: 'web-1', field: 'services', leadsTo: ['front', 'web'] },
  { of: 'pod', name: 'job-1', field: 'services', leadsTo: [] },
  { of: 'pod', name: 'web-1', field: 'configMaps', leadsTo: ['files', 'keys', 'parts', 'settings'] },
  { of: 'pod', name: 'web-1', field: 'claims', leadsTo: ['data', 'web-1-scratch'] },
  { of: 'service', name: 'web', field: 'pods', leadsTo: ['set-1', 'web-1', 'web-2', 'web-3', 'web-4', 'web-6'] },
  { of: 'service', name: 'bare', field: 'pods', leadsTo: [] },
  { of: 'service', name: 'outside', field: 'pods', leadsTo: [] },
  { of: 'service', name: 'web', field: 'endpointSlices', leadsTo: ['web-x'] },
  { of: 'persistentVolumeClaim', name: 'data', field: 'pods', leadsTo: ['web-1'] },
  { of: 'persistentVolumeClaim', name: 'web-1-scratch', field: 'pods', leadsTo: ['web-1'] },
  { of: 'persistentVolumeClaim', name: 'loose', field: 'pods', leadsTo: [] },
  { of: 'ingress', name: 'web', field: 'services', leadsTo: ['front', 'web'] },
  { of: 'deployment', name: 'web', field: 'pods', leadsTo: ['web-1'] },
  { of: 'deployment', name: 'other', field: 'pods', leadsTo: ['web-4'] },
  { of: 'replicaSet', name: 'web-a', field: 'pods', leadsTo: ['web-1'] },
  { of: 'replicaSet', name: 'web-b', field: 'pods', leadsTo: [] },
  { of: 'statefulSet', name: 'web', field: 'pods', leadsTo: ['web-2'] },
  { of: 'daemonSet', name: 'agents', field: 'pods', leadsTo: ['set-1'] },
  { of: 'job', name: 'one', field: 'pods', leadsTo: ['job-1'] },
];

const single = (of: string, name: string, selection: string) =>
  `{ found: ${of}(cluster: "north", namespace: "shop", name: "${name}") { ${selection} } }`;

describe.each(['small', 'crowded'] as const)('in a %s cluster', (size) => {
  const world = worlds[size];

  test.each(toOne)('$field of the $of $name leads to $leadsTo', async ({ of, name, field, leadsTo }) => {
    const answer = await world.ask(single(of, name, `${field} { cluster { name } metadata { name } }`));
    expect(answer.errors).toBeUndefined();
    expect(answer.at(`found.${field}`)).toEqual(leadsTo === null ? null : { cluster: { name: 'north' }, metadata: { name: leadsTo } });
    expect(answer.faults).toEqual([]);
  });

  test.each(toMany)('$field of the $of $name leads to $leadsTo', async ({ of, name, field, leadsTo }) => {
    const answer = await world.ask(
      single(of, name, `${field} { totalCount items { cluster { name } metadata { name } } faults { code } }`),
    );
    expect(answer.errors).toBeUndefined();
    const items = (leadsTo as readonly string[]).map((one) => ({ cluster: { name: 'north' }, metadata: { name: one } }));
    expect(answer.at(`found.${field}`)).toEqual({ totalCount: items.length, items, faults: [] });
  });

  test('the Pods of a Node are of all namespaces', async () => {
    const answer = await world.ask(
      '{ nodes(clusters: "north", first: 2) { items { metadata { name } pods { items { metadata { name } } } } } }',
    );
    expect(answer.at('nodes.items.pods.items.metadata.name')).toEqual([['far-1', 'web-1'], ['web-2']]);
  });

  test('workloads can be selected as PodOwner', async () => {
    const workloads = '["deploy", "rs", "sts", "ds", "job"]';
    const answer = await world.ask(
      `{ resources(kinds: ${workloads}, clusters: "north", namespaces: "shop") { items { kind metadata { name } ... on PodOwner { pods { totalCount } rollout { done } } } } }`,
    );
    expect(answer.errors).toBeUndefined();
    const counts = (answer.at('resources.items') as { kind: string; metadata: { name: string }; pods: { totalCount: number } }[]).map(
      ({ kind, metadata, pods }) => `${kind} ${metadata.name} ${pods.totalCount}`,
    );
    expect(counts.toSorted()).toEqual([
      'DaemonSet agents 1',
      'Deployment other 1',
      'Deployment web 1',
      'Job one 1',
      'ReplicaSet other-a 1',
      'ReplicaSet web-a 1',
      'ReplicaSet web-b 0',
      'ReplicaSet web-c 1',
      'StatefulSet web 1',
    ]);
  });

  test('references deep inside an object are followed from it', async () => {
    const slices = await world.ask(
      '{ endpointSlices(clusters: "north", labels: "kubernetes.io/service-name=web") { items { endpoints { addresses target { kind metadata { name } } targetRef { name resource { cluster { name } } } } } } }',
    );
    expect(slices.errors).toBeUndefined();
    expect(slices.at('endpointSlices.items.endpoints')).toEqual([
      [
        {
          addresses: ['10.0.0.1'],
          target: { kind: 'Pod', metadata: { name: 'web-1' } },
          targetRef: { name: 'web-1', resource: { cluster: { name: 'north' } } },
        },
      ],
    ]);
    const volume = await world.ask(
      '{ persistentVolume(cluster: "south", name: "disk") { spec { claimRef { name resource { metadata { uid } cluster { name } } } } } }',
    );
    expect(volume.at('persistentVolume.spec.claimRef.resource')).toEqual({ metadata: { uid: 'uid-data' }, cluster: { name: 'south' } });
  });
});
