import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import type { MigrationWrite } from '../../../src/migrate/hub/migration-store.ts';
import type { MigrationStatus } from '../../../src/migrate/model/migration-status-definition.ts';
import { MigrationRecord, type MigrationRecordOptions } from '../../../src/migrate/steps/migration-record.ts';
import type { ValidMigration } from '../../../src/migrate/steps/step-ports.ts';

const lists = { annotations: {}, labels: {}, finalizers: [], owners: [] };
const metadata = { namespace: 'default', name: 'move', uid: 'u', version: '1', generation: 1, createdAt: '', ...lists };
const migration = {
  metadata,
  spec: { from: 'south', to: 'east', onFailure: 'Pause' },
  status: {},
  document: {},
} as unknown as ValidMigration;
const fault = { code: 'INVALID', cluster: clusterName('hub'), message: 'too large', retry: 'NEVER' } as const;
const refused: MigrationWrite = { result: 'failed', fault };

/** A record whose saves get these answers, then succeed. `stored` is the status on the hub at a conflict. */
function createRecord(answers: readonly MigrationWrite[] = [], stored: MigrationStatus = {}) {
  const open = [...answers];
  const writes: MigrationStatus[] = [];
  const logged: unknown[] = [];
  const life = new AbortController();
  const store: MigrationRecordOptions['store'] = {
    async patchStatus(before, status) {
      writes.push(status);
      return open.shift() ?? { result: 'written', migration: { ...before, status } };
    },
    fetch: async () => ({ ...migration, metadata: { ...metadata, version: '2' }, status: stored }) as unknown as ValidMigration,
  };
  const line = (fields: Readonly<Record<string, unknown>>) => void logged.push(fields.failures);
  const log = { debug: line, info: line, warn: line, error: line };
  const state = { isLeading: true };
  const record = new MigrationRecord(migration, { store, mayWrite: () => state.isLeading, log }, life.signal);
  return { record, writes, logged, life, state };
}

const phase = (to: NonNullable<MigrationStatus['phase']>) => (status: MigrationStatus) => ({ ...status, phase: to });

test('saves changes that arrive during a save together', async () => {
  const { record, writes } = createRecord();
  const saves = [
    record.save(phase('Rolling')),
    record.save((status) => ({ ...status, digest: 'd' })),
    record.save(() => undefined),
    record.save(phase('Paused')),
  ];
  expect(await Promise.all(saves)).toEqual([true, true, false, true]);
  expect(writes).toEqual([{ phase: 'Rolling' }, { phase: 'Paused', digest: 'd' }]);
  expect(record.migration.status).toEqual({ phase: 'Paused', digest: 'd' });
});

test('saves again after a conflict with a change of the metadata, and not after one with the status', async () => {
  const same = createRecord([{ result: 'conflict' }]);
  expect(await same.record.save(phase('Rolling'))).toBe(true);
  expect(same.writes).toHaveLength(2);
  const other = createRecord([{ result: 'conflict' }], { phase: 'Paused' });
  expect(await other.record.save(phase('Rolling'))).toBe(false);
  expect([other.writes.length, other.record.migration.status]).toEqual([1, { phase: 'Paused' }]);
});

test('counts failures in a row, and logs them less and less often', async () => {
  const { record, logged } = createRecord(Array.from({ length: 9 }, () => refused));
  for (let count = 1; count <= 9; count += 1) expect(await record.save(phase('Rolling'))).toBe(false);
  expect([record.failures, logged, record.migration.status]).toEqual([9, [1, 2, 4, 8], {}]);
  expect(await record.save(phase('Rolling'))).toBe(true);
  expect(record.failures).toBe(0);
});

test('writes nothing while another process leads, or after the end', async () => {
  const { record, writes, state, life } = createRecord();
  state.isLeading = false;
  expect(await record.save(phase('Rolling'))).toBe(false);
  state.isLeading = true;
  life.abort();
  expect(await record.save(phase('Rolling'))).toBe(false);
  expect(writes).toEqual([]);
});
