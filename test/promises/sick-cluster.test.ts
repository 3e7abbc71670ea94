import { describe, expect, test } from 'vitest';
import { untilEqual } from '../support/gateway/equal-mirror.ts';
import { type Listed, startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import type { SimProtocols } from '../support/sim/misbehaviours.ts';
import { pod } from '../support/workloads.ts';

// "A sick cluster never fails a request", as a client of GraphQL sees it.

const fields = 'items { metadata { name } } sync { phase asOf cluster { name } } faults { code message cluster { name } }';

async function askPods(gateway: TestGateway, args = '(waitSeconds: 0)'): Promise<Listed> {
  return (await gateway.query<{ pods: Listed }>(`{ pods${args} { ${fields} } }`)).pods;
}

const namesIn = ({ items }: Listed) => items.map(({ metadata }) => metadata.name);
const faultsIn = ({ faults }: Listed) => faults.map(({ code, cluster }) => `${code} ${cluster.name}`);
const phaseOf = ({ sync }: Listed, name: string) => sync.find(({ cluster }) => cluster.name === name)?.phase;
const asOf = ({ sync }: Listed, name: string) => Date.parse(sync.find(({ cluster }) => cluster.name === name)?.asOf ?? '');

/** Measures the milliseconds of the gateway's clock until a query has this fault. */
async function msUntilFault(gateway: TestGateway, fault: string): Promise<number> {
  const startMs = gateway.clock.monotonic();
  await gateway.until(async () => faultsIn(await askPods(gateway)).includes(fault));
  return gateway.clock.monotonic() - startMs;
}

test('B1: is ready, and answers from the others, when a cluster is unreachable from the start', async () => {
  await using gateway = await startGateway(
    { north: [pod('web')], south: [pod('api')] },
    { before: (cluster) => void cluster('south').refuse() },
  );
  expect(gateway.clock.monotonic()).toBeLessThan(60_000);
  const pods = await askPods(gateway, '');
  expect(namesIn(pods)).toEqual(['web']);
  expect(faultsIn(pods)).toEqual(['UNREACHABLE south']);
  expect(phaseOf(pods, 'north')).toBe('SYNCED');
});

test('B2: serves the last mirror of a cluster that dies, with its age; reports it within 10 s; recovers by itself', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
  expect(faultsIn(await askPods(gateway, ''))).toEqual([]);
  const south = gateway.cluster('south');
  {
    using _down = south.refuse();
    south.disconnect();
    // The test checks every 100 ms.
    expect(await msUntilFault(gateway, 'UNREACHABLE south')).toBeLessThanOrEqual(10_200);
    const pods = await askPods(gateway);
    expect(namesIn(pods)).toEqual(['api', 'web']);
    expect(phaseOf(pods, 'south')).toBe('STALE');
    await gateway.pass(60_000);
    const later = await askPods(gateway);
    expect(asOf(later, 'south')).toBe(asOf(pods, 'south'));
    expect(asOf(later, 'north')).toBeGreaterThan(asOf(pods, 'north'));
    south.put(pod('meanwhile'));
    south.remove('Pod', 'api', 'default');
  }
  await untilEqual(gateway, ['north', 'south']);
  expect(namesIn(await askPods(gateway))).toEqual(['meanwhile', 'web']);
});

test('B18: the hub is read again as soon as the gateway has its Lease again, however long it was away', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] }, { hub: 'north' });
  expect(faultsIn(await askPods(gateway, ''))).toEqual([]);
  const north = gateway.cluster('north');
  {
    using _down = north.refuse();
    north.disconnect();
    await gateway.pass(180_000);
    expect(faultsIn(await askPods(gateway))).toEqual(['UNREACHABLE north']);
  }
  // A Lease that cannot be had is requested again after 2 s. A probe would come after 30 s to a minute.
  await gateway.until(async () => faultsIn(await askPods(gateway)).length === 0, 5_000);
});

const halfOpen: readonly { readonly protocols: SimProtocols; readonly withinMs: number }[] = [
  { protocols: 'h2', withinMs: 25_000 },
  { protocols: 'http1', withinMs: 45_000 },
];

describe('B4: a connection over which nothing comes any more', () => {
  test.each(halfOpen)('over $protocols is noticed within $withinMs ms, and no event is lost', async ({ protocols, withinMs }) => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] }, { clusters: { south: { protocols } } });
    expect(faultsIn(await askPods(gateway, ''))).toEqual([]);
    {
      using _dark = gateway.cluster('south').silence();
      gateway.cluster('south').put(pod('unheard'));
      // The test checks every 100 ms.
      expect(await msUntilFault(gateway, 'UNREACHABLE south')).toBeLessThanOrEqual(withinMs + 200);
      expect(namesIn(await askPods(gateway))).toEqual(['api', 'web']);
    }
    await untilEqual(gateway, ['north', 'south']);
    expect(namesIn(await askPods(gateway))).toEqual(['api', 'unheard', 'web']);
  });
});

