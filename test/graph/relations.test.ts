import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { startGateway } from '../support/gateway/start-gateway.ts';

const deployment = (name: string, replicas: number): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'shop', labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
  },
});
const service: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};
const job: KubernetesObject = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'one', namespace: 'shop' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};

interface Named {
  readonly metadata: { readonly name: string };
}

interface Pods {
  readonly pods: {
    readonly items: readonly {
      readonly owner: { readonly owner: Named | null } | null;
      readonly node: Named | null;
      readonly services: { readonly items: readonly Named[] };
    }[];
  };
}

const followed = 'node { metadata { name } } owner { kind owner { kind metadata { name } } } services { items { metadata { name } } }';

test('relations are followed in every cluster in both directions while objects change', async () => {
  await using gateway = await startGateway(
    { north: [deployment('web', 2), service], south: [deployment('web', 1), service] },
    { living: true },
  );
  const ask = () => gateway.query<Pods>(`{ pods(labels: "app=web") { items { ${followed} } } }`);
  await gateway.until(async () => (await ask()).pods.items.length === 3);
  await gateway.until(async () => (await ask()).pods.items.every(({ node }) => node !== null));
  const { pods } = await ask();
  expect(pods.items.map(({ node }) => node?.metadata.name)).toEqual(expect.arrayContaining(['node-north', 'node-north', 'node-south']));
  for (const { owner, services } of pods.items) {
    expect(owner?.owner?.metadata.name).toBe('web');
    expect(services.items).toEqual([{ metadata: { name: 'web' } }]);
  }
  const back = await gateway.query<{ deployments: object }>(
    `{ deployments { items { cluster { name } pods { totalCount } owned(kinds: "rs") { items { kind ... on PodOwner { pods { totalCount } } } } } } }`,
  );
  const of = (name: string, totalCount: number) => ({
    cluster: { name },
    pods: { totalCount },
    owned: { items: [{ kind: 'ReplicaSet', pods: { totalCount } }] },
  });
  expect(back.deployments).toEqual({ items: [of('north', 2), of('south', 1)] });
});

interface Event {
  readonly reason: string;
  readonly lastSeen: string;
  readonly involvedObject: { readonly resource: Named };
}

test('events of an object come newest first and refer back to it', async () => {
  await using gateway = await startGateway({ north: [deployment('web', 1), deployment('api', 1)] }, { living: true });
  const scale = (name: string, replicas: number) =>
    gateway.query(
      `mutation { scale(targets: { ref: { cluster: "north", apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "${name}" } }, replicas: ${replicas}) { ok } }`,
    );
  const events = async () => {
    const { deployment: found } = await gateway.query<{ deployment: { events: { items: Event[] } } }>(
      '{ deployment(cluster: "north", namespace: "shop", name: "web") { events { items { reason lastSeen involvedObject { resource { metadata { name } } } } } } }',
    );
    return found.events.items;
  };
  for (const replicas of [2, 3, 4]) {
    await scale('web', replicas);
    await scale('api', replicas);
    await gateway.until(async () => (await events()).length >= replicas - 1);
    await gateway.pass(5_000);
  }
  const seen = await events();
  expect(new Set(seen.map(({ reason }) => reason))).toEqual(new Set(['ScalingReplicaSet']));
  for (const { involvedObject } of seen) expect(involvedObject.resource.metadata.name).toBe('web');
  const times = seen.map(({ lastSeen }) => lastSeen);
  expect(new Set(times).size).toBeGreaterThan(1);
  expect(times).toEqual(times.toSorted().toReversed());
});

test('relations work in streams too, for every kind', async () => {
  await using gateway = await startGateway({ north: [deployment('web', 1), service, job] }, { living: true });
  const pods = await gateway.subscribe(`subscription { pods(labels: "app=web") { type added { ${followed} } modified { ${followed} } } }`);
  const jobs = await gateway.subscribe(
    'subscription { jobStatus { type added { name job { pods { totalCount } } } modified { name job { pods { totalCount } } } } }',
  );
  const seen = () =>
    pods.seen
      .flatMap(({ data }) => Object.values(data ?? {}) as { added: object[]; modified: object[] }[])
      .flatMap(({ added, modified }) => [...added, ...modified]);
  const whole = {
    node: { metadata: { name: 'node-north' } },
    owner: { kind: 'ReplicaSet', owner: { kind: 'Deployment', metadata: { name: 'web' } } },
    services: { items: [{ metadata: { name: 'web' } }] },
  };
  await gateway.until(() => seen().length > 0);
  expect(seen()[0], 'a healthy first list is waited for').toEqual(whole);
  for (const replicas of [2, 3, 4]) {
    await gateway.query(
      `mutation { scale(targets: { ref: { cluster: "north", apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" } }, replicas: ${replicas}) { ok } }`,
    );
    await gateway.pass(5_000);
  }
  expect(seen()).toContainEqual(whole);
  await gateway.until(() => JSON.stringify(jobs.seen).includes('"job":{"pods":{"totalCount":1}}'));
  expect([...pods.seen, ...jobs.seen].flatMap(({ errors = [] }) => errors)).toEqual([]);
});

test('the result of a write has its relations at once', async () => {
  await using gateway = await startGateway({ north: [deployment('web', 1)] }, { living: true });
  await gateway.until(async () => (await gateway.query<Pods>(`{ pods { items { ${followed} } } }`)).pods.items.length === 1);
  const scaled = await gateway.query<{ scale: object }>(
    `mutation { scale(targets: { ref: { cluster: "north", apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" } }, replicas: 1) {
      results { resource { kind owned(kinds: "rs") { totalCount } ... on PodOwner { pods { totalCount } } } }
    } }`,
  );
  expect(scaled.scale).toEqual({ results: [{ resource: { kind: 'Deployment', owned: { totalCount: 1 }, pods: { totalCount: 1 } } }] });
});
