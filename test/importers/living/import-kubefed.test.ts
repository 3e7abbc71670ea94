import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { startGateway } from '../../support/gateway/start-gateway.ts';
import { deletedWithOrphan, imported, planned, propagated } from './living-imports.ts';
import { definitionOf, federatedObject, kubefedCluster, kubefedDefinitions, objectOf } from './living-systems.ts';

// A living KubeFed in the cluster `host`, which is the hub too. Its members are `host` and `south`. The cluster `other` is unknown to it.

const typeConfig = (name: string, federated: JsonObject, target: JsonObject) =>
  objectOf('core.kubefed.io/v1beta1 FederatedTypeConfig', `kube-federation-system/${name}`, {
    spec: {
      federatedType: { group: 'types.kubefed.io', version: 'v1beta1', scope: 'Namespaced', ...federated },
      targetType: { version: 'v1', ...target },
    },
  });
const configMapCopy = (place: string): KubernetesObject =>
  objectOf('v1 ConfigMap', place, { metadata: { labels: { 'kubefed.io/managed': 'true' } }, data: { mode: 'calm' } });
const configs = [
  typeConfig('namespaces', { kind: 'FederatedNamespace' }, { kind: 'Namespace', scope: 'Namespaced' }),
  typeConfig('configmaps', { kind: 'FederatedConfigMap' }, { kind: 'ConfigMap', scope: 'Namespaced' }),
  typeConfig('widgets.shop.example.com', { kind: 'FederatedWidget' }, { group: 'shop.example.com', kind: 'Widget', scope: 'Namespaced' }),
];
const host = [
  ...kubefedDefinitions,
  definitionOf('types.kubefed.io/v1beta1', 'FederatedWidget'),
  definitionOf('shop.example.com/v1', 'Widget'),
  ...configs,
  kubefedCluster('host'),
  kubefedCluster('south'),
  federatedObject('FederatedNamespace', 'shop/shop', { placement: { clusterSelector: {} } }),
  federatedObject('FederatedConfigMap', 'shop/settings', { template: { data: { mode: 'calm' } }, placement: { clusterSelector: {} } }),
  federatedObject('FederatedWidget', 'shop/one', { template: { spec: { size: 1 } }, placement: { clusters: [{ name: 'south' }] } }),
  configMapCopy('shop/settings'),
];

const start = () =>
  startGateway(
    { host, south: [definitionOf('shop.example.com/v1', 'Widget'), configMapCopy('shop/settings')], other: [] },
    { hub: 'host', living: true },
  );

test.each([false, true])('adopts the copies of KubeFed in its members, and releases them (exact: %s)', async (exact) => {
  await using gateway = await start();
  const { propagations, unread, notes, faults } = await imported(gateway, 'host', { exact });
  expect([unread, faults, notes.map(({ code }) => code)]).toEqual([[], [], ['STOP_FIRST']]);
  const inputs = new Map(propagations.map(({ input }) => [input.name, input]));
  expect([...inputs.keys()].toSorted()).toEqual(['one-widget', 'settings-configmap', 'shop-namespace']);
  expect(inputs.get('one-widget')).toMatchObject({
    template: [{ json: { apiVersion: 'shop.example.com/v1', kind: 'Widget' } }],
    conflict: 'ADOPT',
  });
  const settings = inputs.get('settings-configmap');
  if (settings === undefined) throw new Error('expected a Propagation');
  expect(await planned(gateway, settings)).toEqual([
    ['host', [['ADOPT', '']]],
    ['south', [['ADOPT', '']]],
  ]);
  await propagated(gateway, settings);
  const live = (cluster: string) => gateway.cluster(cluster).get({ group: '', kind: 'ConfigMap' }, 'settings', 'shop');
  expect(live('south')?.metadata.labels).toMatchObject({ 'kubefed.io/managed': 'true' });
  expect(live('other')).toBeUndefined();
  await deletedWithOrphan(gateway, settings);
  expect(live('south')).toMatchObject({ data: { mode: 'calm' } });
  expect(JSON.stringify(live('south'))).not.toContain('muster');
});

