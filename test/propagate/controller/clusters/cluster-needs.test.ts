import { expect, test } from 'vitest';
import { hasWork, type NeedsInput, needsNoWrite, needsOf } from '../../../../src/propagate/controller/clusters/cluster-needs.ts';
import type { InventoryEntry } from '../../../../src/propagate/model/inventory.ts';
import type { RenderedObject } from '../../../../src/propagate/model/plan.ts';
import type { MirroredObject } from '../../../../src/store/member-objects.ts';

const key = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'web' };
const jobKey = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'web' };
const wanted: RenderedObject = {
  key,
  action: 'CREATE',
  desired: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default' } },
  desiredHash: 'new',
  predicted: false,
};
const owned: InventoryEntry = { key, state: 'Owned', uid: 'u1', appliedHash: 'new', health: 'Healthy' };
const fault = { code: 'INVALID' as const, message: 'm', since: '2030-01-01T00:00:00Z', count: 4 };
const failed: InventoryEntry = { ...owned, action: 'Failed', fault };
const held = (uid: string, more: object = {}): MirroredObject => ({
  result: 'held',
  object: { metadata: { name: 'web', namespace: 'default', uid, ...more } },
  asOfMs: 10,
});
const absent: MirroredObject = { result: 'absent', asOfMs: 10 };
const unread: MirroredObject = { result: 'unread', fault: { code: 'SYNCING', cluster: 'x' as never, message: '', retry: 'LATER' } };
const completeJob: MirroredObject = {
  result: 'held',
  object: { metadata: { name: 'web', uid: 'u1' }, status: { conditions: [{ type: 'Complete', status: 'True' }] } },
  asOfMs: 10,
};

interface Row extends Partial<Omit<NeedsInput, 'mirrored' | 'share'>> {
  readonly name: string;
  readonly object?: RenderedObject;
  readonly entry?: InventoryEntry;
  readonly seen: MirroredObject;
  readonly drifted?: boolean;
  readonly needs: 'apply' | 'correct' | 'prune' | 'finish' | 'healed' | 'watched' | 'nothing';
}

const rows: readonly Row[] = [
  { name: 'a copy that was never written is written', seen: absent, needs: 'apply' },
  { name: 'also while the mirror is unread', seen: unread, needs: 'apply' },
  { name: 'a copy that was announced and not written', entry: { ...owned, state: 'Intended' }, seen: absent, needs: 'apply' },
  { name: 'a copy whose manifest has changed', entry: { ...owned, appliedHash: 'old' }, seen: held('u1'), needs: 'apply' },
  {
    name: 'an object of another owner, which the write itself detects',
    object: { ...wanted, action: 'HOLD', held: 'Conflict' },
    seen: held('u2'),
    needs: 'apply',
  },
  {
    name: 'not an existing object with CreateOnly',
    object: { ...wanted, action: 'HOLD', held: 'CreateOnly' },
    seen: held('u2'),
    needs: 'nothing',
  },
  { name: 'not a suspended copy', object: { ...wanted, action: 'HOLD', held: 'Suspended' }, seen: absent, needs: 'watched' },
  {
    name: 'a suspended copy in its wanted state is not reported',
    object: { ...wanted, action: 'HOLD', held: 'Suspended' },
    entry: owned,
    seen: held('u1'),
    needs: 'nothing',
  },
  { name: 'nothing for an unchanged copy', entry: owned, seen: held('u1'), needs: 'nothing' },
  { name: 'nothing for an unchanged shared copy', entry: { ...owned, state: 'Shared' }, seen: held('u1'), needs: 'nothing' },
  { name: 'drift is corrected', entry: owned, seen: held('u1'), drifted: true, needs: 'correct' },
  { name: 'not if the copy is only watched', entry: owned, seen: held('u1'), drifted: true, correctsDrift: false, needs: 'watched' },
  {
    name: 'not before the mirror has seen our write',
    entry: owned,
    seen: held('u1'),
    drifted: true,
    hasSeenWrite: () => false,
    needs: 'nothing',
  },
  { name: 'not while it is being deleted', entry: owned, seen: held('u1', { deletionTimestamp: 'now' }), drifted: true, needs: 'nothing' },
  { name: 'a deleted copy is restored', entry: owned, seen: absent, needs: 'correct' },
  { name: 'a copy whose name another object has taken', entry: owned, seen: held('u2'), needs: 'correct' },
  { name: 'not while the mirror is unread', entry: owned, seen: unread, needs: 'nothing' },
  {
    name: 'not a Job that has ended',
    object: { ...wanted, key: jobKey },
    entry: { ...owned, key: jobKey, finished: true },
    seen: absent,
    needs: 'nothing',
  },
  {
    name: 'but a Job that has not ended',
    object: { ...wanted, key: jobKey },
    entry: { ...owned, key: jobKey },
    seen: absent,
    needs: 'correct',
  },
  {
    name: 'the end of a Job is recorded',
    object: { ...wanted, key: jobKey },
    entry: { ...owned, key: jobKey },
    seen: completeJob,
    needs: 'finish',
  },
  {
    name: 'once',
    object: { ...wanted, key: jobKey },
    entry: { ...owned, key: jobKey, finished: true },
    seen: completeJob,
    needs: 'nothing',
  },
  { name: 'a fault is over if the object is in its wanted state', entry: failed, seen: held('u1'), needs: 'healed' },
  { name: 'also for a failed entry without a fault', entry: { ...owned, action: 'Failed' }, seen: held('u1'), needs: 'healed' },
  { name: 'not before the mirror has seen the write', entry: failed, seen: held('u1'), hasSeenWrite: () => false, needs: 'nothing' },
  { name: 'not while the failed write is still wanted', entry: { ...failed, appliedHash: 'old' }, seen: held('u1'), needs: 'apply' },
  { name: 'not if the copy has drifted', entry: failed, seen: held('u1'), drifted: true, needs: 'correct' },
  { name: 'not while the copy is being deleted', entry: failed, seen: held('u1', { deletionTimestamp: 'now' }), needs: 'nothing' },
  { name: 'not while the mirror is unread', entry: failed, seen: unread, needs: 'nothing' },
  {
    name: 'also for a copy that could not be created and exists now',
    object: { ...wanted, action: 'HOLD', held: 'CreateOnly' },
    entry: { key, state: 'Intended', action: 'Failed', fault, health: 'Unknown' },
    seen: held('u2'),
    needs: 'healed',
  },
  { name: 'an unwanted copy is deleted', object: { ...wanted, action: 'DELETE' }, entry: owned, seen: held('u1'), needs: 'prune' },
  { name: 'an unwanted shared copy is released', object: { ...wanted, action: 'RELEASE' }, entry: owned, seen: held('u1'), needs: 'prune' },
  {
    name: 'not while a prune is held',
    object: { ...wanted, action: 'DELETE' },
    entry: owned,
    seen: held('u1'),
    mayPrune: 'begun',
    needs: 'nothing',
  },
  {
    name: 'but a deletion that has started continues then',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'PendingDeletion' },
    seen: held('u1'),
    mayPrune: 'begun',
    needs: 'prune',
  },
  {
    name: 'and not while the cluster is suspended',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'PendingDeletion' },
    seen: held('u1'),
    mayPrune: 'nothing',
    needs: 'nothing',
  },
  { name: 'not without an inventory entry', object: { ...wanted, action: 'DELETE' }, seen: held('u1'), needs: 'nothing' },
  {
    name: 'not again while finalizers of others keep it (D13)',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'Deleting', action: 'Deleted' },
    seen: held('u1', { deletionTimestamp: 'now' }),
    needs: 'nothing',
  },
  {
    name: 'but again once it is gone, so that its entry is removed',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'Deleting', action: 'Deleted' },
    seen: absent,
    needs: 'prune',
  },
  {
    name: 'and if it still waits for its deletion request',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'Deleting', action: 'Skipped' },
    seen: held('u1'),
    needs: 'prune',
  },
];

