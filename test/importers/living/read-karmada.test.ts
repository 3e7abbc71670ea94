import { expect, test } from 'vitest';
import { ImportScope } from '../../../src/importers/living/import-scope.ts';
import { readKarmada } from '../../../src/importers/living/read-karmada.ts';
import {
  definitionOf,
  deployment,
  karmadaCluster,
  karmadaDefinitions,
  karmadaPolicy,
  namesIn,
  objectOf,
  startLivingCluster,
} from './living-systems.ts';

const selects = (...resourceSelectors: readonly object[]) => ({ resourceSelectors: resourceSelectors as never });
const deployments = { apiVersion: 'apps/v1', kind: 'Deployment' };
const configMap = (place: string) => objectOf('v1 ConfigMap', place, { data: { a: '1' } });
const apps = [{ group: 'apps', kind: 'Deployment' }];

test('reads the policies, the resources that they select by name, label or kind, and the clusters', async () => {
  await using living = await startLivingCluster([
    ...karmadaDefinitions,
    karmadaCluster('member1', { region: 'eu' }),
    deployment('shop/web', 1),
    deployment('shop/other', 1),
    deployment('bank/web', 1),
    deployment('bank/api', 1, { team: 'red' }),
    configMap('shop/a'),
    configMap('bank/b'),
    objectOf('rbac.authorization.k8s.io/v1 ClusterRole', 'reader', { rules: [] }),
    karmadaPolicy('PropagationPolicy', 'shop/web', selects({ ...deployments, name: 'web' })),
    karmadaPolicy('ClusterPropagationPolicy', 'red', selects({ ...deployments, labelSelector: { matchLabels: { team: 'red' } } })),
    karmadaPolicy('ClusterPropagationPolicy', 'all', selects({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'bank' })),
    karmadaPolicy(
      'ClusterPropagationPolicy',
      'roles',
      selects({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'reader' }),
    ),
    karmadaPolicy('OverridePolicy', 'shop/image', selects({ ...deployments, name: 'web' })),
    karmadaPolicy('ClusterOverridePolicy', 'labels', {}),
  ]);
  const reader = living.reader();
  const { objects, members } = await readKarmada(reader, new ImportScope());
  expect(namesIn(objects.filter(({ isContext }) => isContext))).toEqual([
    'ClusterRole reader',
    'ConfigMap bank/b',
    'Deployment bank/api',
    'Deployment shop/web',
  ]);
  expect(namesIn(objects.filter(({ isContext }) => isContext !== true))).toEqual([
    'ClusterOverridePolicy labels',
    'ClusterPropagationPolicy all',
    'ClusterPropagationPolicy red',
    'ClusterPropagationPolicy roles',
    'OverridePolicy shop/image',
    'PropagationPolicy shop/web',
  ]);
  expect([...(members ?? [])]).toEqual([['member1', { region: 'eu' }]]);
  expect(reader.faults).toEqual([]);
});

test('named resources are requested by their names, and a kind is listed only in the namespaces of its policies', async () => {
  await using living = await startLivingCluster([
    ...karmadaDefinitions,
    deployment('shop/web', 1),
    deployment('bank/api', 1),
    karmadaPolicy('PropagationPolicy', 'shop/web', selects({ ...deployments, name: 'web' }, { apiVersion: 'v1', kind: 'ConfigMap' })),
    karmadaPolicy('ClusterPropagationPolicy', 'web', selects({ ...deployments, name: 'web' })),
  ]);
  const { objects } = await readKarmada(living.reader(), new ImportScope());
  expect(namesIn(objects).filter((name) => name.startsWith('Deployment'))).toEqual(['Deployment shop/web']);
  const lists = living.cluster.requests.filter(({ path }) => /(deployments|configmaps)$/.test(path));
  expect(lists.map(({ path, query }) => [path, query.fieldSelector])).toEqual([
    ['/apis/apps/v1/namespaces/shop/deployments', 'metadata.name=web'],
    ['/apis/apps/v1/deployments', 'metadata.name=web'],
    ['/api/v1/namespaces/shop/configmaps', undefined],
  ]);
});

test('a scope of kinds and namespaces reads only their resources; other policies are context or left out', async () => {
  await using living = await startLivingCluster([
    ...karmadaDefinitions,
    deployment('shop/web', 1),
    deployment('bank/web', 1),
    configMap('shop/a'),
    karmadaPolicy('ClusterPropagationPolicy', 'everything', selects(deployments, { apiVersion: 'v1', kind: 'ConfigMap' })),
    karmadaPolicy('PropagationPolicy', 'shop/maps', selects({ apiVersion: 'v1', kind: 'ConfigMap' })),
    karmadaPolicy('PropagationPolicy', 'bank/web', selects(deployments)),
    karmadaPolicy('OverridePolicy', 'shop/image', selects(deployments)),
  ]);
  const { objects } = await readKarmada(living.reader(), new ImportScope(apps, ['shop']));
  expect(namesIn(objects)).toEqual(['ClusterPropagationPolicy everything', 'Deployment shop/web', 'OverridePolicy shop/image']);
  expect(namesIn(objects.filter(({ isContext }) => isContext))).toEqual(['ClusterPropagationPolicy everything', 'Deployment shop/web']);
});

