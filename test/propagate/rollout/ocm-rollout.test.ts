import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { nextWaves } from '../../../src/propagate/rollout/next-waves.ts';
import {
  type ClusterGroup,
  type GroupedLine,
  nextRollout,
  parseTimeout,
  type RolloutStrategy,
  rolloutSize,
} from '../vectors/ocm-rollout.ts';

const nowMs = 10_000_000;
const strategy: RolloutStrategy = {
  type: 'Progressive',
  minSuccessMs: 0,
  progressDeadline: '',
  maxFailures: 0,
  maxConcurrency: 0,
  mandatoryGroups: [],
};
const groups: readonly ClusterGroup[] = [
  { groupName: 'edge', groupIndex: 0, clusters: ['e1', 'e2'] },
  { groupName: '', groupIndex: 1, clusters: ['c1', 'c2', 'c3'] },
];
const line = (cluster: string, phase: GroupedLine['phase'], agoMs = 0): GroupedLine => ({
  cluster,
  group: { groupName: cluster.startsWith('e') ? 'edge' : '', groupIndex: cluster.startsWith('e') ? 0 : 1 },
  phase,
  sinceMs: nowMs - agoMs,
});
const next = (more: Partial<RolloutStrategy>, existing: readonly GroupedLine[] = []) =>
  nextRollout({ strategy: { ...strategy, ...more }, groups, existing, nowMs });
const names = (lines: readonly GroupedLine[]) => lines.map(({ cluster }) => cluster);

describe('mandatory groups', () => {
  test('run first, by name or by index', () => {
    expect(names(next({ mandatoryGroups: [{ groupName: 'edge' }] }).rollout)).toEqual(['e1', 'e2']);
    expect(names(next({ mandatoryGroups: [{ groupIndex: 1 }] }).rollout)).toEqual(['c1', 'c2', 'c3']);
  });

  test('allow no failure, whatever the others allow', () => {
    for (const type of ['Progressive', 'ProgressivePerGroup'] as const) {
      const decision = next({ type, mandatoryGroups: [{ groupName: 'edge' }], maxFailures: '100%' }, [
        line('e1', 'failed'),
        line('e2', 'succeeded'),
      ]);
      expect([names(decision.rollout), decision.isBreached]).toEqual([['e1'], true]);
    }
  });

  test('let the others start once they are done', () => {
    const existing = [line('e1', 'succeeded'), line('e2', 'skip')];
    expect(names(next({ mandatoryGroups: [{ groupName: 'edge' }], maxConcurrency: 2 }, existing).rollout)).toEqual(['c1', 'c2']);
  });

  test('with an unknown name have no effect', () => {
    expect(names(next({ mandatoryGroups: [{ groupName: 'none' }], maxConcurrency: '40%' }).rollout)).toEqual(['c1', 'c2']);
  });
});

test('reports a passed deadline, and the time of the next one', () => {
  const existing = [line('c1', 'progressing', 60_000), line('c2', 'progressing', 59_000), line('gone', 'progressing')];
  const { rollout, timedOut, removed, recheckAfterMs } = next({ progressDeadline: '1m', maxFailures: 1, maxConcurrency: 2 }, existing);
  expect([names(rollout), names(timedOut), names(removed)]).toEqual([['c2', 'c3'], ['c1'], ['gone']]);
  expect(recheckAfterMs).toBe(1_000);
});

test.each(['x', '2d', '0', '1', '1mm', 'h', '-1m'])('%s is no deadline', (text) => {
  expect(() => parseTimeout(text)).toThrow('expected a duration');
});

test.each(['', '%', '5', 'five%', '5 %', '0x10%'])('%j is no size', (text) => {
  expect(() => rolloutSize(text, 10, 1)).toThrow('expected a number or a percentage');
});

test.each([
  [-1, 7],
  [0, 7],
  [3, 3],
  [11, 7],
  ['0%', 7],
  ['1%', 1],
  ['50%', 5],
  ['-50%', 7],
  ['101%', 7],
] as const)('a size of %s in 10 is %d', (value, size) => {
  expect(rolloutSize(value, 10, 7)).toBe(size);
});

test('percentages are of doubles, as theirs are', () => {
  expect(rolloutSize('7%', 100, 100)).toBe(8);
});

test('our waves start the same clusters as OCM if none is still to be applied and none failed', () => {
  const phase = fc.constantFrom('progressing', 'succeeded', 'skip', 'none');
  const scene = fc.record({
    phases: fc.array(phase, { minLength: 1, maxLength: 8 }),
    ages: fc.array(fc.nat(100_000), { minLength: 8, maxLength: 8 }),
    width: fc.integer({ min: 1, max: 8 }),
    soakMs: fc.constantFrom(0, 30_000),
  });
  fc.assert(
    fc.property(scene, ({ phases, ages, width, soakMs }) => {
      const clusters = phases.map((_, at) => `c${at}`);
      const known = phases.flatMap((its, at) => (its === 'none' ? [] : [line(`c${at}`, its, ages[at] ?? 0)]));
      const theirs = nextRollout({
        strategy: { ...strategy, minSuccessMs: soakMs, maxConcurrency: width },
        groups: [{ groupName: '', groupIndex: 1, clusters }],
        existing: known,
        nowMs,
      });
      const ours = nextWaves({
        rollout: { waves: [], maxConcurrency: width, maxFailures: 0, soakMs, onFailure: 'Pause' },
        waves: [{ name: 'all', clusters: clusters.map(clusterName) }],
        lines: new Map(
          known.map(({ cluster, sinceMs = 0 }, at) => [clusterName(cluster), { phase: phaseOf(known[at]), sinceMs }] as const),
        ),
        nowMs,
      });
      expect(ours.start).toEqual(names(theirs.rollout.filter(({ phase: its }) => its === 'toApply')));
    }),
  );
});

function phaseOf(known: GroupedLine | undefined) {
  return known === undefined || known.phase === 'unknown' ? 'skip' : known.phase;
}
