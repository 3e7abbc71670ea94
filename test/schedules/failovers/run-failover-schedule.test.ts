import { expect, test } from 'vitest';
import { runFailoverSchedule } from './run-failover-schedule.ts';

// More seeds: npm run schedules.
const seeds = [4, 6, 8, 13, 15, 18, 19, 21, 24, 28, 29, 30, 33, 37];
const reached = new Set<string>();

test.each(seeds)(
  'M5: moves copies only to healthy ones, whatever clusters, Pods and gateways do: seed %i',
  async (seed) => {
    const result = await runFailoverSchedule(seed);
    for (const one of result.reached) reached.add(one);
    expect(result.violations, result.records.join('\n')).toEqual([]);
  },
  120_000,
);

test('the seeds leave clusters for each cause with each `purge`', () => {
  const causes = ['Taint', 'Unhealthy', 'Unreachable'];
  const wanted = causes.flatMap((cause) => ['GRACEFULLY', 'DIRECTLY', 'NEVER'].map((purge) => `${cause} ${purge}`));
  expect([...reached]).toEqual(expect.arrayContaining(wanted));
});
