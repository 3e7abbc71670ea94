import { expect, test } from 'vitest';
import type { AuditedAction } from '../../src/audit/audit.ts';
import type { AuditSink } from '../../src/audit/audit-sinks.ts';
import { audited } from '../../src/audit/audited.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import { MusterError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { createManualClock } from '../support/manual-clock.ts';

const kim = { user: 'oidc:kim', uid: 'u-1', groups: ['oidc:b', 'oidc:a'], extra: { team: ['x'] }, issuer: 'https://login.example.com' };
const applied: AuditedAction = {
  caller: { key: 'k', user: kim },
  requestId: 'r-1',
  verb: 'apply',
  force: true,
  manifestHash: 'abc',
  objects: [
    { cluster: 'north', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a', uid: 'o-1', result: 'CREATED' },
    { cluster: 'south', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a', result: 'FAILED', code: 'FORBIDDEN' },
  ],
};

/** A sink in memory. `refuses` makes it fail, and `most` limits the bytes of one write. */
function memorySink() {
  const state = { text: '', refuses: false, hangs: false, most: Number.POSITIVE_INFINITY };
  const sink: AuditSink = {
    async write(bytes) {
      if (state.hangs) await new Promise(() => undefined);
      if (state.refuses) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      const taken = bytes.subarray(0, state.most);
      state.text += Buffer.from(taken).toString();
      return taken.length;
    },
    check: () => (state.refuses ? Promise.reject(new Error('no space')) : Promise.resolve()),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const lines = () => state.text.split('\n').filter((line) => line !== '');
  return { state, sink, lines: () => lines().map((line) => JSON.parse(line)) };
}

function auditOver(sink: AuditSink) {
  const clock = createManualClock();
  return { clock, audit: createAudit({ sink, clock, log: silentLog }) };
}

test('a name from a request breaks no line, and hides nothing on a terminal', async () => {
  const { sink, state, lines } = memorySink();
  const { audit } = auditOver(sink);
  const name = 'a\n{"verb":"forged"}\r\u0085\u2028\u2029\u009b2J\u001b[2K\u202egnp.\u{e0041}\ufe0f\u3164é日';
  await audit.record({
    ...applied,
    objects: [{ cluster: 'north', apiVersion: 'v1', kind: name, namespace: name, name, result: 'FAILED' }],
  });
  expect(lines()).toMatchObject([{ objects: [{ kind: name, namespace: name, name }] }]);
  expect(state.text.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\ufe0f|\u3164/u);
  expect(state.text).toContain('é日');
});

test('writes one line per action, with the user, the objects and the id of the request', async () => {
  const { sink, lines } = memorySink();
  const { audit } = auditOver(sink);
  await audit.check();
  await audit.record(applied);
  const { caller: _, ...rest } = applied;
  expect(lines()).toEqual([
    {
      ...rest,
      apiVersion: 'audit.muster.dev/v1alpha1',
      time: '2026-01-01T00:00:00.000Z',
      user: { username: 'oidc:kim', groups: ['oidc:a', 'oidc:b'], uid: 'u-1', issuer: 'https://login.example.com' },
      dryRun: false,
    },
  ]);
});

test('keeps the order and whole lines if the sink takes a few bytes at a time', async () => {
  const { state, sink, lines } = memorySink();
  state.most = 7;
  const { audit } = auditOver(sink);
  await Promise.all(['a', 'b', 'c'].map((verb) => audit.record({ ...applied, verb })));
  expect(lines().map(({ verb }) => verb)).toEqual(['a', 'b', 'c']);
});

test('refuses actions while lines cannot be written, and writes the kept lines first', async () => {
  const { state, sink, lines } = memorySink();
  const { audit } = auditOver(sink);
  let runs = 0;
  const act = (verb: string) =>
    audited(audit, { ...applied, verb }, { run: async () => ++runs, factsOf: () => ({ objects: applied.objects }) });
  state.refuses = true;
  await expect(act('refused')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(runs).toBe(0);
  state.refuses = false;
  // The line fails after the action.
  const during = audited(
    audit,
    { ...applied, verb: 'during' },
    {
      run: async () => {
        state.refuses = true;
      },
      factsOf: () => ({ objects: [] }),
    },
  );
  await expect(during).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(act('refused')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(runs).toBe(0);
  state.refuses = false;
  await act('after');
  expect([runs, lines().map(({ verb }) => verb)]).toEqual([1, ['during', 'after']]);
});

test('an action waits at most 5 s for a sink that hangs', async () => {
  const { state, sink } = memorySink();
  const { audit, clock } = auditOver(sink);
  state.hangs = true;
  const recorded = expect(audit.record(applied)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await clock.advance(5_000);
  await recorded;
});

test('an action that is refused as a whole has a line with the code, and no objects', async () => {
  const { sink, lines } = memorySink();
  const { audit } = auditOver(sink);
  const refused = audited(
    audit,
    { caller: applied.caller, verb: 'apply' },
    {
      run: () => Promise.reject(new MusterError('BAD_INPUT', 'no cluster named "moon"')),
      factsOf: () => ({ objects: [] }),
    },
  );
  await expect(refused).rejects.toMatchObject({ code: 'BAD_INPUT' });
  expect(lines()).toMatchObject([{ verb: 'apply', code: 'BAD_INPUT', objects: [] }]);
});

test('writes a line per refused credential, and one line that counts those beyond 100 in a second', async () => {
  const { sink, lines } = memorySink();
  const { audit, clock } = auditOver(sink);
  for (let index = 0; index < 130; index++) audit.refusedLogin({ method: 'oidc', reason: 'expired', address: '10.0.0.1' });
  await clock.advance(1_000);
  const found = lines();
  expect(found.length).toBe(101);
  expect(found[0]).toMatchObject({ verb: 'login', user: { username: 'system:anonymous' }, code: 'UNAUTHENTICATED', address: '10.0.0.1' });
  expect(found[100]).toMatchObject({ verb: 'login', method: 'oidc', reason: 'expired', count: 30, objects: [] });
  audit.refusedLogin({ method: 'oidc', reason: 'expired' });
  await clock.advance(1_000);
  expect(lines().length).toBe(102);
  await audit[Symbol.asyncDispose]();
  expect(clock.sleepers).toBe(0);
});

test('counts refused credentials while no line can be written, and writes the counts later', async () => {
  const { state, sink, lines } = memorySink();
  const { audit, clock } = auditOver(sink);
  state.refuses = true;
  await expect(audit.record(applied)).rejects.toThrow();
  for (let index = 0; index < 5; index++) audit.refusedLogin({ method: 'oidc', reason: 'expired' });
  await clock.advance(3_000);
  expect(lines()).toEqual([]);
  state.refuses = false;
  await clock.advance(1_000);
  expect(lines()).toMatchObject([{ verb: 'apply' }, { verb: 'login', count: 5 }]);
});
