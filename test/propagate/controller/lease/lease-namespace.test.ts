import { expect, test } from 'vitest';
import type { ClusterApi, LiveAnswer } from '../../../../src/cluster/cluster-api.ts';
import type { FaultCode } from '../../../../src/core/faults.ts';
import { clusterName } from '../../../../src/core/names.ts';
import {
  createLeaseNamespace,
  type LeaseNamespaceRule,
  leaseNamespaceOf,
} from '../../../../src/propagate/controller/lease/lease-namespace.ts';
import { never } from '../../../support/cluster/transport.ts';

const cluster = clusterName('hub');
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'muster-system' } };
const answered: LiveAnswer = { type: 'answered', status: 200, body: Buffer.from(JSON.stringify(namespace)) };
const failed = (code: FaultCode): LiveAnswer => ({ type: 'failed', fault: { code, cluster, message: code, retry: 'LATER' } });

test.each<{ readonly name: string; readonly get: LiveAnswer; readonly post?: LiveAnswer; readonly found: string }>([
  { name: 'the namespace exists', get: answered, found: 'muster-system' },
  { name: 'the namespace is created', get: failed('NOT_FOUND'), post: answered, found: 'muster-system' },
  { name: 'another gateway creates the namespace first', get: failed('NOT_FOUND'), post: failed('CONFLICT'), found: 'muster-system' },
  { name: 'the gateway may not read the namespace', get: failed('FORBIDDEN'), found: 'default' },
  { name: 'the gateway may not create the namespace', get: failed('NOT_FOUND'), post: failed('FORBIDDEN'), found: 'default' },
  { name: 'a policy refuses it', get: failed('NOT_FOUND'), post: failed('INVALID'), found: 'default' },
  { name: 'the hub does not answer', get: failed('UNREACHABLE'), found: 'UNREACHABLE' },
  { name: 'the hub does not answer the second time', get: failed('NOT_FOUND'), post: failed('TIMED_OUT'), found: 'TIMED_OUT' },
])('$name: $found', async ({ get, post, found }) => {
  expect(await chosen({ namespace: 'muster-system', isRequired: false }, { get, post })).toBe(found);
  const expected = found === 'default' ? 'muster-system' : found;
  expect(await chosen({ namespace: 'muster-system', isRequired: true }, { get, post })).toBe(expected);
});

async function chosen(rule: LeaseNamespaceRule, { get, post }: { readonly get: LiveAnswer; readonly post: LiveAnswer | undefined }) {
  const result = await leaseNamespaceOf(hubOf({ get, post }), rule, never);
  return typeof result === 'string' || typeof result === 'symbol' ? result : result.fault.code;
}

function hubOf({ get, post }: { readonly get: LiveAnswer; readonly post?: LiveAnswer | undefined }) {
  const send: ClusterApi['send'] = ({ method }) => Promise.resolve(method === 'GET' ? get : (post ?? failed('SERVER_ERROR')));
  const api = { cluster, send } as unknown as ClusterApi;
  return { cluster, members: { api: () => api } };
}

test.each([
  [false, 'default'],
  [true, 'CONFLICT'],
])('a namespace whose deletion does not end is left after 30 s, unless it is the only one (%s): %s', async (isRequired, expected) => {
  const deleted = { ...namespace, metadata: { ...namespace.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const get: LiveAnswer = { type: 'answered', status: 200, body: Buffer.from(JSON.stringify(deleted)) };
  let nowMs = 0;
  const leaseNamespace = createLeaseNamespace(hubOf({ get }), { namespace: 'muster-system', isRequired }, { monotonic: () => nowMs });
  expect(await leaseNamespace.choose(never)).toMatchObject({ fault: { code: 'CONFLICT' } });
  nowMs = 31_000;
  const result = await leaseNamespace.choose(never);
  expect(typeof result === 'string' ? result : result.fault.code).toBe(expected);
});

test('a hub that is no member answers every call with GONE', async () => {
  const place = { namespace: 'muster-system', isRequired: false };
  expect(await leaseNamespaceOf({ cluster, members: { api: () => undefined } }, place, never)).toMatchObject({
    fault: { code: 'GONE', cluster },
  });
});
