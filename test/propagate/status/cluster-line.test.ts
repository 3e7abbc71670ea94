import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterLine } from '../../../src/propagate/model/propagation.ts';
import { waveLinesOf } from '../../../src/propagate/rollout/wave-lines.ts';
import { lineOf, linesOf } from '../../../src/propagate/status/cluster-line.ts';
import type { ClusterFacts } from '../../../src/propagate/status/facts.ts';
import type { LineContext } from '../../../src/propagate/status/line-phase.ts';
import { ago, clusterOf, copyOf, faultOf, leavingOf, now, nowMs, rolledOut, withStatus } from './cluster-facts.ts';

const context: LineContext = { generation: 3, spec: { rollout: { soakMs: 0 } }, nowMs };
const at = (rollout: LineContext['spec']) => ({ ...context, spec: rollout });
const progressing = copyOf({ object: withStatus({ updatedReplicas: 1 }) });
const failing = copyOf({
  object: withStatus({ conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] }),
});
const passing = { message: 'a webhook', fault: { code: 'SERVER_ERROR' as const, message: 'a webhook', since: now, count: 4 } };
const suspended = { problem: { reason: 'Suspended' as const, message: 'asked for' } };
const unhealthy = withStatus({ availableReplicas: 0, readyReplicas: 0 });
const since = (
  seconds: number,
  phase: 'Progressing' | 'Succeeded' | 'Failed' | 'TimedOut',
  more: Partial<ClusterLine> = {},
): ClusterLine => ({
  cluster: 'north',
  phase: 'Settled',
  health: 'Healthy',
  since: ago(seconds),
  generation: 3,
  rollout: { phase, since: ago(seconds) },
  ...more,
});

describe('while the wanted objects are unknown', () => {
  const unknown = (previous?: ClusterLine) =>
    lineOf(
      clusterOf('north', {
        planned: { wave: 0, objects: [], isUnknown: true },
        copies: [],
        problem: { message: 'unreadable', fault: { code: 'MALFORMED', message: 'unreadable', since: now, count: 1 } },
        ...(previous === undefined ? {} : { previous }),
      }),
      context,
    );

  test('the cluster is not done, although it has no objects to wait for', () => {
    expect(unknown()).toMatchObject({ phase: 'Progressing', message: 'unreadable', rollout: { phase: 'Progressing', since: now } });
    expect(unknown().rollout).not.toHaveProperty('wanted');
  });

  test('a success stays, with the hash of the objects that were wanted then', () => {
    const mark = { phase: 'Succeeded', since: ago(9), wanted: 'h' } as const;
    expect(unknown(since(9, 'Succeeded', { rollout: mark })).rollout).toEqual(mark);
  });
});

test.each([
  { held: 'Conflict', phase: 'Progressing' },
  { held: 'CreateOnly', phase: 'Settled' },
  { held: 'SourceMissing', phase: 'Settled' },
] as const)('a copy that is not rolled out, held for $held by its plan: $phase', ({ held, phase }) => {
  const facts = clusterOf('north', { copies: [progressing] });
  const objects = (facts.planned?.objects ?? []).map((object) => ({ ...object, action: 'HOLD' as const, held }));
  expect(lineOf({ ...facts, planned: { wave: 0, objects } }, context)).toMatchObject({
    phase,
    rollout: { phase: phase === 'Settled' ? 'Succeeded' : 'Progressing' },
  });
});

test('a late cluster has the field late', () => {
  const { planned } = clusterOf('north');
  if (planned === undefined) throw new Error('expected a plan');
  expect(lineOf(clusterOf('north', { planned: { ...planned, isLate: true } }), context)).toMatchObject({ late: true });
  expect(lineOf(clusterOf('north'), context)).not.toHaveProperty('late');
});

