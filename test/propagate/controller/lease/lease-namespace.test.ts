import { expect, test } from 'vitest';
import type { ClusterApi, LiveAnswer } from '../../../../src/cluster/cluster-api.ts';
import type { FaultCode } from '../../../../src/core/faults.ts';
import { clusterName } from '../../../../src/core/names.ts';
import { leaseNamespaceOf } from '../../../../src/propagate/controller/lease/lease-namespace.ts';
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
  const send: ClusterApi['send'] = ({ method }) => Promise.resolve(method === 'GET' ? get : (post ?? failed('SERVER_ERROR')));
  const api = { cluster, send } as unknown as ClusterApi;
  const chosen = await leaseNamespaceOf({ cluster, members: { api: () => api } }, never);
  expect(typeof chosen === 'string' ? chosen : chosen.fault.code).toBe(found);
});

test('a hub that is no member answers every call with GONE', async () => {
  expect(await leaseNamespaceOf({ cluster, members: { api: () => undefined } }, never)).toMatchObject({ fault: { code: 'GONE', cluster } });
});
