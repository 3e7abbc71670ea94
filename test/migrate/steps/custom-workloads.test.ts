import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { startMigrationWorld } from './migration-world.ts';

const labels = { app: 'web' };

/** The definition of a kind whose count is `spec.size`, and whose present count is `status.count`. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'rings.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Ring', plural: 'rings', singular: 'ring', listKind: 'RingList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.count' } },
      },
    ],
  },
} as unknown as KubernetesObject;

const ring = (size: number, count = size): KubernetesObject =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Ring',
    metadata: { name: 'web', namespace: 'default', labels },
    spec: { size, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c:1' }] } } },
    status: { readyReplicas: count, count },
  }) as unknown as KubernetesObject;

test('scales a custom workload to 0 at the path of its scale subresource, and back', async () => {
  await using moving = await startMigrationWorld({ objects: [definition, ring(3)], others: { east: [definition] } });
  const { world } = moving.controller;
  const play = (cluster: string, count: number) =>
    world.cluster(cluster).put({
      ...(moving.live(cluster, 'Ring.example.com', 'web') as KubernetesObject),
      status: { readyReplicas: count, count },
    } as KubernetesObject);
  const specOf = (cluster: string) => (moving.live(cluster, 'Ring.example.com', 'web') as { spec?: JsonObject } | undefined)?.spec;
  const appOf = () => moving.mirrored('move')?.status.apps?.[0];
  moving.controller.startProcess();
  await moving.migrate('move', { apps: [{ apiVersion: 'example.com/v1', kind: 'Ring', namespace: 'default', name: 'web' }] });
  await world.until(() => specOf('east') !== undefined);
  play('east', 3);
  await world.until(() => specOf('south')?.size === 0);
  await world.pass(30_000);
  expect([appOf()?.step, appOf()?.message]).toEqual(['Drain', 'waits until its Pods in south have ended']);
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  await world.until(() => specOf('south')?.size === 3);
  play('south', 3);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(specOf('south')).not.toHaveProperty('replicas');
});