describe('the phase', () => {
  test.each<[string, ClusterFacts, Partial<ClusterLine>]>([
    ['settles where all is rolled out', clusterOf('north'), { phase: 'Settled', health: 'Healthy', ready: 2, replicas: 2 }],
    [
      'progresses till then',
      clusterOf('north', { copies: [progressing] }),
      { phase: 'Progressing', message: 'Deployment web: 1 of 2 replicas updated' },
    ],
    ['fails with its rollout', clusterOf('north', { copies: [failing] }), { phase: 'Failed', reason: 'Unhealthy' }],
    [
      'shows the first that failed',
      clusterOf('north', {
        copies: [progressing, copyOf({ name: 'api', object: failing.mirrored.result === 'held' ? failing.mirrored.object : {} })],
      }),
      { phase: 'Failed', message: expect.stringContaining('Deployment api: progress deadline exceeded') },
    ],
    ['applies what is not as wanted', clusterOf('north', { copies: [copyOf({ entry: { appliedHash: 'h2' } })] }), { phase: 'Applying' }],
    [
      'applies what is only intended',
      clusterOf('north', { copies: [copyOf({ entry: { state: 'Intended' }, object: 'absent' })] }),
      { phase: 'Applying', health: 'Unknown' },
    ],
    ['applies what failed', clusterOf('north', { copies: [copyOf({ entry: { action: 'Failed' } })] }), { phase: 'Applying' }],
    [
      'does not take the copy before our write for it',
      clusterOf('north', {
        copies: [copyOf({ object: { ...rolledOut, metadata: { generation: 1, annotations: { 'muster.dev/generation': '2' } } } })],
      }),
      { phase: 'Progressing', message: 'Deployment web: the last write is not visible in the cluster yet' },
    ],
    [
      'does not take a stranger of that name for it',
      clusterOf('north', { copies: [copyOf({ object: { ...rolledOut, metadata: { generation: 1, uid: 'u2' } } })] }),
      { phase: 'Progressing' },
    ],
    ['waits for its wave', clusterOf('north', { stage: 'waiting' }), { phase: 'Waiting', reason: 'Wave' }],
    [
      'waits, suspended',
      clusterOf('north', { stage: 'waiting', problem: { reason: 'Suspended', message: 'asked for' } }),
      { phase: 'Waiting', reason: 'Suspended', message: 'asked for' },
    ],
    [
      'fails at once at a conflict',
      clusterOf('north', { problem: { reason: 'Conflict', message: 'held by kubectl' } }),
      { phase: 'Failed', reason: 'Conflict' },
    ],
    ['is denied', clusterOf('north', { problem: { reason: 'Denied', message: 'may not' } }), { phase: 'Denied', reason: 'Denied' }],
    [
      'tries again what may pass',
      clusterOf('north', {
        copies: [copyOf({ entry: { appliedHash: 'h2' } })],
        problem: { message: 'a webhook', fault: { code: 'SERVER_ERROR', message: 'a webhook', since: now, count: 2 } },
      }),
      { phase: 'Applying', message: 'a webhook', fault: { code: 'SERVER_ERROR', message: 'a webhook', since: now, count: 2 } },
    ],
    [
      'fails when it does not pass',
      clusterOf('north', {
        failures: 3,
        problem: {
          reason: 'NamespaceMissing',
          message: 'no namespace',
          // The server may answer with another fault each time.
          fault: { code: 'NOT_FOUND', message: 'no namespace', since: now, count: 1 },
        },
      }),
      { phase: 'Failed', reason: 'NamespaceMissing' },
    ],
    [
      'stays failed when another process goes on',
      clusterOf('north', { previous: { ...since(9, 'Failed'), phase: 'Failed', fault: passing.fault }, problem: passing }),
      { phase: 'Failed', rollout: expect.objectContaining({ phase: 'Failed' }) },
    ],
    [
      'does not fail for what failed in an older generation',
      clusterOf('north', {
        previous: { ...since(9, 'Failed'), phase: 'Failed', fault: passing.fault, generation: 2 },
        copies: [copyOf({ entry: { appliedHash: 'h2' } })],
        problem: passing,
      }),
      { phase: 'Applying', rollout: expect.objectContaining({ phase: 'Progressing' }) },
    ],
    [
      'is not settled once a copy is gone',
      clusterOf('north', { previous: since(9, 'Succeeded'), copies: [copyOf({ object: 'absent' })] }),
      { phase: 'Applying', health: 'Unhealthy' },
    ],
    [
      'nor when it could not be made again',
      clusterOf('north', {
        previous: since(9, 'Succeeded'),
        copies: [copyOf({ object: 'absent', entry: { state: 'Intended', action: 'Failed' } })],
        problem: { ...passing, reason: 'NamespaceMissing' },
      }),
      { phase: 'Applying', reason: 'NamespaceMissing' },
    ],
    [
      'nor when its kind is gone',
      clusterOf('north', { previous: since(9, 'Succeeded'), copies: [copyOf({ object: 'unserved' })] }),
      { phase: 'Failed', reason: 'ApiMissing', health: 'Unhealthy' },
    ],
    [
      'nor when another took the name',
      clusterOf('north', {
        previous: since(9, 'Succeeded'),
        copies: [copyOf({ object: { ...rolledOut, metadata: { generation: 1, uid: 'u2' } } })],
      }),
      { phase: 'Applying' },
    ],
    ['nor while it differs', clusterOf('north', { previous: since(9, 'Succeeded'), differs: 'toWrite' }), { phase: 'Applying' }],
    [
      'nor when it differs and is only watched',
      clusterOf('north', { previous: since(9, 'Succeeded'), differs: 'watched' }),
      { phase: 'Failed', message: expect.stringContaining('only reported') },
    ],
    [
      'nor while something of it is on its way out',
      clusterOf('north', {
        previous: since(9, 'Succeeded'),
        copies: [copyOf(), copyOf({ name: 'old', entry: { state: 'Deleting' } })],
        planned: { wave: 0, objects: [{ key: copyOf().entry.key, action: 'UPDATE', desiredHash: 'h3' }] },
      }),
      { phase: 'Deleting' },
    ],
    [
      'waits when what is suspended differs',
      clusterOf('north', { ...suspended, differs: 'watched' }),
      { phase: 'Waiting', reason: 'Suspended' },
    ],
    ['is settled when what is suspended does not', clusterOf('north', suspended), { phase: 'Settled', reason: 'Suspended' }],
    [
      'tells what stands while nobody knows what is wanted',
      clusterOf('north', { stage: 'kept', previous: since(9, 'Succeeded', { generation: 2 }) }),
      { phase: 'Settled', generation: 2 },
    ],
    ['and that it is on its way', clusterOf('north', { stage: 'kept', copies: [progressing] }), { phase: 'Progressing' }],
    [
      'fails when what settled is contended',
      clusterOf('north', { previous: since(9, 'Succeeded'), problem: { reason: 'Contended', message: 'with kubectl' } }),
      { phase: 'Failed', reason: 'Contended' },
    ],
    [
      'says what it lost since it was rolled out',
      clusterOf('north', { copies: [copyOf({ object: unhealthy })], previous: since(9, 'Succeeded') }),
      {
        ...{ phase: 'Progressing', message: 'Deployment web: 0 of 2 updated replicas available', health: 'Unhealthy', ready: 0 },
        rollout: expect.objectContaining({ phase: 'Succeeded', since: ago(9) }),
      },
    ],
    [
      'fails where what was rolled out does not get on when it is made again',
      clusterOf('north', { copies: [copyOf({ object: unhealthy, name: 'api' }), failing], previous: since(9, 'Succeeded') }),
      { phase: 'Failed', reason: 'Unhealthy', message: expect.stringContaining('Deployment web: progress deadline exceeded') },
    ],
    ['is being rolled back', clusterOf('north', { stage: 'rollingBack', copies: [failing] }), { phase: 'RollingBack' }],
    ['is rolled back', clusterOf('north', { stage: 'restored', copies: [copyOf({ entry: { appliedHash: 'h2' } })] }), { phase: 'Settled' }],
    ['is rolled back and progresses', clusterOf('north', { stage: 'restored', copies: [progressing] }), { phase: 'Progressing' }],
    ['drains', leavingOf('north', { problem: { reason: 'SurgeHeld', message: 'no room' } }), { phase: 'Draining', reason: 'SurgeHeld' }],
    ['deletes', leavingOf('north', { copies: [copyOf({ entry: { state: 'Deleting' } })] }), { phase: 'Deleting' }],
    [
      'counts no copy that goes',
      clusterOf('north', { copies: [copyOf(), copyOf({ name: 'old', object: unhealthy, entry: { state: 'PendingDeletion' } })] }),
      { health: 'Healthy', ready: 2 },
    ],
    [
      'misses a copy that is gone',
      clusterOf('north', { copies: [copyOf({ object: 'absent' })] }),
      { phase: 'Progressing', health: 'Unhealthy' },
    ],
    [
      'misses a kind that is gone',
      clusterOf('north', { copies: [copyOf({ object: 'unserved' })] }),
      { phase: 'Progressing', health: 'Unhealthy' },
    ],
    [
      'misses no Job that was done',
      clusterOf('north', { copies: [copyOf(), copyOf({ kind: 'Job', object: 'absent' })], previous: since(9, 'Succeeded') }),
      { phase: 'Settled', health: 'Healthy' },
    ],
    ['has nothing to do with an empty plan', clusterOf('north', { copies: [] }), { phase: 'Settled', health: 'Healthy' }],
  ])('%s', (_, facts, expected) => {
    expect(lineOf(facts, context)).toMatchObject(expected);
  });
});

