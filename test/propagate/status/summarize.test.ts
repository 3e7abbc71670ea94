import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterLine, PropagationPhase } from '../../../src/propagate/model/propagation.ts';
import { type PropagationStatus, parseStatus, printStatus } from '../../../src/propagate/model/status-definition.ts';
import type { WavesDecision } from '../../../src/propagate/rollout/next-waves.ts';
import { breachedAtOf } from '../../../src/propagate/rollout/resumption.ts';
import type { ClusterFacts, PropagationFacts } from '../../../src/propagate/status/facts.ts';
import { isSameStatus, summarize } from '../../../src/propagate/status/summarize.ts';
import { ago, clusterOf, copyOf, faultOf, leavingOf, now, nowMs, propagationOf, rollout, withStatus } from './cluster-facts.ts';

const waves: WavesDecision = {
  start: [],
  running: [],
  soaking: [],
  timedOut: [],
  wave: 1,
  waves: 2,
  clusters: 3,
  done: 2,
  failed: 0,
  isOver: false,
};
const breach = { action: 'Pause' as const, sinceMs: nowMs - 5_000 };
const suspend = (more: object) => ({ rollout, suspend: { scheduling: false, all: false, clusters: [], ...more } });
const settled = clusterOf('north');
const waiting = clusterOf('south', { stage: 'waiting', copies: [] });
const suspended = clusterOf('south', { stage: 'waiting', problem: { reason: 'Suspended', message: '' } });
const denied = clusterOf('south', { problem: { reason: 'Denied', message: 'may not' } });
const sick = clusterOf('south', {
  copies: [copyOf({ object: withStatus({ availableReplicas: 0, readyReplicas: 0 }) })],
  previous: {
    cluster: 'south',
    phase: 'Settled',
    health: 'Healthy',
    since: ago(9),
    generation: 3,
    rollout: { phase: 'Succeeded', since: ago(9) },
  },
});
const lost = clusterOf('south', { ...sick, copies: [copyOf({ object: 'absent' })] });
const silent = clusterOf('south', {
  copies: [copyOf({ fault: faultOf('UNREACHABLE') })],
  previous: { cluster: 'south', phase: 'Settled', health: 'Healthy', since: ago(9), ready: 2 },
});
const { plan: _, ...unplanned } = propagationOf([settled]);

describe('the phase is the first one that applies', () => {
  test.each<[string, PropagationFacts, PropagationPhase]>([
    [
      'deleted, whatever else',
      propagationOf([leavingOf('north')], { isDeleting: true, isPaused: true, spec: suspend({ all: true }) }),
      'Deleting',
    ],
    ['suspended as a whole', propagationOf([settled], { spec: suspend({ all: true }) }), 'Suspended'],
    ['not to be planned, and not planned', { ...unplanned, spec: suspend({ scheduling: true }) }, 'Suspended'],
    ['not to be planned, but planned', propagationOf([settled], { spec: suspend({ scheduling: true }) }), 'Settled'],
    ['not planned yet', unplanned, 'Planning'],
    ['refused', { ...unplanned, refused: { stage: 'Accepted', message: 'spec.placement: required' } }, 'Failed'],
    ['refused without a spec', { ...unplanned, spec: undefined, refused: { stage: 'Accepted', message: 'no' } }, 'Failed'],
    ['being rolled back', propagationOf([settled], { rollback: 'running', held: { reason: 'PruneHeld', message: '' } }), 'RollingBack'],
    ['one cluster being rolled back', propagationOf([clusterOf('north', { stage: 'rollingBack' })]), 'RollingBack'],
    ['rolled back', propagationOf([clusterOf('north', { stage: 'restored' })], { rollback: 'done' }), 'Failed'],
    ['held', propagationOf([settled, waiting], { held: { reason: 'PlanStale', message: '' }, isPaused: true }), 'Held'],
    ['held for lack of room', propagationOf([settled, leavingOf('south', { problem: { reason: 'SurgeHeld', message: '' } })]), 'Held'],
    ['paused', propagationOf([settled, waiting], { isPaused: true }), 'Paused'],
    ['in breach', propagationOf([settled, waiting], { waves: { ...waves, breach } }), 'Paused'],
    [
      'in breach, going on',
      propagationOf([settled, waiting], { waves: { ...waves, breach: { ...breach, action: 'Continue' } } }),
      'Rolling',
    ],
    ['waiting', propagationOf([settled, waiting]), 'Rolling'],
    ['draining', propagationOf([settled, leavingOf('south')]), 'Rolling'],
    ['denied somewhere, under way elsewhere', propagationOf([denied, clusterOf('west', { stage: 'waiting' })]), 'Rolling'],
    ['denied somewhere', propagationOf([settled, denied]), 'Degraded'],
    ['sick', propagationOf([settled, sick]), 'Degraded'],
    ['silent', propagationOf([settled, silent]), 'Degraded'],
    ['without room', propagationOf([settled], { plan: { digest: 'd', scheduledAt: now, unplaced: 1, notes: [] } }), 'Degraded'],
    ['suspended somewhere, and not as wanted there', propagationOf([settled, suspended]), 'Rolling'],
    ['suspended somewhere, and as wanted', propagationOf([settled, { ...suspended, stage: 'begun' }]), 'Settled'],
    ['once rolled out, and lost since', propagationOf([settled, lost]), 'Rolling'],
    ['once rolled out, and lost for good', propagationOf([settled, { ...lost, copies: [copyOf({ object: 'unserved' })] }]), 'Degraded'],
    ['settled', propagationOf([settled]), 'Settled'],
    ['nowhere', propagationOf([]), 'Settled'],
  ])('%s', (_, facts, phase) => {
    expect(summarize(facts).phase).toBe(phase);
  });
});

