import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { countPathOf, movableManifest, movedReplicas, withMovedBounds } from '../../../src/migrate/plan/movable-manifest.ts';

const move = (apiVersion: string, kind: string, rest: JsonObject, metadata: JsonObject = {}) => {
  const key = { apiVersion, kind, namespace: 'shop', name: 'x' };
  const object = { apiVersion, kind, metadata: { name: 'x', namespace: 'shop', uid: 'u', resourceVersion: '7', ...metadata }, ...rest };
  return movableManifest({ key, object: object as unknown as KubernetesObject }, clusterName('east'));
};

describe('a manifest for another cluster', () => {
  test('has no node ports and no IP', () => {
    const { manifest } = move('v1', 'Service', {
      spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1', healthCheckNodePort: 3, ports: [{ port: 80, nodePort: 30_080 }] },
    });
    expect(manifest.spec).toEqual({ type: 'LoadBalancer', ports: [{ port: 80 }] });
  });

  test('asks for a new volume', () => {
    const annotations = {
      'pv.kubernetes.io/bind-completed': 'yes',
      'volume.kubernetes.io/storage-provisioner': 'p',
      'volume.beta.kubernetes.io/storage-provisioner': 'p',
    };
    const claim = (more: JsonObject) =>
      move(
        'v1',
        'PersistentVolumeClaim',
        { spec: { volumeName: 'pv-1', accessModes: ['ReadWriteOnce'] } },
        { annotations: { ...annotations, ...more } },
      ).manifest;
    expect(claim({})).toMatchObject({ metadata: { name: 'x', namespace: 'shop' }, spec: { accessModes: ['ReadWriteOnce'] } });
    expect(claim({}).metadata).not.toHaveProperty('annotations');
    expect(claim({}).spec).not.toHaveProperty('volumeName');
    expect(claim({ mine: '1' }).metadata.annotations).toEqual({ mine: '1' });
  });

  test('has no marks of an earlier migration, and no data of a Secret', () => {
    const labels = { 'muster.dev/migration': 'uid', app: 'x' };
    const annotations = { 'muster.dev/intent': 'token', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const { manifest, sourceVersion } = move('v1', 'Secret', { data: { key: 'c2VjcmV0' } }, { labels, annotations });
    expect([manifest, sourceVersion]).toEqual([
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'shop', labels: { app: 'x' } } },
      '7',
    ]);
  });
});

test.each([
  [3, 1, 3],
  [3, 0.5, 2],
  [10, 0.7, 7],
  [1, 0.1, 1],
  [0, 0.5, 0],
])('%i replicas times %d are %i', (replicas, factor, expected) => {
  expect(movedReplicas(replicas, factor)).toBe(expected);
});

test('the bounds of an autoscaler are reduced with the replicas', () => {
  const autoscaler = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'x' }, spec: { maxReplicas: 5 } };
  expect(withMovedBounds(autoscaler, 0.5).spec).toEqual({ maxReplicas: 3 });
  const both = { ...autoscaler, spec: { minReplicas: 1, maxReplicas: 4 } };
  expect(withMovedBounds(both, 0.5).spec).toEqual({ minReplicas: 1, maxReplicas: 2 });
  expect(withMovedBounds(both, 1)).toBe(both);
});

test('the count of a custom workload is where its scale subresource says', () => {
  const definition = {
    spec: {
      group: 'argoproj.io',
      names: { kind: 'Rollout' },
      versions: [{ name: 'v1alpha1', served: true, subresources: { scale: { specReplicasPath: '.spec.size.replicas' } } }],
    },
  };
  expect(countPathOf({ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' }, [definition])).toEqual(['spec', 'size', 'replicas']);
  expect(countPathOf({ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' }, [])).toBeUndefined();
  expect(countPathOf({ apiVersion: 'apps/v1', kind: 'StatefulSet' }, [])).toEqual(['spec', 'replicas']);
  expect(countPathOf({ apiVersion: 'batch/v1', kind: 'Job' }, [])).toBeUndefined();
  expect(countPathOf({ apiVersion: 'apps/v1', kind: 'StatefulSet' }, [], 'status')).toEqual(['status', 'replicas']);
});
