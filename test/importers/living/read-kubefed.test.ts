import { expect, test } from 'vitest';
import { createSensitiveKinds } from '../../../src/core/sensitive-kinds.ts';
import { ImportScope } from '../../../src/importers/living/import-scope.ts';
import { readKubeFed } from '../../../src/importers/living/read-kubefed.ts';
import {
  definitionOf,
  federatedObject,
  kubefedCluster,
  kubefedDefinitions,
  namesIn,
  objectOf,
  startLivingCluster,
} from './living-systems.ts';

const preference = (place: string, targetKind: string) =>
  objectOf('scheduling.kubefed.io/v1alpha1 ReplicaSchedulingPreference', place, { spec: { targetKind, totalReplicas: 4 } });
const shop = [
  federatedObject('FederatedDeployment', 'shop/web', {}),
  federatedObject('FederatedConfigMap', 'shop/settings', {}),
  federatedObject('FederatedNamespace', 'shop/shop', {}),
  preference('shop/web', 'FederatedDeployment'),
  federatedObject('FederatedDeployment', 'bank/api', {}),
  kubefedCluster('north', { tier: 'gold' }),
  kubefedCluster('south'),
];
const deployments = [{ group: 'apps', kind: 'Deployment' }];
const sensitiveKinds = createSensitiveKinds();

test('reads federated objects, preferences and members', async () => {
  await using living = await startLivingCluster([...kubefedDefinitions, ...shop]);
  const reader = living.reader();
  const read = await readKubeFed(reader, { scope: new ImportScope(), sensitiveKinds });
  expect(namesIn(read.objects)).toEqual([
    'FederatedConfigMap shop/settings',
    'FederatedDeployment bank/api',
    'FederatedDeployment shop/web',
    'FederatedNamespace shop/shop',
    'ReplicaSchedulingPreference shop/web',
  ]);
  expect([...(read.members ?? [])]).toEqual([
    ['north', { tier: 'gold' }],
    ['south', {}],
  ]);
  expect(read.objects.filter(({ isContext }) => isContext)).toEqual([]);
  expect(reader.faults).toEqual([]);
});

test('reads the kinds and namespaces of the scope, with FederatedNamespaces as context', async () => {
  await using living = await startLivingCluster([...kubefedDefinitions, ...shop]);
  const read = await readKubeFed(living.reader(), { scope: new ImportScope(deployments, ['shop']), sensitiveKinds });
  expect(namesIn(read.objects)).toEqual([
    'FederatedDeployment shop/web',
    'FederatedNamespace shop/shop',
    'ReplicaSchedulingPreference shop/web',
  ]);
  expect(namesIn(read.objects.filter(({ isContext }) => isContext))).toEqual(['FederatedNamespace shop/shop']);
  const configMaps = await readKubeFed(living.reader(), { scope: new ImportScope([{ group: '', kind: 'ConfigMap' }]), sensitiveKinds });
  expect(namesIn(configMaps.objects)).toEqual(['FederatedConfigMap shop/settings', 'FederatedNamespace shop/shop']);
});

