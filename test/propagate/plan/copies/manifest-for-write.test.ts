import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import { valueAt } from '../../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import { type ManifestForWrite, manifestForWrite } from '../../../../src/propagate/plan/copies/manifest-for-write.ts';
import { retainFieldsOfKind } from '../../../../src/propagate/plan/copies/retain-fields.ts';
import { deepFreeze } from '../../../support/store/store-objects.ts';

const desired: Manifest = deepFreeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web', mine: 'new' }, annotations: { note: 'x' } },
  data: { a: '1' },
});

const recordedAnnotations = 'muster.dev/managed-annotations,muster.dev/managed-labels,note';

function liveOf(metadata: JsonObject, rest: JsonObject): KubernetesObject {
  return deepFreeze({ metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 2, ...metadata }, ...rest });
}

function sent(owned: ManifestForWrite): JsonObject {
  if (owned.result === 'failed') throw new Error(owned.message);
  return owned.manifest;
}

describe('Apply', () => {
  test('sends the rendered manifest, whatever the existing object is', () => {
    const live = liveOf({ labels: { theirs: 'x' }, finalizers: ['f'] }, { data: { b: '2' } });
    expect(manifestForWrite({ write: 'Apply', desired })).toEqual({ result: 'write', manifest: desired });
    expect(manifestForWrite({ write: 'Apply', desired, live })).toEqual({ result: 'write', manifest: desired });
  });
});

describe('Replace', () => {
  test('records the keys of Muster’s labels and annotations, with those of both records', () => {
    expect(sent(manifestForWrite({ write: 'Replace', desired })).metadata).toEqual({
      ...desired.metadata,
      annotations: {
        note: 'x',
        'muster.dev/managed-labels': 'app,mine',
        'muster.dev/managed-annotations': recordedAnnotations,
      },
    });
  });

  test.each([
    ['Karmada', 'resourcetemplate.karmada.io'],
    ['Kubefed', 'muster.dev'],
    ['FederationV1', 'muster.dev'],
  ] as const)('records them with the prefix of %s: %s', (system, prefix) => {
    const { annotations } = sent(manifestForWrite({ write: 'Replace', desired, exact: { system } })).metadata as JsonObject;
    expect(annotations).toMatchObject({ [`${prefix}/managed-labels`]: 'app,mine' });
    expect(Object.keys(annotations as JsonObject)).toHaveLength(3);
  });

  test('keeps the fields of the member cluster, and removes keys that Muster managed before', () => {
    const live = liveOf(
      {
        labels: { app: 'old', dropped: 'ours', theirs: 'x' },
        annotations: {
          'muster.dev/managed-labels': 'app,dropped',
          'muster.dev/managed-annotations': 'gone,muster.dev/managed-annotations,muster.dev/managed-labels',
          gone: 'ours',
          seen: 'theirs',
        },
        finalizers: ['example.com/f'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'q' }],
      },
      { data: { b: 'foreign' } },
    );
    const owned = manifestForWrite({ write: 'Replace', desired, live });
    expect(owned.result).toBe('write');
    expect(sent(owned)).toEqual({
      ...desired,
      metadata: {
        name: 'web',
        namespace: 'shop',
        resourceVersion: '7',
        labels: { app: 'web', mine: 'new', theirs: 'x' },
        annotations: {
          note: 'x',
          seen: 'theirs',
          'muster.dev/managed-labels': 'app,mine',
          'muster.dev/managed-annotations': recordedAnnotations,
        },
        finalizers: ['example.com/f'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'q' }],
      },
    });
  });

  test('keeps the labels and annotations that Karmada recorded, until Muster has written the copy', () => {
    const karmada = {
      'resourcetemplate.karmada.io/managed-labels': 'app,karmada.io/managed',
      'resourcetemplate.karmada.io/managed-annotations': 'resourcetemplate.karmada.io/managed-annotations,work.karmada.io/name',
      'work.karmada.io/name': 'web',
    };
    const labels = { app: 'old', 'karmada.io/managed': 'true' };
    const exact = { system: 'Karmada' } as const;
    const adopted = sent(manifestForWrite({ write: 'Replace', desired, exact, live: liveOf({ labels, annotations: karmada }, {}) }));
    expect(adopted.metadata).toMatchObject({
      labels: { app: 'web', mine: 'new', 'karmada.io/managed': 'true' },
      annotations: { 'work.karmada.io/name': 'web', 'resourcetemplate.karmada.io/managed-labels': 'app,mine' },
    });
    const marked = { labels: { ...labels, 'muster.dev/propagation': 'p' }, annotations: karmada };
    const kept = sent(manifestForWrite({ write: 'Replace', desired, exact, live: liveOf(marked, {}) }));
    expect(valueAt(kept, 'metadata', 'labels', 'karmada.io/managed')).toBeUndefined();
  });

  test('writes nothing if the existing object is equal already', () => {
    const first = sent(manifestForWrite({ write: 'Replace', desired }));
    const standing = liveOf(first.metadata as JsonObject, { data: { a: '1' }, status: { x: 1 } });
    expect(manifestForWrite({ write: 'Replace', desired, live: standing }).result).toBe('unchanged');
    expect(manifestForWrite({ write: 'Replace', desired, live: { ...standing, data: { a: '2' } } }).result).toBe('write');
    expect(manifestForWrite({ write: 'Replace', desired, live: { ...standing, data: { a: '1', b: '2' } } }).result).toBe('write');
  });

  test('a field that cannot be retained fails with its path', () => {
    const service: Manifest = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } };
    expect(
      manifestForWrite({ write: 'Replace', desired: service, live: liveOf({}, { spec: { healthCheckNodePort: 'x' } }) }),
    ).toMatchObject({
      result: 'failed',
      path: 'spec.healthCheckNodePort',
    });
  });
});

