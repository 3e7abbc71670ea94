import { beforeAll, describe, expect, test } from 'vitest';
import type { ConfiguredInventory } from '../../../src/config/config.ts';
import type { InventoryType } from '../../../src/config/defaults.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { adapters } from '../../../src/inventories/adapters/adapters.ts';
import type { AdapterContext, SecretData } from '../../../src/inventories/adapters/inventory-adapter.ts';
import { registeredClusters } from '../../../src/inventories/adapters/kubeconfig-secrets.ts';
import { createCertificate } from '../../../src/sim/certificate.ts';

let ca = '';
let kubeconfig = '';
beforeAll(async () => {
  ({ ca } = await createCertificate());
  kubeconfig = JSON.stringify({
    'current-context': 'it',
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    clusters: [{ name: 'it', cluster: { server: 'https://api.test' } }],
    users: [{ name: 'it', user: { token: 'secret' } }],
  });
});

const inventory: ConfiguredInventory = {
  ...{ type: 'Karmada', nameAs: '{name}', secrets: 'none', serviceAccount: 'muster', consumer: 'muster' },
  providers: [{ name: 'cloud', command: '/bin/credentials', args: ['get'], env: { REGION: 'x' } }],
};
const context: AdapterContext = {
  inventory,
  systemNamespace: 'muster-system',
  allowPrivate: [],
  pluginEnvironment: { PATH: '/bin' },
  secretsIn: () => [],
  labelsOfNamespace: () => ({}),
};

interface Parts {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
}

const object = ({ name = 'edge', namespace = 'teams', labels = { tier: 'a' }, ...rest }: Parts): KubernetesObject =>
  ({ metadata: { name, namespace, labels }, ...rest }) as unknown as KubernetesObject;
const secret = (values: Readonly<Record<string, string>>): SecretData =>
  new Map(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)]));
const found = (type: InventoryType, of: Parts, data: SecretData | undefined) => adapters[type].clustersOf(object(of), data, context);
const invalidAt = (path: string) => [{ name: 'edge', access: { code: 'INVALID', message: expect.stringContaining(`${path}:`) } }];

describe('Cluster API', () => {
  test('names the Secret by the Cluster', () =>
    expect(adapters.ClusterAPI.secretNameOf(object({}), context)).toEqual({ namespace: 'teams', name: 'edge-kubeconfig' }));
  test('reads its key value', () =>
    expect(found('ClusterAPI', {}, secret({ value: kubeconfig }))).toMatchObject([
      { name: 'edge', settings: { labels: { tier: 'a' } }, access: { server: 'https://api.test' } },
    ]));
  test('a cluster that is being made is not there', () => expect(found('ClusterAPI', {}, undefined)).toEqual([]));
});

describe('Karmada', () => {
  const spec = { syncMode: 'Push', apiEndpoint: 'https://api.test', secretRef: { namespace: 'karmada-cluster', name: 'edge' } };
  const data = () => secret({ token: 'secret\n', caBundle: ca });
  test('reads the Secret of secretRef, provider, region, zones and taints', () => {
    const place = {
      provider: 'metal',
      region: 'r1',
      zone: 'z1',
      taints: [
        { key: 'k', effect: 'NoExecute' },
        { key: 'k', effect: 'Never' },
      ],
    };
    expect(adapters.Karmada.secretNameOf(object({ spec }), context)).toEqual({ namespace: 'karmada-cluster', name: 'edge' });
    expect(found('Karmada', { spec: { ...spec, ...place } }, data())).toMatchObject([
      {
        settings: { provider: 'metal', region: 'r1', zones: ['z1'], taints: [{ key: 'k', effect: 'NoExecute' }] },
        access: { credentials: { token: 'secret' } },
      },
    ]);
  });
  test('a cluster in pull mode, or without a Secret, is not there', () => {
    expect(found('Karmada', { spec: { ...spec, syncMode: 'Pull' } }, data())).toEqual([]);
    expect(found('Karmada', { spec }, undefined)).toEqual([]);
    expect(adapters.Karmada.secretNameOf(object({ spec: {} }), context)).toBeUndefined();
  });
  test.each([
    ['spec.insecureSkipTLSVerification', { insecureSkipTLSVerification: true }],
    ['spec.proxyURL', { proxyURL: 'http://proxy.test' }],
    ['spec.apiEndpoint', { apiEndpoint: 'https://127.0.0.1' }],
    ['spec.apiEndpoint', { apiEndpoint: undefined }],
  ])('%s is refused', (path, more) => expect(found('Karmada', { spec: { ...spec, ...more } }, data())).toMatchObject(invalidAt(path)));
  test('an empty token is refused', () => expect(found('Karmada', { spec }, secret({ caBundle: ca }))).toMatchObject(invalidAt('token')));
});

