import { describe, expect, test } from 'vitest';
import { clusterFailure } from '../../src/cluster/cluster-failure.ts';
import type { Endpoint } from '../../src/cluster/endpoint.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { clusterName } from '../../src/core/names.ts';
import type { ClusterCandidate, ClusterSource } from '../../src/fleet/cluster-source.ts';
import { createFleet, type Fleet } from '../../src/fleet/fleet.ts';
import type { Member } from '../../src/fleet/member.ts';
import type { ConnectCluster } from '../../src/fleet/roster.ts';
import { endpointOf, silentApi } from '../support/cluster/endpoints.ts';
import { turns } from '../support/manual-clock.ts';

const never = new AbortController().signal;

const usable = (name: string, changes: Partial<Endpoint> = {}): ClusterCandidate => ({
  result: 'usable',
  name: clusterName(name),
  endpoint: endpointOf(name, changes),
  settings: { labels: {}, namespaces: [], secrets: 'live', authorization: 'sar' },
});

/** A source whose sets the test provides, one after the other. */
function scriptedSource(first: readonly ClusterCandidate[]) {
  const sets: (readonly ClusterCandidate[])[] = [first];
  let wake = () => {};
  const source: ClusterSource = {
    async *watch(signal) {
      signal.addEventListener('abort', () => wake(), { once: true });
      while (!signal.aborted) {
        const next = sets.shift();
        if (next !== undefined) yield { candidates: next };
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
  const say = async (candidates: readonly ClusterCandidate[]) => {
    sets.push(candidates);
    wake();
    await turns();
  };
  return { source, say };
}

async function startFleet(first: readonly ClusterCandidate[], log: Log = silentLog) {
  const { source, say } = scriptedSource(first);
  const fleet = await createFleet({ sources: [source], connect: ({ name }) => silentApi(name), log });
  return { fleet, say };
}

const names = (fleet: Fleet) => fleet.members().map(({ name }) => name);
const duplicatesOf = (fleet: Fleet, name: string) =>
  fleet
    .member(clusterName(name))
    ?.api.connectionFaults.filter(({ code }) => code === 'DUPLICATE')
    .map(({ message }) => message.split(' ')[0]);

test('begins with the clusters of its source, by name', async () => {
  const { fleet } = await startFleet([usable('south'), usable('north')]);
  await using _ = fleet;
  expect(names(fleet)).toEqual(['north', 'south']);
});

test('reports existing members, then those that join, until the signal aborts', async () => {
  const { fleet, say } = await startFleet([usable('north')]);
  await using _ = fleet;
  const listening = new AbortController();
  const joined: string[] = [];
  fleet.onJoin(({ name }) => joined.push(name), listening.signal);
  await say([usable('north'), usable('south')]);
  listening.abort();
  await say([usable('north'), usable('south'), usable('east')]);
  expect(joined).toEqual(['north', 'south']);
});

test('a changed set ends and begins only the members that changed', async () => {
  const { fleet, say } = await startFleet([usable('north'), usable('south'), usable('east')]);
  await using _ = fleet;
  const before = new Map<string, Member>(fleet.members().map((member) => [member.name, member]));
  await say([usable('north'), usable('south', { server: 'https://moved.test' }), usable('west')]);
  expect(names(fleet)).toEqual(['north', 'south', 'west']);
  expect(fleet.member(clusterName('north'))).toBe(before.get('north'));
  expect(before.get('north')?.signal.aborted).toBe(false);
  expect(before.get('south')?.signal.aborted).toBe(true);
  expect(before.get('east')?.signal.aborted).toBe(true);
  expect(fleet.member(clusterName('south'))?.signal.aborted).toBe(false);
});

test('logs clusters that join, leave or change, and logs nothing when the fleet ends', async () => {
  const lines: string[] = [];
  const info: Log['info'] = ({ cluster, membership }, message) => lines.push(`${cluster} ${membership} ${message}`);
  const { fleet, say } = await startFleet([usable('north'), usable('south')], { ...silentLog, info });
  const said = () => lines.splice(0);
  expect(said()).toEqual(['north joined cluster: joined the fleet', 'south joined cluster: joined the fleet']);
  await say([usable('north'), usable('east')]);
  expect(said()).toEqual(['south left cluster: left the fleet', 'east joined cluster: joined the fleet']);
  await say([usable('north', { server: 'https://moved.test' }), usable('east')]);
  expect(said()).toEqual([
    'north left cluster: left the fleet, to join it again with its new description',
    'north joined cluster: joined the fleet',
  ]);
  await fleet[Symbol.asyncDispose]();
  expect(said()).toEqual([]);
});

test('one server with one CA by two names is one cluster, with a DUPLICATE fault', async () => {
  const { fleet } = await startFleet([usable('north'), usable('alias', { server: 'https://north.test:6443' }), usable('south')]);
  await using _ = fleet;
  expect(names(fleet)).toEqual(['north', 'south']);
  expect(duplicatesOf(fleet, 'north')).toEqual(['alias']);
  expect(duplicatesOf(fleet, 'south')).toEqual([]);
});

test('one server with another CA, or behind another TLS name, is another cluster', async () => {
  const ca = { type: 'authority', certificates: { type: 'data', data: Buffer.from('other CA') } } as const;
  const { fleet } = await startFleet([
    usable('a', { server: 'https://shared.test' }),
    usable('b', { server: 'https://shared.test', trust: ca }),
    usable('c', { server: 'https://shared.test', tlsServerName: 'c.test' }),
  ]);
  await using _ = fleet;
  expect(names(fleet)).toEqual(['a', 'b', 'c']);
});

test('two members at two addresses with one kube-system uid both stay, each with a DUPLICATE fault', async () => {
  const { fleet, say } = await startFleet([usable('north'), usable('public')]);
  await using _ = fleet;
  const before = fleet.members();
  const told: string[] = [];
  fleet.onRedescribed(({ name }) => told.push(name), never);
  expect(fleet.identified(clusterName('public'), 'uid-1')).toEqual([]);
  expect(fleet.identified(clusterName('north'), 'uid-1')).toEqual([]);
  expect(fleet.members()).toEqual(before);
  expect(before.some(({ signal }) => signal.aborted)).toBe(false);
  expect(told).toEqual(['north', 'public']);
  expect(duplicatesOf(fleet, 'north')).toEqual(['public']);
  expect(duplicatesOf(fleet, 'public')).toEqual(['north']);
  await say([usable('north')]);
  expect(duplicatesOf(fleet, 'north'), 'the fault ends with the other cluster').toEqual([]);
});

describe('a description that changes', () => {
  const described = (
    name: string,
    settings: Partial<ClusterCandidate['settings']>,
    endpoint: Partial<Endpoint> = {},
  ): ClusterCandidate => ({
    ...usable(name, endpoint),
    settings: { labels: {}, namespaces: [], secrets: 'live', authorization: 'sar', ...settings },
  });

  /** A fleet with the member `north`, and a record of its connections. */
  async function startConnecting() {
    const { source, say } = scriptedSource([usable('north')]);
    const connections: { readonly signal: AbortSignal; readonly current: () => Endpoint }[] = [];
    const connect: ConnectCluster = ({ name }, signal, current) => {
      connections.push({ signal, current });
      return silentApi(name);
    };
    const fleet = await createFleet({ sources: [source], connect, log: silentLog });
    const told: string[] = [];
    fleet.onRedescribed(({ name }) => told.push(name), never);
    return { fleet, say, connections, told, member: () => fleet.member(clusterName('north')) };
  }

  test.each([
    { labels: { tier: 'prod' } },
    { region: 'eu-1' },
    { provider: 'aws' },
    { zones: ['a'] },
    { taints: [{ key: 'full', effect: 'NoSchedule' }] },
  ] as const)('in %o keeps the member and its connection', async (settings) => {
    const { fleet, say, connections, told, member } = await startConnecting();
    await using _ = fleet;
    const before = member();
    await say([described('north', settings)]);
    expect(member()).toBe(before);
    expect(before?.settings).toMatchObject(settings);
    expect(before?.signal.aborted).toBe(false);
    expect(connections).toHaveLength(1);
    expect(told).toEqual(['north']);
    await say([described('north', settings)]);
    expect(told, 'an unchanged description is not told').toEqual(['north']);
  });

  test('in the credentials keeps the member, and the connection uses them from its next request on', async () => {
    const { fleet, say, connections, told, member } = await startConnecting();
    await using _ = fleet;
    const before = member();
    await say([usable('north', { credentials: { type: 'token', token: 'new' } })]);
    expect(member()).toBe(before);
    expect(connections).toHaveLength(1);
    expect(connections[0]?.current().credentials).toEqual({ type: 'token', token: 'new' });
    expect(told).toEqual(['north']);
  });

  test.each([{ secrets: 'none' }, { namespaces: ['team'] }] as const)('to %o changes the settings of the member', async (settings) => {
    const { fleet, say, connections, member } = await startConnecting();
    await using _ = fleet;
    const before = member();
    await say([described('north', settings)]);
    expect(member()).toBe(before);
    expect(before?.settings).toMatchObject(settings);
    expect(before?.signal.aborted).toBe(false);
    expect(connections.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  const identity = { userPrefix: 'corp:', groupPrefix: '' };
  test.each([{ authorization: 'rbac' }, { identity }] as const)(
    'to %o, which decides about rights, makes another member',
    async (settings) => {
      const { fleet, say, member } = await startConnecting();
      await using _ = fleet;
      const before = member();
      await say([described('north', settings)]);
      expect(member()).not.toBe(before);
      expect(before?.signal.aborted).toBe(true);
    },
  );

  test.each([{ server: 'https://moved.test' }, { tlsServerName: 'other.test' }, { impersonation: { user: 'eve', groups: [], extra: {} } }])(
    'in %o makes another member over another connection',
    async (endpoint) => {
      const { fleet, say, connections, member } = await startConnecting();
      await using _ = fleet;
      const before = member();
      await say([usable('north', endpoint)]);
      expect(member()).not.toBe(before);
      expect(connections.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    },
  );
});

test('two uids are two clusters, whatever their address', async () => {
  const { fleet, say } = await startFleet([usable('a', { server: 'https://one.test' })]);
  await using _ = fleet;
  fleet.identified(clusterName('a'), 'uid-a');
  await say([usable('a', { server: 'https://one.test' }), usable('b')]);
  fleet.identified(clusterName('b'), 'uid-b');
  expect(names(fleet)).toEqual(['a', 'b']);
});

test('a name with a new description is not mistaken for its earlier cluster', async () => {
  const { fleet, say } = await startFleet([usable('a'), usable('b')]);
  await using _ = fleet;
  fleet.identified(clusterName('a'), 'uid-1');
  await say([usable('a', { server: 'https://new.test' }), usable('b')]);
  fleet.identified(clusterName('b'), 'uid-1');
  expect(names(fleet)).toEqual(['a', 'b']);
});

test('a cluster with a broken description is a member whose requests fail with the reason', async () => {
  const broken: ClusterCandidate = {
    result: 'broken',
    name: clusterName('odd'),
    problem: clusterFailure('INVALID', 'users[0].user.exec: expected a command', 'NEVER'),
    settings: { labels: {}, namespaces: [], secrets: 'live', authorization: 'sar' },
  };
  const { fleet } = await startFleet([usable('north'), broken]);
  await using _ = fleet;
  const member = fleet.member(clusterName('odd'));
  const answer = await member?.api.send({ method: 'GET', path: ['version'] }, never);
  expect(answer).toMatchObject({
    type: 'failed',
    fault: { code: 'INVALID', cluster: 'odd', message: 'users[0].user.exec: expected a command', retry: 'NEVER' },
  });
  expect(member?.api.connectionFaults).toHaveLength(1);
});

test('uses the first of two sources that have a cluster of the same name', async () => {
  const [first, second] = [
    scriptedSource([usable('north')]),
    scriptedSource([usable('north', { server: 'https://other.test' }), usable('south')]),
  ];
  const servers: string[] = [];
  const connect = (endpoint: Endpoint) => {
    servers.push(endpoint.server);
    return silentApi(endpoint.name);
  };
  await using fleet = await createFleet({ sources: [first.source, second.source], connect, log: silentLog });
  expect(names(fleet)).toEqual(['north', 'south']);
  expect(servers).toEqual(['https://north.test:6443', 'https://south.test:6443']);
});

test('ends every member and its sources when it ends', async () => {
  const { fleet } = await startFleet([usable('north'), usable('south')]);
  const members = fleet.members();
  await fleet[Symbol.asyncDispose]();
  expect(members.every(({ signal }) => signal.aborted)).toBe(true);
  expect(fleet.members()).toEqual([]);
});
