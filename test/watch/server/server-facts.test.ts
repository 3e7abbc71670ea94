import { afterEach, expect, test } from 'vitest';
import { isBuiltIn, readServerFacts, supportsWatchList } from '../../../src/watch/server/server-facts.ts';
import { connect, endpointFor, never } from '../../support/cluster/transport.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';

const open: SimCluster[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sim) => sim.stop()));
});

async function start(): Promise<SimCluster> {
  const sim = await startSimCluster({ name: 'south', version: '1.33.2' });
  open.push(sim);
  return sim;
}

test('reads the version, the identity and the revision of a server', async () => {
  const sim = await start();
  using south = connect(endpointFor(sim));
  expect(await readServerFacts(south.api, never)).toEqual({
    version: 'v1.33.2',
    uid: sim.get('Namespace', 'kube-system')?.metadata.uid,
    revision: expect.stringMatching(/^\d+$/),
  });
});

test('leaves out facts that may not be read, without a fault', async () => {
  const sim = await start();
  using south = connect(endpointFor(sim));
  sim.forbid({ kind: 'Namespace' });
  expect(await readServerFacts(south.api, never)).toEqual({ version: 'v1.33.2' });
});

test('leaves out an invalid version, and gives the reason if it cannot be read', async () => {
  const sim = await start();
  using south = connect(endpointFor(sim));
  const odd = { ...south.api, send: async () => ({ type: 'answered', status: 200, body: Buffer.from('{"gitVersion":1}') }) as const };
  expect(await readServerFacts(odd, never)).toEqual({});
  const fault = { code: 'UNREACHABLE', cluster: south.api.cluster, message: 'nobody there', retry: 'LATER' } as const;
  expect(await readServerFacts({ ...south.api, send: async () => ({ type: 'failed', fault }) }, never)).toEqual({ fault });
});

test.each([
  ['v1.31.9', false],
  ['v1.32.0', true],
  ['v1.33.13', false],
  ['v1.34.0-rc.1', true],
  ['v1.36.3+k3s1', true],
  ['v2.0.0', true],
  ['unknown', false],
  [undefined, false],
])('%s supports WatchList: %s', (version, streams) => {
  expect(supportsWatchList(version)).toBe(streams);
});

test.each([
  ['', true],
  ['apps', true],
  ['networking.k8s.io', true],
  ['gateway.networking.k8s.io', false],
  ['metrics.k8s.io', false],
  ['example.com', false],
])('the group %j is built in: %s', (group, builtIn) => {
  expect(isBuiltIn({ group, kind: 'Thing' })).toBe(builtIn);
});
