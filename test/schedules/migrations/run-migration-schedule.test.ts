import { expect, test } from 'vitest';
import { runMigrationSchedule } from './run-migration-schedule.ts';

// More seeds: npm run schedules.
test.each([6, 16, 23])(
  'a migration keeps every application healthy, and ends, whatever fails: seed %i',
  async (seed) => {
    const { violations, records } = await runMigrationSchedule(seed);
    expect(violations, records.join('\n')).toEqual([]);
  },
  120_000,
);
