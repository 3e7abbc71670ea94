import { ApiextensionsV1Api, CoreV1Api, CustomObjectsApi, KubeConfig, type V1Pod, VersionApi, Watch } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { kubeconfigOf } from '../../src/sim/start-demo-fleet.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

/** An ordinary Kubernetes client, configured by the fleet's kubeconfig. */
function configOf(clusters: Parameters<typeof kubeconfigOf>[0], context: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfigOf(clusters));
  config.setCurrentContext(context);
  return config;
}

test('serves an ordinary client: list, create, watch, update, delete', async () => {
  await using north = await startSimCluster({ name: 'north', version: '1.34.2' });
  await using south = await startSimCluster({ name: 'south' });
  const config = configOf([north, south], 'south');
  const core = config.makeApiClient(CoreV1Api);
  expect((await config.makeApiClient(VersionApi).getCode()).gitVersion).toBe('v1.36.3');
  expect((await configOf([north, south], 'north').makeApiClient(VersionApi).getCode()).gitVersion).toBe('v1.34.2');
  expect((await core.listNamespace()).items.map(({ metadata }) => metadata?.name)).toContain('kube-system');

  const { metadata: listed } = await core.listNamespacedPod({ namespace: 'default' });
  const told: string[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const query = { resourceVersion: listed?.resourceVersion ?? '' };
  const watching = await new Watch(config).watch(
    '/api/v1/pods',
    query,
    (type: string, pod: V1Pod) => {
      told.push(`${type} ${pod.metadata?.name} ${pod.metadata?.labels?.tier ?? ''}`);
      if (type === 'DELETED') end();
    },
    () => end(),
  );
  const body: V1Pod = { metadata: { name: 'web', labels: { tier: 'front' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
  const created = await core.createNamespacedPod({ namespace: 'default', body });
  expect(created).toMatchObject({
    status: { phase: 'Pending' },
    metadata: { uid: expect.any(String), creationTimestamp: expect.any(Date) },
  });
  const changed = { ...created, metadata: { ...created.metadata, labels: { tier: 'back' } } };
  await core.replaceNamespacedPod({ name: 'web', namespace: 'default', body: changed });
  await expect(core.replaceNamespacedPod({ name: 'web', namespace: 'default', body: changed })).rejects.toMatchObject({ code: 409 });
  expect((await core.readNamespacedPod({ name: 'web', namespace: 'default' })).metadata?.labels).toEqual({ tier: 'back' });
  await core.deleteNamespacedPod({ name: 'web', namespace: 'default' });
  await expect(core.readNamespacedPod({ name: 'web', namespace: 'default' })).rejects.toMatchObject({ code: 404 });
  await ended;
  watching.abort();
  expect(told).toEqual(['ADDED web front', 'MODIFIED web back', 'DELETED web back']);
});

test('serves pages and custom kinds to an ordinary client', async () => {
  await using south = await startSimCluster({ name: 'south' });
  const config = configOf([south], 'south');
  south.fill('ConfigMap', 5);
  const core = config.makeApiClient(CoreV1Api);
  const names: (string | undefined)[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const page = await core.listConfigMapForAllNamespaces({ limit: 2, ...(token === '' ? {} : { _continue: token }) });
    names.push(...page.items.map(({ metadata }) => metadata?.name));
    token = page.metadata?._continue;
  }
  expect(names).toEqual(['configmap-0', 'configmap-1', 'configmap-2', 'configmap-3', 'configmap-4']);

  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({
    body: {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        ],
      },
    },
  });
  const custom = config.makeApiClient(CustomObjectsApi);
  const place = { group: 'example.com', version: 'v1', namespace: 'default', plural: 'widgets' };
  await custom.createNamespacedCustomObject({
    ...place,
    body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, size: 3 },
  });
  expect(await custom.listNamespacedCustomObject(place)).toMatchObject({
    kind: 'WidgetList',
    items: [{ metadata: { name: 'w' }, size: 3 }],
  });
});
