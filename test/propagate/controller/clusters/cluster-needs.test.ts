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
  { name: 'what was never written is written', seen: absent, needs: 'apply' },
  { name: 'also where nobody can tell what is there', seen: unread, needs: 'apply' },
  { name: 'what was announced and not written', entry: { ...owned, state: 'Intended' }, seen: absent, needs: 'apply' },
  { name: 'what was written otherwise', entry: { ...owned, appliedHash: 'old' }, seen: held('u1'), needs: 'apply' },
  {
    name: 'a stranger, which the write itself tells',
    object: { ...wanted, action: 'HOLD', held: 'Conflict' },
    seen: held('u2'),
    needs: 'apply',
  },
  {
    name: 'not what is held for CreateOnly',
    object: { ...wanted, action: 'HOLD', held: 'CreateOnly' },
    seen: held('u2'),
    needs: 'nothing',
  },
  { name: 'not what is suspended', object: { ...wanted, action: 'HOLD', held: 'Suspended' }, seen: absent, needs: 'watched' },
  {
    name: 'nor is it amiss where it is as it is to be',
    object: { ...wanted, action: 'HOLD', held: 'Suspended' },
    entry: owned,
    seen: held('u1'),
    needs: 'nothing',
  },
  { name: 'nothing where it stands as written', entry: owned, seen: held('u1'), needs: 'nothing' },
  { name: 'what shared is as written, too', entry: { ...owned, state: 'Shared' }, seen: held('u1'), needs: 'nothing' },
  { name: 'drift is corrected', entry: owned, seen: held('u1'), drifted: true, needs: 'correct' },
  { name: 'not where it is only watched', entry: owned, seen: held('u1'), drifted: true, isKept: false, needs: 'watched' },
  {
    name: 'not before the mirror has heard of our write',
    entry: owned,
    seen: held('u1'),
    drifted: true,
    hasSeenWrite: () => false,
    needs: 'nothing',
  },
  { name: 'not while it is being deleted', entry: owned, seen: held('u1', { deletionTimestamp: 'now' }), drifted: true, needs: 'nothing' },
  { name: 'what is gone comes back', entry: owned, seen: absent, needs: 'correct' },
  { name: 'what another has taken the name of', entry: owned, seen: held('u2'), needs: 'correct' },
  { name: 'not where nobody can tell', entry: owned, seen: unread, needs: 'nothing' },
  {
    name: 'not a Job that was finished',
    object: { ...wanted, key: jobKey },
    entry: { ...owned, key: jobKey, finished: true },
    seen: absent,
    needs: 'nothing',
  },
  { name: 'but one that was not', object: { ...wanted, key: jobKey }, entry: { ...owned, key: jobKey }, seen: absent, needs: 'correct' },
  {
    name: 'that a Job is finished is put down',
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
  { name: 'what failed, and is wanted no more as it failed, is over', entry: failed, seen: held('u1'), needs: 'healed' },
  { name: 'also without a fault that is told', entry: { ...owned, action: 'Failed' }, seen: held('u1'), needs: 'healed' },
  { name: 'not before the mirror has heard', entry: failed, seen: held('u1'), hasSeenWrite: () => false, needs: 'nothing' },
  { name: 'not where it is still wanted so', entry: { ...failed, appliedHash: 'old' }, seen: held('u1'), needs: 'apply' },
  { name: 'not where it has drifted', entry: failed, seen: held('u1'), drifted: true, needs: 'correct' },
  { name: 'not while it is on its way out', entry: failed, seen: held('u1', { deletionTimestamp: 'now' }), needs: 'nothing' },
  { name: 'not where nobody can tell if it is over', entry: failed, seen: unread, needs: 'nothing' },
  {
    name: 'and what could not be created, and is there by now',
    object: { ...wanted, action: 'HOLD', held: 'CreateOnly' },
    entry: { key, state: 'Intended', action: 'Failed', fault, health: 'Unknown' },
    seen: held('u2'),
    needs: 'healed',
  },
  { name: 'what is not wanted goes', object: { ...wanted, action: 'DELETE' }, entry: owned, seen: held('u1'), needs: 'prune' },
  { name: 'is let go', object: { ...wanted, action: 'RELEASE' }, entry: owned, seen: held('u1'), needs: 'prune' },
  {
    name: 'not while a prune is held',
    object: { ...wanted, action: 'DELETE' },
    entry: owned,
    seen: held('u1'),
    mayPrune: 'begun',
    needs: 'nothing',
  },
  {
    name: 'but what is on its way goes on then',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'PendingDeletion' },
    seen: held('u1'),
    mayPrune: 'begun',
    needs: 'prune',
  },
  {
    name: 'and not where all is suspended',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'PendingDeletion' },
    seen: held('u1'),
    mayPrune: 'nothing',
    needs: 'nothing',
  },
  { name: 'not without an inventory entry', object: { ...wanted, action: 'DELETE' }, seen: held('u1'), needs: 'nothing' },
  {
    name: 'not again while others keep it (D13)',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'Deleting', action: 'Deleted' },
    seen: held('u1', { deletionTimestamp: 'now' }),
    needs: 'nothing',
  },
  {
    name: 'but once it is gone, so that its entry goes',
    object: { ...wanted, action: 'DELETE' },
    entry: { ...owned, state: 'Deleting', action: 'Deleted' },
    seen: absent,
    needs: 'prune',
  },
  {
    name: 'and where it waited for its own turn',
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
    isKept: true,
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
  { name: 'what was confirmed is announced before it goes', entry: {}, isConfirmed: true, announced: 1 },
  { name: 'what needed nobody to confirm it is not', entry: {}, isConfirmed: false, announced: 0 },
  { name: 'what was announced is not again', entry: { state: 'Deleting', action: 'Skipped' }, isConfirmed: true, announced: 0 },
  { name: 'what is shared is let go of, and never on its way', entry: { state: 'Shared' }, isConfirmed: true, announced: 0 },
])('$name', ({ entry, isConfirmed, announced }) => {
  const { announce, prune } = needsOf({
    objects: [{ ...wanted, action: 'DELETE' }],
    share: { entries: [{ ...owned, ...entry }] },
    mirrored: () => held('u1'),
    hasSeenWrite: () => true,
    isDrifted: () => false,
    isKept: true,
    mayPrune: 'all',
    isConfirmed,
  });
  expect([prune.length, announce.length]).toEqual([1, announced]);
});
