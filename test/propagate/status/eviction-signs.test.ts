import { expect, test } from 'vitest';
import { fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { defaultFailover } from '../../../src/propagate/model/failover-definition.ts';
import type { ClusterLine, Eviction } from '../../../src/propagate/model/propagation.ts';
import type { FailoverSpec } from '../../../src/propagate/model/spec.ts';
import { doubledNotes } from '../../../src/propagate/status/doubled-notes.ts';
import { evictionSignsOf } from '../../../src/propagate/status/eviction-signs.ts';
import type { ClusterFacts } from '../../../src/propagate/status/facts.ts';
import { ago, copyOf, now } from './cluster-facts.ts';

type Member = NonNullable<ClusterFacts['member']>;
type Signs = Pick<ClusterLine, 'awaySince' | 'unhealthySince' | 'taints'>;

const member = (phase: Member['phase'], taints: Member['taints'] = []): Member => ({ phase, taints, faults: [] });
const lost = fault('UNREACHABLE', 'the connection failed', { cluster: clusterName('north'), retry: 'LATER' });
const line: ClusterLine = { cluster: 'north', phase: 'Settled', health: 'Healthy', since: ago(99) };
const succeeded = { phase: 'Succeeded', since: ago(99) } as const;
const noExecute = { key: 'dead', effect: 'NoExecute' };

interface Given {
  readonly member?: Member;
  readonly previous?: Signs;
  readonly health?: ClusterLine['health'];
  readonly mark?: ClusterLine['rollout'];
}

test.each<[string, Given, Signs]>([
  ['a healthy cluster has none', { member: member('SYNCED') }, {}],
  ['a cluster that stops to answer is away from now on', { member: member('UNREACHABLE') }, { awaySince: now }],
  [
    'a cluster is away since its fault began',
    { member: { ...member('UNREACHABLE'), faults: [{ ...lost, sinceMs: Date.parse(ago(5)) }] } },
    { awaySince: new Date(Date.parse(ago(5))).toISOString() },
  ],
  ['a cluster stays away since then', { member: member('UNREACHABLE'), previous: { awaySince: ago(9) } }, { awaySince: ago(9) }],
  ['a start of the gateway forgets nothing', { member: member('CONNECTING'), previous: { awaySince: ago(9) } }, { awaySince: ago(9) }],
  ['a cluster outside the fleet keeps its time', { previous: { awaySince: ago(9) } }, { awaySince: ago(9) }],
  ['any answer ends the time', { member: member('DEGRADED'), previous: { awaySince: ago(9) } }, {}],
  ['a copy is unhealthy after its rollout', { member: member('SYNCED'), health: 'Unhealthy', mark: succeeded }, { unhealthySince: now }],
  [
    'a copy that was never rolled out is the business of its rollout',
    { member: member('SYNCED'), health: 'Unhealthy', mark: { phase: 'Progressing', since: now } },
    {},
  ],
  [
    'an unknown health changes nothing',
    { member: member('CONNECTING'), health: 'Unknown', previous: { unhealthySince: ago(9) } },
    { unhealthySince: ago(9) },
  ],
  ['a healthy copy ends the time', { member: member('SYNCED'), previous: { unhealthySince: ago(9) } }, {}],
  [
    'each NoExecute taint has its time',
    {
      member: member('SYNCED', [noExecute, { key: 'full', effect: 'NoSchedule' }]),
      previous: { taints: [{ taint: 'dead:NoExecute', since: ago(9) }] },
    },
    { taints: [{ taint: 'dead:NoExecute', since: ago(9) }] },
  ],
  ['a new taint begins now', { member: member('SYNCED', [noExecute]) }, { taints: [{ taint: 'dead:NoExecute', since: now }] }],
])('%s', (_title, { member: known, previous, health = 'Healthy', mark }, expected) => {
  const facts = { member: known, ...(previous === undefined ? {} : { previous: { ...line, ...previous } }) };
  expect(evictionSignsOf({ facts, health, mark, now })).toEqual(expected);
});

const evicted: Eviction = { cluster: 'north', cause: 'Unreachable', since: ago(60), to: ['south'] };

test.each<[string, Partial<Eviction>, Partial<ClusterFacts>, boolean]>([
  ['while the cluster is away', {}, { member: member('UNREACHABLE') }, true],
  ['until the last copy is gone', {}, { member: member('SYNCED') }, true],
  ['no more when the last copy is gone', {}, { member: member('SYNCED'), copies: [] }, false],
  ['not as long as all copies are planned there', { to: undefined as never }, { member: member('UNREACHABLE') }, false],
  [
    'for a part that waits for its deletion',
    { to: undefined as never },
    { copies: [copyOf({ entry: { state: 'PendingDeletion' } })] },
    true,
  ],
  [
    'if a part of the replicas moved',
    { to: undefined as never },
    { member: member('UNREACHABLE'), planned: { wave: 0, replicas: 1, objects: [] } },
    true,
  ],
  ['not where the cluster answered all the time', { cause: 'Taint' }, { member: member('SYNCED') }, false],
  ['if such a cluster stops to answer', { cause: 'Taint' }, { member: member('UNREACHABLE') }, true],
  ['not after a return', { cause: 'Return' }, { member: member('UNREACHABLE') }, false],
])('copies are possibly doubled: %s', (_title, more, facts, expected) => {
  const eviction = Object.fromEntries(Object.entries({ ...evicted, ...more }).filter(([, value]) => value !== undefined)) as Eviction;
  const clusters = [{ cluster: 'north', stage: 'leaving', copies: [copyOf()], member: member('SYNCED'), ...facts } as ClusterFacts];
  const notes = doubledNotes({ previous: { evictions: [eviction] }, clusters });
  expect(notes.map(({ code }) => code)).toEqual(expected ? ['POSSIBLY_DOUBLED'] : []);
  if (expected) expect(notes[0]?.message).toContain('north');
});

test.each<[FailoverSpec['purge'], string]>([
  ['Directly', 'they are removed as soon as it answers'],
  ['Gracefully', 'they are removed when it answers and the new copies are healthy, or are still unhealthy after failover.grace'],
  ['Never', 'as soon as it answers, they are released and stay'],
])('the warning describes the effect of purge %s on the old copies', (purge, fate) => {
  const spec = { failover: { ...defaultFailover, purge } } as never;
  const clusters = [{ cluster: 'north', stage: 'leaving', copies: [copyOf()], member: member('UNREACHABLE') } as never];
  expect(doubledNotes({ spec, previous: { evictions: [evicted] }, clusters })[0]?.message).toContain(fate);
});
