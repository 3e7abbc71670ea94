import { expect, test } from 'vitest';
import { clusterDefinition } from '../../src/registration/cluster-resource.ts';
import { kubeconfigOf } from '../../src/sim/start-demo-fleet.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';

/** Starts a gateway with a hub on which `south` is registered. `south` is not in the kubeconfig that the test leaves to the gateway. */
async function startWithRegistration(before: (hub: SimCluster) => void = () => undefined): Promise<TestGateway> {
  const gateway = await startGateway(
    { hub: [clusterDefinition()], south: [] },
    {
      hub: 'hub',
      flags: { context: ['hub'] },
      configFile: { allowPrivate: ['127.0.0.0/8'] },
      waitFor: 'listening',
      before(cluster) {
        const hub = cluster('hub');
        hub.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'muster-system' } });
        const data = { kubeconfig: Buffer.from(kubeconfigOf([cluster('south')])).toString('base64') };
        hub.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'south', namespace: 'muster-system' }, data });
        hub.put({
          apiVersion: 'muster.dev/v1alpha1',
          kind: 'Cluster',
          metadata: { name: 'south' },
          spec: { secretRef: { name: 'south' } },
        });
        before(hub);
      },
    },
  );
  return gateway;
}

const isReady = async (gateway: TestGateway) => (await fetch(new URL('/readyz', gateway.url))).status === 200;
const clustersOf = async (gateway: TestGateway) =>
  (await gateway.query<{ clusters: readonly { name: string; phase: string }[] }>('{ clusters { name phase } }')).clusters;

test('a gateway is ready only after its registered clusters are in sync, even if their Secrets are read slowly', async () => {
  await using gateway = await startWithRegistration((hub) => void hub.delay(8_000, { verb: 'get', kind: 'Secret' }));
  await gateway.until(() => isReady(gateway));
  expect(gateway.clock.monotonic()).toBeGreaterThan(8_000);
  expect(await clustersOf(gateway)).toEqual([
    { name: 'hub', phase: 'SYNCED' },
    { name: 'south', phase: 'SYNCED' },
  ]);
});

test('a hub that cannot be reached makes a new gateway unready, which still answers; it is ready soon after the hub has come back', async () => {
  const down = new DisposableStack();
  await using gateway = await startWithRegistration((hub) => void down.use(hub.refuse()));
  await gateway.pass(90_000);
  expect(await isReady(gateway)).toBe(false);
  expect(await clustersOf(gateway)).toEqual([{ name: 'hub', phase: 'UNREACHABLE' }]);
  const checks = await (await fetch(new URL('/readyz?verbose', gateway.url))).text();
  expect(checks.split('\n')[0]).toBe('[-]hub/hub not yet: UNREACHABLE');
  down.dispose();
  await gateway.until(() => isReady(gateway), 70_000);
  expect((await clustersOf(gateway)).map(({ name }) => name)).toEqual(['hub', 'south']);
});

test('a gateway that may not read registered clusters is ready without them', async () => {
  await using gateway = await startWithRegistration((hub) => {
    hub.forbid({ group: 'muster.dev', kind: 'Cluster' });
    hub.forbid({ kind: 'Secret' });
  });
  await gateway.until(() => isReady(gateway), 30_000);
  expect(await clustersOf(gateway)).toEqual([{ name: 'hub', phase: 'SYNCED' }]);
});
