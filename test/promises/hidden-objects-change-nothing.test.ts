import { expect } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { bindingOf, roleOf, ruleOf } from '../access/reviewed/access-world.ts';
import { type RbacGround, testOnRbacGrounds } from '../support/gateway/rbac-grounds.ts';
import { runSharedGateway } from '../support/gateway/run-shared-gateway.ts';

// E2: objects that a caller may not see change no byte of an answer, and cost the caller no time.

const configMap = (namespace: string, name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { app: 'web', team: namespace } },
  data: { key: 'value' },
});
const deployment = (namespace: string, name: string): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, labels: { app: 'web' } },
  spec: {
    replicas: 7,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'nginx:1' }] } },
  },
});
const namespace = (name: string): KubernetesObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const reading = ['get', 'list', 'watch'];

/** The user ann may read these kinds in `shop`. The user eve may read them everywhere. */
const rights = [
  roleOf(undefined, 'reader', ruleOf(reading, ['', 'apps'], ['configmaps', 'deployments', 'pods', 'events'])),
  bindingOf('shop', 'ann', 'ClusterRole/reader', 'User/oidc:ann'),
  bindingOf(undefined, 'eve', 'ClusterRole/reader', 'User/oidc:eve'),
];

/** No query asks for a cursor, because it is encrypted anew each time. */
const queries = {
  list: '{ configMaps(first: 500) { totalCount items { id metadata { name namespace labels } } pageInfo { hasNextPage } faults { code message } } }',
  page: '{ configMaps(first: 3) { totalCount items { metadata { name } } pageInfo { hasNextPage } } }',
  named: '{ configMaps(namespaces: ["shop", "bank", "none"]) { totalCount items { metadata { name } } faults { code message } } }',
  foreign: '{ configMaps(namespaces: ["bank"]) { totalCount items { metadata { name } } faults { code message } } }',
  groups:
    '{ configMaps { groups(by: ["metadata.labels.team"]) { count keys } } deployments { groups(by: ["metadata.namespace"]) { count } } }',
  sums: '{ deployments { totalCount sum(path: "spec.replicas") { value } max(path: "metadata.name") } }',
  all: '{ resources(kinds: ["ConfigMap", "Deployment"]) { totalCount items { kind metadata { name namespace } } faults { code message } } }',
  search: '{ resources(kinds: ["ConfigMap"], search: "hidden") { totalCount items { metadata { name } } } }',
  versions:
    '{ configMaps { sync { phase resourceVersion } items { sync { resourceVersion } } } clusters { kinds { kind { kind } sync { resourceVersion } } } ' +
    'configMap(cluster: "NORTH", namespace: "shop", name: "a") { sync { resourceVersion } owned { sync { resourceVersion } } } }',
  fleet: '{ clusters { name phase kinds { kind { kind } count } faults { code message } } }',
  namespaces: '{ namespaces { totalCount items { metadata { name } } faults { code message } } }',
  events: '{ configMap(cluster: "NORTH", namespace: "shop", name: "a") { metadata { name } events { totalCount } owned { totalCount } } }',
  one: '{ configMap(cluster: "NORTH", namespace: "bank", name: "hidden-1") { metadata { name } } }',
  plan: '{ canI(verb: "list", kind: "ConfigMap") { cluster { name } allowed } }',
} as const;

type Gateway = Awaited<ReturnType<typeof runSharedGateway>>;

async function answersTo(gateway: Gateway, user: string, cluster: string) {
  const answers: Record<string, string> = {};
  for (const [name, query] of Object.entries(queries))
    answers[name] = (await gateway.ask(user, query.replace('NORTH', cluster))).text.replace(/"requestId":"[^"]*"/g, '"requestId":""');
  return answers;
}

/** Returns the shortest of many times of a list with counts and groups, in milliseconds. */
async function shortestMs(gateway: Gateway, user: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 60; round++) {
    const startMs = performance.now();
    await gateway.ask(user, queries.list);
    await gateway.ask(user, queries.groups);
    times.push(performance.now() - startMs);
  }
  return Math.min(...times);
}

async function addHidden(ground: RbacGround): Promise<void> {
  await ground.create(...Array.from({ length: 600 }, (_, index) => configMap('bank', `hidden-${index}`)));
  await ground.create(...Array.from({ length: 400 }, (_, index) => deployment('bank', `hidden-${index}`)));
}

const objects = [
  ...['shop', 'bank'].map(namespace),
  ...rights,
  ...['a', 'b', 'c', 'd'].map((name) => configMap('shop', name)),
  deployment('shop', 'web'),
];

testOnRbacGrounds('E2: 1,000 objects that a caller may not see change no answer, and no time', objects, async (ground) => {
  await using gateway = await runSharedGateway(ground.reach);
  const countOf = async () => {
    const { data } = await gateway.ask<{ resources: { totalCount: number } }>(
      'eve',
      '{ resources(kinds: ["ConfigMap", "Deployment"], namespaces: ["bank"]) { totalCount } }',
    );
    return data?.resources.totalCount;
  };
  const cluster = await gateway.firstCluster('ann');
  await answersTo(gateway, 'ann', cluster);
  const before = await answersTo(gateway, 'ann', cluster);
  expect(before.list).toContain('"totalCount":4');
  expect(Object.entries(before).filter(([, text]) => text.includes('"errors"'))).toEqual([]);
  const beforeMs = await shortestMs(gateway, 'ann');
  const hiddenBefore = (await countOf()) ?? 0;
  await addHidden(ground);
  for (let left = 600; left > 0 && (await countOf()) !== hiddenBefore + 1_000; left--)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await countOf()).toBe(hiddenBefore + 1_000);
  expect(await answersTo(gateway, 'ann', cluster)).toEqual(before);
  expect(await shortestMs(gateway, 'ann')).toBeLessThan(beforeMs * 1.5 + 1);
  // The same queries show them to a caller who may see them.
  expect((await answersTo(gateway, 'eve', cluster)).all).toContain('hidden-1');
});
