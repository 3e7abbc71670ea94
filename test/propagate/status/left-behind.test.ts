import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { defaultFailover } from '../../../src/propagate/model/failover-definition.ts';
import type { CopyLeftBehind, Eviction } from '../../../src/propagate/model/propagation.ts';
import type { ClusterFacts, PlanFacts } from '../../../src/propagate/status/facts.ts';
import { leftBehindFactsOf, leftBehindIn, releasedCopyNotes } from '../../../src/propagate/status/left-behind.ts';
import { ago, copyOf } from './cluster-facts.ts';

const eviction: Eviction = { cluster: 'north', cause: 'Unreachable', since: ago(60), to: ['south'] };
const plan = { evictions: [eviction], unplaced: 0, notes: [] } as unknown as PlanFacts;
const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' };
const copy: CopyLeftBehind = { cluster: 'north', key, uid: 'u1' };
const spec = { failover: { ...defaultFailover, purge: 'Never' } } as never;
const leaving = { cluster: 'north', stage: 'leaving', copies: [copyOf()], member: undefined } as unknown as ClusterFacts;
const empty = { generation: 2, spec, plan, previous: {}, clusters: [] };

test.each<[string, object, readonly CopyLeftBehind[]]>([
  ['records the copies of an evicted cluster before their release', { clusters: [leaving] }, [copy]],
  ['records none with another purge', { clusters: [leaving], spec: { failover: defaultFailover } }, []],
  ['records none while copies are planned there', { clusters: [{ ...leaving, stage: 'begun' }] }, []],
  [
    'records none before all copies have a place elsewhere',
    { clusters: [leaving], plan: { ...plan, evictions: [{ ...eviction, to: undefined }] } },
    [],
  ],
  [
    'records none of a cluster that is left by a return',
    { clusters: [leaving], plan: { ...plan, evictions: [{ ...eviction, cause: 'Return' }] } },
    [],
  ],
  ['records no shared object', { clusters: [{ ...leaving, copies: [copyOf({ entry: { state: 'Shared' } })] }] }, []],
  ['keeps a released copy', { previous: { leftBehind: [copy] }, leftBehind: [{ copy, presence: 'present' }] }, [copy]],
  ['keeps a copy that is not read yet', { previous: { leftBehind: [copy] }, leftBehind: [{ copy, presence: 'unread' }] }, [copy]],
  [
    'keeps all of them without a plan',
    { previous: { leftBehind: [copy] }, leftBehind: [{ copy, presence: 'resolved' }], plan: undefined },
    [copy],
  ],
  ['forgets a copy that is gone', { previous: { leftBehind: [copy] }, leftBehind: [{ copy, presence: 'resolved' }] }, []],
  ['forgets a copy that is planned again', { previous: { leftBehind: [copy] }, clusters: [{ ...leaving, stage: 'begun' }] }, []],
  [
    'keeps a copy of a cluster outside the fleet in the same generation',
    { previous: { leftBehind: [copy], observedGeneration: 2 }, leftBehind: [{ copy, presence: 'outsideFleet' }] },
    [copy],
  ],
  [
    'forgets a copy of a cluster outside the fleet with the next generation',
    { previous: { leftBehind: [copy], observedGeneration: 1 }, leftBehind: [{ copy, presence: 'outsideFleet' }] },
    [],
  ],
])('%s', (_title, given, expected) => {
  expect(leftBehindIn({ ...empty, ...given } as never)).toEqual({ copies: expected, unrecorded: [] });
});

/** A cluster that releases this number of copies. */
function releasing(cluster: string, count: number): ClusterFacts {
  const copies = Array.from({ length: count }, (_, index) => {
    const name = `web-${index}`;
    return copyOf({ name, entry: { key: { ...key, name }, uid: `${cluster} ${name}` } });
  });
  return { ...leaving, cluster: clusterName(cluster), copies };
}

/** The status that a first pass gives while north releases 201 copies. */
const overfull = leftBehindIn({ ...empty, clusters: [releasing('north', 201)] });
const afterwards = { observedGeneration: 2, leftBehind: overfull.copies, leftBehindUnrecorded: overfull.unrecorded };
const allOf = (presence: string) => overfull.copies.map((one) => ({ copy: one, presence }));

