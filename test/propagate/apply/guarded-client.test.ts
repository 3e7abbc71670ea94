import { expect, test } from 'vitest';
import type { ObjectCallResult, ObjectClient } from '../../../src/changes/object-client.ts';
import type { Fault, FaultCode } from '../../../src/core/faults.ts';
import { createGuardedClient } from '../../../src/propagate/apply/guarded-client.ts';
import { configMapResource, never } from '../../support/cluster/transport.ts';
import { cluster } from './memory-shares.ts';

const address = { resource: configMapResource, namespace: 'n', name: 'a' };
const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };
const fault = (code: FaultCode, status?: Fault['status']): ObjectCallResult => ({
  result: 'failed',
  fault: { code, cluster, message: code, retry: 'LATER', ...(status === undefined ? {} : { status }) },
});

/** A client that returns these answers in order, and `absent` after the last one. */
function answering(...answers: readonly ObjectCallResult[]) {
  const left = [...answers];
  const asked: string[] = [];
  const next = (verb: string) => async (): Promise<ObjectCallResult> => {
    asked.push(verb);
    return left.shift() ?? { result: 'absent' };
  };
  const client: ObjectClient = {
    cluster,
    ...{ get: next('get'), apply: next('apply'), replace: next('replace'), patch: next('patch'), delete: next('delete') },
    serves: async () => true,
    may: async () => true,
  };
  return { client, asked };
}

const applied = (client: ObjectClient, signal: AbortSignal) =>
  client.apply({ ...address, manifest, preconditions: {}, force: false, run: 'real' }, signal);

test('a write without leadership is not sent, and no later call is', async () => {
  const { client, asked } = answering();
  let mayWrite = true;
  const door = createGuardedClient({ client, mayWrite: () => mayWrite }, never);
  expect(await door.write(applied)).toEqual({ result: 'absent' });
  mayWrite = false;
  expect(await door.write(applied)).toEqual({ result: 'stopped' });
  mayWrite = true;
  expect([await door.write(applied), await door.get(address), door.isStopped]).toEqual([
    { result: 'stopped' },
    { result: 'stopped' },
    true,
  ]);
  expect(asked).toEqual(['apply']);
});

test('each write carries the leader check that runs when it leaves the queue', async () => {
  const { client } = answering();
  const terms: unknown[] = [];
  const noted = (term: unknown): ObjectCallResult => {
    terms.push(term);
    return { result: 'absent' };
  };
  const noting: ObjectClient = {
    ...client,
    apply: async (request) => noted(request.mayWrite),
    replace: async (request) => noted(request.mayWrite),
    patch: async (request) => noted(request.mayWrite),
    delete: async (request) => noted(request.mayWrite),
  };
  const mayWrite = () => true;
  const door = createGuardedClient({ client: noting, mayWrite }, never);
  await door.write(applied);
  await door.write((one, signal) => one.replace({ ...address, object: manifest, run: 'real' }, signal));
  await door.write((one, signal) => one.patch({ ...address, type: 'json', patch: [], run: 'real' }, signal));
  await door.write((one, signal) => one.delete({ ...address, preconditions: {}, cascade: 'Background', run: 'real' }, signal));
  expect(terms).toEqual([mayWrite, mayWrite, mayWrite, mayWrite]);
});

test('a write that failed after leadership was lost does not count as a failure of the cluster', async () => {
  const { client } = answering(fault('TIMED_OUT'));
  const answers = [true, false];
  const door = createGuardedClient({ client, mayWrite: () => answers.shift() ?? false }, never);
  expect([await door.write(applied), door.isStopped]).toEqual([{ result: 'stopped' }, true]);
});

test('an abort stops all later calls', async () => {
  const { client, asked } = answering();
  const end = new AbortController();
  const door = createGuardedClient({ client, mayWrite: () => true }, end.signal);
  await door.get(address);
  end.abort();
  expect([await door.get(address), await door.write(applied)]).toEqual([{ result: 'stopped' }, { result: 'stopped' }]);
  expect(asked).toEqual(['get']);
});

test.each<readonly [string, readonly ObjectCallResult[], number]>([
  ['that is unreachable gets no more calls', [fault('UNREACHABLE')], 1],
  ['that is not in the fleet gets no more calls', [fault('GONE')], 1],
  ['that times out twice gets no more calls', [fault('TIMED_OUT'), fault('TIMED_OUT')], 2],
  ['that times out once gets more calls, because only one object may hang', [fault('TIMED_OUT')], 4],
  [
    'that says itself that it took too long is there',
    Array(3).fill(fault('TIMED_OUT', { code: 504, reason: 'Timeout', message: '', causes: [] })),
    4,
  ],
  ['that refuses calls is reachable', [fault('INVALID'), fault('FORBIDDEN'), fault('SERVER_ERROR')], 4],
])('a cluster %s', async (_title, answers, calls) => {
  const { client, asked } = answering(...answers);
  const door = createGuardedClient({ client, mayWrite: () => true }, never);
  const last = answers.at(-1);
  for (let call = 0; call < 4; call += 1) {
    const answer = call % 2 === 0 ? await door.write(applied) : await door.get(address);
    if (call >= calls) expect(answer).toEqual(last);
  }
  expect(asked).toHaveLength(calls);
});
