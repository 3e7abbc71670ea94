import { expect, test } from 'vitest';
import { parseConfigFile } from '../../src/config/config-file.ts';
import { convertOperatorConfig } from '../../src/config/operator-config.ts';
import { printYaml } from '../../src/core/json/print-yaml.ts';

// The example of the operator's README, with its comments and a relative path.
const example = `clusters:                     # Cluster list
  - metadata:
      clusterName: tencent1   # Custom cluster name
      insecure: false         # Whether to enable skipping tls certificate authentication
      configPath: /Users/zhenyu.jiang/.kube/config # kubeconfig configuration file address
  - metadata:
      clusterName: tencent2
      insecure: true
      isMaster: true          # master cluster
      configPath: config1 # kube config
`;

const convert = (text: string) => convertOperatorConfig({ text, name: 'config.yaml', directory: '/etc/operator' });
const cluster = (metadata: object) => JSON.stringify({ metadata });
const listOf = (...clusters: readonly string[]) => `clusters: [${clusters.join(', ')}]\n`;

test('the main cluster becomes the hub, and relative paths start from the folder of the file', async () => {
  const { config, warnings } = await convert(example);
  expect(config).toEqual({
    apiVersion: 'config.muster.dev/v1alpha1',
    clusters: [
      { name: 'tencent1', kubeconfig: '/Users/zhenyu.jiang/.kube/config' },
      { name: 'tencent2', kubeconfig: '/etc/operator/config1', insecure: true, hub: true },
    ],
    importers: ['MultiClusterResource'],
  });
  expect(warnings).toEqual([]);
  expect(await parseConfigFile(printYaml(config), 'muster.yaml')).toEqual(config);
});

test('paths that are absolute or begin with the home folder stay as written', async () => {
  const paths = ['/a/../b', '~/.kube/config', '../c', './d'];
  const text = listOf(...paths.map((configPath, at) => cluster({ clusterName: `c${at}`, configPath, isMaster: at === 0 })));
  const { config } = await convert(text);
  expect((config.clusters as readonly { kubeconfig: string }[]).map(({ kubeconfig }) => kubeconfig)).toEqual([
    '/a/../b',
    '~/.kube/config',
    '/etc/c',
    '/etc/operator/d',
  ]);
});

test('warns of unknown keys at every level, with their paths, and leaves them out', async () => {
  const text = `httpPort: 8888\nclusters:\n  - metadata: { clusterName: a, configPath: /a, isMaster: true, weight: 3 }\n    metadta: {}\n`;
  const { config, warnings } = await convert(text);
  expect(config.clusters).toEqual([{ name: 'a', kubeconfig: '/a', hub: true }]);
  expect(warnings).toEqual([
    'unknown key httpPort; expected one of clusters',
    'unknown key clusters[0].metadata.weight; expected one of clusterName, configPath, insecure, isMaster',
    'unknown key clusters[0].metadta; did you mean clusters[0].metadata?',
  ]);
});

test('warns if no cluster is the main one, or a cluster has no kubeconfig', async () => {
  const { config, warnings } = await convert(listOf(cluster({ clusterName: 'a' })));
  expect(config.clusters).toEqual([{ name: 'a' }]);
  expect(warnings).toEqual([
    'clusters[0].metadata.configPath is missing: Muster will use KUBECONFIG or ~/.kube/config',
    'no cluster has isMaster: set `hub: true` for the cluster with the MultiClusterResources',
  ]);
});

test.each([
  ['text that is no YAML', 'clusters: [', 'config.yaml: Flow sequence in block collection must'],
  ['nothing', '', 'config.yaml: the file: expected an object, got null'],
  [
    'a second document',
    `${listOf(cluster({ clusterName: 'a' }))}---\n${listOf(cluster({ clusterName: 'b' }))}`,
    'config.yaml: expected one document, got several',
  ],
  ['no clusters', 'list: []\n', 'config.yaml: clusters is missing'],
  ['clusters that are null', 'clusters:\n', 'config.yaml: clusters is missing'],
  ['an empty list of clusters', 'clusters: []\n', 'config.yaml: clusters: expected 1 to 1000 members, got 0'],
  ['a cluster without a name', listOf(cluster({ configPath: '/a' })), 'config.yaml: clusters[0].metadata.clusterName is missing'],
  ['a cluster without metadata', listOf('{}'), 'config.yaml: clusters[0].metadata is missing'],
  [
    'a wrong type',
    listOf(cluster({ clusterName: 'a', insecure: 'never' })),
    'config.yaml: clusters[0].metadata.insecure: expected true or false, got "never"',
  ],
  [
    'a name twice',
    listOf(cluster({ clusterName: 'a' }), cluster({ clusterName: 'b' }), cluster({ clusterName: 'a' })),
    'config.yaml: clusters[2].metadata.clusterName: "a" is already the name of clusters[0]',
  ],
  [
    'two main clusters',
    listOf(cluster({ clusterName: 'a', isMaster: true }), cluster({ clusterName: 'b', isMaster: true })),
    'config.yaml: clusters[1].metadata.isMaster: clusters[0] is the main cluster already',
  ],
])('refuses %s in one line', async (_, text, message) => {
  const refusal: unknown = await convert(text).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'BAD_INPUT', message: expect.stringContaining(message) });
  expect((refusal as Error).message).not.toContain('\n');
});

test('merge keys are merged', async () => {
  const text = `clusters:
  - metadata: &main { clusterName: a, configPath: /a, isMaster: true }
  - metadata: { <<: *main, clusterName: b, isMaster: false }
`;
  const { config, warnings } = await convert(text);
  expect([config.clusters, warnings]).toEqual([
    [
      { name: 'a', kubeconfig: '/a', hub: true },
      { name: 'b', kubeconfig: '/a' },
    ],
    [],
  ]);
});
