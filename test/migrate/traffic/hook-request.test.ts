import { expect, test } from 'vitest';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { hookRequestOf } from '../../../src/migrate/traffic/hook-request.ts';

const workload: Manifest = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' }, annotations: { note: 'canary' } },
  spec: { template: { spec: { containers: [{ env: [{ name: 'KEY', value: 'canary' }] }] } } },
};
const object = (apiVersion: string, kind: string, name: string, rest: object): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'shop' },
  ...rest,
});
const manifests = [
  workload,
  object('v1', 'Secret', 'key', { data: { key: 'canary' } }),
  object('v1', 'Service', 'web', { spec: { ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30_001 }] } }),
  object('v1', 'Service', 'bare', {}),
  object('serving.knative.dev/v1', 'Service', 'knative', {}),
  object('networking.k8s.io/v1', 'Ingress', 'web', {
    spec: { rules: [{ host: 'a.example.com' }, { host: 'b.example.com' }, { host: 'a.example.com' }, { http: {} }] },
  }),
];
const operation = {
  operation: 'Shift',
  id: 'an-id',
  migration: { namespace: 'default', name: 'shop' },
  from: { cluster: 'north', replicas: 2, reachable: true },
  to: { cluster: 'south', replicas: 1, reachable: true },
} as const;

test('has the workload, its labels, the ports of Services and the hosts of Ingresses, and nothing else', () => {
  const request = hookRequestOf({ ...operation, workload, manifests });
  expect(request).toEqual({
    apiVersion: 'hooks.muster.dev/v1alpha1',
    ...operation,
    app: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', labels: { app: 'web' } },
    services: [
      { name: 'web', ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
      { name: 'bare', ports: [] },
    ],
    ingresses: [{ name: 'web', hosts: ['a.example.com', 'b.example.com'] }],
  });
  expect(JSON.stringify(request)).not.toContain('canary');
});

test('a workload without labels has an empty map of labels', () => {
  const bare = { ...workload, metadata: { name: 'web', namespace: 'shop' } };
  expect(hookRequestOf({ ...operation, workload: bare, manifests: [] })).toMatchObject({
    app: { labels: {} },
    services: [],
    ingresses: [],
  });
});