describe('Open Cluster Management', () => {
  const spec = { hubAcceptsClient: true, managedClusterClientConfigs: [{ url: 'https://api.test' }, { url: 'https://other.test' }] };
  test('reads the first address, and the account in the namespace of the cluster', () => {
    expect(adapters.OpenClusterManagement.secretNameOf(object({ spec }), context)).toEqual({ namespace: 'edge', name: 'muster' });
    expect(found('OpenClusterManagement', { spec }, secret({ token: 'secret', 'ca.crt': ca }))).toMatchObject([
      { access: { server: 'https://api.test', trust: { type: 'authority' } } },
    ]);
  });
  test.each([
    ['is not accepted', { ...spec, hubAcceptsClient: false }],
    ['has no address', { hubAcceptsClient: true }],
  ])('a cluster that %s is not there', (_what, other) =>
    expect(found('OpenClusterManagement', { spec: other }, secret({ token: 'secret' }))).toEqual([]),
  );
  test('a CA that is no base64 is refused with its path', () => {
    const configs = [{ url: 'https://api.test', caBundle: '!' }];
    expect(
      found('OpenClusterManagement', { spec: { ...spec, managedClusterClientConfigs: configs } }, secret({ token: 'secret' })),
    ).toMatchObject(invalidAt('spec.managedClusterClientConfigs[0].caBundle'));
  });
});

describe('Argo CD', () => {
  const config = (values: object) => secret({ name: 'edge', server: 'https://api.test', config: JSON.stringify(values) });
  test('reads name, server and config', () =>
    expect(
      found('ArgoCD', { name: 'cluster-1' }, config({ bearerToken: 'secret', tlsClientConfig: { serverName: 'kubernetes' } })),
    ).toMatchObject([{ name: 'edge', access: { tlsServerName: 'kubernetes', credentials: { token: 'secret' } } }]));
  test('its own cluster, which has no credentials, is not there', () =>
    expect(found('ArgoCD', {}, config({ tlsClientConfig: { insecure: false } }))).toEqual([]));
  test.each([
    ['config.execProviderConfig', { execProviderConfig: { command: 'sh' } }],
    ['config.awsAuthConfig', { bearerToken: 'secret', awsAuthConfig: { clusterName: 'x' } }],
    ['config.username', { username: 'me', password: 'secret' }],
    ['config.tlsClientConfig.insecure', { bearerToken: 'secret', tlsClientConfig: { insecure: true } }],
    ['config.tlsClientConfig.caData', { bearerToken: 'secret', tlsClientConfig: { caData: '!' } }],
  ])('%s is refused', (path, values) => expect(found('ArgoCD', {}, config(values))).toMatchObject(invalidAt(path)));
  test('a config that is no JSON is refused', () =>
    expect(found('ArgoCD', {}, secret({ server: 'https://api.test', config: '{' }))).toMatchObject(invalidAt('config')));
});

