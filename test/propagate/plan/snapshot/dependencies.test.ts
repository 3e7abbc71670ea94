import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import { dependenciesOf, labelledDependenciesOf } from '../../../../src/propagate/plan/snapshot/dependencies.ts';

const namesOf = (object: Manifest): readonly string[] =>
  dependenciesOf(object).map(({ apiVersion, kind, namespace, name }) => `${apiVersion} ${kind} ${namespace} ${name}`);

function pod(spec: JsonObject): Manifest {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'shop' }, spec };
}

describe('of a pod', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['nothing', {}, []],
    ['a configuration map', { volumes: [{ name: 'v', configMap: { name: 'c', optional: true } }] }, ['ConfigMap c']],
    ['a secret', { volumes: [{ secret: { secretName: 's' } }] }, ['Secret s']],
    [
      'projected ones',
      { volumes: [{ projected: { sources: [{ secret: { name: 's' } }, { configMap: { name: 'c' } }, { serviceAccountToken: {} }] } }] },
      ['ConfigMap c', 'Secret s'],
    ],
    [
      'secrets of volume types',
      {
        volumes: [
          { azureFile: { secretName: 'azure' } },
          { cephfs: { secretRef: { name: 'ceph' } } },
          { cinder: { secretRef: { name: 'cinder' } } },
          { flexVolume: { secretRef: { name: 'flex' } } },
          { iscsi: { secretRef: { name: 'iscsi' } } },
          { rbd: { secretRef: { name: 'rbd' } } },
          { scaleIO: { secretRef: { name: 'scale' } } },
          { storageos: { secretRef: { name: 'storage' } } },
          { csi: { nodePublishSecretRef: { name: 'csi' } } },
        ],
      },
      ['azure', 'ceph', 'cinder', 'csi', 'flex', 'iscsi', 'rbd', 'scale', 'storage'].map((name) => `Secret ${name}`),
    ],
    ['a claim', { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] }, ['PersistentVolumeClaim data']],
    ['an account', { serviceAccountName: 'runner' }, ['ServiceAccount runner']],
    ['an account by its old name', { serviceAccount: 'runner' }, ['ServiceAccount runner']],
    ['not the account that every namespace has', { serviceAccountName: 'default' }, []],
    ['pull secrets', { imagePullSecrets: [{ name: 'pull' }] }, ['Secret pull']],
    [
      'variables, of init containers too',
      {
        initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }], envFrom: [{ configMapRef: { name: 'c' } }] }],
        containers: [
          { env: [{ name: 'A', value: '1' }, { valueFrom: { configMapKeyRef: { name: 'd' } } }], envFrom: [{ secretRef: { name: 't' } }] },
        ],
      },
      ['ConfigMap c', 'ConfigMap d', 'Secret s', 'Secret t'],
    ],
    ['each once', { imagePullSecrets: [{ name: 's' }, { name: 's' }], volumes: [{ secret: { secretName: 's' } }] }, ['Secret s']],
    ['no empty names', { imagePullSecrets: [{ name: '' }, {}] }, []],
  ])('%s', (_name, spec, expected) => {
    expect(namesOf(pod(spec))).toEqual(expected.map((one) => `v1 ${one.replace(' ', ' shop ')}`));
  });
});

const spec = { serviceAccountName: 'runner' };

test.each<[string, string, JsonObject]>([
  ['apps/v1', 'Deployment', { template: { spec } }],
  ['apps/v1', 'ReplicaSet', { template: { spec } }],
  ['apps/v1', 'StatefulSet', { template: { spec } }],
  ['apps/v1', 'DaemonSet', { template: { spec } }],
  ['batch/v1', 'Job', { template: { spec } }],
  ['batch/v1', 'CronJob', { jobTemplate: { spec: { template: { spec } } } }],
])('%s %s holds a pod', (apiVersion, kind, of) => {
  expect(namesOf({ apiVersion, kind, metadata: { name: 'x', namespace: 'shop' }, spec: of })).toEqual(['v1 ServiceAccount shop runner']);
});

test('a StatefulSet does not need the claims that it makes itself', () => {
  const volumes = [
    { name: 'data', persistentVolumeClaim: { claimName: 'old' } },
    { name: 'other', persistentVolumeClaim: { claimName: 'kept' } },
  ];
  const of = { template: { spec: { volumes } }, volumeClaimTemplates: [{ metadata: { name: 'data' } }] };
  expect(namesOf({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'x', namespace: 'shop' }, spec: of })).toEqual([
    'v1 PersistentVolumeClaim shop kept',
  ]);
});

test('an Ingress needs its TLS secrets', () => {
  const tls = [{ secretName: 'b' }, { hosts: ['x'] }, { secretName: 'a' }];
  const ingress: Manifest = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'x', namespace: 'shop' },
    spec: { tls },
  };
  expect(namesOf(ingress)).toEqual(['v1 Secret shop a', 'v1 Secret shop b']);
  expect(namesOf({ ...ingress, apiVersion: 'example.com/v1' })).toEqual([]);
});

test('a ServiceImport needs the Service made for it, and its endpoints whatever they are called', () => {
  const object: Manifest = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceImport',
    metadata: { name: 'web', namespace: 'shop' },
  };
  expect(namesOf(object)).toEqual(['v1 Service shop derived-web']);
  expect(labelledDependenciesOf(object)).toEqual([
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': 'derived-web' },
    },
  ]);
  expect(labelledDependenciesOf(pod(spec))).toEqual([]);
});

test('an object without a namespace needs no objects in a namespace', () => {
  const object: Manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec };
  expect(dependenciesOf(object)).toEqual([{ apiVersion: 'v1', kind: 'ServiceAccount', name: 'runner' }]);
});