test.each(rows)('$name', ({ object = wanted, entry, seen, drifted = false, needs, name: _name, ...more }) => {
  const found = needsOf({
    objects: [object],
    share: entry === undefined ? undefined : { entries: [entry] },
    mirrored: () => seen,
    hasSeenWrite: () => true,
    isDrifted: () => drifted,
    correctsDrift: true,
    mayPrune: 'all',
    isConfirmed: false,
    ...more,
  });
  const counts = {
    apply: found.apply.length,
    correct: found.correct.length,
    prune: found.prune.length,
    finish: found.finish.length,
    healed: found.healed.length,
    watched: found.watched.length,
  };
  expect(counts).toEqual({
    apply: 0,
    correct: 0,
    prune: 0,
    finish: 0,
    healed: 0,
    watched: 0,
    ...(needs === 'nothing' ? {} : { [needs]: 1 }),
  });
  expect(needsNoWrite(found)).toBe(['nothing', 'finish', 'healed', 'watched'].includes(needs));
  expect(hasWork(found)).toBe(needs !== 'nothing' && needs !== 'watched');
});

test.each<{ readonly name: string; readonly entry: Partial<InventoryEntry>; readonly isConfirmed: boolean; readonly announced: number }>([
  { name: 'a confirmed deletion is recorded before it starts', entry: {}, isConfirmed: true, announced: 1 },
  { name: 'a deletion without a confirmation is not', entry: {}, isConfirmed: false, announced: 0 },
  { name: 'a recorded deletion is not recorded again', entry: { state: 'Deleting', action: 'Skipped' }, isConfirmed: true, announced: 0 },
  { name: 'a shared copy is released and never recorded', entry: { state: 'Shared' }, isConfirmed: true, announced: 0 },
])('$name', ({ entry, isConfirmed, announced }) => {
  const { announce, prune } = needsOf({
    objects: [{ ...wanted, action: 'DELETE' }],
    share: { entries: [{ ...owned, ...entry }] },
    mirrored: () => held('u1'),
    hasSeenWrite: () => true,
    isDrifted: () => false,
    correctsDrift: true,
    mayPrune: 'all',
    isConfirmed,
  });
  expect([prune.length, announce.length]).toEqual([1, announced]);
});
