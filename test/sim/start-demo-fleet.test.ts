import { expect, test } from 'vitest';
import { textAt } from '../../src/core/json-at.ts';
import { silentLog } from '../../src/core/log.ts';
import { isReady, podPhaseOf } from '../../src/sim/controllers/pods.ts';
import type { EmbeddedCluster } from '../../src/sim/kinds/embedded-cluster.ts';
import { startDemoFleet } from '../../src/sim/start-demo-fleet.ts';
import { createWireClient } from '../support/clients/wire-client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const start = async (seed = 1) => {
  const clock = createManualClock({ random: seededRandom(seed), startMs: Date.UTC(2026, 10, 21, 9, 30) });
  return { clock, fleet: await startDemoFleet({ hubDefinitions: [], clock, log: silentLog }) };
};

test('has three clusters, one a few versions older, and one with custom kinds', async () => {
  await using fleet = (await start()).fleet;
  const gitVersions = fleet.clusters.map(async (cluster) => {
    await using client = createWireClient(cluster, 'h2');
    return [cluster.name, JSON.parse((await client.ask('/version')).text).gitVersion];
  });
  expect(await Promise.all(gitVersions)).toEqual([
    ['eu-prod', 'v1.36.3'],
    ['us-prod', 'v1.33.13'],
    ['staging', 'v1.36.3'],
  ]);
  const [europe] = fleet.clusters;
  expect(europe?.objects('Widget')).toHaveLength(3);
  expect(europe?.objects('Certificate')).toHaveLength(3);
  const { contexts, clusters } = JSON.parse(fleet.kubeconfig) as {
    contexts: { name: string }[];
    clusters: { cluster: { server: string } }[];
  };
  expect(contexts.map(({ name }) => name)).toEqual(['eu-prod', 'us-prod', 'staging']);
  expect(clusters.map(({ cluster }) => cluster.server)).toEqual(fleet.clusters.map(({ url }) => url));
});

test('runs from the start, with some unhealthy workloads', async () => {
  await using fleet = (await start()).fleet;
  const pods = fleet.clusters.flatMap((cluster) => cluster.objects('Pod'));
  expect(pods.length).toBeGreaterThan(90);
  expect(pods.filter(isReady).length).toBeGreaterThan(pods.length * 0.8);
  expect(pods.filter((pod) => podPhaseOf(pod) === 'Pending').length).toBeGreaterThan(0);
  expect(pods.filter((pod) => podPhaseOf(pod) === 'Failed').length).toBeGreaterThan(0);
  const reasons = new Set(fleet.clusters.flatMap((cluster) => cluster.objects('Event').map((event) => textAt(event, 'reason'))));
  expect([...reasons]).toEqual(expect.arrayContaining(['BackOff', 'FailedScheduling', 'BackoffLimitExceeded', 'Failed']));
});

test('keeps moving without growing', { timeout: 120_000 }, async () => {
  const { clock, fleet: started } = await start(3);
  await using fleet = started;
  const count = () =>
    fleet.clusters.flatMap((cluster) => ['Pod', 'Job', 'ReplicaSet', 'Event'].map((kind) => cluster.objects(kind).length));
  const changes = fleet.clusters.map(() => 0);
  fleet.clusters.forEach((cluster, index) => {
    cluster.observe(() => {
      changes[index] = (changes[index] ?? 0) + 1;
    });
  });
  await clock.advance(5 * 60_000);
  const [before, early] = [[...changes], count()];
  await clock.advance(20 * 60_000);
  changes.forEach((changed, index) => {
    expect(changed).toBeGreaterThan((before[index] ?? 0) + 300);
  });
  count().forEach((held, index) => {
    expect(held).toBeLessThan(2 * (early[index] ?? 0) + 60);
  });
  expect(fleet.clusters[0]?.objects('Deployment').every((one) => one.metadata.generation !== undefined)).toBe(true);
});

test('leaves nothing running when it ends', async () => {
  const { clock, fleet } = await start();
  await fleet[Symbol.asyncDispose]();
  await clock.advance(0);
  expect(clock.sleepers).toBe(0);
});

test('a ConfigMap of the hub stops other clusters and starts them again', async () => {
  await using fleet = (await start()).fleet;
  const [hub, america, staging] = fleet.clusters as [EmbeddedCluster, EmbeddedCluster, EmbeddedCluster];
  const isReachable = async (cluster: EmbeddedCluster) => {
    await using client = createWireClient(cluster, 'h2');
    return await client.ask('/version').then(
      ({ text }) => text.includes('gitVersion'),
      () => false,
    );
  };
  const reachable = () => Promise.all([hub, america, staging].map(isReachable));
  const put = (data: Record<string, string>) =>
    hub.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'demo-outages', namespace: 'kube-system' }, data });
  expect(await reachable()).toEqual([true, true, true]);
  put({ 'us-prod': 'stopped', 'eu-prod': 'stopped' });
  expect(await reachable()).toEqual([true, false, true]);
  put({ staging: 'stopped', 'us-prod': 'else' });
  expect(await reachable()).toEqual([true, true, false]);
  hub.remove('ConfigMap', 'demo-outages', 'kube-system');
  expect(await reachable()).toEqual([true, true, true]);
});