test('imports only some kinds, with the FederatedNamespace as placement', async () => {
  await using gateway = await start();
  const { propagations, unread, notes } = await imported(gateway, 'host', {
    kinds: ['Widget.shop.example.com', 'cm'],
    namespaces: ['shop'],
  });
  expect(propagations.map(({ input, documents }) => [input.name, documents.map(({ role, key }) => [role, key.kind])])).toEqual([
    [
      'settings-configmap',
      expect.arrayContaining([
        ['TEMPLATE', 'FederatedConfigMap'],
        ['PLACEMENT', 'FederatedNamespace'],
      ]),
    ],
    [
      'one-widget',
      expect.arrayContaining([
        ['TEMPLATE', 'FederatedWidget'],
        ['PLACEMENT', 'FederatedNamespace'],
      ]),
    ],
  ]);
  expect([unread, notes.map(({ code }) => code)]).toEqual([[], ['STOP_FIRST']]);
  const none = await imported(gateway, 'host', { namespaces: ['bank'] });
  expect([none.propagations, none.unread, none.notes]).toEqual([[], [], []]);
});

test('a FederatedSecret is an error, and its values are in no answer', async () => {
  await using gateway = await start();
  const secret = federatedObject('FederatedSecret', 'shop/token', {
    template: { stringData: { key: 'hidden' } },
    placement: { clusterSelector: {} },
  });
  gateway.cluster('host').remove({ group: 'core.kubefed.io', kind: 'FederatedTypeConfig' }, 'configmaps', 'kube-federation-system');
  gateway.cluster('host').put(secret);
  gateway.cluster('host').put(typeConfig('secrets', { kind: 'FederatedSecret' }, { kind: 'Secret', scope: 'Namespaced' }));
  const result = await imported(gateway, 'host');
  expect(result.unread).toEqual([{ key: { kind: 'FederatedSecret', name: 'token' } }]);
  expect(result.notes.map(({ severity, code }) => [severity, code])).toEqual([
    ['ERROR', 'SECRET'],
    ['WARNING', 'STOP_FIRST'],
  ]);
  expect(JSON.stringify(result)).not.toContain('hidden');
});

test('members that Muster does not have are left out with a note, and different labels are noted', async () => {
  await using gateway = await start();
  gateway.cluster('host').put(kubefedCluster('gone'));
  gateway.cluster('host').put(kubefedCluster('south', { tier: 'gold' }));
  gateway.cluster('host').put(
    federatedObject('FederatedConfigMap', 'shop/gold', {
      template: { data: {} },
      placement: { clusterSelector: { matchLabels: { tier: 'gold' } } },
    }),
  );
  const { propagations } = await imported(gateway, 'host', { kinds: ['cm'], exact: true });
  const codes = new Map(propagations.map(({ input, notes }) => [input.name, notes.map(({ code }) => code)]));
  expect(codes.get('settings-configmap')).toContain('UNKNOWN_CLUSTER');
  expect(codes.get('gold-configmap')).toContain('LABELS_DIFFER');
  expect(propagations.find(({ input }) => input.name === 'settings-configmap')?.input.placement).toMatchObject({
    clusters: ['host', 'south'],
  });
  const gold = propagations.find(({ input }) => input.name === 'gold-configmap')?.input;
  if (gold === undefined) throw new Error('expected a Propagation');
  expect(await planned(gateway, gold)).toEqual([['south', [['CREATE', expect.any(String)]]]]);
});

test.each([
  [false, /^owned by another manager: .data.mode .kube-controller-manager.$/],
  [true, /- {2}mode: wild/],
])('a copy that was changed is a conflict with its manager, or in exact mode a difference (exact: %s)', async (exact, shown) => {
  await using gateway = await start();
  gateway.cluster('south').put({ ...configMapCopy('shop/settings'), data: { mode: 'wild' } });
  const { propagations } = await imported(gateway, 'host', { kinds: ['cm'], exact });
  const [settings] = propagations;
  if (settings === undefined) throw new Error('expected a Propagation');
  expect(await planned(gateway, settings.input)).toEqual([
    ['host', [['ADOPT', '']]],
    ['south', [['ADOPT', expect.stringMatching(shown)]]],
  ]);
});

test('a KubeFed that is limited to one namespace needs no FederatedNamespace', async () => {
  const limited = objectOf('core.kubefed.io/v1beta1 KubeFedConfig', 'shop/kubefed', { spec: { scope: 'Namespaced' } });
  const objects = host.filter(({ kind }) => kind !== 'FederatedNamespace');
  await using gateway = await startGateway({ host: [...objects, limited], south: [] }, { hub: 'host', living: true });
  const { propagations, unread } = await imported(gateway, 'host', { exact: true, kinds: ['cm'] });
  expect(propagations).toMatchObject([{ input: { name: 'settings-configmap', placement: { clusters: ['host', 'south'] } } }]);
  expect([unread, propagations.flatMap(({ notes }) => notes.map(({ code }) => code))]).toEqual([[], []]);
}, 60_000);
