import { expect, test } from 'vitest';
import { createShareLedger } from '../../../src/propagate/apply/share-ledger.ts';
import { newInventoryEntry } from '../../../src/propagate/plan/copies/copy-task.ts';
import type { CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import { never } from '../../support/cluster/transport.ts';
import { createMemoryShares } from './memory-shares.ts';

const key = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name });

test('a save during another save waits, and then saves all changes since in one write', async () => {
  const shares = createMemoryShares();
  const slow: (() => void)[] = [];
  const store: CopyWork['shares'] = {
    ...shares,
    async save(share, signal) {
      await new Promise<void>((resolve) => slow.push(resolve));
      return shares.save(share, signal);
    },
  };
  const ledger = createShareLedger({ share: shares.current(), shares: store, mayWrite: () => true } as CopyWork);
  const saves = ['a', 'b', 'c'].map((name) => {
    ledger.put(key(name), newInventoryEntry(key(name)));
    return ledger.save(never);
  });
  let ended = 0;
  const all = Promise.all(saves).finally(() => {
    ended += 1;
  });
  ledger.put(key('d'), newInventoryEntry(key('d')));
  while (ended === 0) {
    slow.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await all).toEqual([{ result: 'saved' }, { result: 'saved' }, { result: 'saved' }]);
  expect(shares.saves.length).toBe(1);
  expect(ledger.saved.entries.map((entry) => entry.key.name)).toEqual(['a', 'b', 'c', 'd']);
});

test('a failed save is reported to its caller, and the next one tries again', async () => {
  const shares = createMemoryShares();
  let isBroken = true;
  const fault = { code: 'SERVER_ERROR', cluster: 'hub' as never, message: 'no', retry: 'LATER' } as const;
  const store: CopyWork['shares'] = {
    ...shares,
    save: async (share, signal) => (isBroken ? { result: 'failed', fault } : shares.save(share, signal)),
  };
  const ledger = createShareLedger({ share: shares.current(), shares: store, mayWrite: () => true } as CopyWork);
  ledger.put(key('a'), newInventoryEntry(key('a')));
  expect(await ledger.save(never)).toEqual({ result: 'failed', fault });
  isBroken = false;
  expect(await ledger.save(never)).toEqual({ result: 'saved' });
  expect(shares.saves).toHaveLength(1);
});
