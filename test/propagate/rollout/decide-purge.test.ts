import { expect, test } from 'vitest';
import type { ClusterLine, Eviction } from '../../../src/propagate/model/propagation.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { waitingPurges } from '../../../src/propagate/rollout/decide-purge.ts';

const nowMs = Date.parse('2030-01-01T00:10:00Z');
const ago = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();

const eviction: Eviction = { cluster: 'east', cause: 'Unreachable', since: ago(900), reachableSince: ago(60), to: ['west'] };
type Line = Pick<ClusterLine, 'wave' | 'rollout' | 'phase' | 'reason' | 'health'>;
const rolling = { wave: 0, phase: 'Progressing', health: 'Unhealthy', rollout: { phase: 'Progressing', since: ago(5) } } as const;
/** A suspended cluster: its objects are left alone, so it has no unhealthy copy. */
const waiting = { wave: 0, phase: 'Waiting', reason: 'Suspended', health: 'Healthy' } as const;
const done = { wave: 0, phase: 'Settled', health: 'Healthy', rollout: { phase: 'Succeeded', since: ago(5) } } as const;
const sick = { ...done, phase: 'Progressing', health: 'Unhealthy' } as const;
const away = { ...done, phase: 'Unknown', reason: 'Unreachable', health: 'Unknown' } as const;
/** A cluster that is not chosen any more. */
const left = { phase: 'Unknown', reason: 'Unreachable', health: 'Unknown' } as const;
const graceOver = { failover: { grace: '60s' } };

interface Given {
  readonly failover?: object;
  readonly eviction?: Partial<Eviction>;
  /** True if the cluster of the old copies does not answer. */
  readonly isAway?: true;
  readonly west?: Line;
  readonly north?: Line;
}

test.each<[string, Given, readonly string[]]>([
  ['old copies wait for new ones', { west: rolling }, ['east']],
  ['old copies wait for new ones that were not started', { west: waiting }, ['east']],
  ['old copies go when the new ones are healthy', { west: done }, []],
  ['old copies wait for new ones that are not healthy any more', { west: sick }, ['east']],
  ['old copies go when `grace` has ended', { west: rolling, ...graceOver }, []],
  ['old copies go when `grace` has ended, although new ones are not healthy any more', { west: sick, ...graceOver }, []],
  ['old copies stay after `grace` while the rollout of new ones was not started', { west: waiting, ...graceOver }, ['east']],
  ['old copies stay after `grace` while no new one could be written', { west: { ...rolling, health: 'Unknown' }, ...graceOver }, ['east']],
  ['`grace` does not run while the cluster of the old copies is away', { west: rolling, ...graceOver, isAway: true }, ['east']],
  ['`grace` does not run before it is back', { west: rolling, failover: { grace: '61s' } }, ['east']],
  ['old copies stay while the new ones are in a cluster that does not answer', { west: away, ...graceOver }, ['east']],
  ['old copies go at once with Directly', { west: rolling, failover: { purge: 'Directly' } }, []],
  ['old copies are released at once with Never', { west: rolling, failover: { purge: 'Never' } }, []],
  ['old copies do not wait for a cluster that is not chosen any more', { west: left }, []],
  ['old copies wait for the cluster to which the new ones moved on', { west: left, north: rolling }, ['east']],
  ['old copies go when the new ones are healthy where they moved on to', { west: left, north: done }, []],
  ['old copies do not wait for a cluster that did not take over', { west: done, north: rolling }, []],
  ['old copies do not wait for a cluster that is gone', {}, []],
  ['a cluster that lost copies by a return has no purge', { west: rolling, eviction: { cause: 'Return' } }, []],
])('%s', (_title, { failover, west, north, isAway, ...given }, expected) => {
  const document = { template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } }], placement: {} };
  const spec = parseSpec(failover === undefined ? document : { ...document, failover: { ...failover } });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  const lines = new Map(Object.entries({ west, north }).flatMap(([name, line]) => (line === undefined ? [] : [[name, line]])));
  const { reachableSince: _, ...away } = eviction;
  const evictions = [{ ...(isAway === true ? away : eviction), ...given.eviction }];
  expect(waitingPurges({ spec, evictions, lines, nowMs })).toEqual(expected);
});
