import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterLine } from '../../../src/propagate/model/propagation.ts';
import { type PropagationStatus, parseStatus, printStatus } from '../../../src/propagate/model/status-definition.ts';
import { bounded, maxNotes, maxStatusBytes } from '../../../src/propagate/status/bounded-status.ts';
import { isSameStatus, summarize } from '../../../src/propagate/status/summarize.ts';
import { ago, clusterOf, nowMs, propagationOf } from './cluster-facts.ts';

const bytesOf = (status: PropagationStatus) => Buffer.byteLength(JSON.stringify(printStatus(status)));
/** The character has three bytes. */
const longest = '€'.repeat(1_024);
const fault = { code: 'FORBIDDEN', message: longest, since: ago(9), count: 9 } as const;
const lineOf = (cluster: string, message = longest): ClusterLine => ({
  cluster,
  phase: 'Failed',
  reason: 'Denied',
  message,
  wave: 1,
  replicas: 3,
  ready: 0,
  health: 'Unhealthy',
  since: ago(9),
  asOf: ago(1),
  fault: { ...fault, message },
  generation: 3,
  rollout: { phase: 'Failed', since: ago(9), wanted: 'a'.repeat(32) },
});
const names = (count: number, length: number) => Array.from({ length: count }, (_, index) => `${index}-`.padEnd(length, 'x'));

describe('fits the hub', () => {
  test('500 failed clusters with messages of maximum length in three-byte characters', () => {
    const condition = { type: 'Available', status: 'False', reason: 'No', message: '€'.repeat(32_768) };
    const clusters = names(500, 60);
    const status: PropagationStatus = {
      clusters: clusters.map((name) => lineOf(name)),
      unknown: clusters,
      conditions: [{ type: 'Applied', status: 'False', reason: 'Failed', message: longest, lastTransitionTime: ago(9) }],
      aggregate: [
        {
          key: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
          status: { replicas: 4 },
          observed: true,
          health: 'Unhealthy',
          conditions: clusters.slice(0, 200).map((cluster) => ({ cluster, condition })),
        },
      ],
      notes: Array.from({ length: 5_000 }, () => ({ severity: 'WARNING', code: 'UNPLACED', message: longest, path: 'placement' })),
    };
    const cut = bounded(status, {});
    expect(bytesOf(status)).toBeGreaterThan(2 * maxStatusBytes);
    expect(bytesOf(cut)).toBeLessThanOrEqual(maxStatusBytes);
    // All fields that waves and later plans depend on are complete.
    const { message: _, fault: __, ...figures } = lineOf('');
    const kept = cut.clusters?.map(({ message: _message, fault: _fault, ...line }) => line);
    expect(kept).toEqual(clusters.map((cluster) => ({ ...figures, cluster })));
    expect(cut.clusters?.every(({ message = '' }) => message.length > 0)).toBe(true);
    expect(parseStatus(printStatus(cut))).toEqual(cut);
  });

  test('500 clusters with names of 253 characters', () => {
    const clusters = names(500, 253);
    const status = { clusters: clusters.map((name) => lineOf(name)), unknown: clusters };
    expect(bytesOf(bounded(status, {}))).toBeLessThanOrEqual(maxStatusBytes);
  });

  test('any status, and unchanged if it fits already', () => {
    const arbitrary = fc.record({ count: fc.integer({ min: 0, max: 300 }), message: fc.string({ unit: 'grapheme', maxLength: 1_024 }) });
    fc.assert(
      fc.property(arbitrary, ({ count, message }) => {
        const status = { clusters: names(count, 20).map((name) => lineOf(name, message.slice(0, 1_024).toWellFormed())) };
        const cut = bounded(status, {});
        expect(bytesOf(cut)).toBeLessThanOrEqual(maxStatusBytes);
        if (bytesOf({ ...status, conditions: [], aggregate: [], notes: [] }) <= maxStatusBytes)
          expect(cut.clusters).toEqual(status.clusters);
      }),
      { numRuns: 20 },
    );
  });
});

describe('notes', () => {
  const note = (severity: string, index: number) => ({ severity, code: 'UNPLACED', message: `${index}` });

  test.each([0, 1, maxNotes])('%i notes are kept unchanged', (count) => {
    const notes = Array.from({ length: count }, (_, index) => note('WARNING', index));
    expect(bounded({ notes }, {}).notes).toEqual(notes);
  });

  test('of more notes, errors are kept first, and the rest is counted', () => {
    const notes = Array.from({ length: 300 }, (_, index) => note(index === 299 ? 'ERROR' : 'WARNING', index));
    const told = bounded({ notes }, {}).notes ?? [];
    expect([told[0]?.message, told[1]?.message, told[99]?.message, told.length]).toEqual(['299', '0', '98', maxNotes + 1]);
    expect(told.at(-1)).toEqual({ severity: 'INFO', code: 'MORE', message: 'and 200 more' });
    expect(bounded({ notes: told }, {}).notes).toEqual(told);
  });
});

test('does not write a shortened status again if only time has passed', () => {
  const clusters = names(500, 40).map((name) =>
    clusterOf(name, { problem: { reason: 'Denied', message: longest, fault: { ...fault, count: 1 } } }),
  );
  const facts = propagationOf(clusters);
  const first = summarize(facts);
  const stored = parseStatus(printStatus(first));
  expect(bytesOf(first)).toBeLessThanOrEqual(maxStatusBytes);
  const lines = new Map(stored.clusters?.map((line) => [line.cluster, line]));
  const later = clusters.map((cluster) => {
    const previous = lines.get(cluster.cluster);
    const member = { phase: 'SYNCED', asOfMs: nowMs + 5_000, taints: [], faults: [] } as const;
    return { ...cluster, member, ...(previous === undefined ? {} : { previous }) };
  });
  expect(isSameStatus(stored, summarize({ ...facts, clusters: later, previous: stored, nowMs: nowMs + 5_000 }))).toBe(true);
});