describe('facts that are not current', () => {
  const last = since(300, 'Succeeded', { ready: 2 });

  test.each<[string, ClusterFacts, string, string]>([
    ['no member', { ...clusterOf('north', { previous: last }), member: undefined }, 'Unreachable', 'not a member of the fleet'],
    [
      'unreachable',
      clusterOf('north', { previous: last, member: { phase: 'UNREACHABLE', taints: [], faults: [faultOf('UNREACHABLE', 'refused')] } }),
      'Unreachable',
      'refused',
    ],
    [
      'a write that did not arrive',
      clusterOf('north', { previous: last, problem: { reason: 'Unreachable', message: 'timed out' } }),
      'Unreachable',
      'timed out',
    ],
    [
      'a faulty mirror',
      clusterOf('north', { previous: last, copies: [copyOf({ fault: faultOf('FORBIDDEN', 'no list') })] }),
      'Stale',
      'no list',
    ],
    [
      'a mirror that lost its cluster',
      clusterOf('north', { previous: last, copies: [copyOf({ fault: faultOf('TIMED_OUT') })] }),
      'Unreachable',
      'it does not answer',
    ],
    ['an unread mirror', clusterOf('north', { previous: last, copies: [copyOf({ object: 'unread' })] }), 'Stale', 'nothing is read'],
    ['an old mirror', clusterOf('north', { previous: last, copies: [copyOf({ agoMs: 60_001 })] }), 'Stale', 'no news for more than 60 s'],
    [
      'a cluster never heard',
      clusterOf('north', { previous: last, copies: [], member: { phase: 'CONNECTING', taints: [], faults: [] } }),
      'Stale',
      'no news for more than 60 s',
    ],
  ])('%s is Unknown, with its last figures and its mark', (_, facts, reason, message) => {
    expect(lineOf(facts, context)).toMatchObject({
      phase: 'Unknown',
      health: 'Unknown',
      reason,
      message,
      ready: 2,
      since: now,
      rollout: last.rollout,
    });
  });

  test('facts of a minute ago are current', () => {
    expect(lineOf(clusterOf('north', { copies: [copyOf({ agoMs: 60_000 })] }), context).phase).toBe('Settled');
  });

  test('has the time of the last known state, and the time since when the fault lasts', () => {
    const facts = clusterOf('north', {
      copies: [copyOf({ agoMs: 5_000, fault: faultOf('UNREACHABLE') }), copyOf({ name: 'api', agoMs: 9_000 })],
    });
    const line = lineOf(facts, context);
    expect(line).toMatchObject({ asOf: ago(9), fault: { code: 'UNREACHABLE', message: 'it does not answer', since: now } });
    const later = lineOf({ ...facts, previous: line }, { ...context, nowMs: nowMs + 5_000 });
    expect([later.since, later.fault?.since]).toEqual([now, now]);
  });

  test('a rollout in an unreachable cluster times out', () => {
    const facts = clusterOf('north', { copies: [copyOf({ agoMs: 70_000 })], previous: since(60, 'Progressing') });
    const line = lineOf(facts, at({ rollout: { soakMs: 0, deadlineMs: 60_000 } }));
    expect([line.phase, line.rollout]).toEqual(['Unknown', expect.objectContaining({ phase: 'TimedOut', since: now })]);
    expect(lineOf({ ...facts, copies: [progressing], previous: line }, context)).toMatchObject({ phase: 'Failed', reason: 'TimedOut' });
  });
});

