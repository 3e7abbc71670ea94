import { expect, test } from 'vitest';
import { runFailoverSchedule } from './run-failover-schedule.ts';

// Together, these seeds leave clusters for each cause with each `purge`. More seeds: npm run schedules.
test.each([4, 6, 8, 13, 15, 18, 19, 21, 24, 28, 29, 30, 33, 37])(
  'M5: moves copies only to healthy ones, whatever clusters, Pods and gateways do: seed %i',
  async (seed) => {
    const { violations, records } = await runFailoverSchedule(seed);
    expect(violations, records.join('\n')).toEqual([]);
  },
  120_000,
);