test('has the decision, and every cluster sorted by name', () => {
  const status = summarize(propagationOf([clusterOf('south'), settled], { waves: { ...waves, nextCheckAtMs: nowMs + 1_000 } }));
  expect(status).toMatchObject({
    ...{
      observedGeneration: 3,
      revision: 2,
      digest: 'd3',
      scheduledAt: ago(60),
      desired: 4,
      placed: 4,
      unplaced: 0,
      ready: 4,
      unknown: [],
      paused: false,
    },
    progress: { wave: 1, waves: 2, clusters: 3, done: 2, failed: 0, nextCheckAt: ago(-1) },
  });
  expect(status.clusters?.map(({ cluster }) => cluster)).toEqual(['north', 'south']);
});

test('an unreachable cluster is Unknown, keeps its figures, and does not count', () => {
  const status = summarize(propagationOf([settled, silent]));
  expect(status).toMatchObject({ ready: 2, unknown: ['south'] });
  expect(status.clusters?.map(({ ready }) => ready)).toEqual([2, 2]);
  expect(status.aggregate).toMatchObject([{ observed: false, health: 'Unknown', status: { readyReplicas: 2 } }]);
  expect(status.conditions?.find(({ type }) => type === 'Fresh')).toMatchObject({ status: 'False', message: 'south' });
});