describe('ClusterProfile', () => {
  const own = (labels: Readonly<Record<string, string>>, name = 'one') => object({ name, labels });
  const placeWith = (secrets: readonly KubernetesObject[], ofNamespace: Readonly<Record<string, string>> = {}) =>
    adapters.ClusterProfile.secretNameOf(object({}), { ...context, secretsIn: () => secrets, labelsOfNamespace: () => ofNamespace });
  const profile = { 'x-k8s.io/cluster-profile': 'edge' };
  const consumer = { 'x-k8s.io/cluster-inventory-consumer': 'muster' };

  test('finds the Secret for us by its labels, or those of its namespace', () => {
    expect(
      placeWith([own({ ...profile, 'x-k8s.io/cluster-inventory-consumer': 'other' }), own({ ...profile, ...consumer }, 'two')]),
    ).toEqual({ namespace: 'teams', name: 'two' });
    expect(placeWith([own(profile)], consumer)).toEqual({ namespace: 'teams', name: 'one' });
    expect(placeWith([own(profile)])).toBeUndefined();
    expect(placeWith([own({ 'x-k8s.io/cluster-profile': 'other', ...consumer })])).toBeUndefined();
  });

  test('does not decide while the labels of the namespace are needed and not known', () => {
    const secretNameOf = (...secrets: readonly KubernetesObject[]) =>
      adapters.ClusterProfile.secretNameOf(object({}), { ...context, secretsIn: () => secrets, labelsOfNamespace: () => undefined });
    expect(secretNameOf(own(profile))).toBe('unknown');
    expect(secretNameOf(own(profile), own({ ...profile, ...consumer }, 'two'))).toEqual({ namespace: 'teams', name: 'two' });
    expect(secretNameOf(own({ ...profile, 'x-k8s.io/cluster-inventory-consumer': 'other' }))).toBeUndefined();
    expect(secretNameOf()).toBeUndefined();
  });

  test('takes region and zones from its properties', () => {
    const properties = [
      { name: 'topology.kubernetes.io/region', value: 'r1' },
      { name: 'topology.kubernetes.io/zone', value: 'z1,z2' },
    ];
    expect(found('ClusterProfile', { status: { properties } }, secret({ Config: kubeconfig }))).toMatchObject([
      { settings: { region: 'r1', zones: ['z1', 'z2'], labels: { tier: 'a' } } },
    ]);
  });

  const provider = (name: string, more: object = {}) => ({
    name,
    cluster: {
      server: 'https://api.test',
      extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { clusterName: 'edge' } }],
      ...more,
    },
  });
  test('runs the first provider of the config, with nothing of the profile but the cluster', () => {
    const status = { accessProviders: [provider('unknown'), provider('cloud', { args: ['--evil'] })] };
    expect(found('ClusterProfile', { status }, undefined)).toMatchObject([
      {
        access: {
          credentials: {
            type: 'exec',
            plugin: {
              command: '/bin/credentials',
              args: ['get'],
              environment: { PATH: '/bin', REGION: 'x' },
              provideClusterInfo: true,
              config: { clusterName: 'edge' },
              deadlineMs: 10_000,
            },
          },
        },
      },
    ]);
  });
  test('without a provider of the config it is not there', () =>
    expect(found('ClusterProfile', { status: { accessProviders: [provider('unknown')] } }, undefined)).toEqual([]));
  test.each(['insecure-skip-tls-verify', 'proxy-url'])('%s of a provider is refused', (key) => {
    const status = { accessProviders: [provider('cloud', { [key]: 'x' })] };
    expect(found('ClusterProfile', { status }, undefined)).toMatchObject(invalidAt(`status.accessProviders[0].cluster.${key}`));
  });
});

test('Istio has a cluster for each key, and one broken key harms no other', () => {
  expect(found('Istio', { name: 'remote' }, secret({ a: kubeconfig, b: 'no: [' }))).toMatchObject([
    { name: 'a', access: { server: 'https://api.test' } },
    { name: 'b', access: { code: 'INVALID' } },
  ]);
});

test('multicluster-runtime reads the key kubeconfig', () => {
  expect(found('MulticlusterRuntime', {}, secret({ kubeconfig }))).toMatchObject([
    { name: 'edge', access: { server: 'https://api.test' } },
  ]);
});

describe('a registered Cluster', () => {
  const spec = {
    secretRef: { name: 'edge' },
    region: 'eu',
    secrets: 'Metadata',
    namespaces: ['team'],
    taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
    identity: { userPrefix: 'corp:' },
  };
  const of = (data: SecretData | undefined) => registeredClusters.clustersOf(object({ spec }), data, context);
  test('has the settings of its spec', () =>
    expect(of(secret({ kubeconfig }))).toMatchObject([
      {
        settings: {
          region: 'eu',
          secrets: 'metadata',
          namespaces: ['team'],
          taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
          identity: { userPrefix: 'corp:', groupPrefix: '' },
        },
        access: { server: 'https://api.test' },
      },
    ]));
  test('without its Secret it is there, with NOT_FOUND', () =>
    expect(of(undefined)).toMatchObject([{ name: 'edge', access: { code: 'NOT_FOUND', retry: 'LATER' } }]));
  test('a Secret without the key kubeconfig is refused', () =>
    expect(of(secret({ 'kubeconfig.yaml': kubeconfig }))).toMatchObject([
      { access: { code: 'INVALID', message: 'kubeconfig: expected this key in the Secret' } },
    ]));
});

test.each([
  ['muster', { tier: 'a' }],
  ['Helm', { tier: 'a', 'app.kubernetes.io/managed-by': 'Helm' }],
])('a registered cluster managed by %s has the labels %o', (managedBy, labels) => {
  const cluster = object({ labels: { tier: 'a', 'app.kubernetes.io/managed-by': managedBy } });
  expect(registeredClusters.clustersOf(cluster, undefined, context)[0]?.settings.labels).toEqual(labels);
});
