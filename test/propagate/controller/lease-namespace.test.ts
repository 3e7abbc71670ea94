import { expect, test } from 'vitest';
import type { FaultCode } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { absentClient } from '../../../src/propagate/controller/absent-client.ts';
import { leaseNamespaceOf } from '../../../src/propagate/controller/lease-namespace.ts';
import type { ObjectAnswer, ObjectClient } from '../../../src/propagate/object-client.ts';
import { never } from '../../support/transport.ts';

const cluster = clusterName('hub');
const answered: ObjectAnswer = { result: 'answered', object: { metadata: { name: 'muster-system' } }, isNew: false, warnings: [] };
const failed = (code: FaultCode): ObjectAnswer => ({ result: 'failed', fault: { code, cluster, message: code, retry: 'LATER' } });

test.each<{ readonly name: string; readonly get: ObjectAnswer; readonly apply?: ObjectAnswer; readonly found: string }>([
  { name: 'the namespace is there', get: answered, found: 'muster-system' },
  { name: 'it is made', get: { result: 'absent' }, apply: answered, found: 'muster-system' },
  { name: 'we may not see it', get: failed('FORBIDDEN'), found: 'default' },
  { name: 'we may not make it', get: { result: 'absent' }, apply: failed('FORBIDDEN'), found: 'default' },
  { name: 'a policy refuses it', get: { result: 'absent' }, apply: failed('INVALID'), found: 'default' },
  { name: 'the hub does not answer', get: failed('UNREACHABLE'), found: 'UNREACHABLE' },
  { name: 'the hub does not answer the second time', get: { result: 'absent' }, apply: failed('TIMED_OUT'), found: 'TIMED_OUT' },
])('$name: $found', async ({ get, apply, found }) => {
  const client: ObjectClient = {
    ...absentClient(cluster),
    get: () => Promise.resolve(get),
    apply: () => Promise.resolve(apply ?? failed('SERVER_ERROR')),
  };
  const namespace = await leaseNamespaceOf(client, never);
  expect(typeof namespace === 'string' ? namespace : namespace.fault.code).toBe(found);
});

test('a cluster that is no member answers every call with GONE', async () => {
  expect(await leaseNamespaceOf(absentClient(cluster), never)).toMatchObject({ fault: { code: 'GONE', cluster } });
});
