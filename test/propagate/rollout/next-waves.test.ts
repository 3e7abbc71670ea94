import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import type { RolloutSpec } from '../../../src/propagate/model/spec-definition.ts';
import { nextWaves, type WaveLine, type WavesRequest } from '../../../src/propagate/rollout/next-waves.ts';

const nowMs = 10_000_000;
const defaults: RolloutSpec = { waves: [], maxFailures: 0, soakMs: 0, onFailure: 'Pause' };

/** Waves as `a b | c d`. Lines as `a:progressing@5`: since 5 s; without `@`: since now. */
function step(waves: string, lines: string, more: Partial<RolloutSpec> & Partial<WavesRequest> = {}) {
  const { resumedAtMs, breachedAtMs, excused, ...rollout } = more;
  return nextWaves({
    rollout: { ...defaults, ...rollout, waves: [] },
    waves: waves.split('|').map((names, index) => ({ name: String(index), clusters: namesIn(names) })),
    lines: linesIn(lines),
    resumedAtMs,
    breachedAtMs,
    ...(excused === undefined ? {} : { excused }),
    nowMs,
  });
}

function namesIn(text: string): readonly ClusterName[] {
  return text.split(' ').flatMap((name) => (name === '' ? [] : [clusterName(name)]));
}

function linesIn(text: string): ReadonlyMap<ClusterName, WaveLine> {
  const parsed = text.split(' ').flatMap((part) => /^(\w+):(\w+?)(?:@(\d+))?$/.exec(part) ?? []);
  const lines = new Map<ClusterName, WaveLine>();
  for (let at = 0; at < parsed.length; at += 4) {
    const [, name = '', phase = '', ago = '0'] = parsed.slice(at, at + 4);
    lines.set(clusterName(name), { phase: phase as WaveLine['phase'], sinceMs: nowMs - Number(ago) * 1_000 });
  }
  return lines;
}

describe('the next step', () => {
  test.each<[string, string, string, Partial<RolloutSpec> & Partial<WavesRequest>, readonly string[], number]>([
    ['begins with all of the first wave, by name', 'b a|c', '', {}, ['a', 'b'], 0],
    ['begins no more than the width', 'a b c', '', { maxConcurrency: 2 }, ['a', 'b'], 0],
    ['counts who runs against the width', 'a b c', 'b:progressing', { maxConcurrency: 2 }, ['a'], 0],
    ['counts who soaks against the width', 'a b c', 'a:succeeded@5', { maxConcurrency: 1, soakMs: 6_000 }, [], 0],
    ['goes on after the soak', 'a b c', 'a:succeeded@6', { maxConcurrency: 1, soakMs: 6_000 }, ['b'], 0],
    ['rounds a percentage of the wave up', 'a b c|d', '', { maxConcurrency: '34%' }, ['a', 'b'], 0],
    ['begins one at least', 'a b', '', { maxConcurrency: '1%' }, ['a'], 0],
    ['waits for the wave before', 'a b|c', 'a:succeeded b:progressing', {}, [], 0],
    ['goes to the next wave when all is done', 'a b|c d', 'a:succeeded b:succeeded', {}, ['c', 'd'], 1],
    ['waits for the soak of the wave before', 'a|b', 'a:succeeded@1', { soakMs: 2_000 }, [], 0],
    ['is not held up by who is skipped', 'a b|c', 'a:skip b:succeeded', {}, ['c'], 1],
    ['comes back to who is skipped no more', 'a b|c', 'b:succeeded c:progressing', {}, ['a'], 0],
    ['stops at a failure', 'a b|c', 'a:failed b:succeeded', {}, [], 0],
    ['stops in the wave of the failure too', 'a b', 'a:failed', {}, [], 0],
    ['stops at a timeout', 'a|b', 'a:progressing@60', { deadlineMs: 60_000 }, [], 0],
    ['goes past failures that may be', 'a b|c', 'a:failed b:succeeded', { maxFailures: 1 }, ['c'], 1],
    ['counts failures over all waves', 'a|b|c', 'a:failed b:failed', { maxFailures: 1 }, [], 1],
    ['takes a percentage of failures of all clusters', 'a|b|c d', 'a:failed b:failed', { maxFailures: '50%' }, ['c', 'd'], 2],
    ['never stops where more may fail than there are', 'a b|c', 'a:failed b:failed', { maxFailures: 9 }, ['c'], 1],
    ['goes on with Continue', 'a|b', 'a:failed', { onFailure: 'Continue' }, ['b'], 1],
    ['stops with Rollback', 'a|b', 'a:failed', { onFailure: 'Rollback' }, [], 0],
    ['goes on once resumed', 'a|b|c', 'a:failed@9', { resumedAtMs: nowMs - 8_000 }, ['b'], 1],
    ['stops again at a failure after that', 'a|b|c', 'a:failed@9 b:failed@7', { resumedAtMs: nowMs - 8_000 }, [], 1],
    ['is not resumed by what came before', 'a|b', 'a:failed@9', { resumedAtMs: nowMs - 10_000 }, [], 0],
    [
      'forgives nothing where there was no breach',
      'a b c|d',
      'a:failed@9 b:failed@7 c:succeeded',
      { maxFailures: 1, resumedAtMs: nowMs - 8_000 },
      [],
      0,
    ],
    ['stays in breach though the failed one recovered', 'a|b', 'a:succeeded', { breachedAtMs: nowMs - 5_000 }, [], 0],
    ['leaves that breach once resumed', 'a|b', 'a:succeeded', { breachedAtMs: nowMs - 5_000, resumedAtMs: nowMs - 4_000 }, ['b'], 1],
    ['takes late joiners last', 'a|b', 'a:succeeded b:succeeded z:toApply y:toApply', {}, ['y', 'z'], 2],
    ['lets late joiners wait', 'a|b', 'a:succeeded z:toApply', {}, ['b'], 1],
    ['passes over empty waves', 'a||b', 'a:succeeded', {}, ['b'], 2],
    ['has nothing to do without clusters', '', '', {}, [], 0],
  ])('%s', (_, waves, lines, more, start, wave) => {
    const decision = step(waves, lines, more);
    expect([decision.start, decision.wave]).toEqual([start, wave]);
  });
});