const mount = { name: 'token', mountPath: '/var' };

describe.each<[string, JsonObject, JsonObject, JsonObject]>([
  [
    'Deployment.apps',
    { metadata: { labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } }, spec: { replicas: 2 } },
    { spec: { replicas: 7 } },
    { metadata: { labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } }, spec: { replicas: 7 } },
  ],
  ['Deployment.apps', { spec: { replicas: 2 } }, { spec: { replicas: 7 } }, { spec: { replicas: 2 } }],
  [
    'Pod',
    { spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] } },
    {
      spec: {
        nodeName: 'n',
        serviceAccountName: 'default',
        volumes: [{ name: 'token' }],
        tolerations: [{}],
        containers: [{ name: 'b', volumeMounts: [mount], x: 1 }],
        initContainers: [{ name: 'i', volumeMounts: [mount] }],
      },
    },
    {
      spec: {
        nodeName: 'n',
        serviceAccountName: 'default',
        volumes: [{ name: 'token' }],
        containers: [{ name: 'a' }, { name: 'b', volumeMounts: [mount] }],
        initContainers: [{ name: 'i', volumeMounts: [mount] }],
      },
    },
  ],
  [
    'Service',
    { spec: { ports: [{ port: 80 }] } },
    { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], healthCheckNodePort: 31000, ports: [{ port: 80, nodePort: 30000 }] } },
    { spec: { clusterIP: '10.0.0.1', healthCheckNodePort: 31000, ports: [{ port: 80 }] } },
  ],
  ['Service', { spec: {} }, { spec: { clusterIP: '', healthCheckNodePort: 0 } }, { spec: {} }],
  ['PersistentVolumeClaim', { spec: {} }, { spec: { volumeName: 'pv' } }, { spec: { volumeName: 'pv' } }],
  ['PersistentVolumeClaim', { spec: { volumeName: 'x' } }, { spec: { volumeName: '' } }, { spec: { volumeName: 'x' } }],
  ['PersistentVolume', { spec: {} }, { spec: { claimRef: { name: 'c' } } }, { spec: { claimRef: { name: 'c' } } }],
  [
    'ServiceAccount',
    { secrets: [{ name: 'b' }, { name: 'a' }] },
    { secrets: [{ name: 'a' }, { name: 'c' }], imagePullSecrets: [{ name: 'd' }] },
    { secrets: [{ name: 'b' }, { name: 'a' }, { name: 'c' }], imagePullSecrets: [{ name: 'd' }] },
  ],
  [
    'Job.batch',
    { spec: { template: { metadata: { labels: { a: '1' } } } } },
    { spec: { selector: { matchLabels: { uid: 'u' } }, template: { metadata: { labels: { uid: 'u' } } } } },
    { spec: { selector: { matchLabels: { uid: 'u' } }, template: { metadata: { labels: { uid: 'u' } } } } },
  ],
  [
    'Secret',
    { type: 'kubernetes.io/service-account-token' },
    { data: { token: 'dA==' } },
    { type: 'kubernetes.io/service-account-token', data: { token: 'dA==' } },
  ],
  ['Secret', { type: 'Opaque' }, { data: { token: 'dA==' } }, { type: 'Opaque' }],
  ['DaemonSet.apps', { spec: { a: 1 } }, { spec: { b: 2 } }, { spec: { a: 1 } }],
  ['Service.serving.knative.dev', { spec: {} }, { spec: { clusterIP: '10.0.0.1' } }, { spec: {} }],
])('of a %s', (kind, wanted, live, expected) => {
  test(`keeps ${JSON.stringify(live)}`, () => {
    expect(retainFieldsOfKind(kind, deepFreeze(wanted), deepFreeze(live))).toEqual({ result: 'retained', object: expected });
  });
});

test.each<[string, JsonObject, JsonObject, string]>([
  ['Deployment.apps', { metadata: { labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } } }, { spec: {} }, 'spec.replicas'],
  ['Service', {}, { spec: { clusterIP: 5 } }, 'spec.clusterIP'],
])('%s with something else there fails', (kind, wanted, live, path) => {
  const retained = retainFieldsOfKind(kind, wanted, live);
  expect(retained).toMatchObject({ result: 'failed', path });
  expect(valueAt(retained as unknown as Json, 'object')).toBeUndefined();
});
