import { expect } from 'vitest';
import { activeResources, takeCensus } from '../heap.ts';
import { metricOf } from './metrics-of.ts';
import type { TestGateway } from './start-gateway.ts';

/** Counts of everything that clients cause, as far as it can be counted from outside. */
export interface Remains {
  readonly streams: number;
  /** Watches of pods in the cluster `north`. */
  readonly watches: number;
  readonly sleepers: number;
  readonly timers: number;
  readonly signals: number;
  readonly promises: number;
  readonly bytes: number;
}

/** Takes the counts, in about a second. */
export async function countRemains(gateway: TestGateway): Promise<Remains> {
  await gateway.pass(500);
  return {
    streams: await metricOf(gateway, 'muster_streams'),
    watches: gateway
      .cluster('north')
      .openWatches()
      .filter(({ resource }) => resource === 'pods').length,
    sleepers: gateway.clock.sleepers,
    timers: activeResources().Timeout ?? 0,
    ...takeCensus(),
  };
}

/** Expects no remains of thousands of clients. A leak per client exceeds the bounds, but a loop that happens to sleep does not. */
export function expectNothingLeft(before: Remains, after: Remains): void {
  expect(after.streams).toBe(before.streams);
  expect(after.watches).toBe(before.watches);
  const more = (what: keyof Remains) => after[what] - before[what];
  expect(more('sleepers'), 'sleepers').toBeLessThan(10);
  expect(more('timers'), 'timers').toBeLessThan(60);
  expect(more('signals'), 'signals').toBeLessThan(200);
  expect(more('promises'), 'promises').toBeLessThan(400);
  expect(more('bytes'), 'bytes').toBeLessThan(8 << 20);
}