describe('time', () => {
  test('soaks, then settles', () => {
    const facts = clusterOf('north', { previous: since(9, 'Succeeded', { phase: 'Soaking' }) });
    expect(lineOf(facts, at({ rollout: { soakMs: 9_001 } }))).toMatchObject({ phase: 'Soaking', since: ago(9) });
    expect(lineOf(facts, at({ rollout: { soakMs: 9_000 } }))).toMatchObject({ phase: 'Settled', since: now });
  });

  test('starts again with a new generation', () => {
    const line = lineOf(clusterOf('north', { copies: [progressing], previous: since(99, 'Succeeded', { generation: 2 }) }), context);
    expect(line).toMatchObject({ generation: 3, rollout: { phase: 'Progressing', since: now } });
  });

  test('a waiting cluster keeps the generation before', () => {
    const before = since(99, 'Succeeded', { generation: 2 });
    expect(lineOf(clusterOf('north', { stage: 'waiting', previous: before }), context)).toMatchObject({
      generation: 2,
      rollout: before.rollout,
    });
  });

  test('the line stays the same while only time passes, including asOf', () => {
    const line = lineOf(clusterOf('north'), context);
    const later = { ...context, nowMs: nowMs + 30_000 };
    const copies = [copyOf({ agoMs: -30_000 })];
    expect(lineOf(clusterOf('north', { copies, previous: line }), later)).toBe(line);
    const scaled = [copyOf({ agoMs: -30_000, object: withStatus({ readyReplicas: 1 }) })];
    expect(lineOf(clusterOf('north', { copies: scaled, previous: line }), later)).toMatchObject({ ready: 1, asOf: ago(-30), since: now });
  });

  test('shortens a long message, so that the line equals the one read back from the hub', () => {
    const problem = { message: 'm'.repeat(2_000), fault: { code: 'SERVER_ERROR' as const, message: 'f'.repeat(2_000), since: now } };
    const line = lineOf(clusterOf('north', { problem }), context);
    expect([line.message?.length, line.fault?.message.length]).toEqual([1_024, 1_024]);
    const later = { ...context, nowMs: nowMs + 1_000 };
    const copies = [copyOf({ agoMs: -1_000 })];
    expect(lineOf(clusterOf('north', { copies, problem, previous: structuredClone(line) }), later)).toEqual(line);
  });

  test('returns the same line for its own result, for any facts', () => {
    const facts = fc.record({
      stage: fc.constantFrom<ClusterFacts['stage']>('waiting', 'begun', 'rollingBack', 'restored', 'leaving', 'kept'),
      copy: fc.constantFrom(
        copyOf(),
        progressing,
        failing,
        copyOf({ object: 'absent' }),
        copyOf({ object: 'unread' }),
        copyOf({ agoMs: 99_000 }),
      ),
      problem: fc.constantFrom<ClusterFacts['problem']>(
        undefined,
        { reason: 'Conflict', message: 'm' },
        { reason: 'Unreachable', message: 'm' },
        { message: 'm' },
      ),
      before: fc.constantFrom<ClusterLine | undefined>(
        undefined,
        since(9, 'Progressing'),
        since(9, 'Failed'),
        since(9, 'Succeeded', { generation: 2 }),
      ),
    });
    fc.assert(
      fc.property(facts, ({ stage, copy, problem, before }) => {
        const base = stage === 'leaving' ? leavingOf('north', { copies: [copy] }) : clusterOf('north', { stage, copies: [copy] });
        const given = { ...base, ...(problem === undefined ? {} : { problem }) };
        const once = lineOf({ ...given, ...(before === undefined ? {} : { previous: before }) }, context);
        expect(lineOf({ ...given, previous: once }, context)).toEqual(once);
      }),
    );
  });
});