describe('the conditions', () => {
  const conditionIn = (status: PropagationStatus, type: string) => status.conditions?.find((condition) => condition.type === type);

  test.each<[string, PropagationFacts, string, string, string]>([
    [
      'refused by what it says',
      { ...unplanned, refused: { stage: 'Accepted', message: 'spec.placement: required' } },
      'Accepted',
      'False',
      'spec.placement: required',
    ],
    ['accepted', propagationOf([settled]), 'Accepted', 'True', ''],
    ['not planned', unplanned, 'Planned', 'Unknown', ''],
    ['no plan', { ...unplanned, refused: { stage: 'Planned', message: 'no cluster fits' } }, 'Planned', 'False', 'no cluster fits'],
    ['held', propagationOf([], { held: { reason: 'PruneHeld', message: '4 of 5 would go' } }), 'Planned', 'False', '4 of 5 would go'],
    [
      'unplaced',
      propagationOf([], { plan: { digest: 'd', scheduledAt: now, unplaced: 3, notes: [] } }),
      'Planned',
      'False',
      '3 replicas have no cluster',
    ],
    ['never planned, and so not applied', { ...unplanned, clusters: [], previous: {} }, 'Applied', 'Unknown', ''],
    ['never planned, and so not healthy', { ...unplanned, clusters: [], previous: {} }, 'Healthy', 'Unknown', ''],
    ['applied', propagationOf([settled]), 'Applied', 'True', ''],
    ['not applied everywhere', propagationOf([settled, waiting]), 'Applied', 'False', 'south'],
    ['denied', propagationOf([settled, denied]), 'Applied', 'False', 'south'],
    ['healthy', propagationOf([settled]), 'Healthy', 'True', ''],
    ['sick', propagationOf([settled, sick]), 'Healthy', 'False', 'south'],
    ['nobody knows', propagationOf([settled, silent]), 'Healthy', 'Unknown', 'south'],
    ['progressing', propagationOf([settled, waiting]), 'Progressing', 'True', ''],
    ['through', propagationOf([settled]), 'Progressing', 'False', ''],
  ])('%s', (_, facts, type, status, message) => {
    expect(conditionIn(summarize(facts), type)).toMatchObject({ status, message, observedGeneration: 3, lastTransitionTime: now });
  });

  test('name ten clusters and the number of further ones', () => {
    const clusters = Array.from({ length: 12 }, (__, at) => ({ ...denied, cluster: clusterOf(`c${10 + at}`).cluster }));
    expect(conditionIn(summarize(propagationOf(clusters)), 'Applied')?.message).toBe(
      'c10, c11, c12, c13, c14, c15, c16, c17, c18, c19 and 2 more',
    );
  });

  test('include one for the completion', () => {
    const job = (name: string, type: string) =>
      clusterOf(name, { copies: [copyOf({ kind: 'Job', object: { status: { conditions: [{ type, status: 'True' }] } } })] });
    const spec = { rollout, suspend: suspend({}).suspend, completion: { mode: 'All' as const } };
    const complete = summarize(propagationOf([job('north', 'Complete'), job('south', 'Complete')], { spec }));
    expect(complete.completion).toMatchObject({ needed: 2, complete: 2, done: true });
    expect(conditionIn(complete, 'Complete')).toMatchObject({ status: 'True' });
    const failed = summarize(propagationOf([job('north', 'Complete'), job('south', 'Failed')], { spec }));
    expect(conditionIn(failed, 'Complete')).toMatchObject({
      status: 'False',
      reason: 'Failed',
      message: '1 of 2 clusters are complete, 1 failed',
    });
    expect(conditionIn(summarize(propagationOf([settled])), 'Complete')).toBeUndefined();
  });

  test('change their time only with their status', () => {
    const before = summarize(propagationOf([settled]));
    const after = summarize(propagationOf([settled, sick], { previous: before, nowMs: nowMs + 1_000 }));
    expect(conditionIn(after, 'Fresh')?.lastTransitionTime).toBe(now);
    expect(conditionIn(after, 'Healthy')?.lastTransitionTime).toBe(ago(-1));
  });

  test.each([
    [0, 'the failed clusters have recovered, but not for long enough yet'],
    [1, '1 cluster failed'],
    [2, '2 clusters failed'],
  ])('a breach with %i failed says so', (failed, message) => {
    const { conditions } = summarize(propagationOf([settled, waiting], { waves: { ...waves, failed, breach } }));
    expect(conditions?.find(({ type }) => type === 'Progressing')).toMatchObject({ reason: 'Breach', message });
  });

  test('keep a breach for its generation only', () => {
    const { conditions, paused, progress } = summarize(propagationOf([settled, waiting], { waves: { ...waves, failed: 1, breach } }));
    expect([breachedAtOf(conditions, 3), breachedAtOf(conditions, 4)]).toEqual([breach.sinceMs, undefined]);
    expect([paused, progress?.since]).toEqual([true, ago(5)]);
    expect(breachedAtOf(summarize(propagationOf([settled])).conditions, 3)).toBeUndefined();
    expect(breachedAtOf(undefined, 3)).toBeUndefined();
  });
});

test('include the time since when the Propagation waits for a user', () => {
  const paused = summarize(propagationOf([settled], { isPaused: true }));
  expect(paused.progress?.since).toBe(now);
  const later = summarize(propagationOf([settled], { isPaused: true, previous: paused, nowMs: nowMs + 9_000 }));
  expect(later.progress?.since).toBe(now);
  expect(summarize(propagationOf([settled], { previous: paused })).progress?.since).toBeUndefined();
});

test('a generation without a plan keeps the previous lines and figures', () => {
  const before = summarize(propagationOf([settled, sick]));
  const planning = summarize({ ...unplanned, generation: 4, clusters: [], previous: before });
  expect(planning).toMatchObject({ phase: 'Planning', observedGeneration: 4, digest: 'd3', placed: 4, ready: 2 });
  expect([planning.clusters, planning.aggregate]).toEqual([before.clusters, before.aggregate]);
  const notes = [{ severity: 'ERROR', code: 'INVALID', message: 'no' }];
  expect(summarize({ ...unplanned, clusters: [], refused: { stage: 'Accepted', message: 'no', notes }, previous: before }).notes).toEqual(
    notes,
  );
});

