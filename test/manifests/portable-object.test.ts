import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { portableOf } from '../../src/manifests/portable-object.ts';
import { deepFreeze } from '../support/store/store-objects.ts';

const served = {
  creationTimestamp: '2026-01-01T00:00:00Z',
  deletionTimestamp: '2026-01-02T00:00:00Z',
  deletionGracePeriodSeconds: 30,
  generation: 3,
  managedFields: [{ manager: 'kubectl' }],
  resourceVersion: '7',
  selfLink: '/x',
  uid: 'u',
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'q' }],
  finalizers: ['example.com/f'],
};

describe('in objects of every kind', () => {
  test('fields of the server are removed, and the others stay', () => {
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'd', labels: { a: 'b' }, generateName: 'w-', ...served },
      spec: { size: 3 },
      status: { ready: true },
    };
    expect(portableOf(object)).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'd', labels: { a: 'b' }, generateName: 'w-' },
      spec: { size: 3 },
    });
  });

  test('a template of an object inside keeps its metadata', () => {
    const spec = { template: { metadata: { generation: 1, uid: 'u' } }, status: 'x' };
    expect(portableOf({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec }).spec).toBe(spec);
  });

  test('the given object is not changed, and an own __proto__ stays a key', () => {
    const object = deepFreeze(
      JSON.parse('{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","uid":"u","__proto__":{"polluted":true}},"status":{}}'),
    );
    const pruned = portableOf(object);
    expect(JSON.stringify(pruned)).toBe('{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","__proto__":{"polluted":true}}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('an object without fields of the server is returned as it is', () => {
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    expect(portableOf(object)).toBe(object);
  });
});

const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  spec: {
    ttlSecondsAfterFinished: 5,
    selector: { matchLabels: { 'controller-uid': 'a', 'batch.kubernetes.io/controller-uid': 'a', mine: 'x', 'job-name': 'j' } },
    template: {
      metadata: {
        labels: {
          'controller-uid': 'a',
          'batch.kubernetes.io/controller-uid': 'a',
          'job-name': 'j',
          'batch.kubernetes.io/job-name': 'j',
          mine: 'x',
        },
      },
    },
  },
};

describe('in a Job', () => {
  test('labels of the Job controller are removed', () => {
    expect(portableOf(job).spec).toEqual({
      selector: { matchLabels: { mine: 'x', 'job-name': 'j' } },
      template: { metadata: { labels: { mine: 'x' } } },
    });
  });

  test('with a manual selector they stay', () => {
    const manual = { ...job, spec: { ...job.spec, manualSelector: true } };
    const { ttlSecondsAfterFinished: _ttl, ...rest } = manual.spec;
    expect(portableOf(manual).spec).toEqual(rest);
  });

  test('the time to live stays with removeJobTtl: false', () => {
    expect((portableOf(job, { removeJobTtl: false }).spec as JsonObject).ttlSecondsAfterFinished).toBe(5);
  });

  test('a map that becomes empty is removed too', () => {
    const spec = { selector: { matchLabels: { 'controller-uid': 'a' } }, parallelism: 2 };
    expect(portableOf({ ...job, spec }).spec).toEqual({ parallelism: 2 });
  });
});

const metadata = { name: 'x' };

describe.each<[string, JsonObject, JsonObject]>([
  [
    'a Deployment: its revisions',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        ...metadata,
        annotations: { 'deployment.kubernetes.io/revision': '3', 'deployment.kubernetes.io/revision-history': '1,2', mine: 'x' },
      },
    },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...metadata, annotations: { mine: 'x' } } },
  ],
  [
    'a Service: its addresses',
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], type: 'ClusterIP' } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'ClusterIP' } },
  ],
  [
    'a headless Service: nothing',
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: 'None', clusterIPs: ['None'] } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { clusterIP: 'None', clusterIPs: ['None'] } },
  ],
  [
    'a ServiceAccount: the tokens made for it, also two in a row',
    secrets([{ name: 'x-token-a' }, { name: 'x-token-b' }, { name: 'mine' }, { name: 'xx-token-a' }]),
    secrets([{ name: 'mine' }, { name: 'xx-token-a' }]),
  ],
  [
    'a ServiceAccount with made tokens alone: the list',
    secrets([{ name: 'x-token-a' }]),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  ],
  [
    'a token Secret: data and the uid of its account',
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      data: { token: 'dA==' },
      metadata: { ...metadata, annotations: { 'kubernetes.io/service-account.uid': 'u', 'kubernetes.io/service-account.name': 'n' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { ...metadata, annotations: { 'kubernetes.io/service-account.name': 'n' } },
    },
  ],
  [
    'another Secret: nothing',
    { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: { token: 'dA==' }, metadata },
    { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: { token: 'dA==' }, metadata },
  ],
  [
    'a claim: the node selected for it',
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...metadata, annotations: { 'volume.kubernetes.io/selected-node': 'n' } },
    },
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata },
  ],
  [
    'a Job of another group: nothing',
    { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', metadata, spec: { ttlSecondsAfterFinished: 3 } },
    { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', metadata, spec: { ttlSecondsAfterFinished: 3 } },
  ],
])('of %s', (_name, object, expected) => {
  test('is removed', () => {
    expect(portableOf(object)).toEqual(expected);
  });
});

test('every second token of a row can stay, as with Karmada', () => {
  const tokens = ['x-token-a', 'x-token-b', 'x-token-c', 'mine', 'x-token-d'].map((name) => ({ name }));
  expect(portableOf(secrets(tokens), { keepsSecondToken: true })).toEqual(secrets([{ name: 'x-token-b' }, { name: 'mine' }]));
});

function secrets(list: Json): JsonObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata, secrets: list };
}
