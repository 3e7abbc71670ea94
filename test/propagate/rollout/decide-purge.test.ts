import { expect, test } from 'vitest';
import type { ClusterLine, Eviction } from '../../../src/propagate/model/propagation.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { waitingPurges } from '../../../src/propagate/rollout/decide-purge.ts';

const nowMs = Date.parse('2030-01-01T00:10:00Z');
const ago = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();

const eviction: Eviction = { cluster: 'east', cause: 'Unreachable', since: ago(60), to: ['west'] };
const rolling = { wave: 0, rollout: { phase: 'Progressing', since: ago(5) } } as const;
const done = { wave: 0, rollout: { phase: 'Succeeded', since: ago(5) } } as const;

interface Given {
  readonly failover?: object;
  readonly eviction?: Partial<Eviction>;
  readonly west?: Pick<ClusterLine, 'wave' | 'rollout'>;
}

test.each<[string, Given, readonly string[]]>([
  ['old copies wait for new ones', { west: rolling }, ['east']],
  ['old copies wait for new ones that were not started', { west: { wave: 0 } }, ['east']],
  ['old copies go when the new ones are rolled out', { west: done }, []],
  ['old copies go when `grace` has ended', { west: rolling, failover: { grace: '60s' } }, []],
  ['old copies go at once with Directly', { west: rolling, failover: { purge: 'Directly' } }, []],
  ['old copies are released at once with Never', { west: rolling, failover: { purge: 'Never' } }, []],
  ['old copies do not wait for a cluster that is not chosen any more', { west: { rollout: rolling.rollout } }, []],
  ['old copies do not wait for a cluster that is gone', {}, []],
  ['a cluster that lost copies by a return has no purge', { west: rolling, eviction: { cause: 'Return' } }, []],
])('%s', (_title, { failover, west, ...given }, expected) => {
  const document = { template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } }], placement: {} };
  const spec = parseSpec(failover === undefined ? document : { ...document, failover: { ...failover } });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  const lines = new Map(west === undefined ? [] : [['west', west]]);
  expect(waitingPurges({ spec, evictions: [{ ...eviction, ...given.eviction }], lines, nowMs })).toEqual(expected);
});
