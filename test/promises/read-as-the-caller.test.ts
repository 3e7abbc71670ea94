import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { bindingOf, roleOf, ruleOf } from '../access/reviewed/access-world.ts';
import { testOnRbacGrounds } from '../support/gateway/rbac-grounds.ts';
import { runSharedGateway } from '../support/gateway/run-shared-gateway.ts';
import { startGateway } from '../support/gateway/start-gateway.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';
import { pod } from '../support/workloads.ts';

// `authorization: live`: the gateway mirrors no objects of the cluster for callers. Each read goes to its API server as the caller.

const configMap = (namespace: string, name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { team: namespace } },
  data: { key: 'value' },
});
const namespace = (name: string): KubernetesObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const password = 'aHVudGVyMg==';
const secret: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'token', namespace: 'shop' },
  type: 'Opaque',
  data: { password },
};

/** The user ann may read in `shop`, eve may read everywhere, and gus may get single ConfigMaps of `shop`. */
const objects: readonly KubernetesObject[] = [
  ...['shop', 'bank'].map(namespace),
  configMap('shop', 'a'),
  configMap('shop', 'b'),
  configMap('bank', 'hidden'),
  secret,
  roleOf(undefined, 'reader', ruleOf(['get', 'list', 'watch'], [''], ['configmaps', 'secrets', 'events', 'namespaces'])),
  roleOf(undefined, 'getter', ruleOf(['get'], [''], ['configmaps'])),
  bindingOf('shop', 'ann', 'ClusterRole/reader', 'User/oidc:ann'),
  bindingOf(undefined, 'eve', 'ClusterRole/reader', 'User/oidc:eve'),
  bindingOf('shop', 'gus', 'ClusterRole/getter', 'User/oidc:gus'),
];

interface Maps {
  readonly configMaps: {
    readonly totalCount: number;
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
    readonly faults: readonly { readonly code: string }[];
    readonly groups: readonly { readonly keys: readonly string[]; readonly count: number }[];
  };
}

const list =
  '{ configMaps(labels: "team") { totalCount items { metadata { name } } faults { code } groups(by: ["metadata.namespace"]) { keys count } } }';

testOnRbacGrounds(
  'a cluster with authorization: live answers each read as the caller, and shows nothing of the gateway',
  objects,
  async (ground) => {
    const { context: cluster, reach } = ground;
    const config = { clusters: [{ name: cluster, context: cluster, authorization: 'live', secrets: 'metadata' }] };
    await using gateway = await runSharedGateway({ ...reach, config });
    for (const user of ['ann', 'eve', 'gus']) expect(await gateway.firstCluster(user)).toBe(cluster);
    const listed = async (user: string) => {
      const { data } = await gateway.ask<Maps>(user, list);
      const { totalCount, items = [], faults, groups = [] } = data?.configMaps ?? {};
      const counts = groups.map(({ keys, count }) => `${keys[0]} ${count}`);
      return { totalCount, names: items.map(({ metadata }) => metadata.name), faults, counts };
    };
    expect(await listed('ann')).toEqual({ totalCount: 2, names: ['a', 'b'], faults: [], counts: ['shop 2'] });
    expect(await listed('eve')).toEqual({ totalCount: 3, names: ['hidden', 'a', 'b'], faults: [], counts: ['shop 2', 'bank 1'] });
    expect(await listed('gus')).toEqual({ totalCount: 0, names: [], faults: [{ code: 'FORBIDDEN' }], counts: [] });

    const one = async (user: string, space: string, name: string) => {
      const field = `configMap(cluster: "${cluster}", namespace: "${space}", name: "${name}") { metadata { name } }`;
      return (await gateway.ask(user, `{ ${field} }`)).text;
    };
    for (const user of ['ann', 'gus']) {
      expect(await one(user, 'shop', 'a')).toBe('{"data":{"configMap":{"metadata":{"name":"a"}}}}');
      expect(await one(user, 'bank', 'hidden')).toBe('{"data":{"configMap":null}}');
      expect(await one(user, 'bank', 'none')).toBe('{"data":{"configMap":null}}');
    }

    // The gateway mirrors Namespaces for itself. A caller sees only those that the API server shows.
    const namespaces = '{ namespaces { items { metadata { name } } faults { code } } }';
    expect((await gateway.ask('ann', namespaces)).text).toBe('{"data":{"namespaces":{"items":[],"faults":[{"code":"FORBIDDEN"}]}}}');
    expect((await gateway.ask('eve', namespaces)).text).toContain('"name":"bank"');

    const secrets = await gateway.ask('ann', '{ secrets { items { metadata { name } object } faults { code } } }');
    expect(secrets.text).toContain('"name":"token"');
    expect(secrets.text).not.toContain(password);

    expect((await ground.impersonated()).toSorted()).toEqual(['oidc:ann', 'oidc:eve', 'oidc:gus']);
    const own = await ground.listedByGateway();
    const allowed = [
      'apiservices',
      'clusterrolebindings',
      'clusterroles',
      'customresourcedefinitions',
      'namespaces',
      'rolebindings',
      'roles',
    ];
    expect(own).toContain('namespaces');
    expect(own.filter((resource) => !allowed.includes(resource))).toEqual([]);
  },
);

