import { expect, test } from 'vitest';
import { PodReader, untilAllHold } from '../support/gateway/pod-reader.ts';
import { type Listed, startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';
import { pod } from '../support/workloads.ts';

// "A cluster that is exchanged behind its address is noticed."

const listOf = async (gateway: TestGateway) =>
  (await gateway.query<{ readonly pods: Listed }>('{ pods { items { metadata { name } } sync { phase cluster { name } } } }')).pods;
const namesOf = async (gateway: TestGateway) => (await listOf(gateway)).items.map(({ metadata }) => metadata.name);

/** Starts a gateway over `north`, and another cluster with the same token and higher versions. */
async function startWithSuccessor() {
  const gateway = await startGateway({ north: [pod('web'), pod('both')], south: [pod('api')] });
  const { token } = gateway.cluster('north');
  const successor = await startSimCluster({ name: 'successor', clock: gateway.clock, token });
  successor.fill('ConfigMap', 500, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
  successor.put(pod('other'));
  successor.put(pod('both'));
  return { gateway, successor };
}

test.each(['cut', 'kept'] as const)('an answer never stays a mixture of two clusters: connections are %s', async (connections) => {
  const { gateway, successor } = await startWithSuccessor();
  await using stack = new AsyncDisposableStack();
  stack.use(successor);
  stack.use(gateway);
  expect((await namesOf(gateway)).toSorted()).toEqual(['api', 'both', 'web']);
  const north = gateway.cluster('north');
  north.exchange(successor);
  if (connections === 'cut') north.disconnect();
  await gateway.until(async () => (await namesOf(gateway)).includes('other'), 60_000);
  await gateway.until(async () => (await listOf(gateway)).sync.every(({ phase }) => phase === 'SYNCED'));
  expect((await namesOf(gateway)).toSorted()).toEqual(['api', 'both', 'other']);
});

test.each([['north', 'south'], ['north']])(
  'streams over %s get GONE and the new list, and resumed streams get RESET',
  async (...members) => {
    const { gateway, successor } = await startWithSuccessor();
    await using stack = new AsyncDisposableStack();
    stack.use(successor);
    stack.use(gateway);
    await gateway.setMembers(members);
    await gateway.until(async () => (await listOf(gateway)).sync.length === members.length);
    const reader = await PodReader.open(gateway);
    await untilAllHold(gateway, [reader], { clusters: members });
    const count = reader.messages.length;
    const north = gateway.cluster('north');
    north.exchange(successor);
    north.disconnect();
    await gateway.until(() => reader.held().names().includes('north/other') && reader.held().behind().length === 0);
    expect(reader.held().names()).toEqual(['north/both', 'north/other', ...(members.includes('south') ? ['south/api'] : [])]);
    const messages = reader.messages.slice(count).filter(({ type, fault }) => type !== 'BOOKMARK' && fault?.code !== 'UNREACHABLE');
    expect(messages.map(({ type, cluster, fault }) => [type, cluster.name, fault?.code]).filter(([type]) => type !== 'LIVE')).toEqual([
      ['FAILED', 'north', 'GONE'],
      ['INITIAL', 'north', undefined],
      ['SYNCED', 'north', undefined],
    ]);
    const resumed = await reader.resumed(gateway, { count });
    await gateway.until(() => resumed.held().names().includes('north/other'));
    expect(resumed.messages[0]).toMatchObject({ type: 'RESET', cluster: { name: 'north' } });
  },
);
