import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LiveRequest } from '../../../src/cluster/cluster-api.ts';
import type { Impersonation } from '../../../src/cluster/endpoint.ts';
import { connect, endpointFor, never } from '../../support/cluster/transport.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';

let sim: SimCluster;
beforeAll(async () => {
  sim = await startSimCluster({ name: 'south' });
});
afterAll(() => sim.stop());

const pods: LiveRequest = { method: 'GET', path: ['api', 'v1', 'namespaces', 'default', 'pods'] };
const alice: Impersonation = { user: 'alice', groups: ['dev'], extra: {} };
const headersSent = (since: number) => sim.requests.slice(since).map(({ headers }) => headers);

test.each(['h2', 'http1'] as const)('a call that impersonates a user sends the whole identity, over %s', async (protocols) => {
  await using other = await startSimCluster({ name: 'other', protocols });
  using south = connect(endpointFor(other));
  const as = { user: 'jürgen', uid: 'u-1', groups: ['dev', 'ops'], extra: { 'Example.com/Team': ['a', 'b'] } };
  expect((await south.api.send({ ...pods, as }, never)).type).toBe('answered');
  expect((await south.api.send(pods, never)).type).toBe('answered');
  const [acting, own] = other.requests.map(({ headers }) => headers);
  expect(acting).toMatchObject({
    'impersonate-user': Buffer.from('jürgen').toString('latin1'),
    'impersonate-uid': 'u-1',
    'impersonate-group': 'dev, ops',
    'impersonate-extra-example.com%2fteam': 'a, b',
    authorization: own?.authorization,
  });
  expect(Object.keys(own ?? {}).filter((name) => name.startsWith('impersonate'))).toEqual([]);
});

test.each<readonly [string, Impersonation, string]>([
  ['a member of system:masters', { ...alice, groups: ['dev', 'system:masters'] }, 'FORBIDDEN'],
  ['nobody', { ...alice, user: '' }, 'INVALID'],
  ['a user that ends a header', { ...alice, user: 'alice\r\nImpersonate-Group: system:masters' }, 'INVALID'],
  ['a user that a header would name otherwise', { ...alice, user: ' bob' }, 'INVALID'],
  ['a group that ends a header', { ...alice, groups: ['dev\nsystem:masters'] }, 'INVALID'],
  ['a uid that ends a header', { ...alice, uid: '\n' }, 'INVALID'],
  ['an extra that ends a header', { ...alice, extra: { 'example.com/team': ['a\n'] } }, 'INVALID'],
  ['an extra without a key', { ...alice, extra: { '': ['a'] } }, 'INVALID'],
])('acts for %s: never, and without a request', async (_title, as, code) => {
  using south = connect(endpointFor(sim));
  const before = sim.requests.length;
  const answer = await south.api.send({ ...pods, as }, never);
  expect(answer).toMatchObject({ type: 'failed', fault: { code, retry: 'NEVER' } });
  expect(headersSent(before)).toEqual([]);
});

test('credentials that impersonate a user cannot impersonate another one', async () => {
  using south = connect(endpointFor(sim, { impersonation: { user: 'bob', groups: [], extra: {} } }));
  const before = sim.requests.length;
  expect(await south.api.send({ ...pods, as: alice }, never)).toMatchObject({ type: 'failed', fault: { code: 'FORBIDDEN' } });
  expect(headersSent(before)).toEqual([]);
  expect((await south.api.send(pods, never)).type).toBe('answered');
  expect(headersSent(before)).toMatchObject([{ 'impersonate-user': 'bob' }]);
});

test('a body that no server reads is not sent', async () => {
  using south = connect(endpointFor(sim));
  const before = sim.requests.length;
  const body = { text: 'x'.repeat(3 * 1024 * 1024) };
  expect(await south.api.send({ method: 'POST', path: pods.path, body }, never)).toMatchObject({
    type: 'failed',
    fault: { code: 'TOO_LARGE', retry: 'NEVER' },
  });
  expect(sim.requests).toHaveLength(before);
});