test('returns the state of every cluster, and the time of the next check', () => {
  const lines = 'a:succeeded@10 b:succeeded@1 c:progressing@20 d:progressing@70 e:failed f:skip';
  const { breach, ...decision } = step('a b c d e f g', lines, { soakMs: 5_000, deadlineMs: 60_000, maxFailures: 1 });
  expect(decision).toEqual({
    start: [],
    running: ['c'],
    soaking: ['b'],
    timedOut: ['d'],
    wave: 0,
    waves: 1,
    clusters: 7,
    done: 1,
    failed: 2,
    isOver: false,
    nextCheckAtMs: nowMs + 4_000,
  });
  expect(breach).toEqual({ action: 'Pause', sinceMs: nowMs });
});

test('is over when no cluster waits, runs or soaks', () => {
  expect(step('a b|c', 'a:succeeded b:skip c:succeeded')).toMatchObject({ isOver: true, wave: 1, done: 2, clusters: 3 });
  expect(step('a b|c', 'a:succeeded b:skip').isOver).toBe(false);
});

describe('a breach', () => {
  const breachedAtMs = nowMs - 100_000;

  test.each<[string, string, Partial<RolloutSpec> & Partial<WavesRequest>, boolean]>([
    ['stays while one is failed', 'a:failed@100 b:succeeded@200', {}, true],
    ['stays while one is out of time', 'a:timedOut@100', {}, true],
    ['stays while what failed tries again', 'a:progressing@90', {}, true],
    ['stays until what failed was well for 30 s', 'a:succeeded@29', {}, true],
    ['ends then', 'a:succeeded@30', {}, false],
    ['stays for the soak time, where that is longer', 'a:succeeded@59', { soakMs: 60_000 }, true],
    ['ends after the soak time', 'a:succeeded@60', { soakMs: 60_000 }, false],
    ['is not kept by what ran before it', 'a:succeeded@30 b:progressing@101', {}, false],
    ['ends where no more have failed than may', 'a:succeeded@30 b:failed@90', { maxFailures: 1 }, false],
    ['that is rolled back stays, however well all is', 'a:succeeded@90', { onFailure: 'Rollback' }, true],
    ['does not begin with who is excused', 'a:failed@90', { excused: new Set(namesIn('a')), breachedAtMs: undefined }, false],
    ['ends where all who failed are excused', 'a:failed@100 b:succeeded@30', { excused: new Set(namesIn('a')) }, false],
    ['stays where another failed too', 'a:failed@100 b:failed@90', { excused: new Set(namesIn('a')) }, true],
  ])('%s', (_, lines, more, isBreached) => {
    const decision = step('a b|c', lines, { breachedAtMs, ...more });
    expect(decision.breach !== undefined).toBe(isBreached);
    if (isBreached) expect(decision.start).toEqual([]);
  });

  test('is checked again when it may end', () => {
    expect(step('a|b', 'a:succeeded@20', { breachedAtMs }).nextCheckAtMs).toBe(nowMs + 10_000);
    expect(step('a|b', 'a:progressing@20', { breachedAtMs }).nextCheckAtMs).toBeUndefined();
  });

  test('continues once the breach is known to have ended, and clusters that start then are no part of it', () => {
    const { start, breach, wave } = step('a|b', 'a:succeeded@30', { breachedAtMs });
    expect([start, breach, wave]).toEqual([[], undefined, 1]);
    expect(step('a|b', 'a:succeeded@30').start).toEqual(['b']);
  });
});

