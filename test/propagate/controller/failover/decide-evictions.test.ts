import { expect, test } from 'vitest';
import { decideEvictions, type EvictionFacts } from '../../../../src/propagate/controller/failover/decide-evictions.ts';
import type { ClusterLine, Eviction } from '../../../../src/propagate/model/propagation.ts';
import { parseSpec } from '../../../../src/propagate/model/spec.ts';

const nowMs = Date.parse('2030-01-01T00:10:00Z');
const ago = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();
const now = ago(0);
const maintenance = { key: 'maintenance', value: 'tonight', effect: 'NoExecute' };
const taintSince = (seconds: number) => [{ taint: 'maintenance=tonight:NoExecute', since: ago(seconds) }];

interface Given {
  readonly spec?: object;
  readonly line?: Partial<ClusterLine>;
  readonly eviction?: Partial<Eviction>;
  readonly phase?: 'SYNCED' | 'DEGRADED' | 'CONNECTING' | 'UNREACHABLE' | 'left';
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly holds?: boolean;
  readonly mayEvict?: boolean;
  /** Default: for long enough. */
  readonly seenUnhealthyMs?: number | undefined;
  readonly hub?: string;
  readonly reached?: readonly string[];
}

function decide({
  spec = {},
  line,
  eviction,
  phase = 'SYNCED',
  taints = [],
  holds = true,
  mayEvict = true,
  hub = 'hub',
  reached = [],
  ...seen
}: Given) {
  const read = parseSpec({
    template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } }],
    placement: {},
    ...spec,
  });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  const lines: readonly ClusterLine[] =
    line === undefined ? [] : [{ cluster: 'east', phase: 'Settled', wave: 0, health: 'Healthy', since: ago(600), ...line }];
  const facts: EvictionFacts = {
    spec: read,
    status: {
      clusters: [...lines],
      ...(eviction === undefined ? {} : { evictions: [{ cluster: 'east', cause: 'Unreachable', since: ago(60), ...eviction }] }),
    },
    hub,
    reached: new Set(reached),
    member: () => (phase === 'left' ? undefined : { phase, taints }),
    holdsCopies: () => holds,
    mayEvict,
    seenUnhealthyMs: () => ('seenUnhealthyMs' in seen ? seen.seenUnhealthyMs : nowMs - 60_000),
    nowMs,
  };
  const { evictions, isReturn, nextCheckAtMs } = decideEvictions(facts);
  const [found] = evictions;
  return {
    ...(found === undefined ? {} : { [found.cause]: found }),
    ...(isReturn ? { isReturn } : {}),
    ...(nextCheckAtMs === undefined ? {} : { inS: (nextCheckAtMs - nowMs) / 1_000 }),
  };
}

const after = { failover: { after: '30s' } };
const away = { line: { awaySince: ago(30) }, phase: 'UNREACHABLE' } as const;
const begun = (cause: Eviction['cause']) => ({
  [cause]: { cluster: 'east', cause, since: now, ...(cause === 'Unreachable' ? {} : { reachableSince: now }) },
});