describe('B6: a cluster that asks for patience', () => {
  test.each([
    { says: 'seconds', headers: { 'retry-after': '7' }, leastMs: 7_000 },
    { says: 'nothing', headers: {}, leastMs: 800 },
  ])('with $says gets it, without a new list, and other kinds and clusters notice nothing', async ({ headers, leastMs }) => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
    await askPods(gateway, '');
    const south = gateway.cluster('south');
    const lists = () =>
      south.requests.filter(({ resource, query }) => resource?.resource === 'pods' && query.sendInitialEvents !== undefined);
    const before = lists().length;
    south.answer({ status: 429, headers }, { resource: 'pods', verb: 'watch' });
    const fromMs = gateway.clock.monotonic();
    south.close({ resource: 'pods' });
    south.put(pod('later'));
    await gateway.until(async () => namesIn(await askPods(gateway)).includes('later'));
    expect(gateway.clock.monotonic() - fromMs).toBeGreaterThanOrEqual(leastMs);
    expect(lists()).toHaveLength(before);
    expect(faultsIn(await askPods(gateway))).toEqual([]);
  });
});

test('B7: bursts of 500 are retried with growing delays, and the mirror is kept', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
  await askPods(gateway, '');
  const south = gateway.cluster('south');
  const burst = south.answer({ status: 500, times: Number.POSITIVE_INFINITY }, { resource: 'pods' });
  const fromMs = gateway.clock.monotonic();
  south.close({ resource: 'pods' });
  await gateway.until(async () => faultsIn(await askPods(gateway)).includes('SERVER_ERROR south'));
  await gateway.pass(30_000);
  expect(namesIn(await askPods(gateway))).toEqual(['api', 'web']);
  const tries = south.requests.filter(({ resource, startedMs }) => resource?.resource === 'pods' && startedMs >= fromMs);
  expect(tries.length).toBeGreaterThanOrEqual(4);
  expect(tries.length).toBeLessThanOrEqual(9);
  burst[Symbol.dispose]();
  await untilEqual(gateway, ['north', 'south']);
});

test('B3: while a cluster sends one byte per second, mirrors answer at once and a live read ends after 10 s', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
  await askPods(gateway, '');
  using _drip = gateway.cluster('south').drip();
  const fromMs = gateway.clock.monotonic();
  expect(namesIn(await askPods(gateway, ''))).toEqual(['api', 'web']);
  expect(gateway.clock.monotonic() - fromMs).toBeLessThan(1_000);
  const live = gateway.ask('{ pod(cluster: "south", namespace: "default", name: "api", live: true) { metadata { name } } }');
  let answered = false;
  void live.then(() => {
    answered = true;
  });
  await gateway.until(() => answered, 15_000);
  expect(await live).toMatchObject({ data: { pod: null }, extensions: { faults: [{ code: 'TIMED_OUT', cluster: 'south' }] } });
  expect(gateway.clock.monotonic() - fromMs).toBeLessThanOrEqual(12_000);
});

test('P13: a cluster that is down for 40 s at the start joins later by itself, and is not SYNCED before its first list is complete', async () => {
  let down: Disposable | undefined;
  await using gateway = await startGateway(
    { north: [pod('web')], south: [pod('api')] },
    {
      before: (cluster) => {
        down = cluster('south').refuse();
      },
    },
  );
  expect(namesIn(await askPods(gateway, ''))).toEqual(['web']);
  await gateway.pass(40_000);
  expect(faultsIn(await askPods(gateway))).toEqual(['UNREACHABLE south']);
  down?.[Symbol.dispose]();
  await gateway.until(async () => phaseOf(await askPods(gateway), 'south') === 'SYNCED');
  expect(namesIn(await askPods(gateway))).toEqual(['api', 'web']);
});

test('B3: a query waits for a cluster that lists slowly as long as it specifies, and not longer', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
  using _slow = gateway.cluster('south').delay(30_000, { resource: 'pods' });
  const fromMs = gateway.clock.monotonic();
  const pods = await askPods(gateway, '(waitSeconds: 2)');
  expect(namesIn(pods)).toEqual(['web']);
  expect(faultsIn(pods)).toEqual(['SYNCING south']);
  expect(gateway.clock.monotonic() - fromMs).toBeLessThan(3_000);
  await gateway.until(async () => namesIn(await askPods(gateway)).length === 2);
});

test('waitSeconds that are longer than the query may take end before it, and the other clusters are answered', async () => {
  const configFile = { limits: { querySeconds: 10 } };
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] }, { configFile });
  using _slow = gateway.cluster('south').delay(60_000, { resource: 'pods' });
  const fromMs = gateway.clock.monotonic();
  const pods = await askPods(gateway, '(waitSeconds: 40)');
  expect(namesIn(pods)).toEqual(['web']);
  expect(faultsIn(pods)).toEqual(['SYNCING south']);
  expect(gateway.clock.monotonic() - fromMs).toBeLessThan(9_000);
  expect(gateway.clock.monotonic() - fromMs).toBeGreaterThan(7_000);
});

test('a kind that may not be read is a fault of that kind alone', async () => {
  await using gateway = await startGateway(
    { north: [pod('web')], south: [pod('api')] },
    { before: (cluster) => void cluster('south').forbid({ kind: 'Pod' }) },
  );
  const { pods, namespaces } = await gateway.query<{ pods: Listed; namespaces: Listed }>(`{ pods { ${fields} } namespaces { ${fields} } }`);
  expect(faultsIn(pods)).toEqual(['FORBIDDEN south']);
  expect(namesIn(pods)).toEqual(['web']);
  expect(namespaces.faults).toEqual([]);
});