test('records at most 200 copies, and counts the others', () => {
  expect(overfull.copies).toHaveLength(200);
  expect(overfull.unrecorded).toEqual([{ cluster: 'north', count: 1 }]);
});

test('keeps recorded copies when another cluster releases copies', () => {
  const evictions = [eviction, { ...eviction, cluster: 'east' }];
  const given = { plan: { ...plan, evictions }, previous: afterwards, leftBehind: allOf('present'), clusters: [releasing('east', 3)] };
  const found = leftBehindIn({ ...empty, ...given } as never);
  expect(found.copies).toEqual(overfull.copies);
  expect(found.unrecorded).toEqual([
    { cluster: 'east', count: 3 },
    { cluster: 'north', count: 1 },
  ]);
});

test.each<[string, object, number | undefined]>([
  ['stays while the last copies are released', { clusters: [releasing('north', 1)], leftBehind: allOf('present') }, 1],
  ['stays when all recorded copies are gone', { leftBehind: allOf('resolved') }, 1],
  ['stays with the next generation while copies are recorded', { generation: 3, leftBehind: allOf('present') }, 1],
  ['ends with the next generation without recorded copies', { generation: 3, leftBehind: allOf('resolved') }, undefined],
  ['stays without a plan', { generation: 3, plan: undefined, leftBehind: allOf('resolved') }, 1],
  ['ends when the cluster has as many copies again', { clusters: [{ ...releasing('north', 1), stage: 'begun' }] }, undefined],
  ['stays while the cluster has no copy again', { clusters: [{ ...releasing('north', 0), stage: 'begun' }] }, 1],
])('the number of unrecorded copies %s', (_title, given, count) => {
  const { unrecorded } = leftBehindIn({ ...empty, previous: afterwards, ...given } as never);
  expect(unrecorded).toEqual(count === undefined ? [] : [{ cluster: 'north', count }]);
});

const held = (metadata: object) => ({ result: 'held', asOfMs: 0, object: { metadata: { name: 'web', uid: 'u1', ...metadata } } });

test.each<[string, object, string]>([
  ['is present', held({}), 'present'],
  ['is present while the mirror still shows the mark of its Propagation', held({ labels: { 'muster.dev/propagation': 'own' } }), 'present'],
  ['is resolved if another Propagation has it', held({ labels: { 'muster.dev/propagation': 'other' } }), 'resolved'],
  ['is resolved if another object has its name', held({ uid: 'u2' }), 'resolved'],
  ['is resolved if it is deleted', { result: 'absent', asOfMs: 0 }, 'resolved'],
  ['is unread while its cluster is not read', { result: 'unread', fault: { code: 'SYNCING' } }, 'unread'],
  ['is outside the fleet with its cluster', { result: 'unread', fault: { code: 'GONE' } }, 'outsideFleet'],
])('a released copy %s', (_title, mirrored, presence) => {
  const propagation = { metadata: { uid: 'own' }, status: { leftBehind: [copy] } } as never;
  expect(leftBehindFactsOf({ read: () => mirrored as never }, propagation)).toEqual([{ copy, presence }]);
});

test('a note names the copies of each cluster that the inventory no longer has', () => {
  const many = Array.from(
    { length: 7 },
    (_, index): CopyLeftBehind => ({ cluster: 'east', key: { ...key, name: `web-${index}` }, uid: `u${index}` }),
  );
  const clusterWide: CopyLeftBehind = { cluster: 'west', key: { apiVersion: 'v1', kind: 'Namespace', name: 'shop' }, uid: 'u9' };
  const notes = releasedCopyNotes({ copies: [copy, ...many, clusterWide], unrecorded: [{ cluster: 'east', count: 35 }] }, [
    { ...leaving, cluster: clusterName('north') },
  ]);

  expect(notes.map(({ severity, code }) => [severity, code])).toEqual(Array.from({ length: 3 }, () => ['WARNING', 'LEFT_BEHIND']));
  expect(notes[0]?.message).toContain('cluster east');
  expect(notes[0]?.message).toContain('Deployment default/web-0, Deployment default/web-1,');
  expect(notes[0]?.message).toContain('Deployment default/web-4 and 2 more.');
  expect(notes[1]?.message).toContain('Namespace shop.');
  expect(notes[2]?.message).toContain('cluster east may have 35 further copies');
  expect(notes[2]?.message).toContain('at most 200');
});