test('reads the kinds that FederatedTypeConfigs name, of any group, and leaves out kinds without a definition', async () => {
  const typeConfig = (name: string, federatedType: object, targetType: object) =>
    objectOf('core.kubefed.io/v1beta1 FederatedTypeConfig', `kube-federation-system/${name}`, {
      spec: { federatedType, targetType } as never,
    });
  await using living = await startLivingCluster([
    ...kubefedDefinitions,
    ...shop,
    definitionOf('federation.shop.example.com/v1', 'FederatedWidget'),
    objectOf('federation.shop.example.com/v1 FederatedWidget', 'shop/one'),
    typeConfig(
      'widgets.shop.example.com',
      { group: 'federation.shop.example.com', version: 'v1', kind: 'FederatedWidget' },
      { group: 'shop.example.com', version: 'v1', kind: 'Widget' },
    ),
    typeConfig(
      'gadgets.shop.example.com',
      { group: 'federation.shop.example.com', version: 'v1', kind: 'FederatedGadget' },
      { group: 'shop.example.com', version: 'v1', kind: 'Gadget' },
    ),
    typeConfig(
      'deployments.apps',
      { group: 'types.kubefed.io', version: 'v1beta1', kind: 'FederatedDeployment' },
      { group: 'apps', version: 'v1', kind: 'Deployment' },
    ),
  ]);
  const reader = living.reader();
  const read = await readKubeFed(reader, { scope: new ImportScope(undefined, ['shop']), sensitiveKinds });
  expect(namesIn(read.objects)).toEqual([
    'FederatedDeployment shop/web',
    'FederatedTypeConfig kube-federation-system/deployments.apps',
    'FederatedTypeConfig kube-federation-system/gadgets.shop.example.com',
    'FederatedTypeConfig kube-federation-system/widgets.shop.example.com',
    'FederatedWidget shop/one',
    'ReplicaSchedulingPreference shop/web',
  ]);
  const widgets = await readKubeFed(reader, { scope: new ImportScope([{ group: 'shop.example.com', kind: 'Widget' }]), sensitiveKinds });
  expect(namesIn(widgets.objects).filter((name) => !name.startsWith('FederatedTypeConfig'))).toEqual(['FederatedWidget shop/one']);
});

test('a cluster without KubeFed has no objects and no fault', async () => {
  await using living = await startLivingCluster([]);
  const reader = living.reader();
  expect(await readKubeFed(reader, { scope: new ImportScope(), sensitiveKinds })).toEqual({ objects: [] });
  expect(reader.faults).toEqual([]);
});

test('a kind without rights is a fault, and the other kinds are read; members come from the namespace of KubeFed if only that may be read', async () => {
  await using living = await startLivingCluster([...kubefedDefinitions, ...shop]);
  living.cluster.forbid({ group: 'types.kubefed.io', kind: 'FederatedConfigMap', verbs: ['list'] });
  living.cluster.forbid({ group: 'core.kubefed.io', verbs: ['list'], exceptNamespaces: ['kube-federation-system'] });
  const reader = living.reader();
  const read = await readKubeFed(reader, { scope: new ImportScope(), sensitiveKinds });
  expect(namesIn(read.objects)).toContain('FederatedDeployment shop/web');
  expect([...(read.members?.keys() ?? [])]).toEqual(['north', 'south']);
  expect(reader.faults).toMatchObject([
    { code: 'FORBIDDEN', cluster: 'host', kind: { group: 'types.kubefed.io', kind: 'FederatedConfigMap' } },
  ]);
});

test('a caller with rights in one namespace imports this namespace', async () => {
  await using living = await startLivingCluster([...kubefedDefinitions, ...shop]);
  living.cluster.forbid({ verbs: ['list'], exceptNamespaces: ['shop'] });
  const reader = living.reader();
  const read = await readKubeFed(reader, { scope: new ImportScope(deployments, ['shop']), sensitiveKinds });
  expect(namesIn(read.objects)).toContain('FederatedDeployment shop/web');
  expect(read.members).toBeUndefined();
  expect(reader.faults.map(({ code, kind }) => [code, kind?.kind])).toEqual([
    ['FORBIDDEN', 'FederatedTypeConfig'],
    ['FORBIDDEN', 'KubeFedCluster'],
    ['FORBIDDEN', 'KubeFedConfig'],
  ]);
});

test('of a FederatedSecret, and of federated sensitive kinds, only metadata is read', async () => {
  await using living = await startLivingCluster([
    ...kubefedDefinitions,
    federatedObject('FederatedSecret', 'shop/token', { template: { stringData: { key: 'hidden' } } }),
    federatedObject('FederatedConfigMap', 'shop/settings', { template: { data: { key: 'hidden' } } }),
  ]);
  const read = await readKubeFed(living.reader(['ConfigMap']), {
    scope: new ImportScope(),
    sensitiveKinds: createSensitiveKinds(['ConfigMap']),
  });
  expect(namesIn(read.objects)).toEqual(['FederatedConfigMap shop/settings', 'FederatedSecret shop/token']);
  expect(JSON.stringify(read)).not.toContain('hidden');
});