test('a breach begins with the first failure that exceeds the limit', () => {
  expect(step('a b c', 'a:failed@3 b:failed@9 c:progressing@62', { maxFailures: 1, deadlineMs: 60_000 }).breach?.sinceMs).toBe(
    nowMs - 3_000,
  );
  expect(step('a b c', 'a:failed@3', { maxFailures: 1 }).breach).toBeUndefined();
});

describe('for any sequence of events', () => {
  const phase = fc.constantFrom<WaveLine['phase']>('toApply', 'progressing', 'succeeded', 'failed', 'timedOut', 'skip');
  const fleet = fc.record({
    waves: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }),
    width: fc.option(fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constantFrom('10%', '50%', '100%')), { nil: undefined }),
    maxFailures: fc.oneof(fc.nat(4), fc.constantFrom('0%', '30%')),
    soakMs: fc.constantFrom(0, 5_000),
    onFailure: fc.constantFrom<RolloutSpec['onFailure']>('Pause', 'Rollback', 'Continue'),
    outcomes: fc.infiniteStream(fc.constantFrom('done', 'fail', 'stay')),
  });
  const wavesOf = (sizes: readonly number[]) =>
    sizes.map((size, wave) => ({ name: String(wave), clusters: Array.from({ length: size }, (_, at) => clusterName(`w${wave}-${at}`)) }));
  const widthIn = (width: number | string | undefined, size: number) =>
    width === undefined ? size : typeof width === 'number' ? width : Math.max(1, Math.ceil((Number.parseInt(width, 10) * size) / 100));

  test('no wave exceeds its concurrency, and none starts before the earlier ones are done', () => {
    fc.assert(
      fc.property(fleet, ({ waves: sizes, width, maxFailures, soakMs, onFailure, outcomes }) => {
        const waves = wavesOf(sizes);
        const rollout: RolloutSpec = {
          ...defaults,
          maxFailures,
          soakMs,
          onFailure,
          ...(width === undefined ? {} : { maxConcurrency: width }),
        };
        const lines = new Map<ClusterName, WaveLine>();
        const isOpen = (cluster: ClusterName, now: number) => {
          const line = lines.get(cluster);
          if (line === undefined || line.phase === 'progressing') return true;
          return line.phase === 'succeeded' && now < line.sinceMs + soakMs;
        };
        let now = nowMs;
        let breached = false;
        for (let turn = 0; turn < 60; turn++) {
          const decision = nextWaves({ rollout, waves, lines, nowMs: now });
          if (breached && onFailure !== 'Continue') expect(decision.start).toEqual([]);
          for (const cluster of decision.start) {
            const wave = waves.findIndex(({ clusters }) => clusters.includes(cluster));
            expect(waves.slice(0, wave).every(({ clusters }) => clusters.every((before) => !isOpen(before, now)))).toBe(true);
            expect(lines.has(cluster)).toBe(false);
            lines.set(cluster, { phase: 'progressing', sinceMs: now });
          }
          for (const { clusters } of waves) {
            const taking = clusters.filter((cluster) => lines.has(cluster) && isOpen(cluster, now));
            expect(taking.length).toBeLessThanOrEqual(widthIn(width, clusters.length));
          }
          now += 1_000;
          for (const [cluster, line] of lines) {
            if (line.phase !== 'progressing') continue;
            const outcome = outcomes.next().value;
            if (outcome === 'done') lines.set(cluster, { phase: 'succeeded', sinceMs: now });
            if (outcome === 'fail') lines.set(cluster, { phase: 'failed', sinceMs: now });
          }
          breached = nextWaves({ rollout, waves, lines, nowMs: now }).breach !== undefined;
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the rollout ends: with Continue, every cluster starts if clusters end', () => {
    fc.assert(
      fc.property(fleet, ({ waves: sizes, width, soakMs }) => {
        const waves = wavesOf(sizes);
        const rollout: RolloutSpec = {
          ...defaults,
          soakMs,
          onFailure: 'Continue',
          ...(width === undefined ? {} : { maxConcurrency: width }),
        };
        const lines = new Map<ClusterName, WaveLine>();
        let now = nowMs;
        for (let turn = 0; turn < 400; turn++) {
          const decision = nextWaves({ rollout, waves, lines, nowMs: now });
          if (decision.isOver) break;
          for (const cluster of decision.start) lines.set(cluster, { phase: turn % 3 === 0 ? 'failed' : 'succeeded', sinceMs: now });
          now = Math.max(now + 1_000, decision.nextCheckAtMs ?? 0);
        }
        expect(lines.size).toBe(sizes.reduce((sum, size) => sum + size, 0));
      }),
    );
  });

  test('the order of the input has no effect, and every cluster is counted once', () => {
    const given = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 9 }), phase, fc.nat(100)), { selector: ([name]) => name });
    fc.assert(
      fc.property(given, fc.nat(3), (entries, maxFailures) => {
        const waves = [
          { name: 'one', clusters: namesIn('c3 c1 c2') },
          { name: 'two', clusters: namesIn('c5 c4') },
        ];
        const lines = entries.map(([name, its, ago]) => [clusterName(`c${name}`), { phase: its, sinceMs: nowMs - ago * 1_000 }] as const);
        const rollout = { ...defaults, maxFailures, soakMs: 20_000, deadlineMs: 50_000 };
        const decide = (ordered: typeof lines) => nextWaves({ rollout, waves, lines: new Map(ordered), nowMs });
        const decision = decide(lines);
        expect(JSON.stringify(decide(lines.toReversed()))).toBe(JSON.stringify(decision));
        const skipped = entries.filter(([, its]) => its === 'skip').length;
        const waiting = [...new Set([...namesIn('c1 c2 c3 c4 c5'), ...lines.map(([name]) => name)])].filter(
          (name) => (new Map(lines).get(name)?.phase ?? 'toApply') === 'toApply',
        ).length;
        const { running, soaking, done, failed, clusters } = decision;
        expect(running.length + soaking.length + done + failed + skipped + waiting).toBe(clusters);
      }),
    );
  });
});

test('a cluster that succeeded and was changed since is not done, and no breach', () => {
  const lines = new Map<ClusterName, WaveLine>(
    (['failed', 'open', undefined] as const).map((regression, index) => [
      clusterName('abc'.charAt(index)),
      { phase: 'succeeded', sinceMs: nowMs - 5_000, ...(regression === undefined ? {} : { regression }) },
    ]),
  );
  const waves = ['a b c', 'd'].map((names, index) => ({ name: String(index), clusters: namesIn(names) }));
  const decision = nextWaves({ rollout: defaults, waves, lines, nowMs });
  expect(decision).toMatchObject({ clusters: 4, done: 1, failed: 1, start: ['d'] });
  expect(decision.breach).toBeUndefined();
  // A cluster that still soaks was not done.
  const soaking = nextWaves({ rollout: { ...defaults, soakMs: 6_000 }, waves, lines, nowMs });
  expect(soaking).toMatchObject({ done: 0, failed: 1, soaking: ['a', 'b', 'c'] });
});
