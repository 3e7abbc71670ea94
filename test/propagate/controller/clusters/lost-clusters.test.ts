import { expect, test } from 'vitest';
import { clusterName } from '../../../../src/core/names.ts';
import { type LostCluster, taskForLostCluster } from '../../../../src/propagate/controller/clusters/lost-clusters.ts';
import { newShare } from '../../../../src/propagate/hub/share-document.ts';
import type { InventoryEntry } from '../../../../src/propagate/model/inventory.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';

const west = clusterName('west');
const key = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'web' };
const entry: InventoryEntry = { key, state: 'Owned', uid: 'u1', health: 'Healthy' };

interface Row {
  readonly name: string;
  /** Absent if the cluster is no member. */
  readonly phase?: 'UNREACHABLE' | 'SYNCED';
  /** The share that was abandoned. */
  readonly abandoned?: string;
  readonly state?: InventoryEntry['state'];
  readonly isHeld?: boolean;
  readonly act: 'given up' | 'pending' | 'nothing';
}

test.each<Row>([
  { name: 'in a cluster that left are pending', act: 'pending' },
  { name: 'that are pending stay pending', state: 'PendingDeletion', act: 'nothing' },
  { name: 'that need a confirmation stay unchanged', isHeld: true, act: 'nothing' },
  { name: 'in a cluster that does not answer wait', phase: 'UNREACHABLE', act: 'nothing' },
  { name: 'of an abandoned share are abandoned', abandoned: 'share-1', act: 'given up' },
  {
    name: 'of an abandoned share in a cluster that does not answer are abandoned',
    phase: 'UNREACHABLE',
    abandoned: 'share-1',
    act: 'given up',
  },
  { name: 'of a share that is newer than the abandoned one are pending', abandoned: 'share-0', act: 'pending' },
  { name: 'in a cluster that answers are never abandoned', phase: 'SYNCED', abandoned: 'share-1', act: 'nothing' },
])('copies $name', async ({ phase, abandoned, state = 'Owned', isHeld = false, act }) => {
  const share = { ...newShare({ namespace: 'default', name: 'web', uid: 'p1' }, west), uid: 'share-1', entries: [{ ...entry, state }] };
  const annotations = abandoned === undefined ? {} : { [marks.abandon]: JSON.stringify({ west: abandoned }) };
  const members = { get: () => (phase === undefined ? undefined : { phase }) };
  const facts = { share, propagation: { metadata: { annotations } }, members, nowMs: 0, isHeld } as unknown as LostCluster;
  const done: string[] = [];
  const shares = {
    remove: async () => void done.push('given up'),
    save: async ({ entries }: typeof share) => {
      done.push(entries.every((one) => one.state === 'PendingDeletion') ? 'pending' : 'saved');
      return { result: 'conflict' };
    },
  };
  const work = { share, shares, mayWrite: () => true } as unknown as Parameters<NonNullable<ReturnType<typeof taskForLostCluster>>>[0];
  await taskForLostCluster(facts)?.(work, new AbortController().signal).catch(() => undefined);
  expect(done).toEqual(act === 'nothing' ? [] : [act]);
});