test.each<[string, Given, object]>([
  ['a cluster that answers stays', { spec: after, line: {} }, {}],
  ['a cluster that is away for long enough is left', { spec: after, ...away }, begun('Unreachable')],
  ['a cluster that is away for less stays until then', { spec: after, ...away, line: { awaySince: ago(20) } }, { inS: 10 }],
  ['a cluster that is away stays without `after`', { ...away }, {}],
  ['the hub is not left because it is away', { spec: after, ...away, hub: 'east' }, {}],
  ['a cluster that a live request reaches is not left', { spec: after, ...away, reached: ['east'] }, {}],
  ['a cluster that is connecting is not left', { spec: after, line: { awaySince: ago(99) }, phase: 'CONNECTING' }, {}],
  ['a cluster outside the fleet is not left', { spec: after, line: { awaySince: ago(99) }, phase: 'left' }, {}],
  ['a cluster without planned copies is not left', { spec: after, phase: 'UNREACHABLE' }, {}],
  ['nothing is left with the rights of a requester', { spec: after, ...away, mayEvict: false }, {}],
  ['nothing is left while the cluster is suspended', { spec: { ...after, suspend: { clusters: ['east'] } }, ...away }, {}],
  ['nothing is left while scheduling is suspended', { spec: { ...after, suspend: { scheduling: true } }, ...away }, {}],
  ['a NoExecute taint evicts at once, also without `failover`', { line: { taints: taintSince(0) }, taints: [maintenance] }, begun('Taint')],
  ['a NoSchedule taint evicts nothing', { line: {}, taints: [{ ...maintenance, effect: 'NoSchedule' }] }, {}],
  [
    'a tolerated taint evicts nothing',
    {
      line: { taints: taintSince(0) },
      taints: [maintenance],
      spec: { placement: { tolerations: [{ key: 'maintenance', operator: 'Exists' }] } },
    },
    {},
  ],
  [
    'a taint that is tolerated for some time evicts after it',
    {
      line: { taints: taintSince(5) },
      taints: [maintenance],
      spec: { placement: { tolerations: [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 12 }] } },
    },
    { inS: 7 },
  ],
  [
    'the first toleration that matches counts',
    {
      line: { taints: taintSince(5) },
      taints: [maintenance],
      spec: {
        placement: {
          tolerations: [
            { key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
            { key: 'maintenance', operator: 'Exists' },
          ],
        },
      },
    },
    begun('Taint'),
  ],
  [
    'an unhealthy copy evicts in time',
    { spec: { failover: { unhealthyAfter: '5s' } }, line: { unhealthySince: ago(5) } },
    begun('Unhealthy'),
  ],
  [
    'a copy that this process has not seen unhealthy is checked again soon',
    { spec: { failover: { unhealthyAfter: '5s' } }, line: { unhealthySince: ago(5) }, seenUnhealthyMs: undefined },
    { inS: 5 },
  ],
  [
    'a copy that this process has just seen unhealthy stays for a moment',
    { spec: { failover: { unhealthyAfter: '5s' } }, line: { unhealthySince: ago(5) }, seenUnhealthyMs: nowMs - 1_000 },
    { inS: 4 },
  ],
  [
    'the health of a cluster that is away is unknown',
    { spec: { failover: { unhealthyAfter: '5s' } }, line: { unhealthySince: ago(5) }, phase: 'UNREACHABLE' },
    {},
  ],
])('begins an eviction: %s', (_title, given, expected) => {
  expect(decide(given)).toEqual(expected);
});

const kept = (more: Partial<Eviction> = {}) => ({ Unreachable: { cluster: 'east', cause: 'Unreachable', since: ago(60), ...more } });
const moved = { eviction: { to: ['west'], reachableSince: ago(30) } };
const reachable = moved.eviction;
const back = { failover: { return: 'Back', returnAfter: '5s' } };

test.each<[string, Given, object]>([
  ['it lasts while the cluster is away, and `grace` does not run', { phase: 'UNREACHABLE', ...moved }, kept({ to: ['west'] })],
  [
    '`grace` runs from when the cluster answers',
    { eviction: { to: ['west'] } },
    { ...kept({ to: ['west'], reachableSince: now }), inS: 600 },
  ],
  ['`grace` runs on while a gateway starts', { phase: 'CONNECTING', ...moved }, { ...kept(reachable), inS: 570 }],
  ['it lasts while a gateway starts', { phase: 'CONNECTING', eviction: {}, line: {} }, kept()],
  ['it lasts while the cluster is outside the fleet', { phase: 'left', ...moved, holds: false }, kept(reachable)],
  ['it ends at once if nothing has moved', { eviction: {}, line: {} }, {}],
  ['it lasts until the old copies are gone', { ...moved, holds: true }, { ...kept(reachable), inS: 570 }],
  ['it ends when the old copies are gone', { ...moved, holds: false }, {}],
  [
    'it lasts while the cluster has a taint',
    { ...moved, holds: false, taints: [maintenance], spec: { placement: { tolerations: [] } } },
    kept(reachable),
  ],
  ['it notes when the cluster is back', { spec: back, ...moved, holds: false }, { ...kept({ ...reachable, backSince: now }), inS: 5 }],
  [
    'it forgets that when the cluster is away again',
    { spec: back, eviction: { ...reachable, backSince: ago(4) }, holds: false, phase: 'UNREACHABLE' },
    kept({ to: ['west'] }),
  ],
  ['copies return in time', { spec: back, eviction: { to: ['west'], backSince: ago(5) }, holds: false }, { isReturn: true }],
  [
    'copies do not return before the old ones are gone',
    { spec: back, eviction: { ...reachable, backSince: ago(5) } },
    { ...kept({ ...reachable, backSince: ago(5) }), inS: 570 },
  ],
  ['a cluster that lost copies by a return is free when they are gone', { eviction: { cause: 'Return' }, holds: false }, {}],
  ['a cluster that lost copies by a return is free when it is chosen again', { eviction: { cause: 'Return' }, line: {} }, {}],
  [
    'a cluster that gets copies by a return may be evicted itself',
    { eviction: { cause: 'Return' }, spec: after, ...away },
    begun('Unreachable'),
  ],
])('reviews an eviction: %s', (_title, given, expected) => {
  expect(decide(given)).toEqual(expected);
});