test('an object that the caller may get, but that the gateway may not request as the caller, has a fault', async () => {
  await using cluster = await startSimCluster({ name: 'north', authorization: 'rbac' });
  const named = ruleOf(['get'], [''], ['configmaps'], ['a']);
  const ofNed = [
    roleOf(undefined, 'named', named),
    bindingOf('shop', 'ned-named', 'ClusterRole/named', 'User/oidc:ned'),
    bindingOf('bank', 'ned', 'ClusterRole/getter', 'User/oidc:ned'),
  ];
  for (const object of [...objects, ...ofNed]) cluster.put(object);
  const config = { clusters: [{ name: 'north', context: 'north', authorization: 'live' }] };
  await using gateway = await runSharedGateway({ contexts: [{ name: 'north', cluster }], config });
  for (const user of ['eve', 'gus', 'ned']) await gateway.firstCluster(user);
  cluster.forbid({ verbs: ['impersonate'] });
  const read = async (user: string, space: string, name = 'hidden') => {
    const field = `configMap(cluster: "north", namespace: "${space}", name: "${name}") { metadata { name } }`;
    return JSON.parse((await gateway.ask(user, `{ ${field} }`)).text);
  };
  expect(await read('eve', 'bank')).toMatchObject({ data: { configMap: null }, extensions: { faults: [{ code: 'FORBIDDEN' }] } });
  expect(await read('gus', 'bank')).toEqual({ data: { configMap: null } });
  // The right of ned in this namespace is to one name only.
  expect(await read('ned', 'shop', 'a')).toMatchObject({ data: { configMap: null }, extensions: { faults: [{ code: 'FORBIDDEN' }] } });
  for (const name of ['b', 'none']) expect(await read('ned', 'shop', name)).toEqual({ data: { configMap: null } });
});

const node: KubernetesObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker', labels: { pool: 'fast' } } };
const web: KubernetesObject = { ...pod('web'), spec: { nodeName: 'worker', containers: [{ name: 'main', image: 'nginx:1' }] } };
const live = { clusters: [{ name: 'south', context: 'south', authorization: 'live' }] };

test('relations, paths and logs of a cluster that is not mirrored are read live', async () => {
  await using gateway = await startGateway({ north: [], south: [node, web] }, { configFile: live });
  const pods = await gateway.query(`{
    pods { items { metadata { name } node { metadata { name } } events { totalCount } } groups(by: ["node.metadata.labels.pool"]) { keys count } faults { code } }
    nodes { items { pods { items { metadata { name } } } } }
    podLogs(clusters: ["south"]) { pod }
  }`);
  expect(pods).toEqual({
    pods: {
      items: [{ metadata: { name: 'web' }, node: { metadata: { name: 'worker' } }, events: { totalCount: 0 } }],
      groups: [{ keys: ['fast'], count: 1 }],
      faults: [],
    },
    nodes: { items: [{ pods: { items: [{ metadata: { name: 'web' } }] } }] },
    podLogs: [{ pod: 'web' }],
  });
  const { cluster } = await gateway.query<{ cluster: { kinds: readonly { count: number | null }[] } }>(
    '{ cluster(name: "south") { kinds { count } } }',
  );
  expect(cluster.kinds.filter(({ count }) => count !== null)).toEqual([]);
});

test('streams and propagation fail for a cluster that is not mirrored, and writes work', async () => {
  const clusters = [{ name: 'north', context: 'north' }, ...live.clusters];
  await using gateway = await startGateway({ north: [pod('api')], south: [web] }, { hub: 'north', configFile: { clusters } });
  const stream = await gateway.subscribe('subscription { pods { type cluster { name } fault { code } added { metadata { name } } } }');
  await gateway.until(() => stream.texts.some((text) => text.includes('FAILED')));
  expect(stream.texts[0]).toContain('{"type":"FAILED","cluster":{"name":"south"},"fault":{"code":"NOT_SERVED"},"added":[]}');
  expect(stream.texts.join()).not.toContain('"web"');
  const logs = await gateway.subscribe('subscription { podLogs(clusters: ["south"]) { type fault { code } } }');
  await gateway.until(() => logs.texts.length > 0);
  expect(logs.texts).toEqual(['{"data":{"podLogs":{"type":"FAILED","fault":{"code":"NOT_SERVED"}}}}']);

  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x, namespace: default }';
  const input = { name: 'a', namespace: 'default', template: [{ yaml }], placement: { clusters: ['south'] } };
  const plan = await gateway.query(
    'query ($input: PropagationInput!) { planPropagation(input: $input) { clusters { cluster { name } fault { code } objects { action } } } }',
    { input },
  );
  const south = { cluster: { name: 'south' }, fault: { code: 'FORBIDDEN' }, objects: [] };
  expect(plan).toMatchObject({ planPropagation: { clusters: [{ cluster: { name: 'north' } }, south] } });
  const applied = await gateway.query(
    'mutation ($yaml: String!) { apply(clusters: ["south"], manifests: [{ yaml: $yaml }]) { results { action fault { code } } } }',
    { yaml },
  );
  expect(applied).toEqual({ apply: { results: [{ action: 'CREATED', fault: null }] } });
});
