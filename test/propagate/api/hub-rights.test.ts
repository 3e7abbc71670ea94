import { expect, test } from 'vitest';
import type { Access, AccessRequest, Visibility } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import type { MusterError } from '../../../src/core/errors.ts';
import { type FaultCode, fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createHubRights, followWithRights } from '../../../src/propagate/api/hub-rights.ts';
import { hubKinds } from '../../../src/propagate/hub/hub.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';

const cluster = clusterName('hub');
const kind = hubKinds.propagation;
const name = { namespace: 'shop', name: 'web' };
const context = { caller: { key: 'alice' }, signal: new AbortController().signal };

const none = (code: FaultCode): Visibility => ({ type: 'none', fault: fault(code, 'no', { cluster, retry: 'LATER' }) });
const allowed: Visibility = { type: 'namespaces', namespaces: new Set(['shop']) };
const nothing: Visibility = { type: 'namespaces', namespaces: new Set() };

function rightsWith(answerTo: (request: AccessRequest) => Visibility, maySee = () => true) {
  const access: Access = { ...createLocalAccess(), visibilityOf: answerTo, maySeeCluster: maySee };
  return createHubRights({ access, cluster, kind });
}

test.each<[string, Readonly<Record<string, Visibility>>, object | undefined]>([
  ['all rights', {}, undefined],
  ['no right to update', { update: none('FORBIDDEN') }, { result: 'refused', faults: [{ code: 'FORBIDDEN', cluster: 'hub' }] }],
  ['no right to update in this namespace', { update: nothing }, { result: 'refused', faults: [{ code: 'FORBIDDEN' }] }],
  ['no right to get', { get: nothing }, { result: 'hidden' }],
  ['no right at all', { get: none('FORBIDDEN'), update: none('FORBIDDEN') }, { result: 'hidden' }],
])('with %s', async (_what, answers, expected) => {
  const refusal = await rightsWith(({ verb }) => answers[verb] ?? allowed).refusalOf(context, name, ['get', 'update']);
  if (expected === undefined) expect(refusal).toBeUndefined();
  else expect(refusal).toMatchObject(expected);
});

test('a change that may create is refused without the right to get, whether or not the object exists', async () => {
  const rights = rightsWith(({ verb }) => (verb === 'get' ? nothing : allowed));
  expect(await rights.refusalOf(context, name, ['create', 'update', 'get'])).toMatchObject({
    result: 'refused',
    faults: [{ code: 'FORBIDDEN', message: expect.stringContaining('may not get') }],
  });
});

test('a hidden hub hides everything on it, without a check of rights', async () => {
  const asked: AccessRequest[] = [];
  const rights = rightsWith(
    (request) => {
      asked.push(request);
      return allowed;
    },
    () => false,
  );
  expect(await rights.refusalOf(context, name, ['create'])).toEqual({ result: 'hidden' });
  expect(await rights.mayGet(context, name)).toBe(false);
  expect((await rights.listed(context, undefined))('shop')).toBe(false);
  expect(asked).toEqual([]);
});

test('rights that cannot be checked make the request fail, and neither hide nor allow', async () => {
  const rights = rightsWith(() => none('TIMED_OUT'));
  for (const ask of [
    () => rights.refusalOf(context, name, ['update']),
    () => rights.mayGet(context, name),
    () => rights.listed(context, undefined),
  ])
    await expect(ask()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a state is passed on only while the caller may watch it, and a lost right ends the stream', async () => {
  const clock = createManualClock();
  let right: Visibility = allowed;
  const rights = rightsWith(() => right);
  const heard: unknown[] = [];
  const ended: MusterError[] = [];
  const life = new AbortController();
  const source: { tell: (view: number | undefined) => void } = { tell: () => undefined };
  const listener = {
    changed: (view: number | undefined) => void heard.push(view),
    ended: (reason: MusterError) => void ended.push(reason),
  };
  const follow = (changed: (view: number | undefined) => void) => {
    source.tell = changed;
    changed(1);
  };
  await followWithRights({ rights, clock }, { context, name, listener }, follow, life.signal);
  await turns();
  expect(heard).toEqual([1]);
  right = none('TIMED_OUT');
  source.tell(2);
  await turns();
  expect(heard).toEqual([1]);
  right = allowed;
  await clock.advance(60_000);
  expect(heard).toEqual([1, 2]);
  right = nothing;
  source.tell(3);
  await turns();
  expect([heard, ended.map(({ code }) => code)]).toEqual([[1, 2], ['FORBIDDEN']]);
  right = allowed;
  source.tell(4);
  await clock.advance(120_000);
  expect([heard.length, ended.length, clock.sleepers]).toEqual([2, 1, 0]);

  right = nothing;
  await expect(followWithRights({ rights, clock }, { context, name, listener }, follow, life.signal)).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});