test('autoscalers, bindings and possible dependencies are read for kinds of the scope too', async () => {
  const scaler = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' };
  const binding = (place: string) =>
    objectOf('work.karmada.io/v1alpha2 ResourceBinding', place, { spec: { suspension: { scheduling: true } } });
  const objects = [
    ...karmadaDefinitions,
    deployment('shop/web', 1),
    configMap('shop/a'),
    objectOf('autoscaling/v2 HorizontalPodAutoscaler', 'shop/web', {
      spec: { minReplicas: 1, maxReplicas: 3, scaleTargetRef: { ...deployments, name: 'web' } },
    }),
    binding('shop/web-deployment'),
    binding('bank/api-deployment'),
    definitionOf('autoscaling.karmada.io/v1alpha1', 'FederatedHPA'),
    objectOf('autoscaling.karmada.io/v1alpha1 FederatedHPA', 'shop/web', { spec: {} }),
    karmadaPolicy('PropagationPolicy', 'shop/web', selects(deployments)),
    karmadaPolicy('PropagationPolicy', 'shop/others', selects(scaler, { apiVersion: 'v1', kind: 'ConfigMap' })),
  ];
  await using living = await startLivingCluster(objects);
  const scope = new ImportScope(apps, ['shop']);
  const read = await readKarmada(living.reader(), scope);
  expect(namesIn(read.objects)).toEqual([
    'Deployment shop/web',
    'FederatedHPA shop/web',
    'HorizontalPodAutoscaler shop/web',
    'PropagationPolicy shop/web',
    'ResourceBinding shop/web-deployment',
  ]);
  living.cluster.put(karmadaPolicy('PropagationPolicy', 'shop/web', { ...selects(deployments), propagateDeps: true }));
  const withDependencies = (await readKarmada(living.reader(), scope)).objects;
  expect(namesIn(withDependencies)).toContain('ConfigMap shop/a');
  // This policy claims the ConfigMap, which is then no dependency.
  expect(namesIn(withDependencies.filter(({ isContext }) => isContext))).toContain('PropagationPolicy shop/others');
});

test('of Secrets only metadata is read, and tokens of ServiceAccounts are left out', async () => {
  const secret = (name: string, type: string) => objectOf('v1 Secret', `shop/${name}`, { type, data: { key: 'aGlkZGVu' } });
  await using living = await startLivingCluster([
    ...karmadaDefinitions,
    secret('keys', 'Opaque'),
    secret('token', 'kubernetes.io/service-account-token'),
    karmadaPolicy('PropagationPolicy', 'shop/all', selects({ apiVersion: 'v1', kind: 'Secret' })),
  ]);
  const { objects } = await readKarmada(living.reader(), new ImportScope());
  expect(namesIn(objects)).toEqual(['PropagationPolicy shop/all', 'Secret shop/keys']);
  expect(objects.find(({ json }) => json.kind === 'Secret')?.json).toMatchObject({ apiVersion: 'v1', metadata: { name: 'keys' } });
  expect(JSON.stringify(objects)).not.toContain('aGlkZGVu');
});

test('kinds without a definition have no resources and no fault, and a missing list of clusters gives no members', async () => {
  await using living = await startLivingCluster([
    definitionOf('policy.karmada.io/v1alpha1', 'PropagationPolicy'),
    deployment('shop/web', 1),
    karmadaPolicy('PropagationPolicy', 'shop/all', selects(deployments, { apiVersion: 'shop.example.com/v1', kind: 'Widget' })),
  ]);
  const reader = living.reader();
  const { objects, members } = await readKarmada(reader, new ImportScope());
  expect(namesIn(objects)).toEqual(['Deployment shop/web', 'PropagationPolicy shop/all']);
  expect(members).toBeUndefined();
  expect(reader.faults).toEqual([]);
});

test('a cluster without Karmada has no objects and no fault', async () => {
  await using living = await startLivingCluster([deployment('shop/web', 1)]);
  const reader = living.reader();
  expect(await readKarmada(reader, new ImportScope())).toEqual({ objects: [] });
  expect(reader.faults).toEqual([]);
});

test('the objects that resources need are read by name, without their contents, if the scope concerns them', async () => {
  const using = (name: string, ...configMaps: readonly string[]) => {
    const object = deployment(`shop/${name}`, 1);
    const volumes = [
      ...configMaps.map((one) => ({ name: one, configMap: { name: one } })),
      { name: 'keys', secret: { secretName: 'keys' } },
    ];
    return { ...object, spec: { template: { spec: { containers: [], volumes } } } } as unknown as typeof object;
  };
  const follows = { ...selects({ ...deployments, name: 'web' }), propagateDeps: true };
  await using living = await startLivingCluster([
    ...karmadaDefinitions,
    using('web', 'a', 'gone'),
    using('other', 'b'),
    ...['shop/a', 'shop/b', 'bank/a'].map(configMap),
    objectOf('v1 Secret', 'shop/keys', { type: 'Opaque', data: { key: 'aGlkZGVu' } }),
    karmadaPolicy('PropagationPolicy', 'shop/web', follows),
    karmadaPolicy('PropagationPolicy', 'shop/other', selects({ ...deployments, name: 'other' })),
  ]);
  const needed = async (...kinds: readonly { readonly group: string; readonly kind: string }[]) =>
    namesIn((await readKarmada(living.reader(), new ImportScope(kinds))).objects).filter((name) => /^(ConfigMap|Secret)/.test(name));
  expect(await needed(...apps)).toEqual(['ConfigMap shop/a', 'Secret shop/keys']);
  expect(await needed({ group: '', kind: 'ConfigMap' })).toEqual(['ConfigMap shop/a']);
  expect(await needed({ group: 'batch', kind: 'Job' })).toEqual([]);
  const lists = living.cluster.requests.filter(({ path }) => /configmaps$/.test(path));
  expect(new Set(lists.map(({ query }) => query.fieldSelector))).toEqual(new Set(['metadata.name=a', 'metadata.name=gone']));
  const { objects } = await readKarmada(living.reader(), new ImportScope());
  expect(objects.find(({ json }) => json.kind === 'ConfigMap')?.json).not.toHaveProperty('data');
  expect(JSON.stringify(objects)).not.toContain('aGlkZGVu');
});
