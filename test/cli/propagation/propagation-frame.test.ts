import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propagationFrame } from '../../../src/cli/propagation/propagation-frame.ts';
import type { ShownPropagation } from '../../../src/cli/propagation/propagation-state.ts';
import { copyLine, propagationState } from '../../support/cli/propagation-states.ts';

const nowMs = Date.parse('2026-01-01T00:00:30Z');
const frame = (states: readonly ShownPropagation[], rows = 24, hasColor = false) =>
  propagationFrame({ states, size: { columns: 80, rows }, nowMs, hasColor });

test('shows the state of each Propagation, then its clusters', () => {
  const web = propagationState({
    phase: 'ROLLING',
    ready: 2,
    progress: { wave: 1, waves: 2, clusters: 2, done: 1, failed: 0 },
    clusters: [
      copyLine('north'),
      copyLine('south', { phase: 'PROGRESSING', wave: 1, ready: 0, health: 'UNHEALTHY', message: '0 of 2', since: '2026-01-01T00:00:25Z' }),
    ],
  });
  const bare = propagationState({
    name: 'settings',
    desired: null,
    clusters: [copyLine('north', { replicas: null, ready: null, wave: null })],
  });
  expect(frame([web, bare])).toEqual([
    'shop/web: Rolling, wave 2 of 2, 1 of 2 clusters done, 2 of 4 replicas ready',
    'CLUSTER   WAVE   PHASE         REPLICAS   READY   HEALTH      SINCE   WHY',
    'north     1      Settled       2          2       Healthy     30s',
    'south     2      Progressing   2          0       Unhealthy   5s      0 of 2',
    '',
    'shop/settings: Settled, 2 of 2 clusters done',
    'CLUSTER   WAVE   PHASE     REPLICAS   READY   HEALTH    SINCE   WHY',
    'north            Settled                      Healthy   30s',
  ]);
});

test('waits for the first state', () => {
  expect(frame([])).toEqual(['waiting for the first state']);
});

test('leaves out settled clusters first if there is not enough room, and counts them', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const phases = ['SETTLED', 'FAILED', 'SETTLED', 'PROGRESSING', 'WAITING', 'OF_A_LATER_GATEWAY'];
  const clusters = names.map((name, index) => copyLine(name, { phase: phases[index] ?? '' }));
  const lines = frame([propagationState({ clusters })], 7);
  expect(lines.slice(2).map((line) => line.split(' ')[0])).toEqual(['b', 'd', 'e', 'f', '…'].slice(0, 5));
  expect(lines.at(-1)).toBe('… and 2 more');
});

test('is never higher than the terminal', () => {
  const state = fc.record({
    phase: fc.constantFrom('ROLLING', 'SETTLED'),
    count: fc.integer({ min: 0, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(state, { maxLength: 6 }), fc.integer({ min: 1, max: 40 }), (states, rows) => {
      const shown = states.map(({ phase, count }) =>
        propagationState({ phase, clusters: Array.from({ length: count }, (_, index) => copyLine(`c${index}`)) }),
      );
      expect(frame(shown, rows).length).toBeLessThanOrEqual(rows);
    }),
  );
});

test('colors states', () => {
  const clusters = [copyLine('north'), copyLine('south', { phase: 'FAILED' }), copyLine('east', { phase: 'WAITING' })];
  const lines = frame([propagationState({ phase: 'PAUSED', clusters })], 24, true);
  const colors = lines.map((line) =>
    [...line.matchAll(/(?!\s)\p{Cc}\[(\d+)m/gu)].map(([, code]) => code).filter((code) => code !== '0' && code !== '1'),
  );
  expect(colors).toEqual([['33'], [], ['32'], ['31'], []]);
});
