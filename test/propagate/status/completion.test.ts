import { describe, expect, test } from 'vitest';
import type { RolloutMark } from '../../../src/propagate/model/propagation.ts';
import type { CompletionSpec } from '../../../src/propagate/model/spec.ts';
import { completionIn, completionOf, type JobsEnd, jobsEndOf } from '../../../src/propagate/status/completion.ts';
import type { ClusterFacts } from '../../../src/propagate/status/facts.ts';
import { clusterOf, copyOf, now } from './cluster-facts.ts';

const ends = (text: string): readonly JobsEnd[] =>
  [...text].map((letter) => ({ c: 'complete', f: 'failed', o: 'open' })[letter] as JobsEnd);
const condition = (type: string, status = 'True') => ({ status: { conditions: [{ type, status }] } });
const job = (object: Parameters<typeof copyOf>[0]) => copyOf({ kind: 'Job', ...object });
const succeeded: { readonly rollout: RolloutMark } = { rollout: { phase: 'Succeeded', since: now } };

describe('completion', () => {
  test.each([
    ['Any', 'ooo', 1, false],
    ['Any', 'ocf', 1, true],
    ['Any', '', 1, false],
    ['All', 'cco', 3, false],
    ['All', 'ccc', 3, true],
    ['All', '', 1, false],
  ] as const)('%s of %s needs %d: %s', (mode, text, needed, done) => {
    expect(completionOf({ mode }, ends(text), undefined)).toMatchObject({ mode, needed, done });
  });

  test('counts complete and failed clusters', () => {
    expect(completionOf({ mode: 'Count', count: 2 }, ends('cfo'), undefined)).toEqual({
      mode: 'Count',
      needed: 2,
      complete: 1,
      failed: 1,
      done: false,
    });
    expect(completionOf({ mode: 'Count', count: 2 }, ends('cfc'), undefined).done).toBe(true);
  });

  test('done stays true while the same number is needed', () => {
    const done = completionOf({ mode: 'All' }, ends('cc'), undefined);
    expect(completionOf({ mode: 'All' }, ends('co'), done)).toMatchObject({ complete: 1, done: true });
    expect(completionOf({ mode: 'All' }, ends('cco'), done).done).toBe(false);
    expect(completionOf({ mode: 'Count', count: 2 }, ends('oo'), done).done).toBe(false);
  });
});

describe('the end of the Jobs of a cluster', () => {
  test.each([
    ['none', [copyOf()], undefined],
    ['one complete', [job({ object: condition('Complete') })], 'complete'],
    ['one that is said not to be', [job({ object: condition('Complete', 'False') })], 'open'],
    ['one failed', [job({ object: condition('Failed') }), job({ name: 'b', object: condition('Complete') })], 'failed'],
    ['one running', [job({ object: {} }), job({ name: 'b', object: condition('Complete') })], 'open'],
    ['one not there', [job({ object: 'absent' })], 'open'],
    ['one that nobody sees', [job({ object: 'unread' })], 'open'],
  ] as const)('%s', (_, copies, end) => {
    expect(jobsEndOf({ copies }, {})).toBe(end);
  });

  test('a Job that is gone after its success counts as complete', () => {
    expect(jobsEndOf({ copies: [job({ object: 'absent' })] }, succeeded)).toBe('complete');
    expect(jobsEndOf({ copies: [job({ object: 'unread' })] }, succeeded)).toBe('open');
  });
});

describe('the excused clusters', () => {
  const job = (name: string, type: string) =>
    clusterOf(name, { copies: [copyOf({ kind: 'Job', object: { status: { conditions: [{ type, status: 'True' }] } } })] });
  const excusedIn = (completion: CompletionSpec, ...clusters: readonly ClusterFacts[]) => [
    ...(completionIn({ spec: { completion }, clusters, previous: {} }, new Map())?.excused ?? []),
  ];

  test('are those with a failed Job, once enough others are complete', () => {
    expect(excusedIn({ mode: 'Any' }, job('north', 'Complete'), job('south', 'Failed'), job('east', 'Running'))).toEqual(['south']);
    expect(excusedIn({ mode: 'Count', count: 2 }, job('north', 'Complete'), job('south', 'Failed'))).toEqual([]);
    expect(excusedIn({ mode: 'All' }, job('north', 'Complete'), job('south', 'Failed'))).toEqual([]);
  });

  test('are none without a completion', () => {
    expect(completionIn({ spec: {}, clusters: [job('south', 'Failed')], previous: {} }, new Map())).toBeUndefined();
  });
});