test('waves depend on the marks of this generation, and skip held, suspended and leaving clusters', () => {
  const context3 = { ...context, spec: { rollout: { soakMs: 5_000 } } };
  const lines = linesOf(
    [
      clusterOf('begun', { copies: [progressing] }),
      clusterOf('done', { previous: since(7, 'Succeeded') }),
      clusterOf('older', { stage: 'waiting', previous: since(7, 'Succeeded', { generation: 2 }) }),
      clusterOf('fresh', { stage: 'waiting' }),
      clusterOf('suspended', { stage: 'waiting', problem: { reason: 'Suspended', message: '' } }),
      clusterOf('held', { stage: 'waiting' }),
      leavingOf('leaving'),
    ],
    context3,
  );
  const held = new Set([...lines.keys()].filter((name) => name === 'held'));
  const asked = waveLinesOf(lines, { generation: 3, held });
  expect([...asked].map(([cluster, { phase }]) => `${cluster} ${phase}`)).toEqual([
    'begun progressing',
    'done succeeded',
    'older toApply',
    'fresh toApply',
    'suspended skip',
    'held skip',
  ]);
  expect([...asked.values()].map(({ sinceMs }) => sinceMs).slice(0, 2)).toEqual([nowMs, nowMs - 7_000]);
});

test.each<readonly [string, ClusterFacts, 'failed' | 'open' | undefined]>([
  ['stands', clusterOf('north'), undefined],
  [
    'is unheard of',
    clusterOf('north', { member: { phase: 'UNREACHABLE', asOfMs: 0, taints: [], faults: [faultOf('UNREACHABLE')] } }),
    undefined,
  ],
  ['has lost pods', clusterOf('north', { copies: [copyOf({ object: unhealthy })] }), 'open'],
  ['is made good', clusterOf('north', { differs: 'toWrite' }), 'open'],
  ['waits to be', clusterOf('north', { differs: 'watched', ...suspended }), 'open'],
  ['is denied', clusterOf('north', { problem: { reason: 'Denied', message: 'no' } }), 'failed'],
  ['is contended', clusterOf('north', { problem: { reason: 'Contended', message: 'no' } }), 'failed'],
])('a succeeded cluster stays succeeded for the waves, and shows its regression, if it %s', (_, facts, regression) => {
  const lines = linesOf([{ ...facts, previous: since(9, 'Succeeded') }], context);
  const [line] = waveLinesOf(lines, { generation: 3, held: new Set() }).values();
  expect([line?.phase, line?.regression]).toEqual(['succeeded', regression]);
});