test('has the note PRUNE_HELD only while the prune must be confirmed', () => {
  const note = (code: string) => ({ severity: 'ERROR', code, message: code });
  const plan = { digest: 'd', scheduledAt: now, unplaced: 0, notes: [note('PRUNE_HELD'), note('UNPLACED')] };
  const codes = (facts: PropagationFacts) => summarize(facts).notes?.map(({ code }) => code);
  expect(codes(propagationOf([settled], { plan, held: { reason: 'PruneHeld', message: '' } }))).toEqual(['PRUNE_HELD', 'UNPLACED']);
  expect(codes(propagationOf([settled], { plan }))).toEqual(['UNPLACED']);
});

test('has no lines once a deleted Propagation has no copies', () => {
  const before = summarize(propagationOf([settled]));
  expect(summarize({ ...unplanned, clusters: [], isDeleting: true, previous: before }).clusters).toEqual([]);
});

describe('for any facts', () => {
  const cluster = fc
    .record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      stage: fc.constantFrom<ClusterFacts['stage']>('waiting', 'begun', 'rollingBack', 'restored', 'leaving', 'kept'),
      copies: fc.constantFrom(
        [copyOf()],
        [],
        [copyOf({ object: 'absent' })],
        [copyOf({ object: 'unread' })],
        [copyOf({ agoMs: 70_000 })],
        [copyOf({ object: withStatus({ updatedReplicas: 0 }) }), copyOf({ kind: 'ConfigMap', object: {} })],
        [copyOf({ entry: { state: 'PendingDeletion' } })],
      ),
      problem: fc.constantFrom<ClusterFacts['problem']>(
        undefined,
        { reason: 'Denied', message: 'm' },
        { reason: 'SurgeHeld', message: 'm' },
      ),
    })
    .map(({ name, problem, ...given }) => {
      const facts = given.stage === 'leaving' ? leavingOf(name, given) : clusterOf(name, given);
      return problem === undefined ? facts : { ...facts, problem };
    });
  const facts = fc
    .record({
      clusters: fc.uniqueArray(cluster, { selector: (one) => one.cluster }),
      isDeleting: fc.boolean(),
      isPaused: fc.boolean(),
      isPlanned: fc.boolean(),
      rollback: fc.constantFrom<PropagationFacts['rollback']>(undefined, 'running', 'done'),
    })
    .map(({ clusters, isPlanned, rollback, ...more }): PropagationFacts => {
      const base = isPlanned ? propagationOf(clusters, more) : { ...unplanned, clusters, ...more };
      return rollback === undefined ? base : { ...base, rollback };
    });
  const phases: readonly PropagationPhase[] = [
    ...(['Planning', 'Rolling', 'Paused', 'Held', 'RollingBack', 'Settled', 'Degraded', 'Failed', 'Suspended', 'Deleting'] as const),
  ];
  /** The status as it is read back from the hub. */
  const saved = (status: PropagationStatus): PropagationStatus => parseStatus(JSON.parse(JSON.stringify(printStatus(status))));
  const withLines = (given: PropagationFacts, status: PropagationStatus): PropagationFacts => {
    const lines = new Map<string, ClusterLine>(status.clusters?.map((line) => [line.cluster, line]));
    const clusters = given.clusters.map((one) => {
      const previous = lines.get(one.cluster);
      return previous === undefined ? one : { ...one, previous };
    });
    return { ...given, clusters, previous: status };
  };

  test('there is a phase, and each cluster has one line', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const status = summarize(given);
        expect(phases).toContain(status.phase);
        expect(status.clusters?.map(({ cluster: name }) => name)).toEqual(given.clusters.map((one) => one.cluster).sort());
      }),
    );
  });

  test('equal facts in any order give equal bytes', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const other = { ...given, clusters: given.clusters.toReversed() };
        expect(JSON.stringify(summarize(other))).toBe(JSON.stringify(summarize(given)));
      }),
    );
  });

  test('a written status is not written again while only time passes', () => {
    fc.assert(
      fc.property(facts, fc.nat(20_000), (given, elapsed) => {
        const first = saved(summarize(given));
        const status = saved(summarize(withLines(given, first)));
        expect(isSameStatus(first, status)).toBe(true);
        const heard = given.clusters.every(({ copies }) =>
          copies.every(({ mirrored }) => mirrored.result !== 'unread' && mirrored.asOfMs === nowMs),
        );
        if (!heard) return;
        const later = given.clusters.map((one) => ({
          ...one,
          copies: one.copies.map(({ entry, mirrored }) => ({
            entry,
            mirrored: mirrored.result === 'unread' ? mirrored : { ...mirrored, asOfMs: mirrored.asOfMs + elapsed },
          })),
        }));
        expect(isSameStatus(first, summarize(withLines({ ...given, clusters: later, nowMs: nowMs + elapsed }, first)))).toBe(true);
      }),
    );
  });
});
